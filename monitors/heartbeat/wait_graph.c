/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_graph.c - releases whom it can, in time linear in the waits, and names who holds
 * up the others. */
#include "config.h"

#include "monitors/heartbeat/wait_graph.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "monitors/heartbeat/wait_graph_private.h"

bool esi_wait_is_known(const struct esi_wait_analysis *analysis, int rank)
{
    return rank >= 0 && (size_t)rank < analysis->rank_count &&
           analysis->ranks[rank].known;
}

static bool is_waiting(const struct esi_wait_node *node)
{
    return node->state == ES_WAIT_ALL || node->state == ES_WAIT_ANY;
}

/* --- Setting up ---------------------------------------------------------------- */

static void note_rank(struct esi_wait_analysis *analysis,
                      const struct esi_wait_node *node)
{
    struct esi_wait_rank *rank;

    if (node->rank < 0)
        return;
    rank = &analysis->ranks[node->rank];
    if (!rank->known)
        *rank = (struct esi_wait_rank){.known = true, .gone = true};
    rank->gone = rank->gone && node->state == ES_WAIT_GONE;
    rank->blocked |= is_waiting(node);
}

static int make_ranks(struct esi_wait_analysis *analysis)
{
    int highest = -1;

    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->nodes[i].rank > highest)
            highest = analysis->nodes[i].rank;
    analysis->rank_count = (size_t)(highest + 1);
    analysis->ranks = calloc(analysis->rank_count + 1, sizeof *analysis->ranks);
    if (!analysis->ranks)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->count; i++)
        note_rank(analysis, &analysis->nodes[i]);
    /* A rank with one thread that does not wait is not what holds its own others up. */
    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->nodes[i].rank >= 0 &&
            (analysis->nodes[i].state == ES_WAIT_NOT ||
             analysis->nodes[i].state == ES_WAIT_UNKNOWN))
            analysis->ranks[analysis->nodes[i].rank].blocked = false;
    return 0;
}

/* Turns counts, which stand one place behind their rank, into starts. */
static int make_items(struct esi_wait_lists *lists, size_t rank_count)
{
    for (size_t i = 0; i < rank_count; i++)
        lists->starts[i + 1] += lists->starts[i];
    lists->items = calloc(lists->starts[rank_count] + 1, sizeof *lists->items);
    return lists->items ? 0 : -ENOMEM;
}

/* Once all have taken their places, `starts` are the ends. */
static void turn_back(struct esi_wait_lists *lists, size_t rank_count)
{
    for (size_t i = rank_count; i > 0; i--)
        lists->starts[i] = lists->starts[i - 1];
    lists->starts[0] = 0;
}

static int list_threads(struct esi_wait_analysis *analysis)
{
    struct esi_wait_lists *lists = &analysis->threads;

    lists->starts = calloc(analysis->rank_count + 2, sizeof *lists->starts);
    if (!lists->starts)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->nodes[i].rank >= 0)
            lists->starts[analysis->nodes[i].rank + 1]++;
    if (make_items(lists, analysis->rank_count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->count; i++)
        if (analysis->nodes[i].rank >= 0)
            lists->items[lists->starts[analysis->nodes[i].rank]++] = i;
    turn_back(lists, analysis->rank_count);
    return 0;
}

static int list_waiters(struct esi_wait_analysis *analysis)
{
    struct esi_wait_lists *lists = &analysis->waiters;

    lists->starts = calloc(analysis->rank_count + 2, sizeof *lists->starts);
    if (!lists->starts)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->count; i++)
        for (size_t j = 0; j < analysis->nodes[i].target_count; j++)
            if (esi_wait_is_known(analysis, analysis->nodes[i].targets[j]))
                lists->starts[analysis->nodes[i].targets[j] + 1]++;
    if (make_items(lists, analysis->rank_count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < analysis->count; i++)
        for (size_t j = 0; j < analysis->nodes[i].target_count; j++)
            if (esi_wait_is_known(analysis, analysis->nodes[i].targets[j]))
                lists->items[lists->starts[analysis->nodes[i].targets[j]]++] = i;
    turn_back(lists, analysis->rank_count);
    return 0;
}

static int set_up(struct esi_wait_analysis *analysis)
{
    int status = make_ranks(analysis);

    if (status == 0)
        status = list_threads(analysis);
    return status < 0 ? status : list_waiters(analysis);
}

static void tear_down(struct esi_wait_analysis *analysis)
{
    free(analysis->ranks);
    free(analysis->threads.starts);
    free(analysis->threads.items);
    free(analysis->waiters.starts);
    free(analysis->waiters.items);
}

/* --- Releasing ----------------------------------------------------------------- */

struct release {
    struct esi_wait_analysis *analysis;
    size_t *missing; /* per node: targets that have to act yet, then 0 = released */
    int *acting;     /* ranks whose waiters are not told yet */
    size_t acting_count;
};

