/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Strategies: which traces stand in one cluster.  Each is a row of operations on a
 * state of its own; the stamps are exact whatever a strategy does.
 *
 * All run in the writer's thread.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTERING_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTERING_H

#include <stdbool.h>

#include "monitors/order/cluster/cluster_levels.h"
#include "monitors/order/cluster/communications.h"

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
    size_t state_bytes;
    /* The state is all zero.  0; -EINVAL with words; -ENOMEM.  NULL: so it stays. */
    int (*init)(void *state,
                const struct esi_order_config *config,
                struct es_error *error);
    void (*fini)(void *state); /* also when init failed; NULL: it owns nothing */
    /* A trace was added, which is alone (or with those of its seed); NULL: leave it. */
    int (*add_trace)(void *state, struct esi_levels *levels, uint32_t trace);
    /* Before an event is stamped, for each partner; NULL: nothing changes then. */
    int (*communicate)(void *state,
                       struct esi_levels *levels,
                       const struct esi_communication *communication);
    /* Before all that (of a sync once); NULL: nothing changes then. */
    int (*begin_event)(void *state, struct esi_levels *levels);
    /* That the state owns; O(1).  NULL: none. */
    uint64_t (*bytes)(const void *state);
};

extern const struct esi_clustering_ops esi_clustering_fixed;
extern const struct esi_clustering_ops esi_clustering_merge_first;
extern const struct esi_clustering_ops esi_clustering_merge_nth;
extern const struct esi_clustering_ops esi_clustering_static;
extern const struct esi_clustering_ops esi_clustering_collect;
extern const struct esi_clustering_ops esi_clustering_migrate;

#endif
