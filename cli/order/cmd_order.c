/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace order - orders the events of a set, shows the cost, and answers questions
 * about the order. */
#include "config.h"

#include <string.h>

#include "base/now.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "cli/order/order_answer.h"
#include "cli/order/order_show.h"
#include "cli/order/store_options.h"
#include "monitors/eventset/trace_names.h"

enum {
    OPTION_STATS = 256,
    OPTION_QUERY,
};

struct order_arguments {
    struct esi_event_source source;
    struct esi_store_options store;
    bool statistics;
    bool is_summed_up; /* print a summary of the order */
    const char *questions;
    enum esi_format format;
};

static const struct argp_option options[] = {
    {"query", OPTION_QUERY, "FILE", 0, "queries, one per line; - for stdin", 1},
    {"stats", OPTION_STATS, NULL, 0, "size and cost of the order", 1},
    {0},
};

static const char doc[] =
    "Orders events (a file, or - for stdin; an archive; a run) causally."
    "\vA query is EVENT EVENT, or greatest-predecessors, least-successors, "
    "greatest-concurrent or concurrent and an EVENT, which is TRACE:INDEX.\n"
    "Exit status: 0 success, 2 usage or input error, 3 lost the run.";

static void check_options(struct order_arguments *arguments, struct argp_state *state)
{
    const char *path = arguments->source.path;

    if (!path)
        argp_error(state, "no events given: SET, DIR or RUN");
    if (arguments->questions && strcmp(arguments->questions, "-") == 0 &&
        strcmp(path, "-") == 0)
        argp_error(state, "standard input cannot be both the set and the questions");
    esi_store_options_check(&arguments->store, state);
    arguments->is_summed_up = arguments->statistics || !arguments->questions;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct order_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->store;
        state->child_inputs[2] = &arguments->source;
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
        return ARGP_ERR_UNKNOWN;
    }
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
        esi_order_show(building->order, origin, arguments->statistics,
                       arguments->format);
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
    int result = esi_order_create(&arguments->store.config, &error, &building.order);
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
        {&esi_store_options_argp, 0, NULL, 0},
        {&esi_event_source_argp, 0, "Of a RUN:", 3},
        {0}};
    static const struct argp parser = {options,  parse_option, "SET|DIR|RUN", doc,
                                       children, NULL,         NULL};
    struct order_arguments arguments = {.statistics = false};
    struct esi_unmatched unmatched = {.count = 0};
    int status;

    arguments.source.found = esi_unmatched_take;
    arguments.source.found_data = &unmatched;
    esi_store_options_init(&arguments.store);
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = esi_store_options_prepare(&arguments.store, &arguments.source);
    if (status == ES_EXIT_SUCCESS)
        status = order_events(&arguments);
    esi_store_options_fini(&arguments.store);
    esi_event_source_fini(&arguments.source);
    esi_unmatched_fini(&unmatched);
    return status;
}
