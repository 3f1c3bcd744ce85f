/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delivery.c - Kahn's algorithm on a stream.
 *
 * The first waiting event of each trace is in one of three states.  It waits for one
 * event of another trace (in that trace's heap of waiters); it is ready (in the heap
 * `ready`); or it is the second half of a sync and follows the first.  The first half
 * waits for the event before the other half.  When that event is delivered, the sync is
 * ready, even if the other half has not arrived: then everything after it waits.
 */
#include "config.h"

#include "monitors/eventset/delivery.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "eventspace/event.h"
#include "monitors/eventset/set_spool.h"

/*
 * Waiting events, packed into bytes.
 */

/* Followed by partners, attributes (private) and texts. */
struct esi_record {
    uint64_t position; /* in the stream, from 1 */
    uint64_t line;     /* in the source; 0 = not known */
    uint32_t index;
    uint32_t partner_count;
    uint32_t attribute_count;
    uint32_t type_bytes; /* with the terminating 0, like all sizes */
    uint32_t text_bytes;
    uint8_t kind;
    uint8_t is_first_half; /* for a sync: the half that arrived first */
    uint8_t unused[2];
};

static inline const struct es_event_id *esi_record_partners(const struct esi_record *r)
{
    return (const struct es_event_id *)(const void *)(r + 1);
}

/* Attributes of an unpacked event.  A zeroed struct is empty. */
struct esi_record_room {
    struct es_event_attribute *attributes;
    size_t capacity;
};

#define ESI_NO_TRACE UINT32_MAX

struct esi_delivery_trace {
    uint32_t read;  /* events that arrived */
    uint32_t given; /* events that were delivered */
    struct esi_spool_queue waiting;
    uint32_t partners_seen; /* of the first waiting event: already delivered */
    /* The event that the first waiting event waits for, and the node in the skew heap
     * of that event's trace. */
    struct es_event_id awaited; /* index 0: for none */
    uint32_t left;
    uint32_t right;
    uint32_t waiters; /* root of the heap of traces that wait for events of this one */
};

struct esi_delivery {
    struct esi_delivery_config config;
    struct esi_delivery_trace *traces;
    uint32_t trace_count;
    size_t trace_capacity;
    /* Units that can be delivered: the traces of their first events, by position.  Has
     * space for each trace. */
    struct esi_heap ready;
    uint64_t position; /* of the last event that arrived */
    struct esi_spool spool;
    struct esi_record_room rooms[2]; /* for the halves of a sync */
    bool is_refused;                 /* by the sink */
    uint64_t waiting;                /* number of events */
};

static int delivery_explain(struct esi_delivery *delivery, struct es_error *error);

/* === Waiting events =============================================================== */

/* Packs events into bytes without pointers. */

/* Its texts follow all others in the order of the attributes: name, then value. */
struct packed_attribute {
    int64_t number;
    uint32_t name_bytes; /* with the terminating 0, like all sizes */
    uint32_t text_bytes; /* 0: the value is a number */
};

_Static_assert(sizeof(struct esi_record) % 8 == 0, "partners follow");
_Static_assert(sizeof(struct es_event_id) == 8, "attributes follow");

/* The partners of sends are not stored. */
static uint32_t partner_count(const struct es_set_event *event)
{
    return event->kind == ES_EVENT_SEND ? 0 : event->partner_count;
}

static size_t texts_at(uint32_t partners, size_t attributes)
{
    return sizeof(struct esi_record) + partners * sizeof(struct es_event_id) +
           attributes * sizeof(struct packed_attribute);
}

/* Bytes for an event. */
static size_t record_size(const struct es_set_event *event)
{
    size_t size = texts_at(partner_count(event), event->attribute_count);

    size += strlen(event->type) + 1 + strlen(event->text) + 1;
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        size += strlen(attribute->name) + 1;
        if (attribute->text)
            size += strlen(attribute->text) + 1;
    }
    return size;
}

/* Returns the number of bytes copied. */
static uint32_t record_append(char **at, const char *text)
{
    size_t bytes = strlen(text) + 1;

    memcpy(*at, text, bytes);
    *at += bytes;
    return (uint32_t)bytes;
}

