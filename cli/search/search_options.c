/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_options.c - the options of `eventspace search`. */
#include "config.h"

#include "cli/search/search_options.h"
#include "base/options.h"
#include "base/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default limit of the order before its last cut, so that endless runs can be followed:
 * older events are forgotten. */
#define ORDER_BYTES (UINT64_C(1) << 30)

enum {
    OPTION_ENGINE = 256,
    OPTION_TUNE,
    OPTION_THREADS,
    OPTION_STORE,
    OPTION_MEMORY,
    OPTION_KEEP,
    OPTION_LIMIT,
    OPTION_FIRST,
    OPTION_TIME_LIMIT,
    OPTION_COUNT,
    OPTION_BY,
    OPTION_SORT,
    OPTION_BRIEF,
    OPTION_STATS,
    OPTION_EXPLAIN,
    OPTION_LIST,
    OPTION_ALL,
    OPTION_CHECK,
};

static const struct argp_option options[] = {
    {"patterns", 'p', "FILE", 0, "the patterns; - for stdin, or an installed name", 1},
    {"list", OPTION_LIST, NULL, 0, "list the predicates of FILE; no search", 1},
    {"all", OPTION_ALL, NULL, 0, "of --list: also predicates used by others", 1},
    {"check", OPTION_CHECK, NULL, 0, "only print errors in FILE", 1},
    {"limit", OPTION_LIMIT, "COUNT", 0, "matches of each predicate at most", 2},
    {"first", OPTION_FIRST, NULL, 0, "--limit=1", 2},
    {"time-limit", OPTION_TIME_LIMIT, "TIME", 0,
     "end after it, such as 10s, 500ms or 2min", 2},
    {"count", OPTION_COUNT, NULL, 0, "only the number of matches", 2},
    {"by", OPTION_BY, "WHAT", 0, "matches by rank, pair or communicator", 2},
    {"sort", OPTION_SORT, NULL, 0, "sort matches when all are found", 2},
    {"brief", OPTION_BRIEF, NULL, 0, "a line for each match", 2},
    {"stats", OPTION_STATS, NULL, 0, "the cost of the search", 2},
    {"explain", OPTION_EXPLAIN, NULL, 0, "print the plan of the search; no search", 2},
    {"engine", OPTION_ENGINE, "ENGINE", 0, "its name", 3},
    {"threads", OPTION_THREADS, "COUNT", 0, "0 (default): all cores", 3},
    {"store", OPTION_STORE, "STORE", 0, "its name", 3},
    {"tune", OPTION_TUNE, "KEY=VALUE,...", OPTION_HIDDEN,
     "for experiments; see the manual", 3},
    {"memory", OPTION_MEMORY, "SIZE", 0, "of --follow: limit for the order (1GiB)", 3},
    {"keep", OPTION_KEEP, "EVENTS", 0, "of --follow: events kept (1000000)", 3},
    {0},
};

static const char doc[] =
    "Searches events (a file, or - for stdin; an archive; a run) for patterns: the "
    "predicates named, else those that no other one uses."
    "\vExit status: 0 a match, 1 none, 2 usage or input error, 3 lost the run.";

struct parsing {
    struct esi_search_options *options;
    const struct esi_engine_ops *tuned; /* the engine of --tune */
    const char *key;                    /* of --tune, its last */
    bool has_threads;
};

/* --- Engines ---------------------------------------------------------------------- */

static const struct esi_engine_ops *threaded_engine(void)
{
    unsigned i = 0;

    while (!esi_engines[i]->has_threads)
        i++;
    return esi_engines[i];
}

static char *help_filter(int key, const char *text, void *input)
{
    char names[ES_ENGINE_NAMES], stores[ES_ORDER_STORES];
    char *help = NULL;

    (void)input;
    if (key == OPTION_ENGINE)
        return strdup(esi_engine_names(" (default)", names));
    if (key == OPTION_STORE)
        return strdup(esi_order_stores(" (default)", stores));
    if (key == OPTION_THREADS)
        return asprintf(&help, "of %s; %s", threaded_engine()->name, text) < 0 ? NULL
                                                                               : help;
    return (char *)text;
}

/* An option of one engine selects it, unless another was requested. */
static void need_engine(struct esi_search_config *config,
                        const struct esi_engine_ops *engine,
                        const char *option,
                        struct argp_state *state)
{
    if (!config->engine)
        config->engine = engine->name;
    if (strcmp(config->engine, engine->name) != 0)
        argp_error(state, "%s needs --engine %s", option, engine->name);
}

static bool set_tuning(void *data,
                       const char *key,
                       const char *value,
                       struct argp_state *state)
{
    struct parsing *parsing = data;
    struct esi_search_options *given = parsing->options;

