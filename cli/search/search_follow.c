/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_follow.c - searches a run as its events arrive; matches are printed when they
 * are decided. */
#include "config.h"

#include "cli/search/search_follow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/now.h"
#include "cli/interrupt.h"
#include "cli/search/search_print.h"
#include "cli/search/search_show.h"
#include "monitors/search/live/live.h"

/* For event details: enough for several million of the latest events. */
#define DETAIL_BYTES (UINT64_C(64) << 20)

enum { LOOK_EVERY = 64 }; /* events between two readings of the clock */

struct following {
    struct esi_search_options *given;
    const struct esi_search_file *file;
    struct esi_search_print *prints; /* owned; per predicate */
    struct esi_live_wanted *wanted;  /* owned */
    struct esi_details *details;     /* NULL: no details are shown */
    struct es_order *order;
    struct esi_live *live;
    struct esi_set_source_facts facts;
    struct esi_search_sum sum;
    uint64_t start_ns;
    uint64_t deadline_ns; /* 0 = none */
    uint64_t events;      /* number of events */
    bool is_in_sync;      /* only one half of a sync has arrived */
    bool is_over;         /* later events are not searched */
};

/* --- Creation --------------------------------------------------------------------- */

static int create_prints(struct following *following)
{
    const struct esi_search_options *given = following->given;
    uint32_t count = following->file->predicate_count;

    following->prints = calloc(count, sizeof *following->prints);
    following->wanted = calloc(count, sizeof *following->wanted);
    if (!following->prints || !following->wanted)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t predicate = following->file->predicates[i];

        following->prints[i] = (struct esi_search_print){
            .file = following->file->file,
            .pattern =
                count > 1
                    ? esi_pattern_predicate(following->file->file, predicate)->name
                    : NULL,
            .format = given->format,
            .details = following->details,
            .is_silent = given->is_count,
            .sum = given->by ? &following->sum : NULL,
            .name = esi_pattern_predicate(following->file->file, predicate)->name,
            .is_sorted = given->is_sorted,
            .limit = given->config.limit,
        };
        following->wanted[i] = (struct esi_live_wanted){
            .predicate = predicate,
            .sink = esi_search_print_sink(&following->prints[i]),
        };
    }
    return ES_EXIT_SUCCESS;
}

static int create_searches(struct following *following)
{
    uint32_t count = following->file->predicate_count;
    struct es_error error = {.text = ""};
    struct esi_live_config config;
    int status = esi_search_options_create_order(following->given, &following->order);
    int result;

    if (status == ES_EXIT_SUCCESS &&
        esi_search_options_show_details(following->given) &&
        esi_details_create(DETAIL_BYTES, &following->details) < 0)
        status = esi_command_fail(ES_EXIT_USAGE, "no memory");
    if (status == ES_EXIT_SUCCESS)
        status = create_prints(following);
    if (status != ES_EXIT_SUCCESS)
        return status;
    esi_live_config_init(&config);
    if (following->given->kept_events)
        config.kept_events = following->given->kept_events;
    if (config.drop_every > config.kept_events)
        config.drop_every = config.kept_events;
    result = esi_live_create(following->file->file, following->wanted, count,
                             following->order, &config, &following->live, &error);
    if (result < 0)
        return esi_command_fail_error(
            ES_EXIT_USAGE, &error, result,
            "these patterns cannot be searched while events arrive");
    for (uint32_t i = 0; i < count; i++)
        following->prints[i].domains = esi_live_domains(following->live);
    return ES_EXIT_SUCCESS;
}

static void destroy_searches(struct following *following)
{
    esi_live_destroy(following->live);
    es_order_destroy(following->order);
    esi_details_destroy(following->details);
    for (uint32_t i = 0; following->prints && i < following->file->predicate_count; i++)
        esi_search_print_fini(&following->prints[i]);
    free(following->prints);
    free(following->wanted);
}

/* --- Following -------------------------------------------------------------------- */

static bool is_time_over(const struct following *following)
{
    return following->deadline_ns &&
           esi_now_ns(CLOCK_MONOTONIC) >= following->deadline_ns;
}

/* Hides events from the search after its end, since a reading may deliver more than can
 * be searched in time.  Does not split a sync. */
static int stop_event(void *data, const struct es_set_event *event)
{
    struct following *following = data;

    if (following->is_over)
        return 1;
    if (!following->is_in_sync)
        following->is_over = esi_live_has_enough(following->live) ||
                             (following->events++ % LOOK_EVERY == 0 &&
                              (esi_interrupt_came() || is_time_over(following)));
    following->is_in_sync ^= event->kind == ES_EVENT_SYNC;
    return following->is_over;
}

