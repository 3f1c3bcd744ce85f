/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* and_or.c - release by counters and a worklist; components after Tarjan (1972). */
#include "config.h"

#include "monitors/verdict/and_or.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"

/* --- Building -------------------------------------------------------------------- */

int esi_and_or_add(struct esi_and_or *graph,
                   const struct esi_and_or_node *node,
                   uint32_t *ret_number)
{
    if (graph->count >= ESI_NODE_NONE ||
        ESI_ARRAY_RESERVE(graph->nodes, graph->capacity, graph->count + 1) < 0)
        return -ENOMEM;
    graph->nodes[graph->count] = *node;
    *ret_number = (uint32_t)graph->count++;
    return 0;
}

int esi_and_or_link(struct esi_and_or *graph, uint32_t from, uint32_t to)
{
    if (graph->link_count >= UINT32_MAX ||
        ESI_ARRAY_RESERVE(graph->links, graph->link_capacity, graph->link_count + 1) <
            0)
        return -ENOMEM;
    graph->links[graph->link_count][0] = from;
    graph->links[graph->link_count][1] = to;
    graph->link_count++;
    return 0;
}

/* Counting sort of the links by their end `by` (0 or 1). */
static int sort_links(const struct esi_and_or *graph,
                      int by,
                      uint32_t **ret_starts,
                      uint32_t **ret_others)
{
    uint32_t *starts = calloc(graph->count + 2, sizeof *starts);
    uint32_t *others = calloc(graph->link_count + 1, sizeof *others);

    if (!starts || !others) {
        free(starts);
        free(others);
        return -ENOMEM;
    }
    for (size_t i = 0; i < graph->link_count; i++)
        starts[graph->links[i][by] + 2]++;
    for (size_t i = 2; i < graph->count + 2; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < graph->link_count; i++)
        others[starts[graph->links[i][by] + 1]++] = graph->links[i][!by];
    *ret_starts = starts;
    *ret_others = others;
    return 0;
}

int esi_and_or_close(struct esi_and_or *graph)
{
    int result = sort_links(graph, 0, &graph->starts, &graph->targets);

    if (result == 0)
        result = sort_links(graph, 1, &graph->waiter_starts, &graph->waiters);
    free(graph->links);
    graph->links = NULL;
    graph->link_capacity = 0;
    return result;
}

void esi_and_or_fini(struct esi_and_or *graph)
{
    free(graph->nodes);
    free(graph->links);
    free(graph->starts);
    free(graph->targets);
    free(graph->waiter_starts);
    free(graph->waiters);
    *graph = (struct esi_and_or){0};
}

/* --- Release --------------------------------------------------------------------- */

static enum esi_and_or_mode mode_of(const struct esi_and_or_node *node, bool surely)
{
    return (enum esi_and_or_mode)(surely ? node->surely : node->maybe);
}

int esi_and_or_release(const struct esi_and_or *graph, bool surely, bool *stuck)
{
    uint32_t *missing = calloc(graph->count + 1, sizeof *missing);
    uint32_t *list = calloc(graph->count + 1, sizeof *list);
    size_t head = 0, tail = 0;

    if (!missing || !list) {
        free(missing);
        free(list);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        enum esi_and_or_mode mode = mode_of(&graph->nodes[i], surely);

        missing[i] = graph->starts[i + 1] - graph->starts[i];
        stuck[i] =
            !(mode == ESI_NODE_ACTS || (mode == ESI_NODE_ALL && missing[i] == 0));
        if (!stuck[i])
            list[tail++] = i;
    }
    while (head < tail) {
        uint32_t node = list[head++];

        for (uint32_t i = graph->waiter_starts[node];
             i < graph->waiter_starts[node + 1]; i++) {
            uint32_t waiter = graph->waiters[i];
            enum esi_and_or_mode mode = mode_of(&graph->nodes[waiter], surely);

            if (!stuck[waiter] || mode == ESI_NODE_NEVER)
                continue;
            if (mode == ESI_NODE_ALL && --missing[waiter] > 0)
                continue;
            stuck[waiter] = false;
            list[tail++] = waiter;
        }
    }
    free(missing);
    free(list);
    return 0;
}

