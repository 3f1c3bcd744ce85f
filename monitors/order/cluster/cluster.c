/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cluster.c - the cluster store: Ward and Taylor's cluster timestamps, corrected
 * (docs/cluster-timestamps.md).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/cluster/cluster_private.h"

static const struct esi_clustering_ops *const strategies[] = {
    &esi_clustering_fixed,  &esi_clustering_merge_first, &esi_clustering_merge_nth,
    &esi_clustering_static, &esi_clustering_collect,     &esi_clustering_migrate,
};

static const char DEFAULT_STRATEGY[] = "merge-nth";

static const struct esi_clustering_ops *find_strategy(const char *name)
{
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++)
        if (strcmp(strategies[i]->name, name) == 0)
            return strategies[i];
    return NULL;
}

/* --- Life ------------------------------------------------------------------------ */

static int check_levels(const struct es_order_config *config, struct es_error *error)
{
    if (config->levels < 1 || config->levels > ES_ORDER_LEVELS)
        return es_error_set(error, -EINVAL, "%u levels of clusters; expected 1 to %d",
                            config->levels, ES_ORDER_LEVELS);
    for (unsigned i = 0; i < config->levels; i++) {
        uint32_t size = config->max_sizes[i];

        if (size < 1)
            return es_error_set(error, -EINVAL,
                                "clusters of level %u have a maximum size of 0; "
                                "expected at least 1",
                                i + 1);
        if (i > 0 && size < config->max_sizes[i - 1])
            return es_error_set(error, -EINVAL,
                                "clusters of level %u are smaller (%u) than those of "
                                "level %u (%u) that they consist of",
                                i + 1, size, i, config->max_sizes[i - 1]);
    }
    return 0;
}

struct seed {
    uint32_t seed;
    uint32_t trace;
};

static int compare_seeds(const void *left, const void *right)
{
    const struct seed *a = left;
    const struct seed *b = right;

    if (a->seed != b->seed)
        return a->seed < b->seed ? -1 : 1;
    return (a->trace > b->trace) - (a->trace < b->trace);
}

