/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace search - finds patterns in the order of events. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/now.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/search_events.h"
#include "cli/search_file.h"
#include "cli/search_follow.h"
#include "cli/search_options.h"
#include "cli/search_print.h"
#include "cli/search_progress.h"
#include "cli/search_show.h"

struct searching {
    const struct esi_search_options *given;
    const struct esi_search_file *file;
    struct esi_search_events events;
    struct esi_search_config config;
    bool is_found; /* some match, of any predicate */
};

static const char *name_of(const struct esi_search_file *file, uint32_t predicate)
{
    return esi_pattern_predicate(file->file, predicate)->name;
}

/* --- One predicate ---------------------------------------------------------------- */

/* A limit that was asked for is no news. */
static void tell_incomplete(const struct searching *searching,
                            const char *pattern,
                            const struct esi_search_statistics *statistics)
{
    bool is_interrupt = esi_interrupt_came();

    if (statistics->is_complete ||
        (!is_interrupt && !esi_search_is_over(&searching->config)))
        return;
    if (searching->config.limit > 0 && statistics->matches >= searching->config.limit)
        return;
    esi_command_note("the search for %s was ended by %s: there may be more matches",
                     pattern, is_interrupt ? "an interrupt" : "--time-limit");
}

static int run_search(struct searching *searching,
                      uint32_t predicate,
                      struct esi_search_print *print,
                      struct esi_search_statistics *ret_statistics)
{
    struct esi_match_sink sink = esi_search_print_sink(print);
    const char *pattern = name_of(searching->file, predicate);
    struct es_error error = {.text = ""};
    int result;

    print->progress = esi_search_progress_start(pattern);
    result = esi_search_run(searching->file->file, predicate, searching->events.domains,
                            searching->events.order, &searching->config, &sink,
                            ret_statistics, &error);
    esi_search_progress_stop(print->progress);
    if (result == 0)
        result = esi_search_print_end(print);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot search %s", pattern)
                      : ES_EXIT_SUCCESS;
}

static int search_one(struct searching *searching, uint32_t predicate)
{
    const struct esi_search_options *given = searching->given;
    const char *pattern = name_of(searching->file, predicate);
    struct esi_search_statistics statistics;
    struct esi_search_print print = {
        .file = searching->file->file,
        .domains = searching->events.domains,
        .details = searching->events.details,
        .pattern = searching->file->predicate_count > 1 ? pattern : NULL,
        .format = given->format,
        .is_silent = given->is_count,
        .is_sorted = given->is_sorted,
    };
    int status = run_search(searching, predicate, &print, &statistics);

    esi_search_print_fini(&print);
    if (status != ES_EXIT_SUCCESS)
        return status;
    if (given->is_count)
        esi_search_show_count(searching->file, predicate, statistics.matches,
                              statistics.is_complete, given->format);
    if (given->statistics)
        esi_search_show(pattern, given, &searching->events, &statistics);
    tell_incomplete(searching, pattern, &statistics);
    searching->is_found |= statistics.matches > 0;
    return ES_EXIT_SUCCESS;
}

static int explain_one(struct searching *searching, uint32_t predicate)
{
    struct es_error error = {.text = ""};
    int result =
        esi_search_explain(searching->file->file, predicate, searching->events.domains,
                           searching->events.order, &searching->config, stdout, &error);

    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot explain %s",
                                               name_of(searching->file, predicate))
                      : ES_EXIT_SUCCESS;
}

/* --- All of them ------------------------------------------------------------------ */

/* From here on an interrupt ends with what was found. */
static void begin_search(struct searching *searching)
{
    const struct esi_search_options *given = searching->given;

    esi_interrupt_catch(ES_INTERRUPT_FIRST);
    searching->config = given->config;
    searching->config.is_cancelled = esi_interrupt_flag();
    if (given->time_limit_ns)
        searching->config.deadline_ns =
            esi_now_ns(CLOCK_MONOTONIC) + given->time_limit_ns;
}

/* Whether those from `next` on are left out; that is told. */
static bool is_enough(const struct searching *searching, uint32_t next)
{
    const struct esi_search_file *file = searching->file;
    uint32_t left = file->predicate_count - next;

    if (next == 0 || !esi_search_is_over(&searching->config))
        return ferror(stdout); /* main() says that the output was lost */
    if (left == 1)
        esi_command_note("%s was not searched", name_of(file, file->predicates[next]));
    else
        esi_command_note("%s and %" PRIu32 " more were not searched",
                         name_of(file, file->predicates[next]), left - 1);
    return true;
}

static int search_all(struct searching *searching)
{
    const struct esi_search_file *file = searching->file;
    int status = ES_EXIT_SUCCESS;

    begin_search(searching);
    for (uint32_t i = 0; status == ES_EXIT_SUCCESS && i < file->predicate_count; i++) {
        if (is_enough(searching, i))
            break;
        status = searching->given->is_explain
                     ? explain_one(searching, file->predicates[i])
                     : search_one(searching, file->predicates[i]);
    }
    if (status != ES_EXIT_SUCCESS || searching->given->is_explain)
        return status;
    return searching->is_found ? ES_EXIT_SUCCESS : ES_EXIT_FINDING;
}

/* What cannot be is told before all events are read. */
static int check_config(const struct esi_search_options *given)
{
    struct es_error error = {.text = ""};
    int result = esi_search_config_check(&given->config, &error);

    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot search with these options")
                      : ES_EXIT_SUCCESS;
}

static int search_run(const struct esi_search_options *given,
                      const struct esi_search_file *file)
{
    struct searching searching = {.given = given, .file = file};
    int status = esi_search_events_read(given, file, &searching.events);

    if (status == ES_EXIT_SUCCESS)
        status = search_all(&searching);
    esi_search_events_fini(&searching.events);
    return status;
}

static int do_it(struct esi_search_options *given)
{
    struct esi_search_file file;
    int status =
        esi_search_file_open(given->patterns, given->names, given->name_count, &file);

    if (status == ES_EXIT_SUCCESS && given->is_list)
        esi_search_file_list(&file, given->format);
    else if (status == ES_EXIT_SUCCESS && given->is_check)
        status = esi_search_file_check(&file);
    else if (status == ES_EXIT_SUCCESS)
        status = given->source.follow ? esi_search_follow(given, &file)
                                      : search_run(given, &file);
    esi_search_file_fini(&file);
    return status;
}

int esi_cmd_search(int argc, char **argv)
{
    struct esi_search_options given;
    int status;

    esi_search_options_parse(argc, argv, &given);
    status = check_config(&given);
    if (status == ES_EXIT_SUCCESS)
        status = do_it(&given);
    esi_event_source_fini(&given.source);
    esi_search_options_fini(&given);
    return status;
}