static struct packed_attribute *packed_of(const struct esi_record *record)
{
    return (struct packed_attribute *)(void *)((char *)(uintptr_t)record +
                                               texts_at(record->partner_count, 0));
}

static char *texts_of(const struct esi_record *record)
{
    return (char *)(uintptr_t)record +
           texts_at(record->partner_count, record->attribute_count);
}

/* Fills all members except `position`, `line` and `is_first_half`. */
static void record_pack(struct esi_record *record, const struct es_set_event *event)
{
    struct packed_attribute *packed;
    char *at;

    *record = (struct esi_record){
        .index = event->id.index,
        .partner_count = partner_count(event),
        .attribute_count = (uint32_t)event->attribute_count,
        .kind = (uint8_t)event->kind,
    };
    if (record->partner_count > 0)
        memcpy(record + 1, event->partners,
               record->partner_count * sizeof *event->partners);
    packed = packed_of(record);
    at = texts_of(record);
    record->type_bytes = record_append(&at, event->type);
    record->text_bytes = record_append(&at, event->text);
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        packed[i].number = attribute->number;
        packed[i].name_bytes = record_append(&at, attribute->name);
        packed[i].text_bytes =
            attribute->text ? record_append(&at, attribute->text) : 0;
    }
}

static void record_room_fini(struct esi_record_room *room)
{
    free(room->attributes);
    *room = (struct esi_record_room){0};
}

/* Restores the event; it borrows from the record and the room.  Returns 0 or
 * -ENOMEM. */
static int record_unpack(const struct esi_record *record,
                         uint32_t trace,
                         struct esi_record_room *room,
                         struct es_set_event *ret_event)
{
    const struct packed_attribute *packed = packed_of(record);
    const char *type = texts_of(record);
    const char *at = type + record->type_bytes + record->text_bytes;

    if (ESI_ARRAY_RESERVE(room->attributes, room->capacity, record->attribute_count) <
        0)
        return -ENOMEM;
    for (uint32_t i = 0; i < record->attribute_count; i++) {
        const char *value = at + packed[i].name_bytes;
        room->attributes[i] = (struct es_event_attribute){
            .name = at,
            .text = packed[i].text_bytes > 0 ? value : NULL,
            .number = packed[i].number,
        };
        at = value + packed[i].text_bytes;
    }
    *ret_event = (struct es_set_event){
        .id = {trace, record->index},
        .kind = (enum es_event_kind)record->kind,
        .partner_count = record->partner_count,
        .partners = record->partner_count > 0 ? esi_record_partners(record) : NULL,
        .type = type,
        .text = type + record->type_bytes,
        .attributes = room->attributes,
        .attribute_count = record->attribute_count,
    };
    return 0;
}

/* === Delivery ===================================================================== */

/* --- Creation --------------------------------------------------------------------- */

void esi_delivery_config_init(struct esi_delivery_config *config,
                              struct es_set_sink sink)
{
    *config = (struct esi_delivery_config){
        .sink = sink,
        .memory_bytes = UINT64_C(512) << 20,
    };
}

int esi_delivery_create(const struct esi_delivery_config *config,
                        struct esi_delivery **ret_delivery)
{
    struct esi_delivery *delivery = calloc(1, sizeof *delivery);

    if (!delivery)
        return -ENOMEM;
    delivery->config = *config;
    esi_spool_init(&delivery->spool, config->memory_bytes, config->spill_folder);
    *ret_delivery = delivery;
    return 0;
}