/* --- Components ------------------------------------------------------------------ */

struct knot_walk {
    const struct esi_and_or *graph;
    const bool *stuck;
    struct esi_and_or_knots *knots;
    uint32_t *numbers; /* discovery order, from 1; 0 = not visited */
    uint32_t *lowest;
    uint32_t *next;   /* per node: its next edge */
    uint32_t *before; /* predecessor in the search tree */
    uint32_t *stack;
    uint32_t met;
    size_t depth;
};

static void meet_node(struct knot_walk *walk, uint32_t node, uint32_t before)
{
    walk->numbers[node] = walk->lowest[node] = ++walk->met;
    walk->next[node] = walk->graph->starts[node];
    walk->before[node] = before;
    walk->stack[walk->depth++] = node;
}

/* Makes a component of the nodes on the stack down to `first`. */
static void close_component(struct knot_walk *walk, uint32_t first)
{
    struct esi_and_or_knots *knots = walk->knots;
    uint32_t number = (uint32_t)knots->count++;
    size_t top = walk->depth;

    do
        knots->component[walk->stack[--walk->depth]] = number;
    while (walk->stack[walk->depth] != first);
    knots->sink[number] = true;
    for (size_t i = walk->depth; i < top; i++)
        for (uint32_t node = walk->stack[i], j = walk->graph->starts[node];
             j < walk->graph->starts[node + 1]; j++) {
            uint32_t target = walk->graph->targets[j];

            if (walk->stuck[target] && knots->component[target] != number)
                knots->sink[number] = false;
        }
}

static void lower_number(struct knot_walk *walk, uint32_t node, uint32_t number)
{
    if (number < walk->lowest[node])
        walk->lowest[node] = number;
}

/* Depth-first search from `start`, without recursion. */
static void walk_nodes(struct knot_walk *walk, uint32_t start)
{
    const struct esi_and_or *graph = walk->graph;

    meet_node(walk, start, ESI_NODE_NONE);
    for (uint32_t node = start; node != ESI_NODE_NONE;) {
        if (walk->next[node] < graph->starts[node + 1]) {
            uint32_t target = graph->targets[walk->next[node]++];

            if (!walk->stuck[target])
                continue;
            if (walk->numbers[target] == 0) {
                meet_node(walk, target, node);
                node = target;
            } else if (walk->knots->component[target] == ESI_NODE_NONE) {
                lower_number(walk, node, walk->numbers[target]);
            }
            continue;
        }
        uint32_t before = walk->before[node];

        if (before != ESI_NODE_NONE)
            lower_number(walk, before, walk->lowest[node]);
        if (walk->lowest[node] == walk->numbers[node])
            close_component(walk, node);
        node = before;
    }
}

int esi_and_or_find_knots(const struct esi_and_or *graph,
                          const bool *stuck,
                          struct esi_and_or_knots *ret_knots)
{
    size_t count = graph->count + 1;
    struct esi_and_or_knots knots = {
        .component = malloc(count * sizeof *knots.component),
        .sink = calloc(count, sizeof *knots.sink),
        .before = malloc(count * sizeof *knots.before),
        .queue = calloc(count, sizeof *knots.queue),
        .leads_back = calloc(count, sizeof *knots.leads_back)};
    uint32_t *space = calloc(5 * count, sizeof *space);
    struct knot_walk walk = {.graph = graph, .stuck = stuck, .knots = &knots};

    if (!knots.component || !knots.sink || !knots.before || !knots.queue ||
        !knots.leads_back || !space) {
        esi_and_or_knots_fini(&knots);
        free(space);
        return -ENOMEM;
    }
    walk.numbers = space;
    walk.lowest = space + count;
    walk.next = space + 2 * count;
    walk.before = space + 3 * count;
    walk.stack = space + 4 * count;
    for (size_t i = 0; i < graph->count; i++)
        knots.component[i] = knots.before[i] = ESI_NODE_NONE;
    for (uint32_t i = 0; i < graph->count; i++)
        if (stuck[i] && walk.numbers[i] == 0)
            walk_nodes(&walk, i);
    free(space);
    *ret_knots = knots;
    return 0;
}

