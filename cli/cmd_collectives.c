/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace collectives - who waits for whom in collective operations, and for how
 * long. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/advice_show.h"
#include "cli/collective_causes.h"
#include "monitors/advice/adviser.h"
#include "cli/consumer.h"
#include "cli/interrupt.h"
#include "cli/screen.h"
#include "eventspace/operation.h"
#include "monitors/collectives/collectives_map.h"
#include "monitors/collectives/collectives_print.h"
#include "monitors/collectives/node_watch.h"
#include "base/options.h"

enum {
    OPTION_TOP = 256,
    OPTION_OPERATION,
    OPTION_SINCE,
    OPTION_BY_SIZE,
    OPTION_INSTANCES,
    OPTION_ONCE,
    OPTION_BLAME_OVER,
    OPTION_NODES,
    OPTION_MAP,
    OPTION_PRINT_MAP,
    OPTION_ADVISE,
    OPTION_APPLY,
    OPTION_AFTER,
};
enum { DEFAULT_TOP = 20 };

/* Maximum delay of the reaction to a signal. */
#define SLICE_NS UINT64_C(100000000)
/* Time without output after which the user is told why. */
#define SILENT_NS UINT64_C(1500000000)

struct collectives_arguments {
    const char *run;
    enum esi_format format;
    enum esi_colours colours;
    struct esi_collectives_monitor_config monitor;
    size_t top;
    uint64_t interval_ns;
    unsigned long long count; /* number of reports; 0 = until the run ends */
    bool follow;
    bool instances;
    bool nodes;
    const char *map_path; /* NULL = the monitor's default */
    bool print_map;
    struct esi_collectives_advise advise;
    struct esi_collectives_map *map; /* owned; NULL = none is needed */
    double blame_over;               /* percent; negative = not requested */
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which operations:", 1},
    {"comm", 'c', "PATTERN", 0, "on communicators whose name matches, such as 'grid*'",
     1},
    {"operation", OPTION_OPERATION, "NAMES", 0, "only these, such as allreduce,barrier",
     1},
    {"since", OPTION_SINCE, "TIME", 0,
     "begun in this most recent time; or @TIME: after that", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"limit", OPTION_TOP, "COUNT", 0, "maximum number, the most costly first (20)", 2},
    {"top", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 2},
    {"by-size", OPTION_BY_SIZE, NULL, 0, "separate rows for sizes, by powers of eight",
     2},
    {"instances", OPTION_INSTANCES, NULL, 0, "also each single operation", 2},
    {"nodes", OPTION_NODES, NULL, 0, "also the internal nodes of instrumented trees",
     2},
    {"map", OPTION_MAP, "FILE", OPTION_HIDDEN, "the monitor's own pathmap", 2},
    {"print-map", OPTION_PRINT_MAP, NULL, OPTION_HIDDEN,
     "print the map that would be used, and end", 2},
    {"interval", 'i', "TIME", 0, "time between two updates (1)", 2},
    {"count", 'n', "COUNT", 0, "end after this number of updates", 2},
    {"once", OPTION_ONCE, NULL, 0, "show existing operations, without waiting for more",
     2},
    {"follow", 'F', NULL, 0, "show each update, as on a terminal", 2},
    {"blame-over", OPTION_BLAME_OVER, "PERCENT", 0,
     "status 1 if a rank costs more than this", 2},
    {NULL, 0, NULL, 0, "Better trees:", 3},
    {"advise", OPTION_ADVISE, NULL, 0, "also which tree would be faster", 3},
    {"apply", OPTION_APPLY, NULL, 0, "apply the best advice, and evaluate it", 3},
    {"after", OPTION_AFTER, "COUNT", OPTION_HIDDEN,
     "operations that --apply judges by (32)", 3},
    {0},
};

static const char doc[] =
    "Shows for the collective operations of RUN, until it ends, how long they take, "
    "how far apart ranks arrive, what is lost by waiting, and for whom."
    "\vSPREAD is the time between the first and the last enter, IN TREE from there to "
    "the last exit, LOST the sum of all ranks' waiting.\n"
    "Exit status: 0 success, 1 a rank costs more than --blame-over, 2 usage or input "
    "error, 3 the run vanished.";