void esi_delivery_destroy(struct esi_delivery *delivery)
{
    int saved_errno = errno;

    if (!delivery)
        return;
    for (uint32_t i = 0; i < delivery->trace_count; i++)
        esi_spool_clear(&delivery->spool, &delivery->traces[i].waiting);
    esi_spool_fini(&delivery->spool);
    record_room_fini(&delivery->rooms[0]);
    record_room_fini(&delivery->rooms[1]);
    free(delivery->traces);
    esi_heap_fini(&delivery->ready);
    free(delivery);
    errno = saved_errno;
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_delivery *delivery = data;
    int code;

    if (trace != delivery->trace_count)
        return -EINVAL;
    if (ESI_ARRAY_RESERVE(delivery->traces, delivery->trace_capacity,
                          (size_t)trace + 1) < 0 ||
        esi_heap_reserve(&delivery->ready, (size_t)trace + 1) < 0)
        return -ENOMEM;
    delivery->traces[trace] = (struct esi_delivery_trace){
        .left = ESI_NO_TRACE, .right = ESI_NO_TRACE, .waiters = ESI_NO_TRACE};
    delivery->trace_count++;
    code = delivery->config.sink.trace(delivery->config.sink.data, trace, name);
    delivery->is_refused |= code < 0;
    return code < 0 ? code : 0;
}

