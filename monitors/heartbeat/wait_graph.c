/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_graph.c - releases whom it can, and names what is left. */
#include "config.h"

#include "monitors/heartbeat/wait_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a rank: some thread of it may act, is blocked, or was seen at all.
 */
struct rank_state {
    bool known;
    bool acts;    /* may act, or be released */
    bool blocked; /* has a thread that waits, and none that is free of it */
    bool gone;    /* all its threads are gone */
    size_t node;  /* a thread of it that is stuck */
    bool has_stuck;
};

struct analysis {
    struct esi_wait_node *nodes;
    size_t count;
    struct rank_state *ranks;
    size_t rank_count;
    bool *released; /* per node */
};

static bool is_rank(const struct analysis *analysis, int rank)
{
    return rank >= 0 && (size_t)rank < analysis->rank_count &&
           analysis->ranks[rank].known;
}

static bool may_act(const struct analysis *analysis, int rank)
{
    return !is_rank(analysis, rank) || analysis->ranks[rank].acts;
}

static bool is_waiting(const struct esi_wait_node *node)
{
    return node->state == ES_WAIT_ALL || node->state == ES_WAIT_ANY;
}

static bool can_be_released(const struct analysis *analysis,
                            const struct esi_wait_node *node)
{
    size_t acting = 0;

    if (!is_waiting(node))
        return node->state != ES_WAIT_GONE;
    for (size_t i = 0; i < node->target_count; i++)
        acting += may_act(analysis, node->targets[i]);
    /* Who waits for nobody in particular has all it needs. */
    if (node->target_count == 0)
        return true;
    return node->state == ES_WAIT_ALL ? acting == node->target_count : acting > 0;
}

static int set_up(struct analysis *analysis)
{
    int highest = -1;

    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->nodes[i].rank > highest)
            highest = analysis->nodes[i].rank;
    analysis->rank_count = (size_t)(highest + 1);
    analysis->ranks = calloc(analysis->rank_count + 1, sizeof *analysis->ranks);
    analysis->released = calloc(analysis->count + 1, sizeof *analysis->released);
    if (!analysis->ranks || !analysis->released)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->count; i++) {
        struct rank_state *rank;

        if (analysis->nodes[i].rank < 0)
            continue;
        rank = &analysis->ranks[analysis->nodes[i].rank];
        if (!rank->known)
            *rank = (struct rank_state){.known = true, .gone = true};
        rank->gone = rank->gone && analysis->nodes[i].state == ES_WAIT_GONE;
    }
    return 0;
}

/* Until nothing changes: at most as many rounds as the longest chain of waits. */
static void release_waiters(struct analysis *analysis)
{
    bool changed;

    do {
        changed = false;
        for (size_t i = 0; i < analysis->count; i++) {
            struct esi_wait_node *node = &analysis->nodes[i];

            if (analysis->released[i] || !can_be_released(analysis, node))
                continue;
            analysis->released[i] = true;
            changed = true;
            if (node->rank >= 0)
                analysis->ranks[node->rank].acts = true;
        }
    } while (changed);
}

static void mark_cycle(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->count; i++) {
        struct esi_wait_node *node = &analysis->nodes[i];
        struct rank_state *rank = node->rank >= 0 ? &analysis->ranks[node->rank] : NULL;

        node->stuck = is_waiting(node) && !analysis->released[i];
        if (!rank)
            continue;
        rank->blocked |= is_waiting(node);
        if (node->stuck && !rank->has_stuck && !rank->acts) {
            rank->has_stuck = true;
            rank->node = i;
        }
    }
    /* A rank with one thread that does not wait is not what holds its own others up. */
    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->nodes[i].rank >= 0 &&
            (analysis->nodes[i].state == ES_WAIT_NOT ||
             analysis->nodes[i].state == ES_WAIT_UNKNOWN))
            analysis->ranks[analysis->nodes[i].rank].blocked = false;
}

/* --- Cycles ------------------------------------------------------------------ */

/* The next stuck rank on the way from `rank`, or -1. */
static int next_stuck(const struct analysis *analysis, int rank)
{
    const struct esi_wait_node *node = &analysis->nodes[analysis->ranks[rank].node];

    for (size_t i = 0; i < node->target_count; i++) {
        int target = node->targets[i];

        if (is_rank(analysis, target) && analysis->ranks[target].has_stuck)
            return target;
    }
    return -1;
}

static int add_cycle(const struct analysis *analysis,
                     int least,
                     size_t length,
                     struct esi_wait_result *result)
{
    struct esi_wait_cycle *cycles =
        realloc(result->cycles, (result->cycle_count + 1) * sizeof *cycles);
    struct esi_wait_cycle *cycle;

