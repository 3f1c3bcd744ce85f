/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delivery.c - Kahn's algorithm on a stream.
 *
 * Of each trace the first event that waits either waits for one event of another trace
 * (in that trace's heap of waiters), or is ready (in the heap `ready`), or is the
 * second half of a sync, which goes along with the first.  The first half waits for
 * the event before the other half; when that was given the sync is ready, although the
 * other half may not have come: then everything behind it stops.
 */
#include "config.h"

#include "monitors/eventset/delivery.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/eventset/delivery_private.h"

/* --- Making ----------------------------------------------------------------------- */

void es_delivery_config_init(struct es_delivery_config *config, struct es_set_sink sink)
{
    *config = (struct es_delivery_config){
        .sink = sink,
        .memory_bytes = UINT64_C(512) << 20,
    };
}

int es_delivery_create(const struct es_delivery_config *config,
                       struct es_delivery **ret_delivery)
{
    struct es_delivery *delivery = calloc(1, sizeof *delivery);

    if (!delivery)
        return -ENOMEM;
    delivery->config = *config;
    esi_spool_init(&delivery->spool, config->memory_bytes, config->spill_folder);
    *ret_delivery = delivery;
    return 0;
}

void es_delivery_destroy(struct es_delivery *delivery)
{
    int saved_errno = errno;

    if (!delivery)
        return;
    for (uint32_t i = 0; i < delivery->trace_count; i++)
        esi_spool_clear(&delivery->spool, &delivery->traces[i].waiting);
    esi_spool_fini(&delivery->spool);
    esi_record_room_fini(&delivery->rooms[0]);
    esi_record_room_fini(&delivery->rooms[1]);
    free(delivery->traces);
    free(delivery->ready);
    free(delivery);
    errno = saved_errno;
}

static int make_room(struct es_delivery *delivery)
{
    uint32_t capacity = delivery->trace_capacity;
    struct esi_delivery_trace *traces;
    struct esi_ready *ready;

    if (delivery->trace_count < capacity)
        return 0;
    if (capacity > UINT32_MAX / 4)
        return -ENOMEM;
    capacity = capacity ? 2 * capacity : 16;
    traces = realloc(delivery->traces, capacity * sizeof *traces);
    if (!traces)
        return -ENOMEM;
    delivery->traces = traces;
    ready = realloc(delivery->ready, capacity * sizeof *ready);
    if (!ready)
        return -ENOMEM;
    delivery->ready = ready;
    delivery->trace_capacity = capacity;
    return 0;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct es_delivery *delivery = data;

    if (trace != delivery->trace_count)
        return -EINVAL;
    if (make_room(delivery) < 0)
        return -ENOMEM;
    delivery->traces[trace] = (struct esi_delivery_trace){
        .left = ESI_NO_TRACE, .right = ESI_NO_TRACE, .waiters = ESI_NO_TRACE};
    delivery->trace_count++;
    return delivery->config.sink.trace(delivery->config.sink.data, trace, name);
}

int esi_delivery_front(struct es_delivery *delivery,
                       uint32_t trace,
                       const struct esi_record **ret_record)
{
    void *record;
    int code =
        esi_spool_front(&delivery->spool, &delivery->traces[trace].waiting, &record);

    if (code == 0)
        *ret_record = record;
    return code;
}

/* --- Heap of units that are ready: the first that came on top --------------------- */

static void push_ready(struct es_delivery *delivery, uint32_t trace, uint64_t position)
{
    struct esi_ready *heap = delivery->ready;
    uint32_t at = delivery->ready_count++;

    while (at > 0 && heap[(at - 1) / 2].position > position) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = (struct esi_ready){position, trace};
}

static void pop_ready(struct es_delivery *delivery)
{
    struct esi_ready *heap = delivery->ready;
    uint32_t count = --delivery->ready_count;
    struct esi_ready last = heap[count];
    uint32_t at = 0;

    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].position < heap[child].position)
            child++;
        if (heap[child].position >= last.position)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
}

/* --- Heaps of waiters (Sleator and Tarjan's skew heaps, merged from the top) ------ */

static uint32_t merge(struct esi_delivery_trace *traces, uint32_t a, uint32_t b)
{
    uint32_t root = ESI_NO_TRACE;
    uint32_t *at = &root;

    while (a != ESI_NO_TRACE && b != ESI_NO_TRACE) {
        uint32_t right;

        if (traces[b].awaited.index < traces[a].awaited.index) {
            uint32_t other = a;
            a = b;
            b = other;
        }
        *at = a;
        right = traces[a].right;
        traces[a].right = traces[a].left;
        at = &traces[a].left;
        a = right;
    }
    *at = a != ESI_NO_TRACE ? a : b;
    return root;
}

