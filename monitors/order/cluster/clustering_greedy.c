/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * clustering_greedy.c - the best pair is found in a heap instead of by looking at all.
 *
 * A cluster is named by its smallest trace.  A union changes the quotients of its own
 * pairs only: these are pushed anew, and the old ones are known as stale when they come
 * up, for one of their clusters is gone or their combined size has changed.
 */
#include "config.h"

#include "monitors/order/cluster/clustering_greedy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct candidate {
    uint64_t count;
    uint32_t size; /* combined */
    uint32_t lesser;
    uint32_t greater;
};

struct greedy {
    struct esi_communications *counts; /* of clusters */
    uint32_t traces;
    uint32_t *sizes; /* 0 where a cluster is gone */
    uint32_t *smallest;
    struct candidate *heap;
    size_t count;
    size_t capacity;
};

/* --- The heap -------------------------------------------------------------------- */

/* Whether one pair is to be united before the other. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
    uint64_t left = a->count * b->size;
    uint64_t right = b->count * a->size;

    if (left != right)
        return left > right;
    if (a->lesser != b->lesser)
        return a->lesser < b->lesser;
    return a->greater < b->greater;
}

static int push_pair(struct greedy *greedy, const struct candidate *candidate)
{
    size_t at = greedy->count;

    if (at == greedy->capacity) {
        size_t capacity = greedy->capacity ? greedy->capacity * 2 : 64;
        struct candidate *heap = realloc(greedy->heap, capacity * sizeof *heap);

        if (!heap)
            return -ENOMEM;
        greedy->heap = heap;
        greedy->capacity = capacity;
    }
    greedy->count++;
    while (at > 0 && is_better(candidate, &greedy->heap[(at - 1) / 2])) {
        greedy->heap[at] = greedy->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    greedy->heap[at] = *candidate;
    return 0;
}

static struct candidate pop_pair(struct greedy *greedy)
{
    struct candidate best = greedy->heap[0];
    struct candidate last = greedy->heap[--greedy->count];
    size_t at = 0;
    size_t child;

    while ((child = at * 2 + 1) < greedy->count) {
        if (child + 1 < greedy->count &&
            is_better(&greedy->heap[child + 1], &greedy->heap[child]))
            child++;
        if (!is_better(&greedy->heap[child], &last))
            break;
        greedy->heap[at] = greedy->heap[child];
        at = child;
    }
    greedy->heap[at] = last;
    return best;
}

/* --- Uniting --------------------------------------------------------------------- */

/* Pushes the pairs of a cluster that are small enough, with others from `from` on. */
static int push_pairs(struct greedy *greedy,
                      uint32_t cluster,
                      uint32_t from,
                      uint32_t max_size)
{
    uint32_t at = 0;
    uint32_t other;

    while ((other = esi_communications_next(greedy->counts, cluster, &at)) !=
           UINT32_MAX) {
        struct candidate candidate = {
            .lesser = cluster < other ? cluster : other,
            .greater = cluster < other ? other : cluster,
        };

        if (other < from || other >= greedy->traces)
            continue;
        candidate.size = greedy->sizes[cluster] + greedy->sizes[other];
        candidate.count = esi_communications_count(greedy->counts, cluster, other);
        if (candidate.size <= max_size && push_pair(greedy, &candidate) < 0)
            return -ENOMEM;
    }
    return 0;
}

static bool is_stale(const struct greedy *greedy, const struct candidate *candidate)
{
    uint32_t lesser = greedy->sizes[candidate->lesser];
    uint32_t greater = greedy->sizes[candidate->greater];

    return lesser == 0 || greater == 0 || lesser + greater != candidate->size;
}

static int cluster_level(struct greedy *greedy, uint32_t max_size)
{
    greedy->count = 0;
    for (uint32_t i = 0; i < greedy->traces; i++)
        if (greedy->sizes[i] > 0 && push_pairs(greedy, i, i + 1, max_size) < 0)
            return -ENOMEM;
    while (greedy->count > 0) {
        struct candidate best = pop_pair(greedy);

        if (is_stale(greedy, &best))
            continue;
        if (esi_communications_merge(greedy->counts, best.lesser, best.greater) < 0)
            return -ENOMEM;
        greedy->sizes[best.lesser] = best.size;
        greedy->sizes[best.greater] = 0;
        greedy->smallest[best.greater] = best.lesser;
        if (push_pairs(greedy, best.lesser, 0, max_size) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Notes the smallest trace of each trace's cluster: united ones point to lesser ones,
 * which are done when it is their turn. */
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
    struct greedy greedy = {.traces = traces,
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
    free(greedy.heap);
    free(greedy.smallest);
    free(greedy.sizes);
    if (code < 0) {
        free(smallest);
        return code;
    }
    *ret_smallest = smallest;
    return 0;
}