void esi_and_or_knots_fini(struct esi_and_or_knots *knots)
{
    free(knots->component);
    free(knots->sink);
    free(knots->before);
    free(knots->queue);
    free(knots->leads_back);
    *knots = (struct esi_and_or_knots){0};
}

/* --- A cycle of a component ------------------------------------------------------ */

struct cycle_search {
    const struct esi_and_or *graph;
    struct esi_and_or_knots *knots;
    uint32_t start;
    size_t tail; /* of the queue */
};

/* Whether the step from `node` to `target` closes a cycle.  The start itself also waits
 * for a set that contains it; this is not a cycle. */
static bool closes_cycle(const struct cycle_search *search,
                         uint32_t node,
                         uint32_t target)
{
    const struct esi_and_or_node *nodes = search->graph->nodes;

    if (target == search->start)
        return !nodes[node].shared;
    return search->knots->leads_back[target] &&
           nodes[node].owner != nodes[search->start].owner;
}

/* Breadth-first search; returns the last node before the start, or the start. */
static uint32_t find_way_back(struct cycle_search *search)
{
    const struct esi_and_or *graph = search->graph;
    struct esi_and_or_knots *knots = search->knots;
    const uint32_t *component = knots->component;

    knots->queue[search->tail++] = search->start;
    for (size_t head = 0; head < search->tail; head++) {
        uint32_t node = knots->queue[head];

        for (uint32_t i = graph->starts[node]; i < graph->starts[node + 1]; i++) {
            uint32_t target = graph->targets[i];

            if (component[target] != component[search->start])
                continue;
            if (closes_cycle(search, node, target))
                return node;
            if (target == search->start || knots->before[target] != ESI_NODE_NONE)
                continue;
            knots->before[target] = node;
            knots->queue[search->tail++] = target;
        }
    }
    return search->start;
}

static void turn_round(int *owners, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        int other = owners[i];

        owners[i] = owners[count - 1 - i];
        owners[count - 1 - i] = other;
    }
}

/* The owners on the path to `last`, without adjacent duplicates. */
static int list_owners(const struct cycle_search *search,
                       uint32_t last,
                       int **ret_owners)
{
    const struct esi_and_or_node *nodes = search->graph->nodes;
    int first = nodes[search->start].owner;
    size_t count = 0, length = 0;
    int *owners;

    for (uint32_t i = last; i != search->start; i = search->knots->before[i])
        length++;
    owners = calloc(length + 2, sizeof *owners);
    if (!owners || length > INT_MAX - 2) {
        free(owners);
        return -ENOMEM;
    }
    for (uint32_t i = last; i != search->start; i = search->knots->before[i])
        if (nodes[i].owner >= 0 && (count == 0 || owners[count - 1] != nodes[i].owner))
            owners[count++] = nodes[i].owner;
    if (count == 0 || owners[count - 1] != first)
        owners[count++] = first;
    turn_round(owners, count);
    *ret_owners = owners;
    return (int)count;
}

static void mark_waiters(const struct cycle_search *search, bool mark)
{
    const struct esi_and_or *graph = search->graph;

    for (uint32_t i = graph->waiter_starts[search->start];
         i < graph->waiter_starts[search->start + 1]; i++)
        search->knots->leads_back[graph->waiters[i]] =
            mark && graph->nodes[graph->waiters[i]].shared;
}

int esi_and_or_find_cycle(const struct esi_and_or *graph,
                          struct esi_and_or_knots *knots,
                          uint32_t start,
                          int **ret_owners)
{
    struct cycle_search search = {.graph = graph, .knots = knots, .start = start};
    int result;

    mark_waiters(&search, true);
    result = list_owners(&search, find_way_back(&search), ret_owners);
    mark_waiters(&search, false);
    for (size_t i = 0; i < search.tail; i++)
        knots->before[knots->queue[i]] = ESI_NODE_NONE;
    return result;
}
