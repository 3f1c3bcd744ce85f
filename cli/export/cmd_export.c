/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace export - exports an event set to the formats of other tools. */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "cli/export/export_otf2.h"
#include "cli/export/export_page.h"
#include "cli/export/export_picture.h"
#include "cli/view_check.h"
#include "monitors/eventset/formats/export.h"
#include "monitors/eventset/set_part.h"
#include "tuplespace/plan/plan.h"

enum {
    OPTION_TO = 256,
    OPTION_SINCE,
    OPTION_LIMIT,
    OPTION_AXIS,
    OPTION_BEGIN,
    OPTION_END,
    OPTION_CONE,
    OPTION_WIDTH,
};

enum { DOT_EVENTS = 2000 }; /* for more events graphviz is very slow */
enum { WIDTH_MAX = 20000 }; /* of a picture */

/* The selected part of the events, and facts about them. */
struct export_part {
    const char *ranks;             /* NULL = all */
    struct esi_rank_range *ranges; /* likewise; owned */
    size_t range_count;
    uint64_t since_ns; /* before the last event; 0 = all */
    uint64_t limit;    /* the last so many; 0 = all */
    int world;         /* number of ranks among the traces */
    uint64_t events;   /* number of events of the ranks */
    bool has_last;
    int64_t last_ns; /* end of the last one */
    uint64_t skipped;
};

struct export_arguments {
    struct esi_event_source source;
    struct esi_export_config config;
    struct export_part part;
    struct esi_export_picture picture;
    const char *picture_option; /* option that was given; NULL = none */
    const char *window_option;  /* likewise */
};

static const struct argp_option options[] = {
    {"to", OPTION_TO, "FORMAT", 0,
     "event-set: JSON Lines; shiviz: a log for ShiViz; chrome or perfetto: JSON trace "
     "events; dot: a digraph for graphviz; csv: a line for each event; svg: a picture "
     "of the process-time diagram; html: the page of eventspace-view(1) in a file; "
     "otf2: an archive of OTF2 in a new folder",
     1},
    {"output", 'o', "FILE", 0, "the file to write; default: standard output", 1},
    {NULL, 0, NULL, 0, "Which events:", 2},
    {"rank", 'r', "RANKS", 0, "of these ranks, such as 0-3,7", 2},
    {"since", OPTION_SINCE, "TIME", 0,
     "completed within this time before the last event, such as 10s", 2},
    {"limit", OPTION_LIMIT, "COUNT", 0, "only the newest COUNT", 2},
    {"last", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 2},
    {NULL, 0, NULL, 0, "Of a picture or a page (with --rank and --since):", 3},
    {"axis", OPTION_AXIS, "AXIS", 0,
     "svg: time, or level: effects right of their causes", 3},
    {"begin", OPTION_BEGIN, "TIME", 0, "from this time of the run on, such as 1.5s", 3},
    {"end", OPTION_END, "TIME", 0, "to this time of the run", 3},
    {"cone", OPTION_CONE, "EVENT", 0,
     "svg: past and future of an event, such as 3.0:17", 3},
    {"width", OPTION_WIDTH, "PIXELS", 0, "svg: of the diagram (1200)", 3},
    {0},
};

static const char doc[] =
    "Writes the events of SET (a file of events, or - for standard input), of an "
    "archive DIR or of a RUN (up to now) in the format of another tool."
    "\vExit status: 0 success, 2 usage or input error, 3 contact with the run was "
    "lost.";

static bool is_picture(const struct export_arguments *arguments)
{
    return strcmp(arguments->config.format, "svg") == 0;
}

static bool is_page(const struct export_arguments *arguments)
{
    return strcmp(arguments->config.format, "html") == 0;
}

static bool is_otf2(const struct export_arguments *arguments)
{
    return strcmp(arguments->config.format, "otf2") == 0;
}

static void take_ranks(struct export_part *part, char *text, struct argp_state *state)
{
    struct es_error error = {.text = ""};
    int count;

    free(part->ranges);
    part->ranks = text;
    part->ranges = NULL;
    count = esi_rank_ranges_parse(text, &error, &part->ranges);
    if (count < 0)
        argp_error(state, "--rank: %s", error.text);
    part->range_count = count > 0 ? (size_t)count : 0;
}