static int sow(struct esi_store *store, const struct es_order_config *config)
{
    size_t count = config->seeds ? config->seed_count : 0;
    struct seed *seeds;

    if (!store->strategy->takes_seeds || count == 0)
        return 0;
    seeds = malloc(count * sizeof *seeds);
    store->sown = malloc(count * sizeof *store->sown);
    if (!seeds || !store->sown) {
        free(seeds);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        seeds[i] = (struct seed){.seed = config->seeds[i], .trace = (uint32_t)i};
    qsort(seeds, count, sizeof *seeds, compare_seeds);
    for (size_t i = 0; i < count; i++)
        store->sown[seeds[i].trace] = i > 0 && seeds[i - 1].seed == seeds[i].seed
                                          ? seeds[i - 1].trace
                                          : ESI_NO_TRACE;
    store->sown_count = count;
    free(seeds);
    return 0;
}

/* Of a store that may be half-built. */
static void cluster_destroy(struct esi_store *store)
{
    if (store->clustering)
        store->strategy->destroy(store->clustering);
    esi_gather_fini(&store->gather);
    esi_stamps_fini(&store->stamps);
    esi_levels_fini(&store->levels);
    free(store->sown);
    free(store);
}

static int cluster_create(const struct es_order_config *config,
                          struct es_error *error,
                          struct esi_store **ret_store)
{
    const char *name = config->strategy ? config->strategy : DEFAULT_STRATEGY;
    const struct esi_clustering_ops *strategy = find_strategy(name);
    struct esi_store *store;
    int code = check_levels(config, error);

    if (code < 0)
        return code;
    if (!strategy)
        return es_error_set(error, -EINVAL,
                            "no strategy of clusters is named '%s'; expected fixed, "
                            "merge-first, merge-nth, static, collect or migrate",
                            name);
    store = calloc(1, sizeof *store);
    if (!store)
        return es_error_set(error, -ENOMEM, "out of memory");
    store->strategy = strategy;
    store->level_count = config->levels;
    memcpy(store->max_sizes, config->max_sizes, sizeof store->max_sizes);
    esi_levels_init(&store->levels, config->levels, config->max_sizes);
    code = esi_stamps_init(&store->stamps, config->levels);
    if (code >= 0)
        code = sow(store, config);
    if (code >= 0)
        code = strategy->create(config, error, &store->clustering);
    if (code < 0) {
        cluster_destroy(store);
        return es_error_set(error, code, "out of memory");
    }
    *ret_store = store;
    return 0;
}

/* Puts a trace where the one before it of its seed is, on the levels on which it fits.
 */
static int plant(struct esi_store *store, uint32_t trace)
{
    uint32_t other = trace < store->sown_count ? store->sown[trace] : ESI_NO_TRACE;

    for (unsigned k = 1; other != ESI_NO_TRACE && k <= store->level_count; k++)
        if (esi_levels_can_merge(&store->levels, k, other, trace))
            return esi_levels_merge(&store->levels, k, other, trace);
    return 0;
}

void esi_cluster_note_bytes(struct esi_store *store)
{
    uint64_t bytes = sizeof *store + store->sown_count * sizeof *store->sown +
                     esi_gather_bytes(&store->gather, store->level_count) +
                     store->strategy->bytes(store->clustering);

    atomic_store_explicit(&store->writer_bytes, bytes, memory_order_relaxed);
}

static int cluster_add_trace(struct esi_store *store)
{
    uint32_t trace = store->trace_count;
    int code;

    if (esi_gather_reserve(&store->gather, trace + 1, store->level_count) < 0 ||
        (es_rows_count(&store->stamps.traces) == trace &&
         esi_stamps_add_trace(&store->stamps) < 0) ||
        esi_levels_add_trace(&store->levels) < 0)
        return -ENOMEM;
    code = plant(store, trace);
    if (code >= 0 && store->strategy->add_trace)
        code = store->strategy->add_trace(store->clustering, &store->levels, trace);
    if (code < 0)
        return code;
    store->trace_count++;
    esi_cluster_note_bytes(store);
    return 0;
}

/* --- What it costs --------------------------------------------------------------- */

static uint64_t get_relaxed(const _Atomic uint64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

/* Entries of vectors that are as long as their level's largest cluster. */
static uint64_t fixed_elements(const struct esi_store *store,
                               const struct esi_cluster_sums *sums,
                               uint64_t vector_elements)
{
    uint64_t top = get_relaxed(&sums->events[store->level_count]);
    uint64_t elements = top * vector_elements;

    for (unsigned i = 0; i < store->level_count; i++)
        elements += get_relaxed(&sums->events[i]) * store->max_sizes[i];
    return elements;
}

static void cluster_statistics(const struct esi_store *store,
                               struct es_order_statistics *statistics)
{
    uint64_t vector = statistics->vector_elements;
    uint64_t receives = 0;

    for (unsigned k = store->level_count; k >= 1; k--) {
        receives += get_relaxed(&store->sums.events[k]);
        statistics->cluster_receives[k - 1] = receives;
        statistics->clusters[k - 1] = get_relaxed(&store->levels.level[k - 1].count);
    }
    statistics->actual_elements = get_relaxed(&store->sums.elements);
    statistics->fixed_elements = fixed_elements(store, &store->sums, vector);
    statistics->communication_actual_elements =
        get_relaxed(&store->communication_sums.elements);
    statistics->communication_fixed_elements =
        fixed_elements(store, &store->communication_sums, vector);
    statistics->stored_bytes =
        esi_stamps_bytes(&store->stamps) + esi_levels_bytes(&store->levels);
    statistics->writer_bytes += get_relaxed(&store->writer_bytes);
}

const struct esi_store_ops esi_store_cluster = {
    .name = "cluster",
    .help = "vectors of clusters of traces (Ward and Taylor's cluster timestamps)",
    .create = cluster_create,
    .destroy = cluster_destroy,
    .add_trace = cluster_add_trace,
    .append = esi_cluster_append,
    .append_sync = esi_cluster_append_sync,
    .precedes = esi_cluster_precedes,
    .greatest_predecessor = esi_cluster_greatest_predecessor,
    .statistics = cluster_statistics,
};