/* The first waiting event of a trace; there must be one. */
static int delivery_front(struct esi_delivery *delivery,
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

/* --- Heaps of waiters (Sleator and Tarjan's skew heaps, merged top-down) ---------- */

static uint32_t delivery_merge(struct esi_delivery_trace *traces,
                               uint32_t a,
                               uint32_t b)
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

static void wait_for(struct esi_delivery *delivery,
                     uint32_t trace,
                     struct es_event_id event)
{
    struct esi_delivery_trace *traces = delivery->traces;

    traces[trace].awaited = event;
    traces[trace].left = traces[trace].right = ESI_NO_TRACE;
    traces[event.trace].waiters =
        delivery_merge(traces, traces[event.trace].waiters, trace);
}

/* A trace whose first event need no longer wait for an event of `trace`, or
 * ESI_NO_TRACE. */
static uint32_t pop_waiter(struct esi_delivery *delivery, uint32_t trace)
{
    struct esi_delivery_trace *traces = delivery->traces;
    uint32_t top = traces[trace].waiters;

    if (top == ESI_NO_TRACE || traces[top].awaited.index > traces[trace].given)
        return ESI_NO_TRACE;
    traces[trace].waiters = delivery_merge(traces, traces[top].left, traces[top].right);
    traces[top].awaited.index = 0;
    return top;
}

/* --- Dependencies of the first waiting event -------------------------------------- */

/* The first partner, from *seen on, that was not delivered; NULL if all were. */
static const struct es_event_id *find_missing(const struct esi_delivery *delivery,
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

/* Determines what the event waits for that is now the first waiting one, or whose
 * awaited event was delivered. */
static int place_front(struct esi_delivery *delivery, uint32_t trace)
{
    struct esi_delivery_trace *own = &delivery->traces[trace];
    const struct esi_record *record = NULL;
    const struct es_event_id *partners;
    int code = delivery_front(delivery, trace, &record);

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
            esi_heap_push(&delivery->ready, record->position, trace);
        return 0;
    }
    partners =
        find_missing(delivery, partners, record->partner_count, &own->partners_seen);
    if (partners)
        wait_for(delivery, trace, *partners);
    else
        esi_heap_push(&delivery->ready, record->position, trace);
    return 0;
}

static int wake_waiters(struct esi_delivery *delivery, uint32_t trace)
{
    uint32_t waiter;
    int code = 0;

    while (code == 0 && (waiter = pop_waiter(delivery, trace)) != ESI_NO_TRACE)
        code = place_front(delivery, waiter);
    return code;
}

/* --- Delivering ------------------------------------------------------------------- */

static int delivery_give(struct esi_delivery *delivery,
                         const struct es_set_event *event)
{
    int code = delivery->config.sink.event(delivery->config.sink.data, event);

    delivery->is_refused |= code < 0;
    if (code < 0)
        return code;
    delivery->traces[event->id.trace].given++;
    return 0;
}

static int give_record(struct esi_delivery *delivery,
                       uint32_t trace,
                       const struct esi_record *record,
                       struct esi_record_room *room)
{
    struct es_set_event event;
    int code = record_unpack(record, trace, room, &event);

    return code < 0 ? code : delivery_give(delivery, &event);
}

/* Moves on after the first event of the trace was delivered: handles its next event and
 * the traces that waited for it. */
static int delivery_advance(struct esi_delivery *delivery, uint32_t trace)
{
    struct esi_delivery_trace *own = &delivery->traces[trace];
    int code;

    esi_spool_pop(&delivery->spool, &own->waiting);
    delivery->waiting--;
    own->partners_seen = 0;
    code = wake_waiters(delivery, trace);
    if (code == 0 && !esi_spool_is_empty(&own->waiting))
        code = place_front(delivery, trace);
    return code;
}

static int give_sync(struct esi_delivery *delivery,
                     uint32_t trace,
                     const struct esi_record *record)
{
    struct es_event_id other = esi_record_partners(record)[0];
    const struct esi_record *second = NULL;
    int code;

    if (delivery->traces[other.trace].given >= other.index)
        return -EINVAL;
    code = delivery_front(delivery, other.trace, &second);
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
        code = delivery_advance(delivery, trace);
    if (code == 0)
        code = delivery_advance(delivery, other.trace);
    return code;
}

/* Whether a ready unit lacks a half that has not arrived. */
static bool is_half(const struct esi_delivery *delivery,
                    const struct esi_record *record)
{
    struct es_event_id other;

    if (record->kind != ES_EVENT_SYNC)
        return false;
    other = esi_record_partners(record)[0];
    return delivery->traces[other.trace].read < other.index;
}

static int give_ready(struct esi_delivery *delivery)
{
    int code = 0;

    while (code == 0 && delivery->ready.count > 0) {
        uint32_t trace = (uint32_t)esi_heap_top(&delivery->ready).item;
        const struct esi_record *record = NULL;

        code = delivery_front(delivery, trace, &record);
        if (code < 0 || is_half(delivery, record))
            return code;
        esi_heap_pop(&delivery->ready);
        if (record->kind == ES_EVENT_SYNC) {
            code = give_sync(delivery, trace, record);
            continue;
        }
        code = give_record(delivery, trace, record, &delivery->rooms[0]);
        if (code == 0)
            code = delivery_advance(delivery, trace);
    }
    return code;
}

/* --- Arrivals --------------------------------------------------------------------- */

static int check_event(const struct esi_delivery *delivery,
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

static int delivery_hold(struct esi_delivery *delivery,
                         const struct es_set_event *event)
{
    struct esi_delivery_trace *own = &delivery->traces[event->id.trace];
    bool is_first = esi_spool_is_empty(&own->waiting);
    struct esi_record *record;
    void *bytes;
    int code =
        esi_spool_push(&delivery->spool, &own->waiting, record_size(event), &bytes);

    if (code < 0)
        return code;
    record = bytes;
    record_pack(record, event);
    record->position = delivery->position;
    record->line = delivery->config.line ? *delivery->config.line : 0;
    record->is_first_half =
        event->kind == ES_EVENT_SYNC &&
        delivery->traces[event->partners[0].trace].read < event->partners[0].index;
    delivery->waiting++;
    return is_first ? place_front(delivery, event->id.trace) : 0;
}

/* Whether the event that just arrived can be delivered at once. */
static bool can_pass(struct esi_delivery *delivery, const struct es_set_event *event)
{
    struct esi_delivery_trace *own = &delivery->traces[event->id.trace];

    if (!esi_spool_is_empty(&own->waiting))
        return false;
    own->partners_seen = 0;
    if (delivery->ready.count > 0 || event->kind == ES_EVENT_SYNC)
        return false;
    return event->kind != ES_EVENT_RECEIVE ||
           !find_missing(delivery, event->partners, event->partner_count,
                         &own->partners_seen);
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_delivery *delivery = data;
    int code = check_event(delivery, event);

    if (code < 0)
        return code;
    delivery->position++;
    delivery->traces[event->id.trace].read++;
    if (can_pass(delivery, event)) {
        code = delivery_give(delivery, event);
        if (code == 0)
            code = wake_waiters(delivery, event->id.trace);
    } else {
        code = delivery_hold(delivery, event);
    }
    return code < 0 ? code : give_ready(delivery);
}

struct es_set_sink esi_delivery_sink(struct esi_delivery *delivery)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = delivery};
}

