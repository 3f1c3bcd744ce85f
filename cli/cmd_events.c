/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace events - lists the events of a run, or of a view of it. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "base/now.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/interrupt.h"
#include "scopes/map_scope.h"
#include "cli/view_check.h"
#include "cli/view_options.h"
#include "monitors/events/events_print.h"
#include "base/options.h"

enum {
    OPTION_LAST = 256,
    OPTION_SINCE,
    OPTION_NEW,
    OPTION_SORT,
    OPTION_WINDOW,
    OPTION_ABSOLUTE,
    OPTION_LOSSLESS,
    OPTION_REDUCE,
    OPTION_SCOPE,
    OPTION_REPAIR,
    OPTION_SITES,
};

/* Interval of summaries with --follow. */
#define SUMMARIES_NS UINT64_C(1000000000)

struct events_arguments {
    const char *run;
    struct esi_events_config events;
    const char *scope; /* in the run's map; NULL = none */
    bool sorted;       /* requested explicitly */
    enum esi_rows_format format;
    bool follow;
    bool absolute;
    uint64_t since_ns; /* ago; 0 = not given */
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"limit", OPTION_LAST, "COUNT", 0, "only the newest COUNT", 1},
    {"last", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 1},
    {"since", OPTION_SINCE, "TIME", 0,
     "completed in this most recent time, such as 10s", 1},
    {"new", OPTION_NEW, NULL, 0, "no existing events (with --follow)", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"follow", 'F', NULL, 0, "go on until the run ends, or Ctrl-C", 2},
    {"lossless", OPTION_LOSSLESS, NULL, OPTION_HIDDEN,
     "the program waits for this reader", 2},
    {"sort", OPTION_SORT, "KEY", 0, "by stop (default), start or none", 2},
    {"window", OPTION_WINDOW, "TIME", OPTION_HIDDEN,
     "how long sorting waits for late events (10ms)", 2},
    {"reduce", OPTION_REDUCE, "REDUCTION", 0,
     "summaries instead: count, sum, minimum, maximum, mean, histogram, latest or "
     "earliest, such as 'mean of=bytes by=rank' or 'sum of=duration by=site'",
     2},
    {"scope", OPTION_SCOPE, "NAME", 0, "the view and the tree of this scope of the map",
     2},
    {"repair", OPTION_REPAIR, "HOW", OPTION_HIDDEN,
     "of impossible times: bound (default), logical, none", 2},
    {"sites", OPTION_SITES, NULL, 0, "also the call sites of the operations", 2},
    {"absolute", OPTION_ABSOLUTE, NULL, 0, "times since 1970 (text and CSV)", 2},
    {"format", 'f', "FORMAT", 0, "text, json (JSON Lines) or csv", 2},
    {0},
};

static const char doc[] =
    "Lists the MPI operations of RUN that are still in their elements, and those in "
    "progress, also of runs that hang or are dead."
    "\vPeers are world ranks; overwritten events are counted.\n"
    "Exit status: 0 success, 2 usage or input error, 3 the run vanished.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const keys[] = {"none", "stop", "start", NULL};
    static const char *const repairs[] = {"none", "bound", "logical", NULL};
    struct events_arguments *arguments = state->input;
    struct esi_events_config *events = &arguments->events;
    struct es_scope_config *settings = &events->scope;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->consumer;
        state->child_inputs[1] = settings;
        state->child_inputs[2] = &settings->view;
        return 0;
    case OPTION_LAST:
        events->last = (size_t)esi_option_number(text, "--limit", 1, 1 << 24, state);
        return 0;
    case OPTION_SINCE:
        arguments->since_ns = esi_option_duration(text, "--since", 0, state);
        return 0;
    case OPTION_NEW:
        settings->take = ES_TAKE_NEW;
        return 0;
    case 'F':
        arguments->follow = true;
        return 0;
    case OPTION_SORT:
        settings->sorting =
            (enum es_sorting)esi_option_word(text, "--sort", keys, state);
        arguments->sorted = true;
        return 0;
    case OPTION_REPAIR:
        events->repair =
            (enum esi_repair_mode)esi_option_word(text, "--repair", repairs, state);
        return 0;
    case OPTION_WINDOW:
        settings->window_ns = esi_option_duration(text, "--window", 0, state);
        return 0;
    case OPTION_LOSSLESS:
        settings->lossless = true;
        return 0;
    case OPTION_SCOPE:
        arguments->scope = text;
        return 0;
    case OPTION_REDUCE:
        settings->tree.reduce = text;
        return 0;
    case OPTION_SITES:
        events->sites = true;
        return 0;
    case OPTION_ABSOLUTE:
        arguments->absolute = true;
        return 0;
    case 'f':
        arguments->format = esi_command_rows_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

