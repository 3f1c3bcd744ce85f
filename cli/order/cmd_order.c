/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace order - orders the events of a set, shows the cost, and answers questions
 * about the order. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "cli/order/order_answer.h"
#include "cli/order/order_show.h"
#include "monitors/eventset/set_texts.h"
#include "monitors/eventset/trace_names.h"
#include "monitors/order/cluster/communications.h"
#include "monitors/order/cluster/strategy.h"

enum {
    OPTION_STORE = 256,
    OPTION_STRATEGY,
    OPTION_MAX_SIZE,
    OPTION_LEVELS,
    OPTION_THRESHOLD,
    OPTION_TUNE,
    OPTION_MEMORY,
    OPTION_SPILL,
    OPTION_STATS,
    OPTION_QUERY,
};

enum { SIZE_STEP = 4 }; /* factor between the cluster sizes of two levels */

struct order_arguments {
    struct esi_event_source source;
    struct esi_order_config config;
    unsigned sizes; /* number given */
    bool clusters;  /* some option of clusters was given */
    bool threshold; /* was given */
    bool seed_hosts;
    bool statistics;
    bool is_summed_up; /* print a summary of the order */
    const char *questions;
    enum esi_format format;
};

static const struct argp_option options[] = {
    {"query", OPTION_QUERY, "FILE", 0, "queries, one per line; - for stdin", 1},
    {"stats", OPTION_STATS, NULL, 0, "size and cost of the order", 1},
    {NULL, 0, NULL, 0, "How the order is stored:", 2},
    {"store", OPTION_STORE, "STORE", 0, "epoch (default), cluster or dense", 2},
    {"memory", OPTION_MEMORY, "SIZE", 0,
     "of epoch: limit for events before the last cut", 2},
    {"spill", OPTION_SPILL, "DIR", 0, "of epoch: folder for events beyond --memory", 2},
    {"strategy", OPTION_STRATEGY, "STRATEGY", 0,
     "of cluster: fixed, merge-first, merge-nth (default), static, collect, migrate",
     2},
    {"max-size", OPTION_MAX_SIZE, "SIZE[,SIZE...]", 0,
     "of cluster: maximum number of traces (13), by level", 2},
    {"levels", OPTION_LEVELS, "COUNT", OPTION_HIDDEN,
     "of cluster: number of levels below the top", 2},
    {"threshold", OPTION_THRESHOLD, "NUMBER", OPTION_HIDDEN,
     "of merge-nth and migrate: communications (10)", 2},
    {"tune", OPTION_TUNE, "KEY=VALUE,...", OPTION_HIDDEN,
     "for experiments; see the manual", 2},
    {0},
};

static const char doc[] =
    "Orders events (a file, or - for stdin; an archive; a run) causally."
    "\vA query is EVENT EVENT, or greatest-predecessors, least-successors, "
    "greatest-concurrent or concurrent and an EVENT, which is TRACE:INDEX.\n"
    "Exit status: 0 success, 2 usage or input error, 3 lost the run.";

static void parse_sizes(const char *text,
                        struct order_arguments *arguments,
                        struct argp_state *state)
{
    char *copy = strdup(text);
    char *rest = copy;
    const char *word;

    arguments->sizes = 0;
    while (copy && (word = strsep(&rest, ","))) {
        if (arguments->sizes == ES_ORDER_LEVELS)
            argp_error(state, "--max-size: there are at most %d levels",
                       ES_ORDER_LEVELS);
        arguments->config.max_sizes[arguments->sizes++] =
            (uint32_t)esi_option_number(word, "--max-size", 1, INT32_MAX, state);
    }
    free(copy);
}

static void parse_threshold(const char *text,
                            struct order_arguments *arguments,
                            struct argp_state *state)
{
    struct es_error error = {.text = ""};

    if (esi_strategy_parse_threshold(text, &arguments->config, &error) < 0)
        argp_error(state, "--threshold: %s", error.text);
    arguments->threshold = true;
}

