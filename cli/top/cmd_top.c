/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace top - what each rank does, as a table that is updated periodically. */
#include "config.h"

#include <errno.h>
#include <limits.h>

#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/interrupt.h"
#include "cli/observe.h"
#include "cli/screen.h"
#include "cli/top/top_screen.h"
#include "monitors/top/top_print.h"

#define SECOND_NS UINT64_C(1000000000)
#define LEAST_INTERVAL_NS (SECOND_NS / 10)

enum {
    OPTION_SORT = 256,
    OPTION_FILTER,
    OPTION_BY,
    OPTION_WAITS,
    OPTION_STALLED_AFTER
};

struct top_arguments {
    const char *run;
    struct esi_top_settings settings;
    uint64_t stalled_after_ns;
    enum esi_format format;
    enum esi_colours colours;
    bool batch;
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"batch", 'b', NULL, 0, "print the table at each interval; no keys, no terminal",
     0},
    {"count", 'n', "COUNT", 0,
     "end after this number of updates; default: when all have ended, or q", 0},
    {"interval", 'i', "TIME", 0, "time between two updates (1s), at least 100ms", 0},
    {"sort", OPTION_SORT, "COLUMN", 0,
     "by rank, host, state (default), for, doing, peer, events, mpi, caused, suffered "
     "or line; a leading - inverts the order",
     0},
    {"filter", OPTION_FILTER, "TEXT", 0,
     "only ranks that match all these words: ranks such as 0-3,7, or a part of host, "
     "state, operation or line",
     0},
    {"by", OPTION_BY, "SHAPE", 0, "rows: rank (default), tree (hosts with ranks), host",
     0},
    {"waits", OPTION_WAITS, NULL, 0,
     "also who makes others wait, and who waits: reads all events, for at most a fifth "
     "of the time",
     0},
    {"stalled-after", OPTION_STALLED_AFTER, "TIME", 0,
     "time in one operation, or polling without success, after which a rank counts as "
     "stalled (5s)",
     0},
    {0},
};

static const char doc[] =
    "Shows what each rank of RUN does, on a terminal: its state and since when, the "
    "operation and whom it waits for, events per second, the share of its time in MPI, "
    "and the source line; above that a summary of the run, below the verdict of 'why'."
    "\vKeys: arrows, PgUp, PgDn; F3 or / search, F4 or \\ filter, F5 or t tree, F6 "
    "sort, Z pause, F1 or h help, q quit.\n\n"
    "Exit status: 0 success, 2 usage or input error, 3 the run can no longer be read.";

/* "-events" */
static void parse_sort(const char *text,
                       struct esi_top_choice *choice,
                       struct argp_state *state)
{
    const char *words[ESI_TOP_COLUMNS + 1] = {NULL};