int esi_delivery_finish(struct esi_delivery *delivery, struct es_error *error)
{
    return delivery->waiting == 0 ? 0 : delivery_explain(delivery, error);
}

bool esi_delivery_is_refused(const struct esi_delivery *delivery)
{
    return delivery && delivery->is_refused;
}

/* === Cycles ======================================================================= */

/*
 * Explains why events still wait at the end of the stream.
 *
 * Follows the first waiting event of a trace to that of the trace it waits for, and so
 * on.  Either no event waits there, so an event is missing; or a trace is reached
 * again: each of these events precedes the one before, so they are on a cycle.
 */

/* What the first waiting event of a trace waits for. */
static int find_awaited(struct esi_delivery *delivery,
                        uint32_t trace,
                        struct es_event_id *ret_awaited)
{
    const struct esi_record *record = NULL;
    int code;

    if (delivery->traces[trace].awaited.index > 0) {
        *ret_awaited = delivery->traces[trace].awaited;
        return 0;
    }
    code = delivery_front(delivery, trace, &record);
    /* Half a sync waits for the other half. */
    if (code == 0)
        *ret_awaited = esi_record_partners(record)[0];
    return code;
}

static int line_of(const struct esi_record *record)
{
    return record->line > INT32_MAX ? INT32_MAX : (int)record->line;
}

static int tell_missing(struct esi_delivery *delivery,
                        uint32_t trace,
                        struct es_event_id awaited,
                        struct es_error *error)
{
    const struct esi_record *record = NULL;
    int code = delivery_front(delivery, trace, &record);

    if (code < 0)
        return code;
    return es_error_set_at(error, -EINVAL, delivery->config.source, line_of(record), 0,
                           "event %u of trace %u waits for event %u of trace %u, which "
                           "never arrived",
                           record->index, trace, awaited.index, awaited.trace);
}

/* `trace` is on a cycle of traces: reports the event on it that arrived first. */
static int tell_cycle(struct esi_delivery *delivery,
                      uint32_t trace,
                      struct es_error *error)
{
    const struct esi_record *first = NULL, *record = NULL;
    uint32_t first_trace = trace, at = trace;
    struct es_event_id awaited = {0, 0}, first_awaited = {0, 0};

    do {
        int code = find_awaited(delivery, at, &awaited);
        if (code == 0)
            code = delivery_front(delivery, at, &record);
        if (code < 0)
            return code;
        if (!first || record->position < first->position) {
            first = record;
            first_trace = at;
            first_awaited = awaited;
        }
        at = awaited.trace;
    } while (at != trace);
    return es_error_set_at(
        error, -EINVAL, delivery->config.source, line_of(first), 0,
        "a cycle: event %u of trace %u comes after event %u of trace %u, which comes "
        "after it",
        first->index, first_trace, first_awaited.index, first_awaited.trace);
}

/* The trace whose first waiting event arrived first of all. */
static int find_start(struct esi_delivery *delivery, uint32_t *ret_trace)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t trace = 0; trace < delivery->trace_count; trace++) {
        const struct esi_record *record = NULL;
        int code;

        if (esi_spool_is_empty(&delivery->traces[trace].waiting))
            continue;
        code = delivery_front(delivery, trace, &record);
        if (code < 0)
            return code;
        if (record->position < first) {
            first = record->position;
            *ret_trace = trace;
        }
    }
    return 0;
}

/* Explains why events still wait.  Returns -EINVAL, or the error that prevented
 * this. */
static int delivery_explain(struct esi_delivery *delivery, struct es_error *error)
{
    unsigned char *seen = calloc(delivery->trace_count, 1);
    struct es_event_id awaited;
    uint32_t trace = 0;
    int code = seen ? find_start(delivery, &trace) : -ENOMEM;

    while (code == 0 && !seen[trace]) {
        seen[trace] = 1;
        code = find_awaited(delivery, trace, &awaited);
        if (code == 0 && esi_spool_is_empty(&delivery->traces[awaited.trace].waiting))
            code = tell_missing(delivery, trace, awaited, error);
        trace = awaited.trace;
    }
    if (code == 0)
        code = tell_cycle(delivery, trace, error);
    free(seen);
    return code;
}
