/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* eventspace search - finds patterns in the order of events. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/now.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/search/search_file.h"
#include "cli/search/search_follow.h"
#include "cli/search/search_options.h"
#include "cli/search/search_print.h"
#include "cli/search/search_show.h"

/* --- The events ------------------------------------------------------------------- */

/* Keeps the details of events that may be part of a match. */
static int keep_details(void *data, const struct es_set_event *event)
{
    const struct esi_search_events *events = data;

    return events->details ? esi_details_add(events->details, event) : 0;
}

/* Start times are recorded for all events. */
static int pass_details(void *data, const struct es_set_event *event)
{
    esi_details_pass(data, event);
    return 0;
}

/* Keeps only what the predicates refer to. */
static int create_domains(const struct esi_search_file *file,
                          struct esi_search_events *events)
{
    const struct esi_domains_listener listener = {.kept = keep_details, .data = events};
    struct es_error error = {.text = ""};
    int result = esi_domains_create(file->file, file->is_predicate_needed, &listener,
                                    &events->domains, &error);

    return result < 0 ? esi_command_fail_error(
                            ES_EXIT_USAGE, &error, result,
                            "the classes of the patterns cannot be prepared")
                      : ES_EXIT_SUCCESS;
}

/* After all events: reports words that no event of the set contains. */
static int check_events(const struct esi_vocabulary_check *words)
{
    struct es_error error = {.text = ""};

    return esi_search_file_refuse(
        words ? esi_vocabulary_check_events(words, &error) : 0, &error);
}

/* In one pass; the order comes first, since it rejects unordered events. */
static int read_all(const struct esi_search_options *given,
                    struct esi_search_events *events)
{
    struct es_set_sink sinks[ES_SOURCE_SINKS] = {
        es_order_sink(events->order),
        esi_domains_sink(events->domains),
    };
    uint64_t start_ns = esi_now_ns(CLOCK_MONOTONIC);
    size_t count = 2;
    int status;

    if (events->words)
        sinks[count++] = esi_vocabulary_check_sink(events->words);
    if (events->details)
        sinks[count++] =
            (struct es_set_sink){.event = pass_details, .data = events->details};
    status = esi_event_source_read(
        &given->source, events->details || esi_domains_need_attributes(events->domains),
        sinks, count, &events->facts);
    if (status == ES_EXIT_SUCCESS)
        status = check_events(events->words);
    if (status != ES_EXIT_SUCCESS)
        return status;
    if (es_order_sink_end(events->order) < 0)
        return esi_command_fail(
            ES_EXIT_USAGE,
            "cannot read the events: %s ends with one half of a synchronous pair",
            given->source.path);
    if (esi_domains_finish(events->domains) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    events->read_ns = esi_now_ns(CLOCK_MONOTONIC) - start_ns;
    esi_event_source_tell_missing(&events->facts);
    return ES_EXIT_SUCCESS;
}

static int read_events(const struct esi_search_options *given,
                       const struct esi_search_file *file,
                       struct esi_search_events *events)
{
    int status = esi_search_options_create_order(given, &events->order);

