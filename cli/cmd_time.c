/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace time - where the time of a run goes. */
#include "config.h"

#include "base/now.h"
#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "cli/screen.h"
#include "monitors/delay/delay_print.h"

#define SECOND_NS UINT64_C(1000000000)
#define LEAST_INTERVAL_NS (SECOND_NS / 10)

enum { OPTION_BY = 256, OPTION_TOP, OPTION_WINDOW };

struct time_arguments {
    struct esi_event_source source;
    struct esi_delay_config config;
    struct esi_delay_style style;
    enum esi_rows_format format;
    uint64_t interval_ns;
};

/* State of the output for a followed run. */
struct time_show {
    const struct time_arguments *arguments;
    struct esi_delay *delay;
    struct esi_screen screen;
    uint64_t shown_ns; /* CLOCK_MONOTONIC of the last output */
};

static const struct argp_option options[] = {
    {"by", OPTION_BY, "GROUP", 0,
     "only this table: rank, operation, communicator, line or kind; or several", 0},
    {"top", OPTION_TOP, "COUNT", 0, "maximum number of rows of each table (20); 0: all",
     0},
    {"interval", 'i', "TIME", 0, "with --follow: time between two reports (5s)", 0},
    {"format", 'f', "FORMAT", 0, "text, json (JSON Lines) or csv (the first table)", 0},
    {"window", OPTION_WINDOW, "COUNT", OPTION_HIDDEN,
     "calls of a thread that are kept (4096)", 0},
    {0},
};

static const char doc[] =
    "Shows where the time of RUN, or of the archive DIR, goes: what calls waited for, "
    "the root causes of the waiting, and what is on the critical path; by rank, "
    "operation, communicator and source line."
    "\vFor a run it reads what its elements still hold, with --follow all new events.\n"
    "Exit status: 0 success, 2 usage or input error, 3 lost the run.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const groups[] = {"rank", "operation", "communicator",
                                         "line", "kind",      NULL};
    struct time_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->source;
        return 0;
    case OPTION_BY:
        arguments->style.groups |= 1u << esi_option_word(text, "--by", groups, state);
        return 0;
    case OPTION_TOP:
        arguments->style.top =
            (size_t)esi_option_number(text, "--top", 0, INT32_MAX, state);
        return 0;
    case OPTION_WINDOW:
        arguments->config.window =
            (size_t)esi_option_number(text, "--window", 16, 1 << 20, state);
        return 0;
    case 'i':
        arguments->interval_ns =
            esi_option_duration(text, "--interval", LEAST_INTERVAL_NS, state);
        return 0;
    case 'f':
        arguments->format = esi_command_rows_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->source.path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int print_report(const struct time_show *show)
{
    const struct time_arguments *arguments = show->arguments;

    switch (arguments->format) {
    case ESI_ROWS_JSON:
        return esi_delay_print_json(show->delay, &arguments->style, stdout);
    case ESI_ROWS_CSV:
        return esi_delay_print_csv(show->delay, &arguments->style, stdout);
    default:
        return esi_delay_print_text(show->delay, &arguments->style, stdout);
    }
}

static int show_report(struct time_show *show)
{
    int result = esi_delay_settle(show->delay);

    if (result == 0)
        result = esi_delay_find_critical(show->delay);
    if (result < 0)
        return result;
    esi_screen_begin(&show->screen);
    result = print_report(show);
    return result < 0 ? result : esi_screen_show(&show->screen);
}

/* Called between readings of a followed run. */
static int show_if_due(void *data,
                       const struct esi_causality_scope *reading,
                       uint64_t run_ns)
{
    struct time_show *show = data;
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    (void)reading;
    (void)run_ns;
    if (now_ns - show->shown_ns < show->arguments->interval_ns)
        return 0;
    show->shown_ns = now_ns;
    return show_report(show);
}

static int read_and_show(struct time_arguments *arguments)
{
    struct time_show show = {.arguments = arguments,
                             .shown_ns = esi_now_ns(CLOCK_MONOTONIC)};
    struct esi_set_source_facts facts;
    int result = esi_delay_create(&arguments->config, &show.delay);
    int status;

    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, result, "cannot begin");
    arguments->source.listener = esi_delay_listener(show.delay);
    arguments->source.paused = show_if_due;
    arguments->source.paused_data = &show;
    esi_screen_open(&show.screen, ES_COLOURS_NEVER,
                    arguments->source.follow && arguments->format == ESI_ROWS_TABLE);
    status = esi_event_source_read(&arguments->source, false, NULL, 0, &facts);
    if (status == ES_EXIT_SUCCESS) {
        result = show_report(&show);
        if (result < 0 || fflush(stdout) != 0)
            status = esi_command_fail_output(result);
    }
    esi_screen_close(&show.screen);
    if (status == ES_EXIT_SUCCESS && arguments->format == ESI_ROWS_TABLE) {
        esi_command_tell_left_out();
        esi_event_source_tell_missing(&facts);
    }
    esi_delay_destroy(show.delay);
    return status;
}

int esi_cmd_time(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_event_source_argp, 0, NULL, 0}, {&esi_wide_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        options, parse_option, "[RUN|DIR]", doc, children, 0, 0};
    struct time_arguments arguments = {
        .style.top = 20, .format = ESI_ROWS_TABLE, .interval_ns = 5 * SECOND_NS};
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.style.groups == 0)
        arguments.style.groups = (1u << ESI_DELAY_GROUPS) - 1;
    status = esi_event_source_refuse_set(&arguments.source);
    return status == ES_EXIT_SUCCESS ? read_and_show(&arguments) : status;
}
