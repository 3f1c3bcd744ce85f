/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* events.c - pulls every event of a view and passes it on. */
#include "config.h"

#include "monitors/events/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/events/events_repair.h"
#include "monitors/follow/activity.h"
#include "monitors/sites/sites.h"

/* New elements join within this time. */
#define REFRESH_NS UINT64_C(200000000)

struct esi_events {
    struct esi_events_config config;
    struct esi_follower *follower;
    struct es_scope *scope; /* the follower's */
    uint64_t begun_ns;
    uint64_t start_ns;
    /* A ring of the newest backlog events, if only some are requested. */
    struct esi_event *tail; /* owned */
    size_t tail_first;
    size_t tail_count;
    bool summed_up;
    struct esi_sites *sites; /* owned */
    struct esi_summaries summaries;
    struct esi_events_repair *repair;  /* owned; NULL = times are not repaired */
    const struct esi_event_sink *sink; /* of the current call; borrowed */
};

/* The other reductions do not change tuples. */
static bool sums_up(const char *reduce)
{
    size_t length = reduce ? strcspn(reduce, " ") : 0;

    return length > 0 && strncmp(reduce, "latest", length) != 0 &&
           strncmp(reduce, "earliest", length) != 0;
}

static int open_follower(struct esi_events *events,
                         struct es_run *run,
                         struct es_error *error)
{
    struct esi_follower_config follower = {
        .run = run, .refresh_ns = REFRESH_NS, .scope = events->config.scope};
    int result;

    follower.scope.name = "events";
    follower.scope.sites = events->config.sites;
    result = esi_follower_open(&follower, error, &events->follower);
    if (result < 0)
        return result;
    events->scope = esi_follower_scope(events->follower);
    events->begun_ns = es_scope_run_now_ns(events->scope);
    events->start_ns = esi_follower_start_ns(events->follower);
    return 0;
}

/* --- Delivery --------------------------------------------------------------------- */

static void keep_in_tail(struct esi_events *events, const struct esi_event *event)
{
    size_t size = events->config.last;

    if (events->tail_count < size) {
        events->tail[events->tail_count++] = *event;
        return;
    }
    events->tail[events->tail_first] = *event;
    events->tail_first = (events->tail_first + 1) % size;
}

/* The last step, after the repair. */
static int give_event(void *data, const struct esi_event *event)
{
    struct esi_events *events = data;

    if (event->activity.stop_ns < events->config.since_ns)
        return 0;
    if (!events->tail)
        return events->sink->event(events->sink->data, event);
    keep_in_tail(events, event);
    return 0;
}

static int open_repair(struct esi_events *events)
{
    struct esi_events_repair_config config = {
        .follower = events->follower,
        .mode = events->config.repair,
        .sorting = events->config.scope.sorting,
        .window_ns = events->config.scope.window_ns,
        .give = give_event,
        .data = events,
    };

    if (config.mode == ES_REPAIR_NONE || events->summed_up)
        return 0;
    return esi_events_repair_create(&config, &events->repair);
}

int esi_events_create(struct es_run *run,
                      const struct esi_events_config *config,
                      struct es_error *error,
                      struct esi_events **ret_events)
{
    struct esi_events *events = calloc(1, sizeof *events);
    int result;

    if (!events)
        return -ENOMEM;
    events->config = *config;
    result = esi_sites_create(&events->sites);
    if (result == 0)
        result = open_follower(events, run, error);
    events->summed_up = sums_up(config->scope.tree.reduce);
    if (result == 0)
        result = open_repair(events);
    events->config.scope =
        (struct es_scope_config){.max = 0}; /* it was only borrowed */
    if (result == 0 && config->last) {
        events->tail = calloc(config->last, sizeof *events->tail);
        result = events->tail ? 0 : -ENOMEM;
    }
    if (result < 0) {
        esi_events_destroy(events);
        return result;
    }
    *ret_events = events;
    return 0;
}

void esi_events_destroy(struct esi_events *events)
{
    int saved_errno = errno;

    if (!events)
        return;
    esi_events_repair_destroy(events->repair);
    esi_follower_close(events->follower);
    esi_sites_destroy(events->sites);
    esi_summaries_fini(&events->summaries);
    free(events->tail);
    free(events);
    errno = saved_errno;
}

static struct esi_event make_event(const struct esi_events *events,
                                   uint32_t origin,
                                   const struct es_tuple *tuple,
                                   uint64_t site)
{
    struct esi_event event = {.origin = es_scope_origin(events->scope, origin)};

    if (events->config.sites)
        event.site = esi_sites_format(events->sites, events->scope, origin, site);
    esi_activity_read(events->scope, origin, tuple, &event.activity);
    return event;
}

static int give_losses(const struct esi_events *events,
                       const struct es_batch *batch,
                       const struct esi_event_sink *sink)
{
    int result = 0;

    for (size_t i = 0; i < batch->report_count && result >= 0; i++)
        result = sink->loss(sink->data,
                            es_scope_origin(events->scope, batch->reports[i].origin),
                            batch->reports[i].lost);
    return result;
}

/* --- The backlog -------------------------------------------------------------- */