/* A number after the name is its threshold or prefix. */
static void parse_strategy(const char *text,
                           struct order_arguments *arguments,
                           struct argp_state *state)
{
    struct es_error error = {.text = ""};
    int number = esi_strategy_parse(text, &arguments->config, &error);

    if (number < 0)
        argp_error(state, "--strategy: %s", error.text);
    if (number == ES_STRATEGY_THRESHOLD)
        arguments->threshold = true;
}

static bool set_tuning(void *data,
                       const char *key,
                       const char *value,
                       struct argp_state *state)
{
    struct order_arguments *arguments = data;
    struct esi_order_config *config = &arguments->config;

    if (strcmp(key, "fixed-vector") == 0) {
        config->fixed_vector =
            (uint32_t)esi_option_number(value, key, 1, INT32_MAX, state);
        return true; /* also valid for other stores */
    }
    arguments->clusters = true;
    if (strcmp(key, "prefix") == 0)
        config->prefix = (uint64_t)esi_option_number(value, key, 1, INT64_MAX, state);
    else if (strcmp(key, "seed-hosts") == 0)
        arguments->seed_hosts = esi_option_bool(value, key, state);
    else
        return false;
    return true;
}

static error_t parse_cluster_option(int key, const char *text, struct argp_state *state)
{
    struct order_arguments *arguments = state->input;
    struct esi_order_config *config = &arguments->config;

    switch (key) {
    case OPTION_STRATEGY:
        parse_strategy(text, arguments, state);
        break;
    case OPTION_MAX_SIZE:
        parse_sizes(text, arguments, state);
        break;
    case OPTION_LEVELS:
        config->levels =
            (unsigned)esi_option_number(text, "--levels", 1, ES_ORDER_LEVELS, state);
        break;
    case OPTION_THRESHOLD:
        parse_threshold(text, arguments, state);
        break;
    case OPTION_TUNE:
        esi_option_settings(text, "--tune", state, set_tuning, arguments);
        return 0; /* not all options are for clusters */
    default:
        return ARGP_ERR_UNKNOWN;
    }
    arguments->clusters = true;
    return 0;
}

/* Sets the sizes of levels that were not given. */
static void fill_sizes(struct order_arguments *arguments, struct argp_state *state)
{
    struct esi_order_config *config = &arguments->config;
    unsigned sizes = arguments->sizes ? arguments->sizes : 1;

    if (config->levels == 0)
        config->levels = sizes;
    if (sizes > config->levels)
        argp_error(state, "--max-size has %u sizes, but --levels is %u", sizes,
                   config->levels);
    for (unsigned i = sizes; i < config->levels; i++) {
        uint64_t size = (uint64_t)config->max_sizes[i - 1] * SIZE_STEP;

        config->max_sizes[i] = size > INT32_MAX ? INT32_MAX : (uint32_t)size;
    }
}

/* Whether the strategy is one of these words, each surrounded by blanks. */
static bool has_strategy(const struct esi_order_config *config, const char *words)
{
    const char *strategy = config->strategy ? config->strategy : "merge-nth";
    char word[32];

    snprintf(word, sizeof word, " %s ", strategy);
    return strstr(words, word);
}

static void check_clusters(struct order_arguments *arguments, struct argp_state *state)
{
    struct esi_order_config *config = &arguments->config;

    if (arguments->clusters && !config->store)
        config->store = "cluster";
    if (arguments->clusters && strcmp(config->store, "cluster") != 0)
        argp_error(state, "--store %s has no clusters", config->store);
    if (arguments->threshold && !has_strategy(config, " merge-nth migrate "))
        argp_error(state, "--threshold needs --strategy merge-nth or migrate");
    if (config->prefix && !has_strategy(config, " collect "))
        argp_error(state, "--tune prefix needs --strategy collect");
    if (!config->prefix && has_strategy(config, " collect "))
        argp_error(state, "--strategy collect needs a prefix, such as collect:1000");
    if (arguments->seed_hosts &&
        !has_strategy(config, " merge-first merge-nth migrate "))
        argp_error(
            state,
            "--tune seed-hosts needs --strategy merge-first, merge-nth or migrate");
    fill_sizes(arguments, state);
}

