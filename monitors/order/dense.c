/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * dense.c - a full vector for each event (Fidge, Mattern): the reference for all other
 * stores and the baseline of measurements.
 *
 * Events are numbered from 1.  In the entry of its own trace, an event's vector
 * contains the event's index; in other entries, the index of its greatest predecessor
 * there plus one, or 0.  Both halves of a sync share a vector, in which the entries of
 * both traces are own entries.  A vector has an entry for each trace that existed when
 * it was made; entries of later traces count as 0.
 */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "monitors/order/order_private.h"
#include "monitors/order/raise.h"
#include "monitors/eventset/segmented.h"

static const uint32_t NO_TRACE = UINT32_MAX;

/* The stamp of an event. */
struct stamp {
    uint64_t at;      /* position of its vector among the entries */
    uint32_t entries; /* length of its vector */
    uint32_t other;   /* trace of the other half of a sync, or NO_TRACE */
};

struct dense_trace {
    struct esi_segmented stamps; /* struct stamp of event i is at i - 1 */
};

struct dense_store {
    struct esi_segmented traces;
    struct esi_segmented entries; /* uint32_t */
    uint64_t trace_count;         /* as seen by the writer */
    /* Written by the writer, with relaxed order because they are only for
     * statistics. */
    _Atomic uint64_t elements;
    _Atomic uint64_t communication_elements;
};

static int dense_init(void *data,
                      const struct esi_order_config *config,
                      struct es_error *error)
{
    struct dense_store *store = data;

    (void)config;
    (void)error;
    esi_segmented_init(&store->traces, sizeof(struct dense_trace), 4);
    esi_segmented_init(&store->entries, sizeof(uint32_t), 10);
    return 0;
}

static void dense_fini(void *data)
{
    struct dense_store *store = data;

    for (uint64_t i = 0; i < store->trace_count; i++)
        esi_segmented_fini(
            &((struct dense_trace *)esi_segmented_at(&store->traces, i))->stamps);
    esi_segmented_fini(&store->traces);
    esi_segmented_fini(&store->entries);
}

static int dense_add_trace(void *data)
{
    struct dense_store *store = data;
    struct dense_trace trace;
    int code;

    esi_segmented_init(&trace.stamps, sizeof(struct stamp), 4);
    code = esi_segmented_push(&store->traces, &trace);
    if (code >= 0)
        store->trace_count++;
    return code;
}

/* Stamp and vector are visible: they were written before the event's count was
 * published. */
static const struct stamp *stamp_of(const struct dense_store *store,
                                    struct es_event_id id)
{
    const struct dense_trace *trace = esi_segmented_at(&store->traces, id.trace);

    return esi_segmented_at(&trace->stamps, id.index - 1);
}

static const uint32_t *vector_of(const struct dense_store *store,
                                 const struct stamp *stamp)
{
    return esi_segmented_at(&store->entries, stamp->at);
}

/* Makes room for the stamp of a trace's next event; returns the same stamp again if it
 * was not used. */
static struct stamp *make_stamp(struct dense_store *store, struct es_event_id id)
{
    struct dense_trace *trace = esi_segmented_at(&store->traces, id.trace);

    if (esi_segmented_count(&trace->stamps) >= id.index)
        return esi_segmented_at(&trace->stamps, id.index - 1);
    return esi_segmented_extend(&trace->stamps, 1, NULL);
}

/* Raises a vector to FM' of an event: its vector with its own entries increased by
 * one. */
static void raise_to_event(const struct dense_store *store,
                           uint32_t *vector,
                           struct es_event_id id)
{
    const struct stamp *stamp = stamp_of(store, id);
    const uint32_t *other = vector_of(store, stamp);

    esi_raise_vector(vector, other, stamp->entries);
    esi_raise_entry(&vector[id.trace], id.index + 1);
    if (stamp->other != NO_TRACE)
        esi_raise_entry(&vector[stamp->other], other[stamp->other] + 1);
}

/* Initializes a zeroed vector with FM' of the trace's last event, except the own entry,
 * which the caller sets. */
static void begin_vector(const struct dense_store *store,
                         uint32_t *vector,
                         struct es_event_id id)
{
    const struct stamp *last;