static int give_tail(struct esi_events *events, const struct esi_event_sink *sink)
{
    int result = 0;

    for (size_t i = 0; i < events->tail_count && result >= 0; i++) {
        size_t at = (events->tail_first + i) % events->config.last;

        result = sink->event(sink->data, &events->tail[at]);
    }
    free(events->tail);
    events->tail = NULL;
    return result;
}

static int keep_summary(struct esi_events *events,
                        const struct es_batch *batch,
                        size_t index,
                        size_t *old)
{
    const struct es_mark *mark = &batch->marks[index];
    struct esi_summary_row row = {.origin =
                                      es_scope_origin(events->scope, mark->origin)};

    if (es_summary_decode(&batch->tuples[index], mark, &row.summary) < 0)
        return 0;
    if (row.summary.by == ES_SUMMARY_BY_SITE)
        row.site =
            esi_sites_format(events->sites, events->scope, mark->origin, mark->site);
    *old += row.summary.last_ns <= events->begun_ns;
    return esi_summaries_add(&events->summaries, &row);
}

/* Delivers a batch.  *ret_old: number of events completed before the reading began. */
static int give_batch(struct esi_events *events,
                      const struct es_batch *batch,
                      const struct esi_event_sink *sink,
                      size_t *ret_old)
{
    int result = give_losses(events, batch, sink);

    events->sink = sink;
    *ret_old = 0;
    for (size_t i = 0; i < batch->count && result >= 0; i++) {
        struct esi_event event;

        if (es_mark_is_summary(&batch->marks[i])) {
            result = keep_summary(events, batch, i, ret_old);
            continue;
        }
        event = make_event(events, batch->marks[i].origin, &batch->tuples[i],
                           batch->marks[i].site);
        event.position = batch->marks[i].position;
        *ret_old += event.activity.stop_ns <= events->begun_ns;
        result = events->repair ? esi_events_repair_add(events->repair, &event)
                                : give_event(events, &event);
    }
    return result;
}

/* Pulls once.  Returns 1 if more data is available, 0 if not, or -errno. */
static int read_batch(struct esi_events *events,
                      bool drain,
                      const struct esi_event_sink *sink,
                      size_t *ret_old)
{
    const struct es_batch *batch;
    int more = esi_follower_pull(events->follower, drain ? ES_PULL_DRAIN : 0, &batch);
    int result = more < 0 ? more : give_batch(events, batch, sink, ret_old);

    return result < 0 ? result : more;
}

/* Delivers held events at the end of a reading. */
static int give_held(struct esi_events *events, bool all)
{
    if (!events->repair)
        return 0;
    return all ? esi_events_repair_finish(events->repair)
               : esi_events_repair_rest(events->repair);
}

int esi_events_read_backlog(struct esi_events *events,
                            bool drain,
                            const struct esi_event_sink *sink)
{
    size_t old = 0;
    int result;

    /* A program may write faster than this reads: the first newer event ends the
     * backlog. */
    do
        result = read_batch(events, drain, sink, &old);
    while (result > 0 && old > 0);
    if (result >= 0)
        result = give_held(events, drain || events->tail);
    if (result >= 0 && events->tail)
        result = give_tail(events, sink);
    return result < 0 ? result : 0;
}

/* --- New events ------------------------------------------------------------------- */

int esi_events_read_new(struct esi_events *events,
                        bool drain,
                        const struct esi_event_sink *sink)
{
    size_t old;
    int result = esi_follower_refresh(events->follower, drain);
    int more;

    if (result < 0)
        return result;
    more = read_batch(events, drain, sink, &old);
    result = more == 0 ? give_held(events, drain) : 0;
    return result < 0 ? result : more;
}

bool esi_events_are_summed_up(const struct esi_events *events)
{
    return events->summed_up;
}

int esi_events_give_summaries(struct esi_events *events,
                              const struct esi_event_sink *sink)
{
    struct esi_summaries *summaries = &events->summaries;
    int result = 0;

    esi_summaries_merge(summaries);
    for (size_t i = 0; i < summaries->count && result >= 0; i++)
        result = sink->summary(sink->data, &summaries->rows[i]);
    summaries->count = 0;
    return result < 0 ? result : 0;
}

static int give_open(void *data,
                     uint32_t origin,
                     const struct es_tuple *tuple,
                     uint64_t site)
{
    const struct esi_events *events = data;
    struct esi_event event = make_event(events, origin, tuple, site);
    struct es_segment_info info;

    if (es_scope_process(events->scope, origin, &info) == 0) {
        event.ended = !info.alive;
        event.ended_ns = info.ended_realtime_ns;
    }
    return events->sink->event(events->sink->data, &event);
}

int esi_events_read_open(struct esi_events *events, const struct esi_event_sink *sink)
{
    events->sink = sink;
    return events->summed_up
               ? 0
               : esi_follower_read_open(events->follower, give_open, NULL, events);
}

const struct esi_follower *esi_events_follower(const struct esi_events *events)
{
    return events->follower;
}

uint64_t esi_events_start_ns(const struct esi_events *events)
{
    return events->start_ns;
}

bool esi_events_repairs(const struct esi_events *events,
                        struct esi_time_repair_totals *ret_totals)
{
    if (!events->repair)
        return false;
    esi_events_repair_totals(events->repair, ret_totals);
    return true;
}
