/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_greedy.c - greedy clustering with a heap of pairs.
 *
 * A cluster is identified by its smallest trace.  A union changes the quotients only of
 * its own pairs.  These are pushed again; the old entries are recognized as stale when
 * they are popped, because one of their clusters no longer exists or their quotient has
 * changed.
 */
#include "config.h"

#include "monitors/order/cluster/clustering_greedy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/heap.h"

struct greedy {
    struct esi_communications *counts; /* between clusters */
    uint32_t traces;
    uint32_t *sizes; /* 0 if the cluster no longer exists */
    uint32_t *smallest;
    struct esi_heap pairs; /* lesser and greater cluster; ordered by key_of() */
    uint32_t max_size;     /* on the level */
    unsigned shift;        /* of counts, so that quotients are integers */
};

/* --- Pairs ------------------------------------------------------------------------ */

static const uint64_t NEVER = UINT64_MAX;

/* Returns the key of a pair; pairs with smaller keys are united first. */
static uint64_t key_of(const struct greedy *greedy, uint32_t one, uint32_t other)
{
    uint64_t size = (uint64_t)greedy->sizes[one] + greedy->sizes[other];
    uint64_t count;

    if (greedy->sizes[one] == 0 || greedy->sizes[other] == 0 || size > greedy->max_size)
        return NEVER;
    count = esi_communications_count(greedy->counts, one, other);
    return NEVER - 1 - (count << greedy->shift) / size;
}

/* Pushes the pairs of a cluster with the clusters from `from` on that are small
 * enough. */
static int push_pairs(struct greedy *greedy, uint32_t cluster, uint32_t from)
{
    uint32_t at = 0;
    uint32_t other;

    while ((other = esi_communications_next(greedy->counts, cluster, &at)) !=
           UINT32_MAX) {
        uint64_t lesser = cluster < other ? cluster : other;
        uint64_t greater = cluster < other ? other : cluster;
        uint64_t key;

        if (other < from || other >= greedy->traces)
            continue;
        key = key_of(greedy, cluster, other);
        if (key == NEVER)
            continue;
        if (esi_heap_reserve(&greedy->pairs, greedy->pairs.count + 1) < 0)
            return -ENOMEM;
        esi_heap_push(&greedy->pairs, key, lesser << 32 | greater);
    }
    return 0;
}

/* --- Uniting --------------------------------------------------------------------- */

static int cluster_level(struct greedy *greedy, uint32_t max_size)
{
    greedy->max_size = max_size;
    for (uint32_t i = 0; i < greedy->traces; i++)
        if (greedy->sizes[i] > 0 && push_pairs(greedy, i, i + 1) < 0)
            return -ENOMEM;
    while (greedy->pairs.count > 0) {
        struct esi_heap_entry best = esi_heap_top(&greedy->pairs);
        uint32_t lesser = (uint32_t)(best.item >> 32);
        uint32_t greater = (uint32_t)best.item;

        esi_heap_pop(&greedy->pairs);
        if (best.key != key_of(greedy, lesser, greater))
            continue;
        if (esi_communications_merge(greedy->counts, lesser, greater) < 0)
            return -ENOMEM;
        greedy->sizes[lesser] += greedy->sizes[greater];
        greedy->sizes[greater] = 0;
        greedy->smallest[greater] = lesser;
        if (push_pairs(greedy, lesser, 0) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Notes the smallest trace of each trace's cluster.  United clusters point to smaller
 * ones, which are processed earlier. */
static void note_level(const struct greedy *greedy, uint32_t *smallest)
{
    for (uint32_t i = 0; i < greedy->traces; i++)
        smallest[i] = greedy->smallest[i] == i ? i : smallest[greedy->smallest[i]];
}

int esi_clustering_greedy(const struct esi_communications *counts,
                          uint32_t traces,
                          unsigned levels,
                          const uint32_t *max_sizes,
                          uint32_t **ret_smallest)
{
    size_t room = traces > 0 ? traces : 1;
    struct greedy greedy = {
        .traces = traces,
        .shift = (unsigned)__builtin_clzll(esi_communications_sum(counts) | 1),
        .sizes = malloc(room * sizeof *greedy.sizes),
        .smallest = malloc(room * sizeof *greedy.smallest)};
    uint32_t *smallest = malloc(room * levels * sizeof *smallest);
    int code = -ENOMEM;

    if (greedy.sizes && greedy.smallest && smallest)
        code = esi_communications_copy(counts, &greedy.counts);
    for (uint32_t i = 0; code >= 0 && i < traces; i++) {
        greedy.sizes[i] = 1;
        greedy.smallest[i] = i;
    }
    for (unsigned k = 0; code >= 0 && k < levels; k++) {
        code = cluster_level(&greedy, max_sizes[k]);
        note_level(&greedy, &smallest[(size_t)k * traces]);
    }
    esi_communications_destroy(greedy.counts);
    esi_heap_fini(&greedy.pairs);
    free(greedy.smallest);
    free(greedy.sizes);
    if (code < 0) {
        free(smallest);
        return code;
    }
    *ret_smallest = smallest;
    return 0;
}
