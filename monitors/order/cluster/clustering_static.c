/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_static.c - clusters that are made all at once: of contiguous traces, or by
 * greedy clustering of the communications of the whole set, counted in advance, or of a
 * prefix.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/order/cluster/clustering.h"
#include "monitors/order/cluster/clustering_greedy.h"

/* Puts a trace, level by level, into the cluster of another one.  `with[k]` is for
 * level k + 1; if it is the trace itself, the trace stays alone. */
static int place_trace(struct esi_levels *levels, uint32_t trace, const uint32_t *with)
{
    int code = 0;

    for (unsigned k = levels->count; code >= 0 && k >= 1; k--)
        code = esi_levels_join(levels, k, with[k - 1], trace);
    return code;
}

/* === Contiguous traces ============================================================ */

/* A block of a level consists of as many whole blocks of the level below as fit into
 * its maximum size. */
struct fixed_blocks {
    uint32_t sizes[ES_ORDER_LEVELS];
};

static int fixed_init(void *state,
                      const struct esi_cluster_tuning *tuning,
                      struct es_error *error)
{
    struct fixed_blocks *blocks = state;

    (void)error;
    blocks->sizes[0] = tuning->max_sizes[0];
    for (unsigned i = 1; i < tuning->levels; i++)
        blocks->sizes[i] =
            tuning->max_sizes[i] / blocks->sizes[i - 1] * blocks->sizes[i - 1];
    return 0;
}

static int fixed_add_trace(void *state, struct esi_levels *levels, uint32_t trace)
{
    const struct fixed_blocks *blocks = state;
    uint32_t with[ES_ORDER_LEVELS];

    for (unsigned i = 0; i < levels->count; i++)
        with[i] = trace / blocks->sizes[i] * blocks->sizes[i];
    return place_trace(levels, trace, with);
}

const struct esi_clustering_ops esi_clustering_fixed = {
    .name = "fixed",
    .alias = "contiguous",
    .state_bytes = sizeof(struct fixed_blocks),
    .init = fixed_init,
    .add_trace = fixed_add_trace,
};

/* === Greedy clustering ============================================================ */

/*
 * "collect": during the prefix, every trace is a cluster of its own; its receives have
 * full vectors, from which queries are answered.  Then all clusters are made at once.
 * For the stamps, this is a growth of clusters, as by merging, so they are always
 * exact.
 */

static const uint64_t DEFAULT_PREFIX = 10000;

struct greedy_clusters {
    uint32_t traces;    /* number of traces that were clustered */
    uint32_t *smallest; /* see esi_clustering_greedy(); NULL: not clustered yet */
    struct esi_communications *counts; /* of "collect", before clustering */
    uint64_t left;                     /* remaining events of the prefix */
};

static void greedy_fini(void *state)
{
    struct greedy_clusters *clusters = state;

    esi_communications_destroy(clusters->counts);
    free(clusters->smallest);
}

static int static_init(void *state,
                       const struct esi_cluster_tuning *tuning,
                       struct es_error *error)
{
    struct greedy_clusters *clusters = state;

    if (!tuning->communications)
        return es_error_set(error, -EINVAL,
                            "static clusters need the communications of the whole set");
    clusters->traces = esi_communications_traces(tuning->communications);
    return esi_clustering_greedy(tuning->communications, clusters->traces,
                                 tuning->levels, tuning->max_sizes,
                                 &clusters->smallest);
}

static int static_add_trace(void *state, struct esi_levels *levels, uint32_t trace)
{
    const struct greedy_clusters *clusters = state;
    uint32_t with[ES_ORDER_LEVELS];

    if (trace >= clusters->traces)
        return 0;
    for (unsigned i = 0; i < levels->count; i++)
        with[i] = clusters->smallest[(size_t)i * clusters->traces + trace];
    return place_trace(levels, trace, with);
}

static uint64_t greedy_bytes(const void *state)
{
    const struct greedy_clusters *clusters = state;

    return (uint64_t)clusters->traces * sizeof *clusters->smallest +
           (clusters->counts ? esi_communications_bytes(clusters->counts) : 0);
}

static int collect_init(void *state,
                        const struct esi_cluster_tuning *tuning,
                        struct es_error *error)
{
    struct greedy_clusters *clusters = state;

    (void)error;
    clusters->left = tuning->prefix ? tuning->prefix : DEFAULT_PREFIX;
    return esi_communications_create(&clusters->counts);
}

static int collect_communicate(void *state,
                               struct esi_levels *levels,
                               const struct esi_communication *communication)
{
    struct greedy_clusters *clusters = state;

    (void)levels;
    if (!clusters->counts)
        return 0;
    return esi_communications_add(clusters->counts, communication->trace,
                                  communication->partner, communication->weight);
}

/* Makes the clusters on each level, traces in their order. */
static int cluster_prefix(struct greedy_clusters *clusters, struct esi_levels *levels)
{
    uint32_t max_sizes[ES_ORDER_LEVELS];
    uint32_t traces = esi_communications_traces(clusters->counts);
    int code;

    for (unsigned i = 0; i < levels->count; i++)
        max_sizes[i] = levels->level[i].max_size;
    code = esi_clustering_greedy(clusters->counts, traces, levels->count, max_sizes,
                                 &clusters->smallest);
    if (code < 0)
        return code;
    clusters->traces = traces;
    esi_communications_destroy(clusters->counts);
    clusters->counts = NULL;
    for (uint32_t i = 0; code >= 0 && i < traces; i++)
        code = static_add_trace(clusters, levels, i);
    return code;
}

static int collect_begin_event(void *state, struct esi_levels *levels)
{
    struct greedy_clusters *clusters = state;

    if (!clusters->counts)
        return 0;
    if (clusters->left > 0) {
        clusters->left--;
        return 0;
    }
    return cluster_prefix(clusters, levels);
}

const struct esi_clustering_ops esi_clustering_static = {
    .name = "static",
    .alias = "greedy",
    .needs_communications = true,
    .state_bytes = sizeof(struct greedy_clusters),
    .init = static_init,
    .fini = greedy_fini,
    .add_trace = static_add_trace,
    .bytes = greedy_bytes,
};

const struct esi_clustering_ops esi_clustering_collect = {
    .name = "collect",
    .number = ES_STRATEGY_PREFIX,
    .state_bytes = sizeof(struct greedy_clusters),
    .init = collect_init,
    .fini = greedy_fini,
    .communicate = collect_communicate,
    .begin_event = collect_begin_event,
    .bytes = greedy_bytes,
};
