/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace compare - the differences of two runs. */
#include "config.h"

#include <errno.h>

#include "base/options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/event_source.h"
#include "monitors/archive/archive_read.h"
#include "monitors/compare/compare_print.h"
#include "monitors/profile/profile_read.h"

enum { OPTION_ALL = 256, OPTION_TOP };

struct compare_arguments {
    struct esi_consumer_options consumer;
    struct esi_compare_style style;
    enum esi_rows_format format;
    unsigned runs; /* number given */
};

/* The profile of an archive. */
struct compare_profile {
    struct esi_profile_report report;
    struct esi_sites *sites; /* NULL = it has none */
};

static const struct argp_option options[] = {
    {"all", OPTION_ALL, NULL, 0, "also rows without a difference", 0},
    {"top", OPTION_TOP, "COUNT", 0, "maximum number of rows (20); 0: all", 0},
    {"format", 'f', "FORMAT", 0, "text, json (JSON Lines, all rows) or csv", 0},
    {0},
};

static const char doc[] =
    "Shows how run B differs from run A: times of computing, waiting, MPI and the "
    "critical path, by rank, operation and source line, if they differ by more than "
    "the runs' own iterations; for archives calls, bytes and time of the profiles; and "
    "the first difference in the order of communication. A and B are archives or runs."
    "\vExit status: 0 no significant difference, 1 differences, 2 usage or input "
    "error, 3 lost a run.";

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct compare_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->consumer;
        return 0;
    case OPTION_ALL:
        arguments->style.all = true;
        return 0;
    case OPTION_TOP:
        arguments->style.top =
            (size_t)esi_option_number(text, "--top", 0, INT32_MAX, state);
        return 0;
    case 'f':
        arguments->format = esi_command_rows_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->runs == ESI_COMPARE_RUNS)
            argp_error(state, "only two runs can be compared");
        arguments->style.names[arguments->runs++] = text;
        return 0;
    case ARGP_KEY_END:
        if (arguments->runs < ESI_COMPARE_RUNS)
            argp_error(state, "two archives or runs are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Returns 0, or the exit status after a message. */
static int read_run(const struct compare_arguments *arguments,
                    struct esi_compare *compare,
                    enum esi_compare_run run)
{
    struct esi_event_source source = {.path = arguments->style.names[run],
                                      .consumer = arguments->consumer,
                                      .listener = esi_compare_listener(compare, run)};
    struct esi_set_source_facts facts;
    int status = esi_event_source_refuse_set(&source);

    if (status != ES_EXIT_SUCCESS)
        return status;
    status = esi_event_source_read(&source, false, NULL, 0, &facts);
    if (status == ES_EXIT_SUCCESS && arguments->format == ESI_ROWS_TABLE)
        esi_event_source_tell_missing(&facts);
    return status;
}

/* Only for archives, since a live run continues.  Profiles are compared if both
 * exist. */
static int read_profile(const struct compare_arguments *arguments,
                        struct esi_compare *compare,
                        enum esi_compare_run run,
                        struct compare_profile *profile)
{
    const char *path = arguments->style.names[run];
    struct es_error error = {.text = ""};
    int result;

    if (!esi_archive_is_one(path))
        return ES_EXIT_SUCCESS;
    result =
        esi_profile_read_archive(path, NULL, &error, &profile->sites, &profile->report);
    if (result == -ENOENT && error.text[0] == '\0')
        return ES_EXIT_SUCCESS;
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result, "cannot read '%s'",
                                      path);
    if (profile->report.rank_count > 0)
        esi_compare_set_profile(compare, run, &profile->report);
    return ES_EXIT_SUCCESS;
}

static int print_answer(const struct compare_arguments *arguments,
                        const struct esi_compare *compare)
{
    switch (arguments->format) {
    case ESI_ROWS_JSON:
        return esi_compare_print_json(compare, stdout);
    case ESI_ROWS_CSV:
        return esi_compare_print_csv(compare, &arguments->style, stdout);
    default:
        return esi_compare_print_text(compare, &arguments->style, stdout);
    }
}

static int give_answer(const struct compare_arguments *arguments,
                       struct esi_compare *compare)
{
    struct esi_compare_totals totals;
    int result = esi_compare_finish(compare);

    if (result == 0)
        result = print_answer(arguments, compare);
    if (result < 0 || fflush(stdout) != 0)
        return esi_command_fail_output(result);
    if (arguments->format == ESI_ROWS_TABLE)
        esi_command_tell_left_out();
    esi_compare_totals(compare, &totals);
    return totals.differing > 0 || totals.profile_differing > 0 || totals.orders_differ
               ? ES_EXIT_FINDING
               : ES_EXIT_SUCCESS;
}

static int compare_runs(const struct compare_arguments *arguments,
                        struct esi_compare *compare)
{
    struct compare_profile profiles[ESI_COMPARE_RUNS] = {{.sites = NULL}};
    int status = ES_EXIT_SUCCESS;

    for (int run = 0; run < ESI_COMPARE_RUNS && status == ES_EXIT_SUCCESS; run++) {
        status = read_run(arguments, compare, (enum esi_compare_run)run);
        if (status == ES_EXIT_SUCCESS)
            status = read_profile(arguments, compare, (enum esi_compare_run)run,
                                  &profiles[run]);
    }
    if (status == ES_EXIT_SUCCESS)
        status = give_answer(arguments, compare);
    for (int run = 0; run < ESI_COMPARE_RUNS; run++) {
        esi_profile_report_fini(&profiles[run].report);
        esi_sites_destroy(profiles[run].sites);
    }
    return status;
}

int esi_cmd_compare(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&esi_consumer_argp, 0, NULL, 0}, {&esi_wide_argp, 0, NULL, 0}, {0}};
    static const struct argp parser = {options, parse_option, "A B", doc, children, 0,
                                       0};
    struct compare_arguments arguments = {.style.top = 20, .format = ESI_ROWS_TABLE};
    struct esi_compare *compare;
    int status, result;

    esi_command_parse(&parser, argc, argv, 0, &arguments);
    result = esi_compare_create(&compare);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, result, "cannot begin");
    status = compare_runs(&arguments, compare);
    esi_compare_destroy(compare);
    return status;
}
