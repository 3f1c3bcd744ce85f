/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Strategies: which traces stand in one cluster.  Each is a row of operations; the
 * stamps are exact whatever a strategy does.
 *
 * All run in the writer's thread.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTERING_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTERING_H

#include <stdbool.h>

#include "monitors/order/cluster/cluster_levels.h"
#include "monitors/order/cluster/communications.h"

struct esi_clustering; /* each strategy's own */

/* One communication: of a receive on `trace` with one of its partners (weight 1), or of
 * a sync (weight 2). */
struct esi_communication {
    uint32_t trace;
    uint32_t partner;
    uint32_t weight;
    uint32_t now; /* for esi_levels_move() */
};

struct esi_clustering_ops {
    const char *name;
    bool takes_seeds; /* traces of one seed are merged when they are added */
    int (*create)(const struct esi_order_config *config,
                  struct es_error *error,
                  struct esi_clustering **ret_clustering);
    void (*destroy)(struct esi_clustering *clustering);
    /* A trace was added, which is alone (or with those of its seed); NULL: leave it. */
    int (*add_trace)(struct esi_clustering *clustering,
                     struct esi_levels *levels,
                     uint32_t trace);
    /* Before an event is stamped, for each partner; NULL: nothing changes then. */
    int (*communicate)(struct esi_clustering *clustering,
                       struct esi_levels *levels,
                       const struct esi_communication *communication);
    /* Before all that (of a sync once); NULL: nothing changes then. */
    int (*begin_event)(struct esi_clustering *clustering, struct esi_levels *levels);
    /* That are held; O(1). */
    uint64_t (*bytes)(const struct esi_clustering *clustering);
};

extern const struct esi_clustering_ops esi_clustering_fixed;
extern const struct esi_clustering_ops esi_clustering_merge_first;
extern const struct esi_clustering_ops esi_clustering_merge_nth;
extern const struct esi_clustering_ops esi_clustering_static;
extern const struct esi_clustering_ops esi_clustering_collect;
extern const struct esi_clustering_ops esi_clustering_migrate;

/* Puts a trace, level by level, into the cluster of another.  `with[k]` is for level
 * k + 1; the trace itself: stays alone there. */
int esi_clustering_place(struct esi_levels *levels,
                         uint32_t trace,
                         const uint32_t *with);

/* --- Merging on the N-th communication, for those that are built on it ------------ */

struct esi_merging {
    struct esi_communications
        *counts[ES_ORDER_LEVELS]; /* of clusters; NULL: none kept */
    double threshold;
};

int esi_merging_init(struct esi_merging *merging,
                     unsigned levels,
                     double threshold,
                     struct es_error *error);
void esi_merging_fini(struct esi_merging *merging);
/* Counts a communication and merges where the counts and sizes say so. */
int esi_merging_communicate(struct esi_merging *merging,
                            struct esi_levels *levels,
                            const struct esi_communication *communication);
uint64_t esi_merging_bytes(const struct esi_merging *merging);

#endif
