/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_private.h - what the cluster store consists of; for cluster.c and
 * cluster_writer.c.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTER_PRIVATE_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTER_PRIVATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "base/heap.h"
#include "monitors/eventset/segmented.h"
#include "monitors/order/cluster/cluster_levels.h"
#include "monitors/order/cluster/clustering.h"
#include "monitors/order/order_private.h"

/*
 * Stamps of events in one flat arena, and for each event the number of its stamp.
 *
 * A stamp is the vector of its event over the members that its cluster had then, and
 * for each level the latest cluster receive on the trace.  Events that follow another
 * on their trace and learn nothing share its stamp: their vectors differ in their own
 * entries alone, which are their indexes.
 *
 * The number of a stamp is its place in the arena, so a later stamp has a greater one.
 *
 *   call                                  may run together with
 *   esi_stamps_at, _of                    _make and _set for other events
 *   all others                            nothing but these
 */

/* Not the number of any stamp. */
#define ESI_NO_STAMP 0
/* Not the number of any trace. */
#define ESI_NO_TRACE UINT32_MAX

struct esi_cluster_stamp {
    uint32_t index;       /* of the first event that has it */
    uint32_t other;       /* trace of the other half of a sync, or ESI_NO_TRACE */
    uint32_t cluster;     /* on its level; above the last: 0 */
    uint32_t level : 4;   /* 1 to levels + 1: there the vector is of all traces */
    uint32_t length : 28; /* of the vector */
    uint32_t words[];     /* stamp of the latest cluster receive of each level, up to
                             this event; the vector */
};

/* Caller's memory; its fields are private. */
struct esi_stamps {
    struct esi_segmented arena; /* in units of eight bytes */
    struct esi_segmented
        traces; /* struct esi_segmented: of each event uint32_t, its stamp */
    unsigned levels;
};

/* A stamp of zeros with room for a vector.  NULL: -ENOMEM, or 32 GiB of stamps are
 * there. */
struct esi_cluster_stamp *esi_stamps_make(struct esi_stamps *stamps,
                                          uint32_t length,
                                          uint32_t *ret_number);
/* Makes room for the next event of a trace: _set() cannot fail then.  0 or -ENOMEM. */
int esi_stamps_reserve(struct esi_stamps *stamps, struct es_event_id id);
void esi_stamps_set(struct esi_stamps *stamps, struct es_event_id id, uint32_t number);

/* The number that the next stamp will have at least. */
uint32_t esi_stamps_now(const struct esi_stamps *stamps);

static inline const struct esi_cluster_stamp *esi_stamps_at(
    const struct esi_stamps *stamps,
    uint32_t number)
{
    return esi_segmented_at(&stamps->arena, number);
}

/* The stamp of an event that is there. */
static inline uint32_t esi_stamps_of(const struct esi_stamps *stamps,
                                     struct es_event_id id)
{
    const struct esi_segmented *trace = esi_segmented_at(&stamps->traces, id.trace);

    return *(const uint32_t *)esi_segmented_at(trace, id.index - 1);
}

/* The latest cluster receive of a level. */
static inline uint32_t esi_stamp_receive(const struct esi_cluster_stamp *stamp,
                                         unsigned level)
{
    return stamp->words[level - 1];
}

/* The vector.  The entry of the event's own trace is that of the first event that has
 * the stamp. */
static inline const uint32_t *esi_stamp_vector(const struct esi_stamps *stamps,
                                               const struct esi_cluster_stamp *stamp)
{
    return &stamp->words[stamps->levels];
}

enum { ESI_CLUSTER_HEIGHT = ES_ORDER_LEVELS + 1 }; /* with the top */

/* An event with its stamp. */
struct esi_stamped {
    struct es_event_id id;
    uint32_t number;
    const struct esi_cluster_stamp *stamp;
};

/* Of the writer only: cluster receives that were found and are yet to be looked at. */
struct esi_gather {
    struct esi_gathered {
        uint32_t *latest; /* stamp by trace, ESI_NO_STAMP where none */
        uint32_t *traces; /* those that have one */
        uint32_t count;
        size_t capacity;              /* traces that there is room for */
    } found[ESI_CLUSTER_HEIGHT];      /* by level, from 1 at 0 */
    struct esi_heap wholes;           /* traces, those of later stamps first */
    struct esi_stamped *predecessors; /* of the event that is appended */
    size_t predecessor_capacity;
};

struct esi_cluster_store {
    unsigned level_count;
    struct esi_levels levels;
    struct esi_stamps stamps;
    const struct esi_clustering_ops *strategy;
    void *clustering;     /* owned; the strategy's */
    uint32_t trace_count; /* the writer's */
    uint32_t *sown; /* of each trace with a seed, the one of the same seed before it,
                       or ESI_NO_TRACE */
    size_t sown_count;
    struct esi_gather gather;
    uint32_t max_sizes[ES_ORDER_LEVELS];
    /* The writer's; relaxed, only for statistics.  Of all events, and of those that
     * communicate. */
    _Atomic uint64_t writer_bytes;
    struct esi_cluster_sums {
        _Atomic uint64_t elements;
        _Atomic uint64_t events[ESI_CLUSTER_HEIGHT]; /* by level */
    } sums, communication_sums;
};

/* Where a trace stands in what a vector ranges over: the first members of a cluster, or
 * above the last level the first traces.  ESI_NOWHERE: it does not. */
static inline uint32_t esi_cluster_locate(const struct esi_cluster_store *store,
                                          unsigned level,
                                          uint32_t cluster,
                                          uint32_t length,
                                          uint32_t trace)
{
    if (level > store->level_count)
        return trace < length ? trace : ESI_NOWHERE;
    return esi_levels_locate(&store->levels, level, cluster, length, trace);
}

/* --- cluster_writer.c ------------------------------------------------------------- */

/* Room for one trace more.  0 or -ENOMEM. */
int esi_gather_reserve(struct esi_gather *gather, uint32_t traces, unsigned levels);
void esi_gather_fini(struct esi_gather *gather);
uint64_t esi_gather_bytes(const struct esi_gather *gather, unsigned levels);

/* --- cluster.c ------------------------------------------------------------------- */

/* Notes what the writer holds now, for statistics. */
void esi_cluster_note_bytes(struct esi_cluster_store *store);

/* --- Of the store's operations ---------------------------------------------------- */

int esi_cluster_append(void *data,
                       struct es_event_id id,
                       enum es_event_kind kind,
                       const struct es_event_id *partners,
                       size_t partner_count);
int esi_cluster_append_sync(void *data,
                            struct es_event_id id,
                            struct es_event_id other);

#endif