static error_t parse_view(int key, char *text, struct argp_state *state)
{
    struct collectives_arguments *arguments = state->input;
    struct esi_collectives_monitor_config *monitor = &arguments->monitor;
    struct es_error error = {.text = ""};

    switch (key) {
    case 'c':
        monitor->communicator = text;
        return 0;
    case OPTION_OPERATION:
        monitor->operations = text;
        if (esi_collectives_monitor_config_check(monitor, &error) < 0)
            argp_error(state, "--operation: %s", error.text);
        return 0;
    case OPTION_SINCE:
        if (*text == '@')
            monitor->since_ns = esi_option_duration(text + 1, "--since", 0, state);
        else
            monitor->recent_ns = esi_option_duration(text, "--since", 0, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct collectives_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->consumer;
        state->child_inputs[2] = &arguments->monitor.scope;
        state->child_inputs[4] = &arguments->colours;
        return 0;
    case OPTION_TOP:
        arguments->top = (size_t)esi_option_number(text, "--limit", 1, INT_MAX, state);
        return 0;
    case OPTION_BY_SIZE:
        arguments->monitor.by_size = true;
        return 0;
    case OPTION_INSTANCES:
        arguments->instances = true;
        return 0;
    case OPTION_MAP:
        arguments->map_path = text;
        return 0;
    case OPTION_PRINT_MAP:
        arguments->print_map = true;
        return 0;
    case OPTION_NODES:
        arguments->nodes = true;
        return 0;
    case OPTION_ADVISE:
        arguments->advise.wanted = true;
        return 0;
    case OPTION_APPLY:
        arguments->advise.wanted = true;
        arguments->advise.apply = true;
        return 0;
    case OPTION_AFTER:
        arguments->advise.after =
            (size_t)esi_option_number(text, "--after", 8, INT_MAX, state);
        return 0;
    case 'i':
        arguments->interval_ns = esi_option_duration(text, "--interval", 0, state);
        return 0;
    case 'n':
        arguments->count =
            (unsigned long long)esi_option_number(text, "--count", 1, LLONG_MAX, state);
        return 0;
    case OPTION_ONCE:
        arguments->monitor.once = true;
        return 0;
    case 'F':
        arguments->follow = true;
        return 0;
    case OPTION_BLAME_OVER:
        arguments->blame_over = esi_option_real(text, "--blame-over", 100, "%", state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        if (arguments->monitor.scope.tree.reduce)
            argp_error(state, "--set: reduce cannot be set: the analysis needs every "
                              "operation");
        if (arguments->advise.apply && arguments->monitor.once)
            argp_error(state, "--apply and --once: give one of them; --apply "
                              "measures after each change");
        return 0;
    default:
        return parse_view(key, text, state);
    }
}

/* --- Output ----------------------------------------------------------------------- */

/* State of displaying a run. */
struct showing {
    const struct collectives_arguments *arguments;
    const char *run;
    struct esi_collectives_monitor *monitor;
    struct esi_node_watch *nodes; /* NULL = not requested */
    struct esi_adviser *adviser;  /* NULL = not requested */
    struct esi_cause_finder causes;
    struct esi_notices notices;
    uint64_t start_ns;
    uint64_t waited_ns;
    bool live;  /* each report replaces the last, on a terminal */
    bool shown; /* a report was shown before */
    bool last;  /* this is the last report */
    struct esi_screen screen;
};

static void print_instance(void *data, const struct esi_collective_instance *instance)
{
    const struct showing *showing = data;

    if (showing->arguments->format == ES_FORMAT_JSON)
        esi_collectives_print_instance_json(instance, showing->start_ns, stdout);
    else
        esi_collectives_print_instance(instance, showing->start_ns, stdout);
}

static int print_nodes(const struct showing *showing)
{
    enum esi_format format = showing->arguments->format;
    int result;

    if (!showing->nodes)
        return 0;
    if (format == ES_FORMAT_TEXT)
        fputs("\n", stdout);
    result = esi_node_watch_print(showing->nodes, esi_format_rows(format), stdout);
    return result < 0 ? result : 0;
}

static int print_report(struct showing *showing,
                        const struct esi_collectives_report *report)
{
    const struct collectives_arguments *arguments = showing->arguments;
    struct esi_collectives_causes causes = esi_causes(&showing->causes);

    int result = 0;

    if (arguments->format == ES_FORMAT_JSON) {
        result =
            esi_collectives_print_json(report, showing->run, arguments->top, stdout);
        return result < 0 ? result
                          : esi_causes_print_json(&showing->causes, report, stdout);
    }
    if (showing->shown && !esi_screen_is_live(&showing->screen))
        fputs("\n", stdout);
    showing->shown = true;
    return esi_collectives_print_text(report, arguments->top, &causes, stdout);
}

static int print_advice(const struct showing *showing, bool wanted, bool over)
{
    const struct collectives_arguments *arguments = showing->arguments;
    int result =
        esi_adviser_look(showing->adviser, showing->monitor, over, showing->last);

    if (result == 0 && wanted)
        esi_advice_show(showing->adviser, arguments->format, arguments->top);
    return result;
}

/* Takes a report, prints it if `wanted`, and the new instances. */
static int show_report(struct showing *showing,
                       bool wanted,
                       struct esi_collectives_report *ret_report)
{
    int result = esi_collectives_monitor_report(showing->monitor, ret_report);
    int shown;

    if (result < 0)
        return result;
    if (!ret_report->over) /* servers end with their run */
        esi_notices_show(&showing->notices, ret_report->notices,
                         ret_report->notice_count);
    showing->start_ns = ret_report->start_ns;
    if (wanted)
        esi_screen_begin(&showing->screen);
    if (showing->arguments->instances)
        esi_collectives_monitor_take(showing->monitor, print_instance, showing);
    if (wanted)
        result = print_report(showing, ret_report);
    if (wanted && result == 0)
        result = print_nodes(showing);
    if (showing->adviser && result == 0)
        result = print_advice(showing, wanted, ret_report->over);
    shown = wanted ? esi_screen_show(&showing->screen) : fflush(stdout) ? -EIO : 0;
    result = result < 0 ? result : shown;
    if (result < 0)
        esi_collectives_report_fini(ret_report);
    return result;
}

/* Tells a user who sees no output that only the final result will be printed. */
static void tell_waiting(struct showing *showing, uint64_t slice_ns)
{
    const struct collectives_arguments *arguments = showing->arguments;
    bool was_silent = showing->waited_ns < SILENT_NS;

    showing->waited_ns += slice_ns;
    if (showing->live || arguments->follow || arguments->instances || !was_silent ||
        showing->waited_ns < SILENT_NS)
        return;
    esi_command_note("reading run '%s'; the report follows %s, or on Ctrl-C; --once "
                     "shows what exists now, --follow each update",
                     showing->run,
                     arguments->count ? "after the last update" : "when the run ends");
}

/* Waits for an interval.  Returns whether the monitor has ended. */
static bool wait_interval(struct showing *showing)
{
    uint64_t left_ns = showing->arguments->interval_ns;

    while (left_ns > 0 && !esi_interrupt_came()) {
        uint64_t slice_ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;

        if (esi_collectives_monitor_wait(showing->monitor, slice_ns))
            return true;
        left_ns -= slice_ns;
        tell_waiting(showing, slice_ns);
    }
    return esi_collectives_monitor_wait(showing->monitor, 0);
}

/* Prints one report after the other, except the last, which the caller prints. */
static int follow_run(struct showing *showing)
{
    const struct collectives_arguments *arguments = showing->arguments;
    bool wanted = showing->live || arguments->follow;

    for (unsigned long long looks = 1;; looks++) {
        struct esi_collectives_report report;
        int result;

        if (wait_interval(showing) || esi_interrupt_came() || looks == arguments->count)
            return 0;
        result = show_report(showing, wanted, &report);
        if (result < 0)
            return result;
        esi_collectives_report_fini(&report);
    }
}

static int check_arguments(const struct showing *showing,
                           const struct esi_collectives_report *report)
{
    const struct collectives_arguments *arguments = showing->arguments;
    int rank;
    double share = esi_collectives_worst(report, &rank);

    if (rank >= 0 && share > 0 && !report->vanished &&
        arguments->format == ES_FORMAT_TEXT)
        esi_command_hint("eventspace events --rank %d --limit 10 %s shows what rank %d "
                         "did before",
                         rank, showing->run, rank);
    if (arguments->blame_over < 0 || rank < 0 || share * 100 <= arguments->blame_over)
        return ES_EXIT_SUCCESS;
    return ES_EXIT_FINDING;
}

static int fail_monitor(const struct showing *showing, int result)
{
    if (result == -EIO)
        return esi_command_fail_output(result);
    return esi_command_fail_lost(showing->run, result);
}

static int watch_run(struct showing *showing)
{
    struct esi_collectives_report report;
    int result = follow_run(showing);
    int stopped = esi_collectives_monitor_stop(showing->monitor);
    int status;

    esi_node_watch_stop(showing->nodes);
    showing->last = true;
    if (result == 0)
        result = show_report(showing, true, &report);
    if (result < 0)
        return fail_monitor(showing, result);
    status = check_arguments(showing, &report);
    if (report.vanished && !report.over)
        status = esi_command_fail(
            ES_EXIT_LOST, "run '%s' vanished: its segments were removed", showing->run);
    esi_collectives_report_fini(&report);
    return stopped < 0 ? fail_monitor(showing, stopped) : status;
}

/* Analyses internal nodes; on failure prints a message and continues without. */
static void watch_nodes(const struct esi_consumer *consumer, struct showing *showing)
{
    struct esi_tree_nodes_config config;
    struct es_error error = {.text = ""};

    esi_tree_nodes_config_init(&config);
    if (showing->arguments->map
            ? !esi_collectives_map_nodes(showing->arguments->map, &config.scope)
            : !showing->arguments->nodes)
        return;
    config.run = showing->run;
    config.servers = consumer->servers;
    if (esi_node_watch_start(&config, &error, &showing->nodes) < 0)
        esi_command_note("internal nodes of trees are not shown: %s", error.text);
}

static int start_and_watch(const struct esi_consumer *consumer, struct showing *showing)
{
    struct es_error error = {.text = ""};
    int result;

    watch_nodes(consumer, showing);
    result = esi_collectives_monitor_start(consumer->run, &showing->arguments->monitor,
                                           &error, &showing->monitor);
    result = result < 0 ? esi_command_fail_observe(showing->run, &error, result)
                        : watch_run(showing);
    esi_collectives_monitor_destroy(showing->monitor);
    esi_node_watch_destroy(showing->nodes);
    return result;
}

/* Returns 0, or the exit status after a message. */
static int open_adviser(const struct esi_consumer *consumer,
                        struct collectives_arguments *arguments,
                        struct esi_adviser **ret_adviser)
{
    const struct esi_tree_hosts hosts = esi_consumer_tree_hosts(consumer);
    struct es_error error = {.text = ""};
    int code = esi_adviser_open(&hosts, &arguments->advise, &arguments->monitor, &error,
                                ret_adviser);

    if (code == 0)
        return 0;
    return esi_command_fail_error(code == -ESRCH ? ES_EXIT_LOST : ES_EXIT_USAGE, &error,
                                  code, "cannot give advice on trees of run '%s'",
                                  es_run_name(consumer->run));
}

/* Instances are printed above the reports, so a live screen is not possible. */
static int watch_on_screen(const struct esi_consumer *consumer, struct showing *showing)
{
    const struct collectives_arguments *arguments = showing->arguments;
    bool is_text = arguments->format == ES_FORMAT_TEXT;
    int status;

    esi_screen_open(&showing->screen, is_text ? arguments->colours : ES_COLOURS_NEVER,
                    showing->live && !arguments->instances);
    status = start_and_watch(consumer, showing);
    esi_screen_close(&showing->screen);
    return status;
}

static int observe_run(const struct esi_consumer *consumer,
                       struct collectives_arguments *arguments)
{
    struct showing showing = {.arguments = arguments,
                              .run = es_run_name(consumer->run)};
    int status = 0;

    esi_causes_init(&showing.causes, consumer);
    arguments->monitor.scope.servers = consumer->servers;
    arguments->monitor.keep_instances = arguments->instances;
    showing.live = arguments->format == ES_FORMAT_TEXT &&
                   esi_command_is_terminal(stdout) && !arguments->monitor.once;
    if (arguments->advise.wanted)
        status = open_adviser(consumer, arguments, &showing.adviser);
    if (status == 0)
        status = watch_on_screen(consumer, &showing);
    esi_adviser_close(showing.adviser);
    esi_causes_fini(&showing.causes);
    return status;
}

/* --- The monitor's map ------------------------------------------------------------ */

/* Loads the given map, or generates the one to print.  Returns 0, or the exit status
 * after a message. */
static int load_map(const struct esi_consumer *consumer,
                    struct collectives_arguments *arguments)
{
    struct es_error error = {.text = ""};
    int result = 0;

    if (arguments->map_path)
        result = esi_collectives_map_load(arguments->map_path, &error, &arguments->map);
    else if (arguments->print_map)
        result = esi_collectives_map_discover(
            es_run_name(consumer->run), consumer->servers, &error, &arguments->map);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               arguments->map_path
                                                   ? "cannot load the monitor's map"
                                                   : "cannot make the monitor's map")
                      : 0;
}

static int print_map(const struct esi_collectives_map *map)
{
    char *text;
    int result = esi_collectives_map_format(map, &text);

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, result,
                                      "cannot print the monitor's map");
    fputs(text, stdout);
    free(text);
    return ES_EXIT_SUCCESS;
}

