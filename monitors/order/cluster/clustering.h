/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Strategies, which decide which traces share a cluster.  Each is a table of operations
 * on its own state.  Stamps are exact whatever a strategy does.
 *
 * All operations run in the writer's thread.
 */
#ifndef ES_MONITORS_ORDER_CLUSTER_CLUSTERING_H
#define ES_MONITORS_ORDER_CLUSTER_CLUSTERING_H

#include <stdbool.h>

#include "monitors/order/cluster/cluster_levels.h"
#include "monitors/order/cluster/cluster_tuning.h"
#include "monitors/order/cluster/communications.h"

/* One communication: a receive on `trace` from one of its partners (weight 1), or a
 * sync (weight 2). */
struct esi_communication {
    uint32_t trace;
    uint32_t partner;
    uint32_t weight;
    uint32_t now; /* argument of esi_levels_move() */
};

/* What a number after the name of a strategy sets, as in "merge-nth:5". */
enum esi_strategy_number {
    ES_STRATEGY_NO_NUMBER,
    ES_STRATEGY_THRESHOLD, /* communications; 0 or more */
    ES_STRATEGY_PREFIX,    /* events; an integer of 1 or more */
};

struct esi_clustering_ops {
    const char *name;
    const char *alias; /* another name; NULL = none */
    enum esi_strategy_number number;
    bool takes_seeds; /* traces with the same seed are merged when they are added */
    bool needs_communications; /* of the whole set */
    size_t state_bytes;
    /* The state is zeroed.  Returns 0, -EINVAL with a message, or -ENOMEM.  NULL if
     * zeros are a valid state. */
    int (*init)(void *state,
                const struct esi_cluster_tuning *tuning,
                struct es_error *error);
    void (*fini)(void *state); /* also called if init failed; NULL if the state owns
                                  nothing */
    /* Called when a trace was added; it is alone, or with the traces of its seed.  May
     * be NULL. */
    int (*add_trace)(void *state, struct esi_levels *levels, uint32_t trace);
    /* Called for each partner before an event is stamped.  May be NULL. */
    int (*communicate)(void *state,
                       struct esi_levels *levels,
                       const struct esi_communication *communication);
    /* Called before `communicate`, once for a sync.  May be NULL. */
    int (*begin_event)(void *state, struct esi_levels *levels);
    /* Number of bytes that the state owns, in O(1).  NULL if none. */
    uint64_t (*bytes)(const void *state);
};

extern const struct esi_clustering_ops esi_clustering_fixed;
extern const struct esi_clustering_ops esi_clustering_merge_first;
extern const struct esi_clustering_ops esi_clustering_merge_nth;
extern const struct esi_clustering_ops esi_clustering_static;
extern const struct esi_clustering_ops esi_clustering_collect;
extern const struct esi_clustering_ops esi_clustering_migrate;

#endif