static int add_details(void *data, const struct es_set_event *event)
{
    return esi_details_add(data, event);
}

static bool is_enough(void *data)
{
    const struct following *following = data;

    return esi_live_has_enough(following->live) || is_time_over(following) ||
           ferror(stdout);
}

/* Decides the pending matches with the events so far. */
static int end_searches(struct following *following)
{
    int result = esi_live_end(following->live);

    for (uint32_t i = 0; result == 0 && i < following->file->predicate_count; i++)
        result = esi_search_print_end(&following->prints[i]);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, NULL, result,
                                      "cannot end the search");
    if (!esi_live_has_enough(following->live) &&
        (esi_interrupt_came() || is_time_over(following)))
        esi_command_note("the search was ended by %s: there may be more matches",
                         esi_interrupt_came() ? "an interrupt" : "--time-limit");
    return ES_EXIT_SUCCESS;
}

static int read_all(struct following *following)
{
    struct esi_event_source *source = &following->given->source;
    /* Details first, because a match may be printed at its last event. */
    const struct es_set_sink sinks[] = {
        {.event = stop_event, .data = following},
        {.event = following->details ? add_details : NULL, .data = following->details},
        esi_live_sink(following->live),
    };
    int status;

    source->is_enough = is_enough;
    source->enough_data = following;
    status = esi_event_source_read(
        source,
        following->details ||
            esi_domains_need_attributes(esi_live_domains(following->live)),
        sinks, 3, &following->facts);
    return status == ES_EXIT_SUCCESS ? end_searches(following) : status;
}

/* --- Results ---------------------------------------------------------------------- */

/* Losses are reported even without statistics. */
static void tell_lost(const struct esi_live_statistics *statistics)
{
    if (!statistics->is_complete)
        esi_command_note(
            "matches may be missing or wrong: %" PRIu64 " events and %" PRIu64
            " candidates did not fit, %" PRIu64 " comparisons and %" PRIu64
            " partners involved forgotten events; --keep and --memory give more room",
            statistics->lost_events, statistics->lost_candidates, statistics->unknown,
            statistics->missed_partners);
}

static int report_matches(struct following *following)
{
    const struct esi_search_options *given = following->given;
    struct esi_search_without without = {.count = 0};
    struct esi_live_statistics statistics;
    bool is_found = false;

    esi_live_statistics(following->live, &statistics);
    for (uint32_t i = 0; i < following->file->predicate_count; i++) {
        uint64_t matches = esi_live_matches(following->live, i);

        is_found |= matches > 0;
        if (matches == 0 && statistics.is_complete)
            esi_search_without_add(&without,
                                   esi_pattern_predicate(following->file->file,
                                                         following->file->predicates[i])
                                       ->name);
        if (given->is_count)
            esi_search_show_count(following->file, following->file->predicates[i],
                                  matches, statistics.is_complete, given->format);
    }
    if (esi_search_sum_show(&following->sum, given->format) != ES_EXIT_SUCCESS)
        return ES_EXIT_USAGE;
    for (uint32_t i = 0; given->statistics && following->file->predicate_count > 1 &&
                         i < following->file->predicate_count;
         i++) {
        struct esi_live_predicate_statistics one;
        esi_live_predicate_statistics(following->live, i, &one);
        esi_search_show_live_predicate(following->prints[i].pattern, &one,
                                       given->format);
    }
    if (given->statistics)
        esi_search_show_live(following->order, &statistics, &following->facts,
                             esi_now_ns(CLOCK_MONOTONIC) - following->start_ns,
                             given->format);
    esi_event_source_tell_missing(&following->facts);
    tell_lost(&statistics);
    esi_search_without_tell(&without, given, following->order);
    return is_found ? ES_EXIT_SUCCESS : ES_EXIT_FINDING;
}

int esi_search_follow(struct esi_search_options *given,
                      const struct esi_search_file *file)
{
    struct following following = {.given = given,
                                  .file = file,
                                  .sum = {.by = given->by},
                                  .start_ns = esi_now_ns(CLOCK_MONOTONIC)};
    int status;

    if (given->time_limit_ns)
        following.deadline_ns = following.start_ns + given->time_limit_ns;
    /* Matches are visible at once, even through a pipe. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    status = create_searches(&following);
    if (status == ES_EXIT_SUCCESS)
        status = read_all(&following);
    if (status == ES_EXIT_SUCCESS)
        status = report_matches(&following);
    esi_search_sum_fini(&following.sum);
    destroy_searches(&following);
    return status;
}
