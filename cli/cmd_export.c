/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace export - writes an event set in the formats of other tools. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "monitors/eventset/formats/export.h"

enum {
    OPTION_TO = 256,
};

enum { DOT_EVENTS = 2000 }; /* beyond, graphviz takes very long */

struct export_arguments {
    struct esi_event_source source;
    struct esi_export_config config;
};

static const struct argp_option options[] = {
    {"to", OPTION_TO, "FORMAT", 0,
     "event-set: JSON Lines; shiviz: a log for ShiViz; chrome: JSON trace events, for "
     "Perfetto; dot: a digraph for graphviz; csv: a line for each event",
     1},
    {"output", 'o', "FILE", 0, "the file to write; else standard output", 1},
    {0},
};

static const char doc[] =
    "Writes the events of SET (a file of events, or - for standard input), of an "
    "archive DIR or of a RUN (as far as it has come) in the format of another tool."
    "\vExit status: 0 success, 2 usage or input error, 3 contact with the run was "
    "lost.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct export_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->source;
        return 0;
    case OPTION_TO:
        arguments->config.format = text;
        return 0;
    case 'o':
        if (!*text)
            argp_error(state, "-o: the name of a file is needed");
        arguments->config.path = text;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->source.path)
            argp_error(state, "a SET, DIR or RUN is needed");
        if (!arguments->config.format)
            argp_error(state, "--to FORMAT is needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- When the first event was ----------------------------------------------------- */

struct earliest {
    bool found;
    int64_t start_ns;
};

static int ignore_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

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
    const struct es_set_sink sink = {
        .trace = ignore_trace, .event = note_start, .data = &earliest};
    int status = esi_event_source_keep(&arguments->source);

    if (status == ES_EXIT_SUCCESS)
        status = esi_event_source_read(&arguments->source, true, &sink, NULL);
    arguments->config.has_start = earliest.found;
    arguments->config.start_ns = earliest.start_ns;
    return status;
}

/* --- Writing ---------------------------------------------------------------------- */

/* Counts what goes into the export. */
struct counting {
    struct es_set_sink sink;
    uint64_t events;
};

static int pass_trace(void *data, uint32_t trace, const char *name)
{
    struct counting *counting = data;

    return counting->sink.trace(counting->sink.data, trace, name);
}

static int count_event(void *data, const struct es_set_event *event)
{
    struct counting *counting = data;

    counting->events++;
    return counting->sink.event(counting->sink.data, event);
}

/* Arrows that run backwards. */
static void report_backward(const struct esi_export *export)
{
    struct esi_export_counts counts = esi_export_counts(export);

    if (counts.backward > 0)
        esi_command_note("messages that arrive before they are sent, by the clocks of "
                         "their hosts: %" PRIu64 " of %" PRIu64 ", whose arrows run "
                         "backwards; of an archive or a run 'eventspace events "
                         "--repair logical' shows corrected times",
                         counts.backward, counts.messages);
}

static int write_events(const struct export_arguments *arguments,
                        struct esi_export *export)
{
    struct counting counting = {.sink = esi_export_sink(export)};
    const struct es_set_sink sink = {
        .trace = pass_trace, .event = count_event, .data = &counting};
    struct esi_set_source_facts facts;
    struct es_error error = {.text = ""};
    int status = esi_event_source_read(&arguments->source, true, &sink, &facts);
    int result;

    if (status != ES_EXIT_SUCCESS)
        return status;
    result = esi_export_finish(export, &error);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the events");
    esi_event_source_tell_missing(&facts);
    report_backward(export);
    if (strcmp(arguments->config.format, "dot") == 0 && counting.events > DOT_EVENTS)
        esi_command_note("%" PRIu64 " events: graphviz takes very long for more than "
                         "%d",
                         counting.events, DOT_EVENTS);
    return ES_EXIT_SUCCESS;
}

static int export_events(const struct export_arguments *arguments)
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

int esi_cmd_export(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_event_source_argp, 0, "Of a RUN:", 2}, {0}};
    static const struct argp parser = {
        options, parse_option, "SET|DIR|RUN --to FORMAT", doc, children, NULL, NULL};
    struct export_arguments arguments = {.config = {.path = "-"}};
    int status = ES_EXIT_SUCCESS;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (strcmp(arguments.config.format, "chrome") == 0)
        status = find_start(&arguments);
    arguments.config.traces_first =
        esi_event_source_tells_traces_first(&arguments.source);
    if (status == ES_EXIT_SUCCESS)
        status = export_events(&arguments);
    esi_event_source_fini(&arguments.source);
    return status;
}