    if (!cycles)
        return -ENOMEM;
    result->cycles = cycles;
    cycle = &cycles[result->cycle_count];
    *cycle = (struct esi_wait_cycle){.certain = true};
    cycle->ranks = calloc(length, sizeof *cycle->ranks);
    if (!cycle->ranks)
        return -ENOMEM;
    for (int rank = least; cycle->count < length; rank = next_stuck(analysis, rank)) {
        cycle->ranks[cycle->count++] = rank;
        cycle->certain &= analysis->nodes[analysis->ranks[rank].node].certain;
    }
    result->cycle_count++;
    return 0;
}

/* The cycle that contains `start`, which lies on one. */
static int name_cycle(const struct analysis *analysis,
                      int start,
                      struct esi_wait_result *result)
{
    int least = start;
    size_t length = 1;

    for (int rank = next_stuck(analysis, start); rank != start;
         rank = next_stuck(analysis, rank)) {
        least = rank < least ? rank : least;
        length++;
    }
    return add_cycle(analysis, least, length, result);
}

/* Following each stuck rank's first stuck target leads into a cycle or ends at one that
 * waits for the gone only.  Each rank is passed once: linear. */
static int find_cycles(const struct analysis *analysis, struct esi_wait_result *result)
{
    size_t *passed = calloc(analysis->rank_count + 1, sizeof *passed);
    int status = passed ? 0 : -ENOMEM;

    for (size_t start = 0; start < analysis->rank_count && status == 0; start++) {
        int rank = (int)start;

        if (!analysis->ranks[start].has_stuck || passed[start])
            continue;
        while (rank >= 0 && !passed[rank]) {
            passed[rank] = start + 1;
            rank = next_stuck(analysis, rank);
        }
        if (rank >= 0 && passed[rank] == start + 1)
            status = name_cycle(analysis, rank, result);
    }
    free(passed);
    return status;
}

/* --- Culprits ---------------------------------------------------------------- */

static int compare_culprits(const void *a, const void *b)
{
    const struct esi_wait_culprit *first = a;
    const struct esi_wait_culprit *second = b;

    if (first->waiting != second->waiting)
        return first->waiting < second->waiting ? 1 : -1;
    return (first->rank > second->rank) - (first->rank < second->rank);
}

/* Ranks that are waited for and do not wait. */
static int find_culprits(const struct analysis *analysis,
                         struct esi_wait_result *result)
{
    size_t *waiting = calloc(analysis->rank_count + 1, sizeof *waiting);

    result->culprits = calloc(analysis->rank_count + 1, sizeof *result->culprits);
    if (!waiting || !result->culprits) {
        free(waiting);
        return -ENOMEM;
    }
    for (size_t i = 0; i < analysis->count; i++) {
        const struct esi_wait_node *node = &analysis->nodes[i];

        /* Any one of many may act: that is nobody's fault. */
        if (node->state != ES_WAIT_ALL && !(node->state == ES_WAIT_ANY && node->stuck))
            continue;
        for (size_t j = 0; j < node->target_count; j++)
            if (is_rank(analysis, node->targets[j]))
                waiting[node->targets[j]]++;
    }
    for (size_t rank = 0; rank < analysis->rank_count; rank++)
        if (waiting[rank] && !analysis->ranks[rank].blocked)
            result->culprits[result->culprit_count++] =
                (struct esi_wait_culprit){.rank = (int)rank,
                                          .waiting = waiting[rank],
                                          .gone = analysis->ranks[rank].gone};
    qsort(result->culprits, result->culprit_count, sizeof *result->culprits,
          compare_culprits);
    free(waiting);
    return 0;
}

int esi_wait_analyse(struct esi_wait_node *nodes,
                     size_t count,
                     struct esi_wait_result *ret_result)
{
    struct analysis analysis = {.nodes = nodes, .count = count};
    struct esi_wait_result result = {0};
    int status = set_up(&analysis);

    if (status == 0) {
        release_waiters(&analysis);
        mark_cycle(&analysis);
        status = find_cycles(&analysis, &result);
    }
    if (status == 0)
        status = find_culprits(&analysis, &result);
    free(analysis.ranks);
    free(analysis.released);
    if (status < 0)
        esi_wait_result_fini(&result);
    else
        *ret_result = result;
    return status;
}

void esi_wait_result_fini(struct esi_wait_result *result)
{
    for (size_t i = 0; i < result->cycle_count; i++)
        free(result->cycles[i].ranks);
    free(result->cycles);
    free(result->culprits);
    *result = (struct esi_wait_result){0};
}
