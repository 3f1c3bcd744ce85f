/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * wait_cycles.c - groups of stuck ranks that wait for each other, and a cycle of each.
 *
 * Groups are the strongly connected components of the stuck ranks (Tarjan,
 * Depth-first search and linear graph algorithms, 1972); one that waits for nobody
 * outside is a knot.  A cycle is the shortest through the group's least rank.  Linear
 * in ranks and waits.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/heartbeat/wait_graph_private.h"

/* Place among the waits of a rank: which of its threads, which of its targets. */
struct place {
    size_t thread;
    size_t target;
};

struct walk {
    const struct esi_wait_analysis *analysis;
    struct esi_wait_result *result;
    size_t *numbers; /* per rank: order in which it was met, from 1; 0 = not yet */
    size_t *lowest;  /* the least number that is reached from it */
    size_t *groups;  /* from 1; 0 = none yet */
    int *before;     /* the rank that led there: on the path, then on a cycle */
    struct place *places;
    int *stack; /* ranks met that are in no group yet */
    size_t met;
    size_t depth; /* of the stack */
    size_t group_count;
};

/* The next stuck rank that `rank` waits for, and a place behind it; -1 = no more. */
static int next_target(const struct esi_wait_analysis *analysis,
                       int rank,
                       struct place *place)
{
    const struct esi_wait_lists *threads = &analysis->threads;
    size_t count = threads->starts[rank + 1] - threads->starts[rank];

    for (; place->thread < count; *place = (struct place){place->thread + 1, 0}) {
        const struct esi_wait_node *node =
            &analysis->nodes[threads->items[threads->starts[rank] + place->thread]];

        while (node->stuck && place->target < node->target_count) {
            int target = node->targets[place->target++];

            if (esi_wait_is_known(analysis, target) && analysis->ranks[target].stuck)
                return target;
        }
    }
    return -1;
}

/* --- A cycle of a group ---------------------------------------------------------- */

/* Leads from `least` breadth first through its group; the rank that leads back to it,
 * or -1 where none does.  `queue` has room for all ranks. */
static int find_way_back(struct walk *walk, int least, int *queue)
{
    size_t head = 0, tail = 0, group = walk->groups[least];

    queue[tail++] = least;
    while (head < tail) {
        int rank = queue[head++], target;
        struct place place = {0, 0};

        while ((target = next_target(walk->analysis, rank, &place)) >= 0) {
            if (target == least)
                return rank;
            if (walk->groups[target] != group || walk->before[target] >= 0)
                continue;
            walk->before[target] = rank;
            queue[tail++] = target;
        }
    }
    return -1;
}

/* Whether `rank` certainly waits for `target`, whatever others do. */
static bool surely_waits(const struct esi_wait_analysis *analysis, int rank, int target)
{
    const struct esi_wait_lists *threads = &analysis->threads;

    for (size_t i = threads->starts[rank]; i < threads->starts[rank + 1]; i++) {
        const struct esi_wait_node *node = &analysis->nodes[threads->items[i]];

        if (!node->stuck || !node->certain || node->state != ES_WAIT_ALL)
            continue;
        for (size_t j = 0; j < node->target_count; j++)
            if (node->targets[j] == target)
                return true;
    }
    return false;
}

static bool is_sure_cycle(const struct esi_wait_analysis *analysis,
                          const struct esi_wait_cycle *cycle)
{
    for (size_t i = 0; i < cycle->count; i++)
        if (!surely_waits(analysis, cycle->ranks[i],
                          cycle->ranks[(i + 1) % cycle->count]))
            return false;
    return true;
}

/* Whether all waits of a group are certain. */
static bool is_sure_group(const struct esi_wait_analysis *analysis,
                          const int *members,
                          size_t count)
{
    const struct esi_wait_lists *threads = &analysis->threads;

    for (size_t i = 0; i < count; i++)
        for (size_t j = threads->starts[members[i]];
             j < threads->starts[members[i] + 1]; j++) {
            const struct esi_wait_node *node = &analysis->nodes[threads->items[j]];

            if (node->stuck && !node->certain)
                return false;
        }
    return true;
}

/* Whether nobody of the group waits for a stuck rank outside. */
static bool is_knot(const struct walk *walk, const int *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct place place = {0, 0};
        int target;

        while ((target = next_target(walk->analysis, members[i], &place)) >= 0)
            if (walk->groups[target] != walk->groups[members[i]])
                return false;
    }
    return true;
}

/* The ranks from `least` to `last`, by those before each. */
static int copy_cycle(const struct walk *walk,
                      int least,
                      int last,
                      struct esi_wait_cycle *cycle)
{
    cycle->count = 1;
    for (int rank = last; rank != least; rank = walk->before[rank])
        cycle->count++;
    cycle->ranks = calloc(cycle->count, sizeof *cycle->ranks);
    if (!cycle->ranks)
        return -ENOMEM;
    for (size_t i = cycle->count; i > 0; i--, last = walk->before[last])
        cycle->ranks[i - 1] = last;
    return 0;
}