static void release_node(struct release *release, size_t index)
{
    struct esi_wait_analysis *analysis = release->analysis;
    int rank = analysis->nodes[index].rank;

    release->missing[index] = 0;
    if (rank < 0 || analysis->ranks[rank].acts)
        return;
    analysis->ranks[rank].acts = true;
    release->acting[release->acting_count++] = rank;
}

/* Targets that have to act before the thread may go on; SIZE_MAX = it never will. */
static size_t count_missing(const struct esi_wait_analysis *analysis,
                            const struct esi_wait_node *node)
{
    size_t known = 0;

    if (node->state == ES_WAIT_GONE)
        return SIZE_MAX;
    if (!is_waiting(node))
        return 0;
    /* Who waits for nobody in particular has all it needs. */
    for (size_t i = 0; i < node->target_count; i++)
        known += esi_wait_is_known(analysis, node->targets[i]);
    if (node->state == ES_WAIT_ALL)
        return known;
    return known < node->target_count || known == 0 ? 0 : 1;
}

static void tell_waiters(struct release *release, int rank)
{
    const struct esi_wait_lists *waiters = &release->analysis->waiters;

    for (size_t i = waiters->starts[rank]; i < waiters->starts[rank + 1]; i++) {
        size_t index = waiters->items[i];

        if (release->missing[index] > 0 && --release->missing[index] == 0)
            release_node(release, index);
    }
}

/* Each rank is told once, each wait counted once. */
static void release_all(struct release *release)
{
    struct esi_wait_analysis *analysis = release->analysis;

    for (size_t i = 0; i < analysis->count; i++)
        release->missing[i] = count_missing(analysis, &analysis->nodes[i]);
    for (size_t i = 0; i < analysis->count; i++)
        if (release->missing[i] == 0)
            release_node(release, i);
    while (release->acting_count > 0)
        tell_waiters(release, release->acting[--release->acting_count]);
}

/* Whoever cannot be released is stuck. */
static int find_stuck(struct esi_wait_analysis *analysis)
{
    struct release release = {
        .analysis = analysis,
        .missing = calloc(analysis->count + 1, sizeof *release.missing),
        .acting = calloc(analysis->rank_count + 1, sizeof *release.acting)};
    bool is_ready = release.missing && release.acting;

    if (is_ready)
        release_all(&release);
    for (size_t i = 0; is_ready && i < analysis->count; i++) {
        struct esi_wait_node *node = &analysis->nodes[i];

        node->stuck = is_waiting(node) && release.missing[i] > 0;
        if (node->stuck && node->rank >= 0 && !analysis->ranks[node->rank].acts)
            analysis->ranks[node->rank].stuck = true;
    }
    free(release.missing);
    free(release.acting);
    return is_ready ? 0 : -ENOMEM;
}

/* --- Culprits ------------------------------------------------------------------ */

static int compare_culprits(const void *a, const void *b)
{
    const struct esi_wait_culprit *first = a;
    const struct esi_wait_culprit *second = b;

    if (first->waiting != second->waiting)
        return first->waiting < second->waiting ? 1 : -1;
    return (first->rank > second->rank) - (first->rank < second->rank);
}

/* Threads that wait for a rank; any one of many may act: that is nobody's fault. */
static size_t count_waiting(const struct esi_wait_analysis *analysis, size_t rank)
{
    const struct esi_wait_lists *waiters = &analysis->waiters;
    size_t count = 0;

    for (size_t i = waiters->starts[rank]; i < waiters->starts[rank + 1]; i++) {
        const struct esi_wait_node *node = &analysis->nodes[waiters->items[i]];

        count +=
            node->state == ES_WAIT_ALL || (node->state == ES_WAIT_ANY && node->stuck);
    }
    return count;
}

/* Ranks that are waited for and do not wait. */
static int find_culprits(const struct esi_wait_analysis *analysis,
                         struct esi_wait_result *result)
{
    result->culprits = calloc(analysis->rank_count + 1, sizeof *result->culprits);
    if (!result->culprits)
        return -ENOMEM;
    for (size_t rank = 0; rank < analysis->rank_count; rank++) {
        size_t waiting =
            analysis->ranks[rank].blocked ? 0 : count_waiting(analysis, rank);

        if (waiting > 0)
            result->culprits[result->culprit_count++] =
                (struct esi_wait_culprit){.rank = (int)rank,
                                          .waiting = waiting,
                                          .gone = analysis->ranks[rank].gone};
    }
    qsort(result->culprits, result->culprit_count, sizeof *result->culprits,
          compare_culprits);
    return 0;
}

int esi_wait_analyse(struct esi_wait_node *nodes,
                     size_t count,
                     struct esi_wait_result *ret_result)
{
    struct esi_wait_analysis analysis = {.nodes = nodes, .count = count};
    struct esi_wait_result result = {0};
    int status = set_up(&analysis);

    if (status == 0)
        status = find_stuck(&analysis);
    if (status == 0)
        status = esi_wait_find_cycles(&analysis, &result);
    if (status == 0)
        status = find_culprits(&analysis, &result);
    tear_down(&analysis);
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
