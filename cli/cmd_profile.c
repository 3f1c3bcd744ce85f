/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace profile - where the time of a run goes: MPI by rank, operation and
 * line. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/consumer.h"
#include "cli/event_source.h"
#include "cli/interrupt.h"
#include "cli/screen.h"
#include "monitors/archive/archive_read.h"
#include "monitors/profile/matrix_picture.h"
#include "monitors/profile/profile_print.h"
#include "monitors/profile/profile_read.h"
#include "tuplespace/plan/plan.h"

enum { OPTION_RANK = 256, OPTION_TOP, OPTION_SORT, OPTION_SHOW, OPTION_MATRIX };
enum { DEFAULT_TOP = 20 };

#define SECOND_NS UINT64_C(1000000000)

struct profile_arguments {
    const char *run;
    const char *ranks;
    enum esi_profile_order order;
    struct esi_profile_style style;
    const char *matrix; /* NULL = not requested */
    enum esi_matrix_format matrix_format;
    bool has_limit;
    bool follow;
    uint64_t interval_ns;
    enum esi_colours colours;
    struct esi_consumer_options consumer;
};

static const struct argp_option options[] = {
    {"rank", OPTION_RANK, "RANKS", 0, "only these, such as 0-3,7", 1},
    {"sort", OPTION_SORT, "KEY", 0,
     "operations and lines by time (default), calls, bytes, mean, max or name", 1},
    {"limit", OPTION_TOP, "COUNT", 0,
     "maximum number of lines of a table (text: 20, else all)", 1},
    {"top", 0, NULL, OPTION_ALIAS, NULL, 1},
    {"show", OPTION_SHOW, "PARTS", 0, "of ranks, operations, sites, sizes, messages",
     1},
    {"matrix", OPTION_MATRIX, "FILE", 0,
     "also write who sent to whom: FILE.csv, FILE.svg or FILE.png", 1},
    {"follow", 'F', NULL, 0, "repeat until the run ends, or Ctrl-C", 1},
    {"interval", 'i', "TIME", 0, "time between two updates (1)", 1},
    {"format", 'f', "FORMAT", 0,
     "text, json (JSON Lines), or csv (of one part: --show)", 1},
    {0},
};

static const char doc[] =
    "Shows where the time of RUN, or of an archive DIR, goes: the share that each rank "
    "spends in MPI, by operation and source line, message sizes, and who sends to whom."
    "\vEach process sums up all its calls, so nothing is missing although old events "
    "are overwritten. The time of a nonblocking operation is that of the posting "
    "call.\n\n"
    "Exit status: 0 success, 2 usage or input error, 3 the run can no longer be read.";

static const char *const part_names[] = {"ranks", "operations", "sites",
                                         "sizes", "messages",   NULL};

/* Parses "ranks,sizes" to bits. */
static unsigned parse_parts(char *text, struct argp_state *state)
{
    unsigned parts = 0;
    char *rest;

    for (char *word = strtok_r(text, ",", &rest); word;
         word = strtok_r(NULL, ",", &rest))
        parts |= 1u << esi_option_word(word, "--show", part_names, state);
    if (parts == 0)
        argp_error(state, "--show: no part given");
    return parts;
}

static void take_ranks(const char *text,
                       struct argp_state *state,
                       struct profile_arguments *arguments)
{
    struct es_error error = {.text = ""};
    struct esi_rank_range *ranges = NULL;

    if (esi_rank_ranges_parse(text, &error, &ranges) < 0)
        argp_error(state, "--rank: %s", error.text);
    free(ranges);
    arguments->ranks = text;
}

static void take_matrix(const char *path,
                        struct argp_state *state,
                        struct profile_arguments *arguments)
{
    int rc = esi_matrix_format_find(path, &arguments->matrix_format);

    if (rc == -ENOTSUP)
        argp_error(state, "--matrix %s: built without libpng; write .svg or .csv",
                   path);
    if (rc < 0)
        argp_error(state,
                   "--matrix %s: expected a name that ends in .csv, .svg or .png",
                   path);
    arguments->matrix = path;
}

static void check_arguments(struct profile_arguments *arguments,
                            struct argp_state *state)
{
    struct esi_profile_style *style = &arguments->style;
    unsigned parts = style->parts;