static void check_memory(const struct esi_order_config *config,
                         struct argp_state *state)
{
    bool is_epoch = !config->store || strcmp(config->store, "epoch") == 0;

    if (config->memory_bytes && !is_epoch)
        argp_error(state, "--memory needs --store epoch");
    if (config->spill_folder && !config->memory_bytes)
        argp_error(state, "--spill needs --memory");
    if (config->spill_folder && access(config->spill_folder, W_OK | X_OK) < 0)
        argp_error(state, "--spill: %s: %s", config->spill_folder, strerror(errno));
}

static void check_options(struct order_arguments *arguments, struct argp_state *state)
{
    const char *path = arguments->source.path;

    if (!path)
        argp_error(state, "no events given: SET, DIR or RUN");
    if (arguments->questions && strcmp(arguments->questions, "-") == 0 &&
        strcmp(path, "-") == 0)
        argp_error(state, "standard input cannot be both the set and the questions");
    check_clusters(arguments, state);
    check_memory(&arguments->config, state);
    arguments->is_summed_up = arguments->statistics || !arguments->questions;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct order_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->source;
        return 0;
    case OPTION_STORE:
        arguments->config.store = text;
        return 0;
    case OPTION_MEMORY:
        arguments->config.memory_bytes = esi_option_bytes(text, "--memory", state);
        return 0;
    case OPTION_SPILL:
        arguments->config.spill_folder = text;
        return 0;
    case OPTION_STATS:
        arguments->statistics = true;
        return 0;
    case OPTION_QUERY:
        arguments->questions = text;
        return 0;
    case ARGP_KEY_END:
        check_options(arguments, state);
        return 0;
    default:
        return parse_cluster_option(key, text, state);
    }
}

/* --- First pass over the events --------------------------------------------------- */

#define NO_HOST UINT32_MAX

struct order_knowledge {
    struct esi_communications *communications; /* NULL: not needed */
    struct esi_texts hosts;
    uint32_t *host_of; /* per trace; NO_HOST = not known yet */
    size_t traces;
    size_t capacity;
};

static int add_trace(void *data, uint32_t trace, const char *name)
{
    struct order_knowledge *known = data;

    (void)trace;
    (void)name;
    if (ESI_ARRAY_RESERVE(known->host_of, known->capacity, known->traces + 1) < 0)
        return -ENOMEM;
    known->host_of[known->traces++] = NO_HOST;
    return 0;
}

static int note_host(void *data, const struct es_set_event *event)
{
    struct order_knowledge *known = data;
    uint32_t *host = &known->host_of[event->id.trace];

    for (size_t i = 0; *host == NO_HOST && i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];

        if (strcmp(attribute->name, "host") == 0 && attribute->text)
            return esi_texts_add(&known->hosts, attribute->text,
                                 strlen(attribute->text), host);
    }
    return 0;
}

/* Each trace without a host gets a number of its own. */
static void number_the_rest(struct order_knowledge *known)
{
    uint32_t next = esi_texts_count(&known->hosts);

    for (size_t i = 0; i < known->traces; i++)
        if (known->host_of[i] == NO_HOST)
            known->host_of[i] = next++;
}

/* Reads the whole source, so that it can be read again: which traces communicate, and
 * the hosts of traces. */
static int prepare_order(struct order_arguments *arguments,
                         struct order_knowledge *known)
{
    const char *strategy = arguments->config.strategy;
    struct es_set_sink sinks[2];
    size_t count = 0;
    int status;