static int add_cycle(struct walk *walk, const int *members, size_t count)
{
    struct esi_wait_result *result = walk->result;
    struct esi_wait_cycle cycle = {.members = count};
    int *queue = calloc(count + 1, sizeof *queue);
    int least = members[0];

    if (!queue)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        least = members[i] < least ? members[i] : least;
        walk->before[members[i]] = -1;
    }
    int last = find_way_back(walk, least, queue);
    free(queue);
    if (last < 0)
        return 0;
    if (ESI_ARRAY_RESERVE(result->cycles, result->cycle_capacity,
                          result->cycle_count + 1) < 0 ||
        copy_cycle(walk, least, last, &cycle) < 0)
        return -ENOMEM;
    cycle.knot = is_knot(walk, members, count);
    cycle.certain = is_sure_cycle(walk->analysis, &cycle) ||
                    (cycle.knot && is_sure_group(walk->analysis, members, count));
    result->cycles[result->cycle_count++] = cycle;
    return 0;
}

/* --- Groups ---------------------------------------------------------------------- */

static void meet_rank(struct walk *walk, int rank, int before)
{
    walk->numbers[rank] = walk->lowest[rank] = ++walk->met;
    walk->before[rank] = before;
    walk->stack[walk->depth++] = rank;
}

/* The ranks of the stack down to `first` are a group. */
static int close_group(struct walk *walk, int first)
{
    size_t bottom = walk->depth;

    walk->group_count++;
    do
        walk->groups[walk->stack[--bottom]] = walk->group_count;
    while (walk->stack[bottom] != first);
    size_t count = walk->depth - bottom;
    walk->depth = bottom;
    return add_cycle(walk, walk->stack + bottom, count);
}

static void lower_number(struct walk *walk, int rank, size_t number)
{
    if (number < walk->lowest[rank])
        walk->lowest[rank] = number;
}

/* Depth first from `start`; the path lies in `before`, so that none is too long. */
static int walk_from(struct walk *walk, int start)
{
    int status = 0;

    meet_rank(walk, start, -1);
    for (int rank = start; rank >= 0 && status == 0;) {
        int target = next_target(walk->analysis, rank, &walk->places[rank]);

        if (target >= 0 && walk->numbers[target] == 0) {
            meet_rank(walk, target, rank);
            rank = target;
        } else if (target >= 0) {
            if (walk->groups[target] == 0)
                lower_number(walk, rank, walk->numbers[target]);
        } else {
            int before = walk->before[rank];

            if (before >= 0)
                lower_number(walk, before, walk->lowest[rank]);
            if (walk->lowest[rank] == walk->numbers[rank])
                status = close_group(walk, rank);
            rank = before;
        }
    }
    return status;
}

/* Knots first, small ones first. */
static int compare_cycles(const void *a, const void *b)
{
    const struct esi_wait_cycle *first = a;
    const struct esi_wait_cycle *second = b;

    if (first->knot != second->knot)
        return first->knot ? -1 : 1;
    if (first->members != second->members)
        return first->members < second->members ? -1 : 1;
    return (first->ranks[0] > second->ranks[0]) - (first->ranks[0] < second->ranks[0]);
}

int esi_wait_find_cycles(const struct esi_wait_analysis *analysis,
                         struct esi_wait_result *result)
{
    size_t count = analysis->rank_count + 1;
    struct walk walk = {.analysis = analysis,
                        .result = result,
                        .numbers = calloc(count, sizeof *walk.numbers),
                        .lowest = calloc(count, sizeof *walk.lowest),
                        .groups = calloc(count, sizeof *walk.groups),
                        .before = calloc(count, sizeof *walk.before),
                        .places = calloc(count, sizeof *walk.places),
                        .stack = calloc(count, sizeof *walk.stack)};
    bool is_ready = walk.numbers && walk.lowest && walk.groups && walk.before &&
                    walk.places && walk.stack;
    int status = is_ready ? 0 : -ENOMEM;

    for (size_t rank = 0; rank < analysis->rank_count && status == 0; rank++)
        if (analysis->ranks[rank].stuck && walk.numbers[rank] == 0)
            status = walk_from(&walk, (int)rank);
    free(walk.numbers);
    free(walk.lowest);
    free(walk.groups);
    free(walk.before);
    free(walk.places);
    free(walk.stack);
    if (result->cycle_count > 0)
        qsort(result->cycles, result->cycle_count, sizeof *result->cycles,
              compare_cycles);
    return status;
}