    if (style->format == ESI_ROWS_CSV && (parts & (parts - 1)) != 0)
        argp_error(state, "--format csv has one table: name it, such as --show "
                          "operations");
    if (!arguments->has_limit && style->format == ESI_ROWS_TABLE)
        style->limit = DEFAULT_TOP;
    if (arguments->follow && arguments->run && esi_archive_is_one(arguments->run))
        argp_error(state, "--follow: an archive does not change");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const keys[] = {"time", "calls", "bytes", "mean",
                                       "max",  "name",  NULL};
    struct profile_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->consumer;
        state->child_inputs[2] = &arguments->colours;
        return 0;
    case OPTION_RANK:
        take_ranks(text, state, arguments);
        return 0;
    case OPTION_SORT:
        arguments->order =
            (enum esi_profile_order)esi_option_word(text, "--sort", keys, state);
        return 0;
    case OPTION_TOP:
        arguments->style.limit =
            (size_t)esi_option_number(text, "--limit", 1, INT_MAX, state);
        arguments->has_limit = true;
        return 0;
    case OPTION_SHOW:
        arguments->style.parts = parse_parts(text, state);
        return 0;
    case OPTION_MATRIX:
        take_matrix(text, state, arguments);
        return 0;
    case 'F':
        arguments->follow = true;
        return 0;
    case 'i':
        arguments->interval_ns =
            esi_option_duration(text, "--interval", SECOND_NS / 100, state);
        return 0;
    case 'f':
        arguments->style.format = esi_command_rows_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        return esi_command_take_run(text, state, &arguments->run);
    case ARGP_KEY_END:
        check_arguments(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

_Static_assert(ESI_PROFILE_BY_TIME == 0 && ESI_PROFILE_BY_NAME == 5,
               "the words of --sort stand in the order of the enum");

/* --- Output ----------------------------------------------------------------------- */

/* Returns 0, or the exit status after a message. */
static int write_matrix(const struct esi_profile_report *report,
                        const struct profile_arguments *arguments)
{
    struct es_error error = {.text = ""};
    struct esi_output_file *file;
    int result = esi_output_file_open(arguments->matrix, &error, &file);

    if (result == 0) {
        result =
            esi_matrix_write(report, arguments->style.run, arguments->matrix_format,
                             esi_output_file_stream(file));
        if (result == 0)
            result = esi_output_file_close(file, &error);
        else
            esi_output_file_discard(file);
    }
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "--matrix %s", arguments->matrix)
                      : 0;
}

/* Returns 0, or the exit status after a message. */
static int show_report(struct esi_profile_report *report,
                       const struct profile_arguments *arguments)
{
    int result;

    esi_profile_report_sort(report, arguments->order);
    result = esi_profile_print(report, &arguments->style, stdout);
    if (result < 0 || fflush(stdout) != 0)
        return esi_command_fail_output(result);
    return arguments->matrix ? write_matrix(report, arguments) : 0;
}

/* --- Archives --------------------------------------------------------------------- */

static int show_archive(const struct profile_arguments *arguments)
{
    struct es_error error = {.text = ""};
    struct esi_sites *sites;
    struct esi_profile_report report;
    int status;
    int result = esi_profile_read_archive(arguments->run, arguments->ranks, &error,
                                          &sites, &report);

    if (result == -ENOENT && error.text[0] == '\0')
        return esi_command_fail(ES_EXIT_USAGE,
                                "archive '%s' has no profile: it was recorded by an "
                                "older version, or the recording did not end",
                                arguments->run);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result, "cannot read '%s'",
                                      arguments->run);
    if (report.rank_count == 0)
        status = esi_command_fail(ES_EXIT_USAGE,
                                  "archive '%s' has no profile of such ranks: the "
                                  "program ran with an older version, or without "
                                  "ledgers",
                                  arguments->run);
    else
        status = show_report(&report, arguments);
    esi_profile_report_fini(&report);
    esi_sites_destroy(sites);
    return status;
}

/* --- Runs ------------------------------------------------------------------------- */

/* State of displaying a run. */
struct profile_showing {
    const struct profile_arguments *arguments;
    struct esi_follower *follower;
    struct esi_sites *sites;
    struct esi_screen screen;
    bool shown; /* a report was shown before */
};