static int observe_by_map(const struct esi_consumer *consumer,
                          struct collectives_arguments *arguments)
{
    struct es_scope_config *scope = &arguments->monitor.scope;
    int status = load_map(consumer, arguments);

    if (status != 0)
        return status;
    if (arguments->print_map)
        return print_map(arguments->map);
    if (arguments->map && !esi_collectives_map_contributions(arguments->map, scope))
        return esi_command_fail(ES_EXIT_USAGE,
                                "--map %s: the map lacks the scope 'contributions'; "
                                "--print-map shows a map that has it",
                                arguments->map_path);
    /* The contributions of ranks show which operations use trees. */
    if (arguments->map)
        scope->view.selection.classes |= 1u << ES_CLASS_CONTRIBUTE;
    return observe_run(consumer, arguments);
}

int esi_cmd_collectives(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_format_argp, 0, NULL, 0},   {&esi_consumer_argp, 0, NULL, 0},
        {&esi_settings_argp, 0, NULL, 0}, {&esi_wide_argp, 0, NULL, 0},
        {&esi_colours_argp, 0, NULL, 0},  {0}};
    static const struct argp parser = {options, parse_option, "[RUN]", doc, children, 0,
                                       0};
    struct collectives_arguments arguments = {.top = DEFAULT_TOP,
                                              .interval_ns = UINT64_C(1000000000),
                                              .blame_over = -1,
                                              .advise = {.after = 32}};
    struct esi_consumer consumer;
    int status;

    esi_collectives_monitor_config_init(&arguments.monitor);
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    /* Before anything that takes time: from here on, a signal ends the monitoring with
     * a summary, however often it is sent: timeout(1) and terminals send it to a
     * process and to its group.  All waits after that have a time limit. */
    esi_interrupt_catch(ES_INTERRUPT_EACH);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = observe_by_map(&consumer, &arguments);
    esi_collectives_map_destroy(arguments.map);
    esi_consumer_close(&consumer);
    return status;
}