_Static_assert(ES_SORTING_NONE == 0 && ES_SORTING_STOP == 1 && ES_SORTING_START == 2,
               "the words of --sort stand in the order of the enum");
_Static_assert(ES_REPAIR_NONE == 0 && ES_REPAIR_BOUND == 1 && ES_REPAIR_LOGICAL == 2,
               "the words of --repair stand in the order of the enum");
_Static_assert(ESI_ROWS_TABLE == 0 && ESI_ROWS_JSON == 1 && ESI_ROWS_CSV == 2,
               "the words of --format stand in the order of the enum");

/* Reads until the run has ended and all data was read, or an interrupt. */
static int follow_run(struct esi_events *events,
                      const struct esi_event_sink *sink,
                      struct esi_notices *notices)
{
    static const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    const struct esi_follower *follower = esi_events_follower(events);
    uint64_t shown_ns = esi_now_ns(CLOCK_REALTIME);

    for (;;) {
        bool is_interrupt = esi_interrupt_came();
        /* Checked first: everything written before that is read below. */
        bool over = is_interrupt || esi_follower_is_over(follower);
        int result = esi_events_read_new(events, over, sink);

        if (result < 0)
            return result;
        esi_notices_follow(notices, follower);
        if (is_interrupt || (result == 0 && over))
            return 0;
        if (esi_now_ns(CLOCK_REALTIME) - shown_ns >= SUMMARIES_NS) {
            if (esi_events_give_summaries(events, sink) < 0)
                return -EIO;
            shown_ns = esi_now_ns(CLOCK_REALTIME);
        }
        if (fflush(stdout) != 0)
            return -EIO;
        if (result == 0 && !es_scope_is_paced(esi_follower_scope(follower)))
            nanosleep(&pause, NULL);
    }
}

/* Formats without a place for it: on standard error. */
static void tell_repairs(const struct esi_time_repair_totals *repairs)
{
    if (repairs->repaired > 0)
        esi_command_note("%" PRIu64 " of %" PRIu64
                         " times were impossible and were repaired; %" PRIu64
                         " events were moved, by %" PRIu64 " ns at most",
                         repairs->repaired, repairs->checked, repairs->moved,
                         repairs->largest_ns);
    if (repairs->beyond > 0)
        esi_command_note("%" PRIu64 " of %" PRIu64
                         " times are impossible by more than the clocks' bounds",
                         repairs->beyond, repairs->checked);
}

/* On standard error: in text, which has no place for it, and for followed runs. */
static void tell_losses(const struct esi_events_printer *printer,
                        bool follow,
                        uint64_t lost,
                        uint64_t missed)
{
    char shown[48] = "";
    char gone[96] = "";

    if (!follow && (printer->format != ESI_ROWS_TABLE || lost + missed == 0))
        return;
    if (follow)
        snprintf(shown, sizeof shown, "%" PRIu64 " %s shown, ", printer->shown,
                 printer->summed_up ? "summaries" : "events");
    if (missed > 0)
        snprintf(gone, sizeof gone,
                 ", %" PRIu64 " overwritten before the reading began", missed);
    /* After the "^C" shown by the terminal. */
    if (esi_interrupt_came() && esi_command_is_terminal(stderr))
        fputc('\n', stderr);
    esi_command_note("%s%" PRIu64 " lost while reading%s", shown, lost, gone);
}

