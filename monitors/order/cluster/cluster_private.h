/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_private.h - the cluster store, as seen by cluster.c and cluster_writer.c.
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
 * The stamps of events in one flat arena, and the number of the stamp of each event.
 *
 * A stamp contains the vector of its event over the members that the cluster had at
 * that time, and, for each level, the latest cluster receive on the trace.  Events that
 * learn nothing beyond their predecessor on the trace share its stamp: their vectors
 * differ only in their own entries, which are their indexes.
 *
 * The number of a stamp is its place in the arena, so later stamps have greater
 * numbers.
 *
 *   call                                  may run concurrently with
 *   esi_stamps_at, _of                    _make and _set for other events
 *   all others                            only these
 */

/* Not the number of any stamp. */
#define ESI_NO_STAMP 0
/* Not the number of any trace. */
#define ESI_NO_TRACE UINT32_MAX

struct esi_cluster_stamp {
    uint32_t index;       /* of the first event with this stamp */
    uint32_t other;       /* trace of the other half of a sync, or ESI_NO_TRACE */
    uint32_t cluster;     /* cluster number on its level; 0 above the last level */
    uint32_t level : 4;   /* from 1 to levels + 1, where the vector covers all traces */
    uint32_t length : 28; /* length of the vector */
    uint32_t words[];     /* per level, the stamp of the latest cluster receive up to
                             this event; then the vector */
};

/* Caller's memory; its fields are private. */
struct esi_stamps {
    struct esi_segmented arena; /* in units of eight bytes */
    /* struct esi_segmented per trace: uint32_t per event, the number of its stamp */
    struct esi_segmented traces;
    unsigned levels;
};

/* Creates a zeroed stamp with room for a vector.  NULL means -ENOMEM, or that there are
 * 32 GiB of stamps. */
struct esi_cluster_stamp *esi_stamps_make(struct esi_stamps *stamps,
                                          uint32_t length,
                                          uint32_t *ret_number);
/* Makes room for the next event of a trace, so that esi_stamps_set() cannot fail.
 * Returns 0 or -ENOMEM. */
int esi_stamps_reserve(struct esi_stamps *stamps, struct es_event_id id);
void esi_stamps_set(struct esi_stamps *stamps, struct es_event_id id, uint32_t number);

/* Returns a lower bound of the number of the next stamp. */
uint32_t esi_stamps_now(const struct esi_stamps *stamps);

static inline const struct esi_cluster_stamp *esi_stamps_at(
    const struct esi_stamps *stamps,
    uint32_t number)
{
    return esi_segmented_at(&stamps->arena, number);
}

/* Returns the number of the stamp of an existing event. */
static inline uint32_t esi_stamps_of(const struct esi_stamps *stamps,
                                     struct es_event_id id)
{
    const struct esi_segmented *trace = esi_segmented_at(&stamps->traces, id.trace);

    return *(const uint32_t *)esi_segmented_at(trace, id.index - 1);
}

/* Returns the number of the stamp of the latest cluster receive of a level. */
static inline uint32_t esi_stamp_receive(const struct esi_cluster_stamp *stamp,
                                         unsigned level)
{
    return stamp->words[level - 1];
}

/* Returns the vector of a stamp.  The entry of the event's own trace is that of the
 * first event with this stamp. */
static inline const uint32_t *esi_stamp_vector(const struct esi_stamps *stamps,
                                               const struct esi_cluster_stamp *stamp)
{
    return &stamp->words[stamps->levels];
}

enum { ESI_CLUSTER_HEIGHT = ES_ORDER_LEVELS + 1 }; /* including the top */

/* An event and its stamp. */
struct esi_stamped {
    struct es_event_id id;
    uint32_t number;
    const struct esi_cluster_stamp *stamp;
};

/* Cluster receives that were found and are still to be examined; for the writer
 * only. */
struct esi_gather {
    struct esi_gathered {
        uint32_t *latest; /* stamp by trace; ESI_NO_STAMP if none */
        uint32_t *traces; /* traces that have one */
        uint32_t count;
        size_t capacity;              /* in traces */
    } found[ESI_CLUSTER_HEIGHT];      /* by level; level 1 at index 0 */
    struct esi_heap wholes;           /* traces, those with later stamps first */
    struct esi_stamped *predecessors; /* of the event being appended */
    size_t predecessor_capacity;
};

struct esi_cluster_store {
    unsigned level_count;
    struct esi_levels levels;
    struct esi_stamps stamps;
    const struct esi_clustering_ops *strategy;
    void *clustering;     /* state of the strategy; owned */
    uint32_t trace_count; /* as seen by the writer */
    uint32_t *sown; /* by trace with a seed: the previous trace with the same seed, or
                       ESI_NO_TRACE */
    size_t sown_count;
    struct esi_gather gather;
    uint32_t max_sizes[ES_ORDER_LEVELS];
    /* Written by the writer, with relaxed order because it is only for statistics.  The
     * sums are over all events, and over those that communicate. */
    _Atomic uint64_t writer_bytes;
    struct esi_cluster_sums {
        _Atomic uint64_t elements;
        _Atomic uint64_t events[ESI_CLUSTER_HEIGHT]; /* by level */
    } sums, communication_sums;
};

/* Returns the place of a trace in a vector, which covers the first members of a
 * cluster, or, above the last level, the first traces.  Returns ESI_NOWHERE if it is
 * not covered. */
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

/* Makes room for one more trace.  Returns 0 or -ENOMEM. */
int esi_gather_reserve(struct esi_gather *gather, uint32_t traces, unsigned levels);
void esi_gather_fini(struct esi_gather *gather);
uint64_t esi_gather_bytes(const struct esi_gather *gather, unsigned levels);

/* --- cluster.c ------------------------------------------------------------------- */

/* Updates the writer's memory use, for statistics. */
void esi_cluster_note_bytes(struct esi_cluster_store *store);

/* --- Operations of the store ------------------------------------------------------ */

int esi_cluster_append(void *data,
                       struct es_event_id id,
                       enum es_event_kind kind,
                       const struct es_event_id *partners,
                       size_t partner_count);
int esi_cluster_append_sync(void *data,
                            struct es_event_id id,
                            struct es_event_id other);

#endif