    for (unsigned i = 0; esi_engines[i]; i++) {
        const struct esi_engine_ops *engine = esi_engines[i];
        const struct esi_field *field =
            engine->fields ? esi_fields_find(engine->fields, key) : NULL;

        if (!field)
            continue;
        if (parsing->tuned && parsing->tuned != engine)
            argp_error(state, "%s needs --engine %s", parsing->key,
                       parsing->tuned->name);
        if (!given->tuning && !(given->tuning = malloc(engine->fields->size)))
            argp_failure(state, ES_EXIT_USAGE, 0, "no memory");
        if (!parsing->tuned)
            memcpy(given->tuning, engine->defaults, engine->fields->size);
        parsing->tuned = engine;
        parsing->key = field->name;
        esi_option_field(field, value, given->tuning, state);
        return true;
    }
    return false;
}

/* --- Options ---------------------------------------------------------------------- */

static error_t parse_follow_option(int key, const char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    struct esi_search_options *given = parsing->options;

    switch (key) {
    case OPTION_MEMORY:
        given->memory_bytes = esi_option_bytes(text, "--memory", state);
        if (given->memory_bytes == 0)
            argp_error(state, "--memory: 0 keeps no order; give a size such as 64MiB");
        return 0;
    case OPTION_KEEP:
        given->kept_events =
            (uint64_t)esi_option_number(text, "--keep", 1, INT64_MAX, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_engine_option(int key, const char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    struct esi_search_config *config = &parsing->options->config;

    switch (key) {
    case OPTION_TUNE:
        esi_option_settings(text, "--tune", state, set_tuning, parsing);
        return 0;
    case OPTION_THREADS:
        config->threads =
            (unsigned)esi_option_number(text, "--threads", 0, 1024, state);
        parsing->has_threads = true;
        return 0;
    default:
        return parse_follow_option(key, text, state);
    }
}

static const char *const bys[] = {"rank", "pair", "communicator", NULL};

static error_t parse_print_option(int key, const char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    struct esi_search_options *given = parsing->options;

    switch (key) {
    case OPTION_LIMIT:
        given->config.limit =
            (uint64_t)esi_option_number(text, "--limit", 1, INT64_MAX, state);
        return 0;
    case OPTION_FIRST:
        given->config.limit = 1;
        return 0;
    case OPTION_TIME_LIMIT:
        given->time_limit_ns = esi_option_duration(text, "--time-limit", 1, state);
        return 0;
    case OPTION_COUNT:
        given->is_count = true;
        return 0;
    case OPTION_BY:
        given->by = (enum esi_search_by)(ES_SEARCH_BY_RANK +
                                         esi_option_word(text, "--by", bys, state));
        return 0;
    case OPTION_SORT:
        given->is_sorted = true;
        return 0;
    case OPTION_BRIEF:
        given->is_brief = true;
        return 0;
    case OPTION_STATS:
        given->statistics = true;
        return 0;
    case OPTION_EXPLAIN:
        given->is_explain = true;
        return 0;
    default:
        return parse_engine_option(key, text, state);
    }
}

static void check_engine(const struct parsing *parsing, struct argp_state *state)
{
    struct esi_search_config *config = &parsing->options->config;

    if (parsing->tuned)
        need_engine(config, parsing->tuned, parsing->key, state);
    if (parsing->has_threads)
        need_engine(config, threaded_engine(), "--threads", state);
    config->tuning = parsing->options->tuning;
}

static void check_without_events(const struct esi_search_options *given,
                                 struct argp_state *state)
{
    const char *option = given->is_list ? "--list" : "--check";

    if (given->is_list && given->source.path)
        argp_error(state, "--list reads the pattern file only: leave out '%s'",
                   given->source.path);
    if (given->is_check && given->source.follow)
        argp_error(state, "--check does not read events as they arrive: leave out "
                          "--follow");
    if (given->is_explain || given->is_count || given->by || given->statistics ||
        given->is_sorted || given->is_brief)
        argp_error(state, "%s does not search", option);
}

static void check_memory(const struct esi_search_options *given,
                         struct argp_state *state)
{
    if ((given->memory_bytes || given->kept_events) && !given->source.follow)
        argp_error(state, "%s needs --follow",
                   given->memory_bytes ? "--memory" : "--keep");
    if (given->memory_bytes && given->store && strcmp(given->store, "epoch") != 0)
        argp_error(state, "--memory needs --store epoch");
}

/* Matches are not printed, so options for printing are rejected. */
static void check_explain(const struct esi_search_options *given,
                          struct argp_state *state)
{
    const char *option = given->is_count        ? "--count"
                         : given->by            ? "--by"
                         : given->is_sorted     ? "--sort"
                         : given->is_brief      ? "--brief"
                         : given->statistics    ? "--stats"
                         : given->config.limit  ? "--limit"
                         : given->time_limit_ns ? "--time-limit"
                                                : NULL;

    if (given->format == ES_FORMAT_JSON)
        argp_error(state, "--explain has no JSON format");
    if (given->source.follow)
        argp_error(state, "--explain does not search: leave out --follow");
    if (option)
        argp_error(state, "--explain does not search: %s has no effect", option);
}

static void check_options(const struct parsing *parsing, struct argp_state *state)
{
    const struct esi_search_options *given = parsing->options;

    check_engine(parsing, state);
    if (!given->patterns || !*given->patterns)
        argp_error(state, "no patterns given: -p FILE, such as -p mpi");
    if (given->source.path && strcmp(given->patterns, "-") == 0 &&
        strcmp(given->source.path, "-") == 0)
        argp_error(state, "standard input cannot be both the set and the patterns");
    if (given->is_all && !given->is_list)
        argp_error(state, "--all needs --list");
    if (given->is_list && given->is_check)
        argp_error(state, "--list or --check, not both");
    if (given->is_list || given->is_check) {
        check_without_events(given, state);
        return;
    }
    if (!given->source.path || !*given->source.path)
        argp_error(state, "no events given: SET, DIR or RUN");
    if (given->is_explain)
        check_explain(given, state);
    if (given->source.follow && given->config.engine)
        argp_error(state, "--follow searches as events arrive: leave out --engine");
    check_memory(given, state);
    if (given->by && (given->is_count || given->is_sorted || given->is_brief))
        argp_error(state, "--by prints sums, no matches: leave out %s",
                   given->is_count    ? "--count"
                   : given->is_sorted ? "--sort"
                                      : "--brief");
    if (given->is_count && given->is_sorted)
        argp_error(state, "--count prints no matches that --sort could sort");
    if (given->is_count && given->is_brief)
        argp_error(state, "--count prints no matches that --brief could cut short");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    struct esi_search_options *given = parsing->options;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->format;
        state->child_inputs[1] = &given->source;
        return 0;
    case 'p':
        if (given->patterns)
            argp_error(state, "unexpected argument '%s': give one pattern file", text);
        given->patterns = text;
        return 0;
    case OPTION_LIST:
        given->is_list = true;
        return 0;
    case OPTION_ALL:
        given->is_all = true;
        return 0;
    case OPTION_CHECK:
        given->is_check = true;
        return 0;
    case OPTION_ENGINE:
        given->config.engine = text;
        return 0;
    case OPTION_STORE:
        given->store = text;
        return 0;
    case ARGP_KEY_ARG:
        if (!given->source.path)
            return ARGP_ERR_UNKNOWN; /* the first one is the source */
        given->names[given->name_count++] = text;
        return 0;
    case ARGP_KEY_END:
        check_options(parsing, state);
        return 0;
    default:
        return parse_print_option(key, text, state);
    }
}

void esi_search_options_parse(int argc,
                              char **argv,
                              struct esi_search_options *ret_options)
{
    static const struct argp_child children[] = {
        {&esi_format_argp, 0, NULL, 2},
        {&esi_event_source_argp, 0, "Of a RUN:", 5},
        {0}};
    static const struct argp parser = {
        options,
        parse_option,
        "SET|DIR|RUN [PREDICATE...]\n--list\n--check [SET|DIR|RUN]",
        doc,
        children,
        help_filter,
        NULL};
    struct parsing parsing = {.options = ret_options};

    *ret_options = (struct esi_search_options){
        .names = calloc((size_t)argc + 1, sizeof *ret_options->names)};
    if (!ret_options->names)
        exit(esi_command_fail(ES_EXIT_USAGE, "no memory"));
    esi_search_config_init(&ret_options->config);
    ret_options->config.threads = 0;
    esi_command_parse(&parser, argc, argv, 0, &parsing);
    if (ret_options->config.threads == 0)
        ret_options->config.threads = esi_pipeline_processors();
}

int esi_search_options_create_order(const struct esi_search_options *given,
                                    struct es_order **ret_order)
{
    bool is_epoch = !given->store || strcmp(given->store, "epoch") == 0;
    struct es_error error = {.text = ""};
    struct esi_order_config config = {.store = given->store};
    int result;

    if (given->source.follow && is_epoch)
        config.memory_bytes = given->memory_bytes ? given->memory_bytes : ORDER_BYTES;
    result = esi_order_create(&config, &error, ret_order);
    return result < 0
               ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                        "the order cannot be kept with these options")
               : ES_EXIT_SUCCESS;
}

bool esi_search_options_show_details(const struct esi_search_options *given)
{
    return !given->is_brief && !given->is_count && !given->is_explain;
}

void esi_search_options_fini(struct esi_search_options *given)
{
    free(given->names);
    given->names = NULL;
    free(given->tuning);
    given->tuning = NULL;
}