    for (int i = 0; i < ESI_TOP_COLUMNS; i++)
        words[i] = esi_top_column_info((enum esi_top_column)i)->key;
    choice->turned = *text == '-';
    choice->sort = (enum esi_top_column)esi_option_word(text + choice->turned, "--sort",
                                                        words, state);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const shapes[] = {"rank", "tree", "host", NULL};
    struct top_arguments *arguments = state->input;
    struct esi_top_settings *settings = &arguments->settings;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->format;
        state->child_inputs[1] = &arguments->consumer;
        state->child_inputs[2] = &arguments->colours;
        return 0;
    case 'b':
        arguments->batch = true;
        return 0;
    case 'n':
        settings->count =
            (unsigned long long)esi_option_number(text, "--count", 1, LLONG_MAX, state);
        return 0;
    case 'i':
        settings->interval_ns =
            esi_option_duration(text, "--interval", LEAST_INTERVAL_NS, state);
        return 0;
    case OPTION_SORT:
        parse_sort(text, &settings->choice, state);
        return 0;
    case OPTION_FILTER:
        settings->choice.filter = text;
        return 0;
    case OPTION_BY:
        settings->choice.shape =
            (enum esi_top_shape)esi_option_word(text, "--by", shapes, state);
        return 0;
    case OPTION_WAITS:
        settings->waits = true;
        return 0;
    case OPTION_STALLED_AFTER:
        arguments->stalled_after_ns =
            esi_option_duration(text, "--stalled-after", 1, state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

_Static_assert(ESI_TOP_BY_RANK == 0 && ESI_TOP_BY_TREE == 1 && ESI_TOP_BY_HOST == 2,
               "the words of --by stand in the order of the enum");

/* --- Batch ------------------------------------------------------------------------ */

static int print_look(const struct esi_top_look *look,
                      const struct top_arguments *arguments,
                      struct esi_screen *screen)
{
    struct esi_top_list list = {.count = 0};
    int result = esi_top_list_make(&list, look->rows, look->row_count,
                                   &arguments->settings.choice);
    int shown;

    if (result == 0 && arguments->format == ES_FORMAT_JSON) {
        result = esi_top_print_json(look, &list, stdout);
        shown = fflush(stdout) == 0 ? 0 : -EIO;
    } else {
        esi_screen_begin(screen);
        if (look->observation.number > 2)
            fputs("\n", stdout);
        if (result == 0)
            result = esi_top_print_text(look, &list, stdout);
        shown = esi_screen_show(screen);
    }
    esi_top_list_fini(&list);
    return result < 0 ? result : shown;
}

/* Observes the run; the first time twice, so that rates can be computed. */
static int look_once(struct esi_top *top,
                     const struct esi_top_settings *settings,
                     struct esi_top_look *look)
{
    int result =
        settings->waits ? esi_top_read_waits(top, settings->interval_ns / 5) : 0;

    if (result >= 0)
        result = esi_top_look(top, look);
    if (result < 0 || !look->observation.again)
        return result;
    esi_observe_pause(&look->observation, ES_SECOND_LOOK_NS);
    return esi_top_look(top, look);
}

static int print_looks(struct esi_top *top, const struct top_arguments *arguments)
{
    const struct esi_top_settings *settings = &arguments->settings;
    struct esi_screen screen;
    struct esi_top_look look;
    struct esi_notices notices = {.count = 0};
    unsigned long long looks = 0;
    int status = ES_EXIT_SUCCESS;

    esi_screen_open(&screen,
                    arguments->format == ES_FORMAT_JSON ? ES_COLOURS_NEVER
                                                        : arguments->colours,
                    false);
    esi_interrupt_catch(ES_INTERRUPT_FIRST);
    do {
        int result = look_once(top, settings, &look);

        if (result < 0) {
            status = esi_command_fail_error(ES_EXIT_LOST, NULL, result,
                                            "the run can no longer be read");
            break;
        }
        esi_notices_show(&notices, look.observation.notices,
                         look.observation.notice_count);
        result = print_look(&look, arguments, &screen);
        if (result < 0) {
            status = esi_command_fail_output(result);
            break;
        }
        if (++looks == settings->count || esi_top_is_over(&look))
            break;
        esi_observe_pause(&look.observation, settings->interval_ns);
    } while (!esi_interrupt_came());
    esi_screen_close(&screen);
    return status;
}

/* --- The command ------------------------------------------------------------------ */

static int show_on_screen(struct esi_top *top, struct top_arguments *arguments)
{
    struct es_error error = {.text = ""};
    int result;

    arguments->settings.colours = esi_screen_wants_colours(arguments->colours);
    /* Otherwise a second signal would end the process without restoring the
     * terminal. */
    esi_interrupt_catch(ES_INTERRUPT_EACH);
    result = esi_top_screen_run(top, &arguments->settings, &error);
    if (result == -ENOTTY)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot use the terminal");
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_LOST, &error, result,
                                      "the run can no longer be read");
    return ES_EXIT_SUCCESS;
}

static int observe_run(const struct esi_consumer *consumer,
                       struct top_arguments *arguments)
{
    struct esi_observer_config config = {
        .stalled_after_ns = arguments->stalled_after_ns, .servers = consumer->servers};
    struct es_error error = {.text = ""};
    struct esi_top *top;
    int result = esi_top_create(consumer->run, &config, &error, &top);

    if (result < 0)
        return esi_command_fail_observe(es_run_name(consumer->run), &error, result);
    result =
        arguments->batch ? print_looks(top, arguments) : show_on_screen(top, arguments);
    esi_top_destroy(top);
    return result;
}

int esi_cmd_top(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_format_argp, 0, NULL, 0},
                                                 {&esi_consumer_argp, 0, NULL, 0},
                                                 {&esi_colours_argp, 0, NULL, 0},
                                                 {&esi_wide_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp parser = {options, parse_option, "[RUN]", doc, children, 0,
                                       0};
    struct top_arguments arguments = {
        .settings = {.choice.sort = ESI_TOP_STATE, .interval_ns = SECOND_NS},
        .stalled_after_ns = ESI_STALLED_AFTER_NS};
    struct es_error error = {.text = ""};
    struct esi_consumer consumer;
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    arguments.batch |= arguments.format == ES_FORMAT_JSON;
    if (!arguments.batch && esi_top_screen_check(&error) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "%s", error.text);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = observe_run(&consumer, &arguments);
    esi_consumer_close(&consumer);
    return status;
}