static int list_events(struct esi_events *events,
                       const struct events_arguments *arguments)
{
    /* JSON has both. */
    bool is_absolute = arguments->absolute && arguments->format != ESI_ROWS_JSON;
    const struct es_scope *scope = esi_follower_scope(esi_events_follower(events));
    struct esi_events_printer printer = {
        .format = arguments->format,
        .stream = stdout,
        .width = esi_text_table_width(stdout),
        .start_ns = is_absolute ? 0 : esi_events_start_ns(events),
        .realtime_ns = es_scope_run_now_ns(scope),
        .by_start = arguments->events.scope.sorting == ES_SORTING_START,
        .sites = arguments->events.sites,
        .summed_up = esi_events_are_summed_up(events),
    };
    struct esi_event_sink sink = esi_events_printer_sink(&printer);
    struct esi_notices notices = {.count = 0};
    struct esi_time_repair_totals repairs;
    uint64_t lost;
    uint64_t missed;
    int result;

    esi_events_print_header(&printer);
    result = esi_events_read_backlog(events, !arguments->follow, &sink);
    if (result == 0)
        esi_notices_follow(&notices, esi_events_follower(events));
    if (result == 0 && arguments->follow)
        result = follow_run(events, &sink, &notices);
    printer.realtime_ns = es_scope_run_now_ns(scope);
    if (result == 0)
        result = esi_events_give_summaries(events, &sink);
    if (result == 0 && !esi_interrupt_came())
        result = esi_events_read_open(events, &sink);
    if (result < 0)
        return result;
    esi_follower_losses(esi_events_follower(events), &lost, &missed);
    if (esi_events_repairs(events, &repairs)) {
        printer.repairs = &repairs;
        if (printer.format != ESI_ROWS_JSON)
            tell_repairs(&repairs);
    }
    esi_events_print_losses(&printer, lost, missed);
    if (fflush(stdout) != 0)
        return -EIO;
    tell_losses(&printer, arguments->follow, lost, missed);
    return 0;
}

static int show_events(const struct esi_consumer *consumer,
                       struct events_arguments *arguments)
{
    struct es_scope_config *settings = &arguments->events.scope;
    struct es_error error = {.text = ""};
    struct esi_events *events;
    int result;

    /* Summaries are only sorted on request. */
    if (settings->tree.reduce && !arguments->sorted)
        settings->sorting = ES_SORTING_NONE;
    settings->servers = consumer->servers;
    if (arguments->since_ns)
        arguments->events.since_ns =
            (consumer->servers ? es_servers_run_now_ns(consumer->servers)
                               : esi_now_ns(CLOCK_REALTIME)) -
            arguments->since_ns;
    result = esi_events_create(consumer->run, &arguments->events, &error, &events);

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the events of run '%s'",
                                      es_run_name(consumer->run));
    result = list_events(events, arguments);
    esi_events_destroy(events);
    if (result == -EIO)
        return esi_command_fail_output(result);
    if (result < 0)
        return esi_command_fail_lost(es_run_name(consumer->run), result);
    return ES_EXIT_SUCCESS;
}

/* Uses view and tree from the run's map. */
static int show_scope(const struct esi_consumer *consumer,
                      struct events_arguments *arguments)
{
    struct es_scope_config *settings = &arguments->events.scope;
    const struct es_scope_config given = *settings;
    struct es_error error = {.text = ""};
    struct esi_map_scope scope;
    int result = esi_map_scope_load(es_run_name(consumer->run), consumer->servers,
                                    &error, &scope);
    int status;

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot read the map of run '%s'",
                                      es_run_name(consumer->run));
    es_scope_config_init(settings);
    settings->view = given.view;
    settings->take = given.take;
    result = esi_map_scope_apply(&scope, arguments->scope, settings, &error);
    status = result < 0 ? esi_command_fail(ES_EXIT_USAGE, "--scope %s: %s",
                                           arguments->scope, error.text)
                        : show_events(consumer, arguments);
    esi_map_scope_fini(&scope);
    return status;
}

int esi_cmd_events(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0},
                                                 {&esi_settings_argp, 0, NULL, 0},
                                                 {&esi_view_argp, 0, NULL, 0},
                                                 {&esi_wide_argp, 0, NULL, 2},
                                                 {0}};
    static const struct argp parser = {options,  parse_option, "[RUN]", doc,
                                       children, NULL,         NULL};
    struct events_arguments arguments = {.run = NULL};
    struct esi_consumer consumer;
    int status;

    es_scope_config_init(&arguments.events.scope);
    arguments.events.scope.sorting = ES_SORTING_STOP;
    arguments.events.repair = ES_REPAIR_BOUND;
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.follow)
        esi_interrupt_catch(ES_INTERRUPT_FIRST);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = esi_view_check(&consumer, &arguments.events.scope.view, arguments.follow);
    if (status == ES_EXIT_SUCCESS)
        status = arguments.scope ? show_scope(&consumer, &arguments)
                                 : show_events(&consumer, &arguments);
    esi_consumer_close(&consumer);
    return status;
}
