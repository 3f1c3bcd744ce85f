/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster_private.h - what the cluster store consists of; for cluster.c,
 * cluster_precedes.c, cluster_writer.c and cluster_gather.c.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTER_PRIVATE_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTER_PRIVATE_H

#include <stdatomic.h>

#include "monitors/order/cluster/cluster_levels.h"
#include "monitors/order/cluster/cluster_stamps.h"
#include "monitors/order/cluster/clustering.h"
#include "monitors/order/order_private.h"

enum { ESI_CLUSTER_HEIGHT = ES_ORDER_LEVELS + 1 }; /* with the top */

/* An event with its stamp. */
struct esi_stamped {
    struct es_event_id id;
    uint32_t number;
    const struct esi_stamp *stamp;
};

/* Of the writer only: cluster receives that were found and are yet to be looked at. */
struct esi_gather {
    struct esi_gathered {
        uint32_t *latest; /* stamp by trace, ESI_NO_STAMP where none */
        uint32_t *traces; /* those that have one */
        uint32_t count;
    } found[ESI_CLUSTER_HEIGHT];      /* by level, from 1 at 0 */
    uint32_t capacity;                /* traces that there is room for */
    struct esi_stamped *predecessors; /* of the event that is appended */
    size_t predecessor_capacity;
};

struct esi_store {
    unsigned level_count;
    struct esi_levels levels;
    struct esi_stamps stamps;
    const struct esi_clustering_ops *strategy;
    struct esi_clustering *clustering;
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

/* A vector that is made: of the members of a cluster, or above the last level of all
 * traces. */
struct esi_target {
    unsigned level;
    uint32_t cluster;
    uint32_t length;
    const uint32_t *members; /* NULL: trace i is at i */
};

/* --- cluster_gather.c ------------------------------------------------------------ */

/* Room for one trace more.  0 or -ENOMEM. */
int esi_gather_reserve(struct esi_gather *gather, uint32_t traces, unsigned levels);
void esi_gather_fini(struct esi_gather *gather);
uint64_t esi_gather_bytes(const struct esi_gather *gather, unsigned levels);

/* Raises a vector of zeros to what the predecessors know and are, the maximum of their
 * FM'. */
void esi_cluster_gather(struct esi_store *store,
                        const struct esi_target *target,
                        const struct esi_stamped *predecessors,
                        size_t count,
                        uint32_t *vector);

/* --- cluster.c ------------------------------------------------------------------- */

/* Notes what the writer holds now, for statistics. */
void esi_cluster_note_bytes(struct esi_store *store);

/* --- cluster_writer.c, cluster_precedes.c: of the store's operations -------------- */

int esi_cluster_append(struct esi_store *store,
                       struct es_event_id id,
                       enum es_event_kind kind,
                       const struct es_event_id *partners,
                       size_t partner_count);
int esi_cluster_append_sync(struct esi_store *store,
                            struct es_event_id id,
                            struct es_event_id other);
int esi_cluster_precedes(const struct esi_store *store,
                         struct es_event_id a,
                         struct es_event_id b);
int64_t esi_cluster_greatest_predecessor(const struct esi_store *store,
                                         struct es_event_id event,
                                         uint32_t trace);

#endif
