/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_event.c - rows, single events, and relations of events. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "monitors/diagram/diagram_private.h"

/* --- Rows ------------------------------------------------------------------------- */

void esi_diagram_set_now(struct esi_diagram *diagram, uint64_t now_ns)
{
    pthread_mutex_lock(&diagram->lock);
    if (now_ns > diagram->now_ns)
        diagram->now_ns = now_ns;
    pthread_mutex_unlock(&diagram->lock);
}

void esi_diagram_extent(struct esi_diagram *diagram,
                        struct esi_diagram_extent *ret_extent)
{
    pthread_mutex_lock(&diagram->lock);
    *ret_extent = diagram->extent;
    ret_extent->rows = diagram->thread_count;
    ret_extent->lost = 0;
    for (size_t i = 0; i < diagram->thread_count; i++)
        ret_extent->lost += diagram->threads[i]->lost;
    if (diagram->now_ns > ret_extent->end[ESI_DIAGRAM_TIME])
        ret_extent->end[ESI_DIAGRAM_TIME] = diagram->now_ns;
    if (diagram->has_hosts)
        ret_extent->worst_error_ns = diagram->worst_error_ns;
    pthread_mutex_unlock(&diagram->lock);
}

int esi_diagram_set_cluster(struct esi_diagram *diagram,
                            const char *host,
                            const char *cluster)
{
    uint32_t number, text;
    int result = -ENOMEM;

    pthread_mutex_lock(&diagram->lock);
    number = esi_diagram_host_number(diagram, host);
    if (number != UINT32_MAX)
        result = esi_texts_add(&diagram->texts, cluster, strlen(cluster), &text);
    if (result == 0 && strcmp(diagram->clusters[number], cluster) != 0) {
        diagram->clusters[number] = esi_texts_at(&diagram->texts, text);
        diagram->extent.changes++;
    }
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

static uint32_t level_of_event(const struct esi_diagram_thread *thread, uint32_t index)
{
    const struct esi_diagram_moment *moment = esi_diagram_moment_at(thread, index);

    return moment ? moment->level : 0;
}

/* The level of its last event; a call has at most two. */
static uint32_t last_level(const struct esi_diagram_thread *thread,
                           const struct esi_diagram_span *span)
{
    const struct esi_diagram_moment *first = esi_diagram_moment_at(thread, span->event);
    const struct esi_diagram_moment *next =
        first ? esi_diagram_moment_at(thread, span->event + 1) : NULL;

    if (!first)
        return 0;
    return next && next->call == first->call && next->call != UINT32_MAX ? next->level
                                                                         : first->level;
}

void esi_diagram_fill_call(const struct esi_diagram *diagram,
                           const struct esi_diagram_thread *thread,
                           const struct esi_diagram_span *span,
                           struct esi_diagram_call *ret_call)
{
    *ret_call = (struct esi_diagram_call){
        .begin_ns = span->begin_ns,
        .end_ns = span->end_ns,
        .site = "",
        .peer = span->peer,
        .tag = span->tag,
        .bytes = span->bytes,
        .event = span->event,
        .nonblocking = span->nonblocking,
        .any_source = span->any_source,
        .state = (enum esi_diagram_state)span->state,
    };
    ret_call->level[0] = level_of_event(thread, span->event);
    ret_call->level[1] = last_level(thread, span);
    if (span->what != UINT32_MAX) {
        const struct esi_diagram_what *what = &diagram->whats[span->what];

        ret_call->operation = what->operation;
        ret_call->site = esi_texts_at(&diagram->texts, what->site);
        if (what->communicator)
            ret_call->communicator =
                esi_texts_at(&diagram->texts, what->communicator_name);
    }
}

static void fill_row(const struct esi_diagram *diagram,
                     const struct esi_diagram_thread *thread,
                     struct esi_diagram_row *row)
{
    *row = (struct esi_diagram_row){
        .name = diagram->traces[thread->trace].name,
        .host = esi_texts_at(&diagram->hosts, thread->host),
        .cluster = diagram->clusters[thread->host],
        .rank = thread->rank,
        .thread = thread->thread,
        .trace = thread->trace,
        .events = diagram->traces[thread->trace].count,
        .begin_ns = thread->begin_ns,
        .end_ns = esi_diagram_thread_end(diagram, thread),
        .lost = thread->lost,
        .kept_from = thread->moment_count > 0 ? (uint32_t)thread->moment_first + 1 : 0,
        .is_over = thread->is_over,
        .is_open = thread->is_open,
    };
    if (thread->is_open)
        esi_diagram_fill_call(diagram, thread, &thread->open, &row->open);
}

int esi_diagram_row(struct esi_diagram *diagram,
                    uint32_t row,
                    struct esi_diagram_row *ret_row)
{
    const struct esi_diagram_thread *thread;

    pthread_mutex_lock(&diagram->lock);
    thread = esi_diagram_thread(diagram, row);
    if (thread)
        fill_row(diagram, thread, ret_row);
    pthread_mutex_unlock(&diagram->lock);
    return thread ? 0 : -EINVAL;
}

int esi_diagram_row_of(struct esi_diagram *diagram, uint32_t trace)
{
    int row = -ENOENT;

    pthread_mutex_lock(&diagram->lock);
    if (esi_diagram_thread_of(diagram, trace))
        row = (int)diagram->traces[trace].row;
    pthread_mutex_unlock(&diagram->lock);
    return row;
}

/* --- Events ----------------------------------------------------------------------- */

static const struct esi_diagram_span *span_of(const struct esi_diagram_thread *thread,
                                              const struct esi_diagram_moment *moment)
{
    uint64_t number = moment->call & ~ESI_DIAGRAM_FLIGHT;
    const struct esi_diagram_spans *spans =
        moment->call & ESI_DIAGRAM_FLIGHT ? &thread->flights : &thread->calls;

    if (moment->call == UINT32_MAX)
        return &thread->open;
    return number >= spans->first && number - spans->first < spans->count
               ? esi_diagram_span_at(spans, number)
               : NULL;
}

static void fill_event(const struct esi_diagram *diagram,
                       const struct esi_diagram_thread *thread,
                       const struct esi_diagram_moment *moment,
                       struct esi_diagram_event *event)
{
    const struct esi_diagram_span *span = span_of(thread, moment);

    *event = (struct esi_diagram_event){
        .id = {thread->trace, (uint32_t)(thread->moment_first +
                                         (uint64_t)(moment - thread->moments) + 1)},
        .row = diagram->traces[thread->trace].row,
        .ns = moment->ns,
        .level = moment->level,
        .kind = (enum es_event_kind)moment->kind,
        .role = (enum esi_role)moment->role,
        .type = esi_texts_at(&diagram->types, moment->type),
        .call = {.site = "", .peer = ES_PEER_NONE, .state = ESI_DIAGRAM_OTHER},
        .partner = moment->partner,
    };
    if (span)
        esi_diagram_fill_call(diagram, thread, span, &event->call);
}

int esi_diagram_event(struct esi_diagram *diagram,
                      struct es_event_id id,
                      struct esi_diagram_event *ret_event)
{
    const struct esi_diagram_thread *thread;
    const struct esi_diagram_moment *moment;

    pthread_mutex_lock(&diagram->lock);
    thread = esi_diagram_thread_of(diagram, id.trace);
    moment = thread ? esi_diagram_moment_at(thread, id.index) : NULL;
    if (moment)
        fill_event(diagram, thread, moment, ret_event);
    pthread_mutex_unlock(&diagram->lock);
    return moment ? 0 : -EINVAL;
}

static uint64_t distance_from(const struct esi_diagram_thread *thread,
                              uint32_t index,
                              enum esi_diagram_axis axis,
                              uint64_t position)
{
    const struct esi_diagram_moment *moment = esi_diagram_moment_at(thread, index);
    uint64_t at;

    if (!moment)
        return UINT64_MAX;
    at = axis == ESI_DIAGRAM_TIME ? moment->ns : moment->level;
    return at > position ? at - position : position - at;
}

int esi_diagram_nearest(struct esi_diagram *diagram,
                        uint32_t row,
                        enum esi_diagram_axis axis,
                        uint64_t position,
                        struct es_event_id *ret_id)
{
    const struct esi_diagram_thread *thread;
    int result = -ENOENT;

    pthread_mutex_lock(&diagram->lock);
    thread = esi_diagram_thread(diagram, row);
    if (thread && thread->moment_count > 0) {
        uint32_t index = esi_diagram_lower_bound(thread, axis, position);

        if (distance_from(thread, index - 1, axis, position) <=
            distance_from(thread, index, axis, position))
            index--;
        *ret_id = (struct es_event_id){thread->trace, index};
        result = 0;
    }
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

/* --- Cones ------------------------------------------------------------------------ */

/* Copies the traces of the rows, so that the order can be queried without the lock. */
static int list_traces(struct esi_diagram *diagram, uint32_t *traces, size_t rows)
{
    int result = 0;

    pthread_mutex_lock(&diagram->lock);
    if (rows > diagram->thread_count)
        result = -EINVAL;
    for (size_t i = 0; i < rows && result == 0; i++)
        traces[i] = diagram->threads[i]->trace;
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

int esi_diagram_cone(struct esi_diagram *diagram,
                     struct es_event_id event,
                     uint32_t *ret_past,
                     uint32_t *ret_future,
                     size_t rows)
{
    uint32_t *traces = calloc(rows + 1, sizeof *traces);
    int64_t past = 0, future = 0;
    int result = traces ? list_traces(diagram, traces, rows) : -ENOMEM;

    for (size_t i = 0; i < rows && result == 0; i++) {
        past = es_order_greatest_predecessor(diagram->order, event, traces[i]);
        future = past < 0 ? past
                          : es_order_least_successor(diagram->order, event, traces[i]);
        if (future < 0)
            result = (int)future;
        ret_past[i] = (uint32_t)past;
        ret_future[i] = (uint32_t)future;
    }
    free(traces);
    return result;
}

/* --- Replay ----------------------------------------------------------------------- */

/* The heap key: levels are a linear extension.  Both halves of a sync use the smaller
 * trace, so that they are adjacent. */
static uint64_t replay_key(const struct esi_diagram_thread *thread,
                           const struct esi_diagram_moment *moment)
{
    uint32_t trace = thread->trace;

    if (moment->kind == ES_EVENT_SYNC && moment->partner.trace < trace)
        trace = moment->partner.trace;
    return (uint64_t)moment->level << 32 | trace;
}

struct diagram_replay {
    struct esi_diagram *diagram;
    struct esi_heap heap; /* of rows */
    uint32_t *next;       /* by row: index of the next event */
    size_t rows;
};

/* The next kept event of a row; NULL if there is none. */
static const struct esi_diagram_moment *next_moment(struct diagram_replay *replay,
                                                    size_t row)
{
    const struct esi_diagram_thread *thread = replay->diagram->threads[row];

    if (replay->next[row] <= thread->moment_first)
        replay->next[row] = (uint32_t)thread->moment_first + 1;
    return esi_diagram_moment_at(thread, replay->next[row]);
}

static void push_row(struct diagram_replay *replay, size_t row)
{
    const struct esi_diagram_moment *moment = next_moment(replay, row);

    if (moment)
        esi_heap_push(&replay->heap, replay_key(replay->diagram->threads[row], moment),
                      row);
}

static int begin_replay(struct diagram_replay *replay)
{
    int result = -ENOMEM;

    pthread_mutex_lock(&replay->diagram->lock);
    replay->rows = replay->diagram->thread_count;
    replay->next = calloc(replay->rows + 1, sizeof *replay->next);
    if (replay->next && esi_heap_reserve(&replay->heap, replay->rows) == 0)
        result = 0;
    for (size_t row = 0; row < replay->rows && result == 0; row++)
        push_row(replay, row);
    pthread_mutex_unlock(&replay->diagram->lock);
    return result;
}

/* Returns 1 and the next event, or 0 at the end.  Skips what was discarded
 * meanwhile. */
static int take_next(struct diagram_replay *replay, struct esi_diagram_event *event)
{
    struct esi_diagram *diagram = replay->diagram;
    bool is_found = false;

    pthread_mutex_lock(&diagram->lock);
    while (!is_found && replay->heap.count > 0) {
        struct esi_heap_entry top = esi_heap_top(&replay->heap);
        const struct esi_diagram_thread *thread = diagram->threads[top.item];
        const struct esi_diagram_moment *moment = next_moment(replay, top.item);

        esi_heap_pop(&replay->heap);
        is_found = replay_key(thread, moment) == top.key;
        if (is_found) {
            fill_event(diagram, thread, moment, event);
            replay->next[top.item]++;
        }
        push_row(replay, top.item);
    }
    pthread_mutex_unlock(&diagram->lock);
    return is_found;
}

int esi_diagram_replay(struct esi_diagram *diagram,
                       int (*visit)(void *data, const struct esi_diagram_event *event),
                       void *data)
{
    struct diagram_replay replay = {.diagram = diagram};
    struct esi_diagram_event event;
    int result = begin_replay(&replay);

    while (result == 0 && take_next(&replay, &event))
        result = visit(data, &event);
    esi_heap_fini(&replay.heap);
    free(replay.next);
    return result;
}