static error_t parse_picture_option(int key, char *text, struct argp_state *state)
{
    static const char *const axes[] = {"time", "level", NULL};
    struct export_arguments *arguments = state->input;
    struct esi_export_picture *picture = &arguments->picture;

    switch (key) {
    case OPTION_AXIS:
        arguments->picture_option = "--axis";
        picture->axis =
            (enum esi_diagram_axis)esi_option_word(text, "--axis", axes, state);
        return 0;
    case OPTION_BEGIN:
        arguments->window_option = "--begin";
        picture->begin_ns = esi_option_duration(text, "--begin", 0, state);
        return 0;
    case OPTION_END:
        arguments->window_option = "--end";
        picture->end_ns = esi_option_duration(text, "--end", 1, state);
        return 0;
    case OPTION_CONE:
        arguments->picture_option = "--cone";
        picture->cone = text;
        return 0;
    case OPTION_WIDTH:
        arguments->picture_option = "--width";
        picture->width =
            (uint32_t)esi_option_number(text, "--width", 100, WIDTH_MAX, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Readers of the archive select the time themselves. */
static void check_otf2(const struct export_arguments *arguments,
                       struct argp_state *state)
{
    if (strcmp(arguments->config.path, "-") == 0)
        argp_error(state, "--to otf2 needs -o FOLDER");
    if (arguments->part.since_ns || arguments->part.limit)
        argp_error(state, "--to otf2 takes --rank, but not --since or --limit");
}

/* Checks combinations of options. */
static void check_options(struct export_arguments *arguments, struct argp_state *state)
{
    if (!arguments->source.path)
        argp_error(state, "no events given: SET, DIR or RUN");
    if (!arguments->config.format)
        argp_error(state, "--to FORMAT is needed");
    if ((is_picture(arguments) || is_page(arguments)) && arguments->part.limit)
        argp_error(state, "pictures and pages take --begin, --end and --since, but not "
                          "--limit");
    if (!is_picture(arguments) && arguments->picture_option)
        argp_error(state, "%s is for --to svg only", arguments->picture_option);
    if (!is_picture(arguments) && !is_page(arguments) && arguments->window_option)
        argp_error(state, "%s is for --to svg and html only", arguments->window_option);
    if (is_otf2(arguments))
        check_otf2(arguments, state);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct export_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->source;
        return 0;
    case OPTION_TO:
        /* "perfetto" is named after the tool that reads it. */
        arguments->config.format = strcmp(text, "perfetto") == 0 ? "chrome" : text;
        return 0;
    case 'r':
        take_ranks(&arguments->part, text, state);
        return 0;
    case OPTION_SINCE:
        arguments->part.since_ns = esi_option_duration(text, "--since", 1, state);
        return 0;
    case OPTION_LIMIT:
        arguments->part.limit =
            (uint64_t)esi_option_number(text, "--limit", 1, LLONG_MAX, state);
        return 0;
    case 'o':
        if (!*text)
            argp_error(state, "-o: the name of a file is needed");
        arguments->config.path = text;
        return 0;
    case ARGP_KEY_END:
        check_options(arguments, state);
        return 0;
    default:
        return parse_picture_option(key, text, state);
    }
}

/* --- A part ----------------------------------------------------------------------- */

static bool is_partial(const struct export_part *part)
{
    return part->ranks || part->since_ns || part->limit;
}

/* The rank of a trace "RANK" or "RANK.THREAD"; -1 = none. */
static int rank_of(const char *name)
{
    char *end;
    long rank = strtol(name, &end, 10);

    if (*name < '0' || *name > '9' || (*end && *end != '.') || rank >= INT_MAX)
        return -1;
    return end[strspn(end, ".0123456789")] == '\0' ? (int)rank : -1;
}

static bool has_trace(void *data, const char *name)
{
    struct export_part *part = data;
    int rank = rank_of(name);

    if (rank >= part->world)
        part->world = rank + 1;
    return !part->ranks ||
           (rank >= 0 && esi_rank_ranges_have(part->ranges, part->range_count, rank));
}

/* When an event ended, or else started. */
static bool find_end(const struct es_set_event *event, int64_t *ret_end_ns)
{
    return esi_event_number(event, "stop", ret_end_ns) ||
           esi_event_number(event, "start", ret_end_ns);
}

static bool begins_with(void *data, const struct es_set_event *event)
{
    struct export_part *part = data;
    int64_t end_ns;

    if (part->limit && part->skipped + part->limit < part->events) {
        part->skipped++;
        return false;
    }
    return !part->since_ns || (find_end(event, &end_ns) &&
                               end_ns >= part->last_ns - (int64_t)part->since_ns);
}

/* Reads the selected events into a sink. */
static int read_part(struct export_arguments *arguments,
                     const struct es_set_sink *sink,
                     bool whole_ranks,
                     struct esi_set_source_facts *ret_facts)
{
    struct esi_set_part_config config = {
        .sink = *sink,
        .has_trace = has_trace,
        .begins_with = whole_ranks ? NULL : begins_with,
        .data = &arguments->part,
    };
    struct esi_set_part *part;
    struct es_set_sink part_sink;
    int status;

    if (!is_partial(&arguments->part))
        return esi_event_source_read(&arguments->source, true, sink, 1, ret_facts);
    if (esi_set_part_create(&config, &part) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    arguments->part.skipped = 0;
    part_sink = esi_set_part_sink(part);
    status = esi_event_source_read(&arguments->source, true, &part_sink, 1, ret_facts);
    esi_set_part_destroy(part);
    return status;
}

/* --- First pass ------------------------------------------------------------------- */

static int count_event(void *data, const struct es_set_event *event)
{
    struct export_part *part = data;
    int64_t end_ns;

    part->events++;
    if (find_end(event, &end_ns) && (!part->has_last || end_ns > part->last_ns)) {
        part->has_last = true;
        part->last_ns = end_ns;
    }
    return 0;
}

/* Finds the start of the part, and whether it has events. */
static int measure_part(struct export_arguments *arguments)
{
    struct export_part *part = &arguments->part;
    const struct es_set_sink sink = {.event = count_event, .data = part};
    int status = read_part(arguments, &sink, true, NULL);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (part->ranks && part->world == 0)
        return esi_command_fail(ES_EXIT_USAGE,
                                "--rank: the names of the traces are not those of "
                                "ranks");
    if (part->since_ns && part->events > 0 && !part->has_last)
        return esi_command_fail(ES_EXIT_USAGE, "--since: the events have no times");
    return esi_view_check_ranks(part->ranks, part->world, "the set");
}

struct earliest {
    bool found;
    int64_t start_ns;
};

static int note_start(void *data, const struct es_set_event *event)
{
    struct earliest *earliest = data;
    int64_t start_ns;

    if ((esi_event_number(event, "start", &start_ns) ||
         esi_event_number(event, "stop", &start_ns)) &&
        (!earliest->found || start_ns < earliest->start_ns))
        *earliest = (struct earliest){true, start_ns};
    return 0;
}

/* Times are relative to the earliest. */
static int find_start(struct export_arguments *arguments)
{
    struct earliest earliest = {.found = false};
    const struct es_set_sink sink = {.event = note_start, .data = &earliest};
    int status = read_part(arguments, &sink, false, NULL);

    arguments->config.has_start = earliest.found;
    arguments->config.start_ns = earliest.start_ns;
    return status;
}

static int look_ahead(struct export_arguments *arguments)
{
    bool is_chrome = strcmp(arguments->config.format, "chrome") == 0;
    bool is_part = is_partial(&arguments->part);
    int status = ES_EXIT_SUCCESS;

    if (is_chrome || is_part)
        status = esi_event_source_keep(&arguments->source);
    if (status == ES_EXIT_SUCCESS && is_part)
        status = measure_part(arguments);
    if (status == ES_EXIT_SUCCESS && is_chrome)
        status = find_start(arguments);
    return status;
}

/* --- Writing ---------------------------------------------------------------------- */

/* Messages that arrive before they are sent. */
static void report_backward(const struct esi_export_counts *counts)
{
    if (counts->backward > 0)
        esi_command_note("messages that arrive before they are sent, by the clocks of "
                         "their hosts: %" PRIu64 " of %" PRIu64 ", whose arrows run "
                         "backwards; of an archive or a run 'eventspace events "
                         "--repair logical' shows corrected times",
                         counts->backward, counts->messages);
}

static int write_events(struct export_arguments *arguments, struct esi_export *export)
{
    const struct es_set_sink sink = esi_export_sink(export);
    struct esi_set_source_facts facts;
    struct esi_export_counts counts;
    struct es_error error = {.text = ""};
    int status = read_part(arguments, &sink, false, &facts);
    int result;

    if (status != ES_EXIT_SUCCESS)
        return status;
    result = esi_export_finish(export, &error);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the events");
    esi_event_source_tell_missing(&facts);
    counts = esi_export_counts(export);
    report_backward(&counts);
    if (strcmp(arguments->config.format, "dot") == 0 && counts.events > DOT_EVENTS)
        esi_command_note("%" PRIu64 " events: graphviz takes very long for more than "
                         "%d",
                         counts.events, DOT_EVENTS);
    return ES_EXIT_SUCCESS;
}

static int draw_diagram(struct export_arguments *arguments)
{
    struct esi_export_picture *picture = &arguments->picture;

    picture->path = arguments->config.path;
    picture->since_ns = arguments->part.since_ns;
    picture->ranges = arguments->part.ranges;
    picture->range_count = arguments->part.range_count;
    return is_page(arguments) ? esi_export_page(&arguments->source, picture)
                              : esi_export_picture(&arguments->source, picture);
}

static int export_events(struct export_arguments *arguments)
{
    struct es_error error = {.text = ""};
    struct esi_export *export;
    int result = esi_export_create(&arguments->config, &error, &export);
    int status;

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the events");
    status = write_events(arguments, export);
    esi_export_destroy(export);
    return status;
}

static int export_otf2(struct export_arguments *arguments)
{
    const struct export_part *part = &arguments->part;

    return esi_export_otf2(&arguments->source, arguments->config.path, part->ranges,
                           part->range_count);
}

static int export_set(struct export_arguments *arguments)
{
    int status = look_ahead(arguments);

    arguments->config.traces_first =
        esi_event_source_tells_traces_first(&arguments->source);
    return status == ES_EXIT_SUCCESS ? export_events(arguments) : status;
}

int esi_cmd_export(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_event_source_argp, 0, "Of a RUN:", 4}, {0}};
    static const struct argp parser = {
        options, parse_option, "SET|DIR|RUN --to FORMAT", doc, children, NULL, NULL};
    struct export_arguments arguments = {.config = {.path = "-"}};
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = is_picture(&arguments) || is_page(&arguments) ? draw_diagram(&arguments)
             : is_otf2(&arguments)                         ? export_otf2(&arguments)
                                                           : export_set(&arguments);
    esi_event_source_fini(&arguments.source);
    free(arguments.part.ranges);
    return status;
}