static void wait_for(struct es_delivery *delivery,
                     uint32_t trace,
                     struct es_event_id event)
{
    struct esi_delivery_trace *traces = delivery->traces;

    traces[trace].awaited = event;
    traces[trace].left = traces[trace].right = ESI_NO_TRACE;
    traces[event.trace].waiters = merge(traces, traces[event.trace].waiters, trace);
}

/* A trace whose first event need not wait any longer for one of `trace`, or
 * ESI_NO_TRACE. */
static uint32_t pop_waiter(struct es_delivery *delivery, uint32_t trace)
{
    struct esi_delivery_trace *traces = delivery->traces;
    uint32_t top = traces[trace].waiters;

    if (top == ESI_NO_TRACE || traces[top].awaited.index > traces[trace].given)
        return ESI_NO_TRACE;
    traces[trace].waiters = merge(traces, traces[top].left, traces[top].right);
    traces[top].awaited.index = 0;
    return top;
}

/* --- What the first event that waits needs ---------------------------------------- */

/* The first partner, from *seen on, that was not given; NULL: all were. */
static const struct es_event_id *find_missing(const struct es_delivery *delivery,
                                              const struct es_event_id *partners,
                                              uint32_t count,
                                              uint32_t *seen)
{
    for (; *seen < count; ++*seen) {
        const struct es_event_id *partner = &partners[*seen];
        if (partner->index > delivery->traces[partner->trace].given)
            return partner;
    }
    return NULL;
}

/* Finds a place for the event that is now the first that waits, or does so no longer
 * for what it waited for. */
static int place_front(struct es_delivery *delivery, uint32_t trace)
{
    struct esi_delivery_trace *own = &delivery->traces[trace];
    const struct esi_record *record = NULL;
    const struct es_event_id *partners;
    int code = esi_delivery_front(delivery, trace, &record);

    if (code < 0)
        return code;
    partners = esi_record_partners(record);
    if (record->kind == ES_EVENT_SYNC) {
        struct es_event_id before = {partners[0].trace, partners[0].index - 1};

        if (!record->is_first_half)
            return 0;
        if (before.index > delivery->traces[before.trace].given)
            wait_for(delivery, trace, before);
        else
            push_ready(delivery, trace, record->position);
        return 0;
    }
    partners =
        find_missing(delivery, partners, record->partner_count, &own->partners_seen);
    if (partners)
        wait_for(delivery, trace, *partners);
    else
        push_ready(delivery, trace, record->position);
    return 0;
}

static int wake_waiters(struct es_delivery *delivery, uint32_t trace)
{
    uint32_t waiter;
    int code = 0;

    while (code == 0 && (waiter = pop_waiter(delivery, trace)) != ESI_NO_TRACE)
        code = place_front(delivery, waiter);
    return code;
}

/* --- Giving ----------------------------------------------------------------------- */

static int give(struct es_delivery *delivery, const struct es_set_event *event)
{
    int code = delivery->config.sink.event(delivery->config.sink.data, event);

    if (code < 0)
        return code;
    delivery->traces[event->id.trace].given++;
    delivery->statistics.events++;
    return 0;
}

static int give_record(struct es_delivery *delivery,
                       uint32_t trace,
                       const struct esi_record *record,
                       struct esi_record_room *room)
{
    struct es_set_event event;
    int code = esi_record_unpack(record, trace, room, &event);

    return code < 0 ? code : give(delivery, &event);
}

/* The first event of the trace was given: the next one's turn, and that of others. */
static int advance(struct es_delivery *delivery, uint32_t trace)
{
    struct esi_delivery_trace *own = &delivery->traces[trace];
    int code;

    esi_spool_pop(&delivery->spool, &own->waiting);
    delivery->statistics.waiting--;
    own->partners_seen = 0;
    code = wake_waiters(delivery, trace);
    if (code == 0 && !esi_spool_is_empty(&own->waiting))
        code = place_front(delivery, trace);
    return code;
}

static int give_sync(struct es_delivery *delivery,
                     uint32_t trace,
                     const struct esi_record *record)
{
    struct es_event_id other = esi_record_partners(record)[0];
    const struct esi_record *second = NULL;
    int code;

    if (delivery->traces[other.trace].given >= other.index)
        return -EINVAL;
    code = esi_delivery_front(delivery, other.trace, &second);
    if (code < 0)
        return code;
    if (second->kind != ES_EVENT_SYNC ||
        esi_record_partners(second)[0].trace != trace ||
        esi_record_partners(second)[0].index != record->index)
        return -EINVAL;
    code = give_record(delivery, trace, record, &delivery->rooms[0]);
    if (code == 0)
        code = give_record(delivery, other.trace, second, &delivery->rooms[1]);
    if (code == 0)
        code = advance(delivery, trace);
    if (code == 0)
        code = advance(delivery, other.trace);
    return code;
}

