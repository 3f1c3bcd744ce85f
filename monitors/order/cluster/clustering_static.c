/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_static.c - clusters by greedy clustering, either of the communications of
 * the whole set, which were counted before, or of those of a prefix.
 *
 * "collect": until the prefix has come every trace is a cluster of its own; its
 * receives have whole vectors and its queries are answered from them.  Then all
 * clusters are made at once.  For the stamps these are clusters that grow, as when they
 * merge, so they are exact throughout.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/cluster/clustering.h"
#include "monitors/order/cluster/clustering_greedy.h"

static const uint64_t DEFAULT_PREFIX = 10000;

struct esi_clustering {
    uint32_t traces;                   /* that were clustered */
    uint32_t *smallest;                /* see esi_clustering_greedy(); NULL: not yet */
    struct esi_communications *counts; /* of "collect", until then */
    uint64_t left;                     /* events of the prefix that are yet to come */
};

static void static_destroy(struct esi_clustering *clustering)
{
    esi_communications_destroy(clustering->counts);
    free(clustering->smallest);
    free(clustering);
}

static int static_create(const struct esi_order_config *config,
                         struct es_error *error,
                         struct esi_clustering **ret_clustering)
{
    struct esi_clustering *clustering;

    if (!config->communications)
        return es_error_set(error, -EINVAL,
                            "static clusters need the communications of the whole set");
    clustering = calloc(1, sizeof *clustering);
    if (!clustering)
        return es_error_set(error, -ENOMEM, "out of memory");
    clustering->traces = esi_communications_traces(config->communications);
    if (esi_clustering_greedy(config->communications, clustering->traces,
                              config->levels, config->max_sizes,
                              &clustering->smallest) < 0) {
        static_destroy(clustering);
        return es_error_set(error, -ENOMEM, "out of memory");
    }
    *ret_clustering = clustering;
    return 0;
}

static int static_add_trace(struct esi_clustering *clustering,
                            struct esi_levels *levels,
                            uint32_t trace)
{
    uint32_t with[ES_ORDER_LEVELS];

    if (trace >= clustering->traces)
        return 0;
    for (unsigned i = 0; i < levels->count; i++)
        with[i] = clustering->smallest[(size_t)i * clustering->traces + trace];
    return esi_clustering_place(levels, trace, with);
}

static uint64_t static_bytes(const struct esi_clustering *clustering)
{
    return sizeof *clustering +
           (uint64_t)clustering->traces * sizeof *clustering->smallest +
           (clustering->counts ? esi_communications_bytes(clustering->counts) : 0);
}

static int collect_create(const struct esi_order_config *config,
                          struct es_error *error,
                          struct esi_clustering **ret_clustering)
{
    struct esi_clustering *clustering = calloc(1, sizeof *clustering);

    if (!clustering || esi_communications_create(&clustering->counts) < 0) {
        free(clustering);
        return es_error_set(error, -ENOMEM, "out of memory");
    }
    clustering->left = config->prefix ? config->prefix : DEFAULT_PREFIX;
    *ret_clustering = clustering;
    return 0;
}

static int collect_communicate(struct esi_clustering *clustering,
                               struct esi_levels *levels,
                               const struct esi_communication *communication)
{
    (void)levels;
    if (!clustering->counts)
        return 0;
    return esi_communications_add(clustering->counts, communication->trace,
                                  communication->partner, communication->weight);
}

/* Makes the clusters: of each level, and of traces in their order. */
static int cluster_prefix(struct esi_clustering *clustering, struct esi_levels *levels)
{
    uint32_t max_sizes[ES_ORDER_LEVELS];
    uint32_t traces = esi_communications_traces(clustering->counts);
    int code;

    for (unsigned i = 0; i < levels->count; i++)
        max_sizes[i] = levels->level[i].max_size;
    code = esi_clustering_greedy(clustering->counts, traces, levels->count, max_sizes,
                                 &clustering->smallest);
    if (code < 0)
        return code;
    clustering->traces = traces;
    esi_communications_destroy(clustering->counts);
    clustering->counts = NULL;
    for (uint32_t i = 0; code >= 0 && i < traces; i++)
        code = static_add_trace(clustering, levels, i);
    return code;
}

static int collect_begin_event(struct esi_clustering *clustering,
                               struct esi_levels *levels)
{
    if (!clustering->counts)
        return 0;
    if (clustering->left > 0) {
        clustering->left--;
        return 0;
    }
    return cluster_prefix(clustering, levels);
}

const struct esi_clustering_ops esi_clustering_static = {
    .name = "static",
    .create = static_create,
    .destroy = static_destroy,
    .add_trace = static_add_trace,
    .bytes = static_bytes,
};

const struct esi_clustering_ops esi_clustering_collect = {
    .name = "collect",
    .create = collect_create,
    .destroy = static_destroy,
    .communicate = collect_communicate,
    .begin_event = collect_begin_event,
    .bytes = static_bytes,
};