    if (arguments->seed_hosts)
        sinks[count++] =
            (struct es_set_sink){.trace = add_trace, .event = note_host, .data = known};
    if (strategy && strcmp(strategy, "static") == 0) {
        if (esi_communications_create(&known->communications) < 0)
            return esi_command_fail(ES_EXIT_USAGE, "no memory");
        sinks[count++] = esi_communications_sink(known->communications);
    }
    if (count == 0)
        return ES_EXIT_SUCCESS;
    status = esi_event_source_keep(&arguments->source);
    if (status == ES_EXIT_SUCCESS)
        status = esi_event_source_read(&arguments->source, arguments->seed_hosts, sinks,
                                       count, NULL);
    number_the_rest(known);
    arguments->config.communications = known->communications;
    arguments->config.seeds = known->host_of;
    arguments->config.seed_count = known->traces;
    return status;
}

static void forget_knowledge(struct order_knowledge *known)
{
    esi_communications_destroy(known->communications);
    esi_texts_fini(&known->hosts);
    free(known->host_of);
}

/* --- Building --------------------------------------------------------------------- */

struct building {
    struct es_order *order;
    struct esi_trace_names names;
    struct esi_set_messages messages; /* for a file */
};

static int print_order(const struct order_arguments *arguments,
                       struct building *building,
                       const struct esi_order_origin *origin)
{
    int status = ES_EXIT_SUCCESS;

    if (arguments->questions) {
        if (!arguments->is_summed_up)
            esi_event_source_tell_missing(&origin->facts);
        status = esi_order_answer(building->order, &building->names,
                                  arguments->questions, arguments->format);
    }
    if (status == ES_EXIT_SUCCESS && arguments->is_summed_up)
        esi_order_show(building->order, &arguments->config, origin,
                       arguments->statistics, arguments->format);
    return status;
}

static int build_order(const struct order_arguments *arguments,
                       struct building *building)
{
    const struct es_set_sink sinks[] = {esi_trace_names_sink(&building->names),
                                        es_order_sink(building->order),
                                        esi_set_messages_sink(&building->messages)};
    size_t count = esi_event_source_tells_traces_first(&arguments->source) ? 3 : 2;
    struct esi_order_origin origin = {.unmatched = arguments->source.found_data,
                                      .messages = &building->messages,
                                      .names = &building->names};
    uint64_t start_ns = esi_now_ns(CLOCK_MONOTONIC);
    int status =
        esi_event_source_read(&arguments->source, false, sinks, count, &origin.facts);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (es_order_sink_end(building->order) < 0)
        return esi_command_fail(
            ES_EXIT_USAGE,
            "cannot read the events: %s ends with one half of a synchronous pair",
            arguments->source.path);
    origin.time_ns = esi_now_ns(CLOCK_MONOTONIC) - start_ns;
    return print_order(arguments, building, &origin);
}

static int order_events(struct order_arguments *arguments)
{
    struct es_error error = {.text = ""};
    struct building building = {.order = NULL};
    int result = esi_order_create(&arguments->config, &error, &building.order);
    int status;

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "the order cannot be kept with these options");
    status = build_order(arguments, &building);
    esi_trace_names_fini(&building.names);
    esi_set_messages_fini(&building.messages);
    es_order_destroy(building.order);
    return status;
}

int esi_cmd_order(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_format_argp, 0, NULL, 1},
        {&esi_event_source_argp, 0, "Of a RUN:", 3},
        {0}};
    static const struct argp parser = {options,  parse_option, "SET|DIR|RUN", doc,
                                       children, NULL,         NULL};
    struct order_arguments arguments = {.statistics = false};
    struct order_knowledge known = {.traces = 0};
    struct esi_unmatched unmatched = {.count = 0};
    int status;

    arguments.source.found = esi_unmatched_take;
    arguments.source.found_data = &unmatched;
    esi_order_config_init(&arguments.config);
    arguments.config.levels = 0;
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    esi_texts_init(&known.hosts);
    status = prepare_order(&arguments, &known);
    if (status == ES_EXIT_SUCCESS)
        status = order_events(&arguments);
    forget_knowledge(&known);
    esi_event_source_fini(&arguments.source);
    esi_unmatched_fini(&unmatched);
    return status;
}