/* Whether a unit that is ready lacks a half that did not come yet. */
static bool is_half(const struct es_delivery *delivery, const struct esi_record *record)
{
    struct es_event_id other;

    if (record->kind != ES_EVENT_SYNC)
        return false;
    other = esi_record_partners(record)[0];
    return delivery->traces[other.trace].read < other.index;
}

static int give_ready(struct es_delivery *delivery)
{
    int code = 0;

    while (code == 0 && delivery->ready_count > 0) {
        uint32_t trace = delivery->ready[0].trace;
        const struct esi_record *record = NULL;

        code = esi_delivery_front(delivery, trace, &record);
        if (code < 0 || is_half(delivery, record))
            return code;
        pop_ready(delivery);
        if (record->kind == ES_EVENT_SYNC) {
            code = give_sync(delivery, trace, record);
            continue;
        }
        code = give_record(delivery, trace, record, &delivery->rooms[0]);
        if (code == 0)
            code = advance(delivery, trace);
    }
    return code;
}

/* --- Taking ----------------------------------------------------------------------- */

static int check_event(const struct es_delivery *delivery,
                       const struct es_set_event *event)
{
    uint32_t count = event->kind == ES_EVENT_SEND ? 0 : event->partner_count;

    if (event->id.trace >= delivery->trace_count || event->id.index == 0 ||
        event->id.index - 1 != delivery->traces[event->id.trace].read)
        return -EINVAL;
    for (uint32_t i = 0; i < count; i++)
        if (event->partners[i].trace >= delivery->trace_count ||
            event->partners[i].index == 0)
            return -EINVAL;
    if (event->kind != ES_EVENT_SYNC)
        return 0;
    return count != 1 || event->partners[0].trace == event->id.trace ||
                   event->partners[0].index <=
                       delivery->traces[event->partners[0].trace].given
               ? -EINVAL
               : 0;
}

static int hold(struct es_delivery *delivery, const struct es_set_event *event)
{
    struct esi_delivery_trace *own = &delivery->traces[event->id.trace];
    bool is_first = esi_spool_is_empty(&own->waiting);
    struct esi_record *record;
    void *bytes;
    int code =
        esi_spool_push(&delivery->spool, &own->waiting, esi_record_size(event), &bytes);

    if (code < 0)
        return code;
    record = bytes;
    esi_record_pack(record, event);
    record->position = delivery->position;
    record->line = delivery->config.line ? *delivery->config.line : 0;
    record->is_first_half =
        event->kind == ES_EVENT_SYNC &&
        delivery->traces[event->partners[0].trace].read < event->partners[0].index;
    delivery->statistics.waiting++;
    delivery->statistics.waited_events++;
    return is_first ? place_front(delivery, event->id.trace) : 0;
}

/* Whether the event, which just came, is the next one to be given. */
static bool can_pass(struct es_delivery *delivery, const struct es_set_event *event)
{
    struct esi_delivery_trace *own = &delivery->traces[event->id.trace];

    if (!esi_spool_is_empty(&own->waiting))
        return false;
    own->partners_seen = 0;
    if (delivery->ready_count > 0 || event->kind == ES_EVENT_SYNC)
        return false;
    return event->kind != ES_EVENT_RECEIVE ||
           !find_missing(delivery, event->partners, event->partner_count,
                         &own->partners_seen);
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct es_delivery *delivery = data;
    int code = check_event(delivery, event);

    if (code < 0)
        return code;
    delivery->position++;
    delivery->traces[event->id.trace].read++;
    if (can_pass(delivery, event)) {
        code = give(delivery, event);
        if (code == 0)
            code = wake_waiters(delivery, event->id.trace);
    } else {
        code = hold(delivery, event);
    }
    return code < 0 ? code : give_ready(delivery);
}

struct es_set_sink es_delivery_sink(struct es_delivery *delivery)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = delivery};
}

int es_delivery_finish(struct es_delivery *delivery, struct es_error *error)
{
    return delivery->statistics.waiting == 0 ? 0
                                             : esi_delivery_explain(delivery, error);
}

void es_delivery_statistics(const struct es_delivery *delivery,
                            struct es_delivery_statistics *ret_statistics)
{
    *ret_statistics = delivery->statistics;
    ret_statistics->waited_bytes = delivery->spool.held_max;
}
