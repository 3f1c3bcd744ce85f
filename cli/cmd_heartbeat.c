/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace heartbeat - shows which threads make progress, and who waits for whom. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

#include "base/table.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "monitors/heartbeat/heartbeat_print.h"
#include "base/options.h"

enum { OPTION_ONCE = 256, OPTION_STALLED_AFTER };
enum { DEFAULT_STALLED_AFTER = 5 };

struct heartbeat_arguments {
    const char *run;
    enum esi_format format;
    uint64_t interval_ns;
    unsigned long long count; /* 0 = until the run ends */
    unsigned stalled_after;
    bool once;
    struct es_scope_config settings; /* of which the tree's are used */
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"interval", 'i', "SECONDS", 0, "time between two looks (1)", 0},
    {"count", 'n', "COUNT", 0, "end after so many looks; else when all have ended", 0},
    {"stalled-after", OPTION_STALLED_AFTER, "COUNT", 0,
     "looks without an event after which a thread counts as stalled (5)", 0},
    {"once", OPTION_ONCE, NULL, 0,
     "look once: stalled is who has been in one operation for as long as that many "
     "looks would take",
     0},
    {0},
};

static const char doc[] = "Shows what each thread of RUN does and whether it makes "
                          "progress: the last event, the "
                          "operation under way and since when.  For stalled threads it "
                          "tells who waits for whom, "
                          "names deadlocks, and the rank that holds the others up."
                          "\vVerdicts: progressing (an event since the last look), "
                          "computing (none, and in no MPI "
                          "operation), waiting (in one operation), polling (tests in "
                          "vain), stalled (waiting or "
                          "polling for too many looks), finished, dead.\n\n"
                          "Exit status: 0 all well, 1 a thread is stalled or dead at "
                          "the end, 2 usage, 3 the run vanished.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct heartbeat_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->consumer;
        state->child_inputs[2] = &arguments->settings;
        return 0;
    case 'i':
        arguments->interval_ns = esi_option_seconds(text, "--interval", state);
        return 0;
    case 'n':
        arguments->count =
            (unsigned long long)esi_option_number(text, "--count", 1, LLONG_MAX, state);
        return 0;
    case OPTION_STALLED_AFTER:
        arguments->stalled_after =
            (unsigned)esi_option_number(text, "--stalled-after", 1, INT_MAX, state);
        return 0;
    case OPTION_ONCE:
        arguments->once = true;
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        if (arguments->settings.tree.reduce || arguments->settings.sorting ||
            arguments->settings.lossless)
            argp_error(state, "--set: reduce, sort and lossless are not for the "
                              "heartbeat, which takes the latest of each thread");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void sleep_ns(uint64_t span_ns)
{
    struct timespec span = {.tv_sec = (time_t)(span_ns / UINT64_C(1000000000)),
                            .tv_nsec = (long)(span_ns % UINT64_C(1000000000))};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &span, &span) == EINTR)
        continue;
}

/* On a terminal each look takes the place of the one before. */
static int print_report(const struct esi_heartbeat_report *report,
                        const struct heartbeat_arguments *arguments)
{
    int result = 0;

    if (arguments->format == ES_FORMAT_JSON) {
        esi_heartbeat_print_json(report, stdout);
    } else {
        if (esi_command_is_terminal(stdout) && !arguments->once)
            fputs("\033[H\033[J", stdout);
        else if (report->pull > 1)
            fputs("\n", stdout);
        result = esi_heartbeat_print_text(report, stdout, esi_text_table_width(stdout));
    }
    return fflush(stdout) == 0 ? result : -EIO;
}

static bool has_ended(const struct esi_heartbeat_report *report)
{
    return report->thread_count &&
           report->finished + report->dead == report->thread_count;
}

static bool is_last(const struct esi_heartbeat_report *report,
                    const struct heartbeat_arguments *arguments)
{
    return arguments->once || report->vanished || has_ended(report) ||
           report->pull == arguments->count;
}

static int watch_run(struct esi_heartbeat *heartbeat,
                     const struct heartbeat_arguments *arguments)
{
    struct esi_notices notices = {.count = 0};
    struct esi_heartbeat_report report;

    for (;;) {
        int result = esi_heartbeat_beat(heartbeat, &report);

        if (result < 0)
            return esi_command_fail_error(ES_EXIT_LOST, NULL, result,
                                          "the run can no longer be read");
        esi_notices_show(&notices, report.notices, report.notice_count);
        result = print_report(&report, arguments);
        if (result < 0)
            return esi_command_fail_error(ES_EXIT_USAGE, NULL, result, "cannot print");
        if (is_last(&report, arguments))
            break;
        if (!report.paced)
            sleep_ns(arguments->interval_ns);
    }
    /* A run that ends well takes its segments with it; that is no loss of contact. */
    if (report.vanished && !has_ended(&report))
        return esi_command_fail(
            ES_EXIT_LOST, "run '%s': vanished, its segments were removed", report.run);
    return report.stalled || report.dead ? ES_EXIT_FINDING : ES_EXIT_SUCCESS;
}

static int observe_run(const struct esi_consumer *consumer,
                       const struct heartbeat_arguments *arguments)
{
    struct esi_heartbeat_config config = {.stalled_after = arguments->stalled_after,
                                          .servers = consumer->servers,
                                          .tree = &arguments->settings.tree};
    struct es_error error = {.text = ""};
    struct esi_heartbeat *heartbeat;
    int result;

    if (arguments->once)
        config.single_ns = arguments->interval_ns * arguments->stalled_after;
    result = esi_heartbeat_create(consumer->run, &config, &error, &heartbeat);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot observe the run");
    result = watch_run(heartbeat, arguments);
    esi_heartbeat_destroy(heartbeat);
    return result;
}

int esi_cmd_heartbeat(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0},
                                                 {&esi_consumer_argp, 0, NULL, 0},
                                                 {&esi_settings_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp parser = {options, parse_option, "[RUN]", doc, children, 0,
                                       0};
    struct heartbeat_arguments arguments = {.interval_ns = UINT64_C(1000000000),
                                            .stalled_after = DEFAULT_STALLED_AFTER};
    struct esi_consumer consumer;
    int status;

    es_scope_config_init(&arguments.settings);
    esi_command_parse(&parser, argc, argv, 0, &arguments);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = observe_run(&consumer, &arguments);
    esi_consumer_close(&consumer);
    return status;
}