    if (id.index == 1)
        return;
    last =
        stamp_of(store, (struct es_event_id){.trace = id.trace, .index = id.index - 1});
    memcpy(vector, vector_of(store, last), last->entries * sizeof *vector);
    if (last->other != NO_TRACE)
        vector[last->other]++;
}

static void count_elements(struct dense_store *store, enum es_event_kind kind)
{
    esi_store_add(&store->elements, store->trace_count);
    if (kind != ES_EVENT_UNARY)
        esi_store_add(&store->communication_elements, store->trace_count);
}

static int dense_append(void *data,
                        struct es_event_id id,
                        enum es_event_kind kind,
                        const struct es_event_id *partners,
                        size_t partner_count)
{
    struct dense_store *store = data;
    struct stamp *stamp = make_stamp(store, id);
    uint32_t *vector;

    if (!stamp)
        return -ENOMEM;
    vector = esi_segmented_extend(&store->entries, store->trace_count, &stamp->at);
    if (!vector)
        return -ENOMEM;
    stamp->entries = (uint32_t)store->trace_count;
    stamp->other = NO_TRACE;
    begin_vector(store, vector, id);
    for (size_t i = 0; i < partner_count; i++)
        raise_to_event(store, vector, partners[i]);
    vector[id.trace] = id.index;
    count_elements(store, kind);
    return 0;
}

static int dense_append_sync(void *data,
                             struct es_event_id id,
                             struct es_event_id other)
{
    struct dense_store *store = data;
    struct stamp *stamp = make_stamp(store, id);
    struct stamp *other_stamp = make_stamp(store, other);
    uint32_t *vector;

    if (!stamp || !other_stamp)
        return -ENOMEM;
    vector = esi_segmented_extend(&store->entries, store->trace_count, &stamp->at);
    if (!vector)
        return -ENOMEM;
    stamp->entries = (uint32_t)store->trace_count;
    *other_stamp = *stamp;
    stamp->other = other.trace;
    other_stamp->other = id.trace;
    begin_vector(store, vector, id);
    if (other.index > 1)
        raise_to_event(
            store, vector,
            (struct es_event_id){.trace = other.trace, .index = other.index - 1});
    vector[id.trace] = id.index;
    vector[other.trace] = other.index;
    count_elements(store, ES_EVENT_SYNC);
    count_elements(store, ES_EVENT_SYNC);
    return 0;
}

static uint32_t entry_of(const struct dense_store *store,
                         struct es_event_id id,
                         uint32_t trace)
{
    const struct stamp *stamp = stamp_of(store, id);

    return trace < stamp->entries ? vector_of(store, stamp)[trace] : 0;
}

static int dense_precedes(const void *store, struct es_event_id a, struct es_event_id b)
{
    return a.index < entry_of(store, b, a.trace);
}

static int64_t dense_greatest_predecessor(const void *store,
                                          struct es_event_id event,
                                          uint32_t trace)
{
    uint32_t entry = entry_of(store, event, trace);

    return entry > 0 ? entry - 1 : 0;
}

static void dense_statistics(const void *data, struct esi_order_statistics *statistics)
{
    const struct dense_store *store = data;

    statistics->actual_elements =
        atomic_load_explicit(&store->elements, memory_order_relaxed);
    statistics->communication_actual_elements =
        atomic_load_explicit(&store->communication_elements, memory_order_relaxed);
    statistics->fixed_elements = statistics->events * statistics->vector_elements;
    statistics->communication_fixed_elements =
        statistics->communication_events * statistics->vector_elements;
    statistics->stored_bytes =
        esi_segmented_bytes(&store->entries) + esi_segmented_bytes(&store->traces);
    for (uint32_t i = 0; i < statistics->traces; i++) {
        const struct dense_trace *trace = esi_segmented_at(&store->traces, i);

        statistics->stored_bytes += esi_segmented_bytes(&trace->stamps);
    }
}

const struct esi_store_ops esi_store_dense = {
    .name = "dense",
    .store_bytes = sizeof(struct dense_store),
    .init = dense_init,
    .fini = dense_fini,
    .add_trace = dense_add_trace,
    .append = dense_append,
    .append_sync = dense_append_sync,
    .precedes = dense_precedes,
    .greatest_predecessor = dense_greatest_predecessor,
    .statistics = dense_statistics,
};