static int fail_without(const struct profile_showing *showing, size_t without)
{
    const char *run = showing->arguments->style.run;

    if (without > 0)
        return esi_command_fail(ES_EXIT_USAGE,
                                "run '%s' has no profile: its processes run with an "
                                "older version, or with EVENTSPACE_LEDGER=off",
                                run);
    return esi_command_fail(ES_EXIT_USAGE,
                            "run '%s': none of these ranks has called MPI yet; try "
                            "again, or see 'eventspace list %s'",
                            run, run);
}

/* Reads and shows the profile once.  Returns 0, or the exit status after a message. */
static int show_look(struct profile_showing *showing)
{
    struct esi_profile_report report;
    int status;
    int result = esi_follower_refresh(showing->follower, true);

    if (result >= 0)
        result = esi_profile_read_run(esi_follower_scope(showing->follower),
                                      showing->sites, &report);
    if (result < 0)
        return esi_command_fail_lost(showing->arguments->style.run, result);
    if (report.rank_count == 0 && !showing->arguments->follow) {
        status = fail_without(showing, report.without);
    } else {
        esi_screen_begin(&showing->screen);
        if (showing->shown && !esi_screen_is_live(&showing->screen) &&
            showing->arguments->style.format == ESI_ROWS_TABLE)
            fputs("\n", stdout);
        status = show_report(&report, showing->arguments);
        if (esi_screen_show(&showing->screen) < 0 && status == 0)
            status = esi_command_fail_output(-EIO);
        showing->shown = true;
    }
    esi_profile_report_fini(&report);
    return status;
}

static int watch_run(struct profile_showing *showing)
{
    bool is_last;
    int status;

    do {
        /* Checked before reading, which then includes all data. */
        is_last = !showing->arguments->follow || esi_interrupt_came() ||
                  (showing->shown && esi_follower_is_over(showing->follower));
        status = show_look(showing);
        if (status == 0 && !is_last)
            esi_interrupt_sleep(showing->arguments->interval_ns);
    } while (status == 0 && !is_last);
    return status;
}

static int watch_on_screen(struct profile_showing *showing)
{
    const struct profile_arguments *arguments = showing->arguments;
    bool is_text = arguments->style.format == ESI_ROWS_TABLE;
    int status;

    esi_screen_open(&showing->screen, is_text ? arguments->colours : ES_COLOURS_NEVER,
                    is_text && arguments->follow);
    status = watch_run(showing);
    esi_screen_close(&showing->screen);
    return status;
}

static int show_run(const struct esi_consumer *consumer,
                    struct profile_arguments *arguments)
{
    struct profile_showing showing = {.arguments = arguments};
    struct esi_follower_config config = {.run = consumer->run, .refresh_ns = SECOND_NS};
    struct es_error error = {.text = ""};
    int result;

    arguments->style.run = es_run_name(consumer->run);
    es_scope_config_init(&config.scope);
    config.scope.servers = consumer->servers;
    config.scope.view.selection.ranks = arguments->ranks;
    result = esi_follower_open(&config, &error, &showing.follower);
    if (result == 0)
        result = esi_sites_create(&showing.sites);
    if (result < 0)
        result = esi_command_fail_observe(arguments->style.run, &error, result);
    else
        result = watch_on_screen(&showing);
    esi_sites_destroy(showing.sites);
    esi_follower_close(showing.follower);
    return result;
}

int esi_cmd_profile(int argc, char **argv)
{
    static const struct argp_child children[] = {{&esi_consumer_argp, 0, NULL, 0},
                                                 {&esi_wide_argp, 0, NULL, 0},
                                                 {&esi_colours_argp, 0, NULL, 0},
                                                 {0}};
    static const struct argp parser = {
        options, parse_option, "[RUN|DIR]", doc, children, 0, 0};
    struct profile_arguments arguments = {.interval_ns = SECOND_NS,
                                          .style = {.parts = ESI_PROFILE_ALL}};
    struct esi_consumer consumer;
    int status;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    if (arguments.run && esi_archive_is_one(arguments.run)) {
        esi_event_source_tell_end(arguments.run);
        arguments.style.run = arguments.run;
        return show_archive(&arguments);
    }
    if (arguments.follow)
        esi_interrupt_catch(ES_INTERRUPT_FIRST);
    status = esi_consumer_open(arguments.run, &arguments.consumer, &consumer);
    if (status != 0)
        return status;
    status = show_run(&consumer, &arguments);
    esi_consumer_close(&consumer);
    return status;
}