    if (status == ES_EXIT_SUCCESS)
        status = create_domains(file, events);
    if (status == ES_EXIT_SUCCESS && esi_search_options_show_details(given) &&
        esi_details_create(0, &events->details) < 0)
        status = esi_command_fail(ES_EXIT_USAGE, "no memory");
    return status == ES_EXIT_SUCCESS ? read_all(given, events) : status;
}

static void forget_events(struct esi_search_events *events)
{
    esi_vocabulary_check_destroy(events->words);
    esi_details_destroy(events->details);
    esi_domains_destroy(events->domains);
    es_order_destroy(events->order);
}

/* --- One predicate ---------------------------------------------------------------- */

struct searching {
    const struct esi_search_options *given;
    const struct esi_search_file *file;
    struct esi_search_events events;
    struct esi_search_config config;
    bool is_found; /* there was a match of any predicate */
    struct esi_search_without without;
    struct esi_search_sum sum;
};

static const char *name_of(const struct esi_search_file *file, uint32_t predicate)
{
    return esi_pattern_predicate(file->file, predicate)->name;
}

/* A limit set by the user is not reported. */
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
        .sum = given->by ? &searching->sum : NULL,
        .name = pattern,
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
    if (statistics.matches == 0 && statistics.is_complete)
        esi_search_without_add(&searching->without, pattern);
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

/* --- All predicates --------------------------------------------------------------- */

/* From here on an interrupt ends the search with the results so far. */
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

/* Whether to skip the predicates from `next` on, which is reported. */
static bool is_enough(const struct searching *searching, uint32_t next)
{
    const struct esi_search_file *file = searching->file;
    uint32_t left = file->predicate_count - next;

    if (next == 0 || !esi_search_is_over(&searching->config))
        return ferror(stdout); /* main() reports the lost output */
    if (left == 1)
        esi_command_note("%s was not searched", name_of(file, file->predicates[next]));
    else
        esi_command_note("%s and %" PRIu32 " more were not searched",
                         name_of(file, file->predicates[next]), left - 1);
    return true;
}

/* After matches of a run or an archive, suggests where to see their context. */
static void hint_around(const struct searching *searching)
{
    const struct esi_search_options *given = searching->given;

    if (searching->is_found && searching->events.facts.is_matched &&
        given->format == ES_FORMAT_TEXT && !given->is_count && !given->by)
        esi_command_hint("eventspace export %s --to perfetto -o FILE shows the "
                         "surroundings of a match on a time line",
                         given->source.path);
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
    status = esi_search_sum_show(&searching->sum, searching->given->format);
    if (status != ES_EXIT_SUCCESS)
        return status;
    esi_search_without_tell(&searching->without, searching->given,
                            searching->events.order);
    hint_around(searching);
    return searching->is_found ? ES_EXIT_SUCCESS : ES_EXIT_FINDING;
}

/* Rejects invalid configurations before reading all events. */
static int check_config(const struct esi_search_options *given)
{
    struct es_error error = {.text = ""};
    int result = esi_search_config_check(&given->config, &error);

    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot search with these options")
                      : ES_EXIT_SUCCESS;
}

/* Takes `words`. */
static int search_run(const struct esi_search_options *given,
                      const struct esi_search_file *file,
                      struct esi_vocabulary_check *words)
{
    struct searching searching = {
        .given = given,
        .file = file,
        .events = {.words = words},
        .sum = {.by = given->by},
    };
    int status = read_events(given, file, &searching.events);

    if (status == ES_EXIT_SUCCESS)
        status = search_all(&searching);
    esi_search_sum_fini(&searching.sum);
    forget_events(&searching.events);
    return status;
}

/* --- The words of the patterns ---------------------------------------------------- */

/* The vocabulary of a run or an archive, or of patterns without events, is known.  A
 * file must be read for it: then `ret_words` contains the words to look for, otherwise
 * NULL. */
static int check_words(const struct esi_search_options *given,
                       const struct esi_search_file *file,
                       struct esi_vocabulary_check **ret_words)
{
    enum esi_set_source_kind kind = ES_SET_SOURCE_RUN;
    struct esi_vocabulary_check *words = NULL;
    struct es_error error = {.text = ""};
    bool has_set = given->source.path != NULL;
    int status =
        has_set ? esi_event_source_find(&given->source, &kind) : ES_EXIT_SUCCESS;

    *ret_words = NULL;
    if (status == ES_EXIT_SUCCESS)
        status = esi_search_file_ask(file, &words);
    if (status != ES_EXIT_SUCCESS)
        return status;
    if (kind == ES_SET_SOURCE_FILE || kind == ES_SET_SOURCE_INPUT) {
        *ret_words = words;
        return ES_EXIT_SUCCESS;
    }
    status = esi_search_file_refuse(esi_vocabulary_check_words(words, has_set, &error),
                                    &error);
    esi_vocabulary_check_destroy(words);
    return status;
}

/* --check; takes `words`. */
static int check_file(const struct esi_search_options *given,
                      const struct esi_search_file *file,
                      struct esi_vocabulary_check *words)
{
    int status = esi_search_file_check(file);
    struct es_set_sink sink;

    if (status == ES_EXIT_SUCCESS && words) {
        sink = esi_vocabulary_check_sink(words);
        status = esi_event_source_read(&given->source, true, &sink, 1, NULL);
        if (status == ES_EXIT_SUCCESS)
            status = check_events(words);
    }
    esi_vocabulary_check_destroy(words);
    return status;
}

static int use_patterns(struct esi_search_options *given,
                        const struct esi_search_file *file)
{
    struct esi_vocabulary_check *words;
    int status = check_words(given, file, &words);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (given->is_check)
        return check_file(given, file, words);
    if (!given->source.follow)
        return search_run(given, file, words);
    esi_vocabulary_check_destroy(words); /* a file is not allowed then */
    return esi_search_follow(given, file);
}

static int do_it(struct esi_search_options *given)
{
    struct esi_search_file file;
    int status =
        esi_search_file_open(given->patterns, given->names, given->name_count, &file);

    if (status == ES_EXIT_SUCCESS && given->is_list)
        status = esi_search_file_list(&file, given->is_all, given->format);
    else if (status == ES_EXIT_SUCCESS)
        status = use_patterns(given, &file);
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
