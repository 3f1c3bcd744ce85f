/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * replay_graph.c - strongly connected components (R. Tarjan, Depth-first search and
 * linear graph algorithms, SIAM J. Comput. 1972) without recursion, then a
 * breadth-first search in each for its smallest cycle.
 */
#include "config.h"

#include "monitors/latent/replay_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define NO_NODE UINT32_MAX
#define NO_EDGE UINT32_MAX

void esi_replay_graph_fini(struct esi_replay_graph *graph)
{
    free(graph->edges);
    free(graph->first);
    *graph = (struct esi_replay_graph){.node_count = 0};
}

int esi_replay_graph_add(struct esi_replay_graph *graph,
                         const struct esi_replay_edge *edge)
{
    if (graph->edge_count == NO_EDGE - 1 ||
        ESI_ARRAY_RESERVE(graph->edges, graph->edge_capacity, graph->edge_count + 1) <
            0)
        return -ENOMEM;
    graph->edges[graph->edge_count++] = *edge;
    return 0;
}

/* Counting sort: stable, so that reports are deterministic. */
int esi_replay_graph_sort(struct esi_replay_graph *graph)
{
    uint32_t *first = calloc(graph->node_count + 2, sizeof *first);
    struct esi_replay_edge *sorted = calloc(graph->edge_count + 1, sizeof *sorted);

    if (!first || !sorted) {
        free(first);
        free(sorted);
        return -ENOMEM;
    }
    for (size_t i = 0; i < graph->edge_count; i++)
        first[graph->edges[i].from + 2]++;
    for (size_t i = 2; i < graph->node_count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < graph->edge_count; i++)
        sorted[first[graph->edges[i].from + 1]++] = graph->edges[i];
    free(graph->edges);
    free(graph->first);
    graph->edges = sorted;
    graph->edge_capacity = graph->edge_count + 1;
    graph->first = first;
    return 0;
}

/* --- Smallest cycles -------------------------------------------------------------- */

/* How the search reached a node. */
struct search_node {
    uint32_t distance; /* edges so far; those along threads are free */
    uint32_t from;     /* node */
    uint32_t edge;     /* NO_EDGE = along the thread */
    bool done;
};

struct component {
    uint32_t *nodes; /* borrowed: of Tarjan's stack */
    size_t count;
    uint32_t number; /* as of its nodes */
};

/* A search through the components of a graph. */
struct replay_search {
    const struct esi_replay_graph *graph;
    esi_replay_cycle_fn visit;
    void *data;
    uint32_t *components;      /* by node: number from 1; 0 = none yet; owned, as all */
    struct search_node *nodes; /* by node; made when first needed */
    uint32_t *level;           /* nodes to look at, of this distance */
    size_t level_count, level_capacity;
    uint32_t *next; /* of the next one */
    size_t next_count, next_capacity;
    uint32_t *path; /* edges of the smallest cycle yet */
    size_t path_count, path_capacity;
    uint32_t last_node; /* of a cycle just found, and the edge back to its start */
    uint32_t last_edge;
};

static void end_search(struct replay_search *search)
{
    free(search->components);
    free(search->nodes);
    free(search->level);
    free(search->next);
    free(search->path);
}

static int append_node(uint32_t **list, size_t *count, size_t *capacity, uint32_t node)
{
    if (ESI_ARRAY_RESERVE(*list, *capacity, *count + 1) < 0)
        return -ENOMEM;
    (*list)[(*count)++] = node;
    return 0;
}

/* Reaches node `to` from `from`. */
static int reach_node(struct replay_search *search,
                      uint32_t from,
                      uint32_t to,
                      uint32_t edge)
{
    struct search_node *node = &search->nodes[to];
    uint32_t distance = search->nodes[from].distance + (edge != NO_EDGE);

    if (search->components[to] != search->components[from] || node->done ||
        node->distance <= distance)
        return 0;
    node->distance = distance;
    node->from = from;
    node->edge = edge;
    return edge == NO_EDGE ? append_node(&search->level, &search->level_count,
                                         &search->level_capacity, to)
                           : append_node(&search->next, &search->next_count,
                                         &search->next_capacity, to);
}

/* Continues from a node.  Records a cycle of fewer than `*length` edges. */
static int leave_node(struct replay_search *search,
                      uint32_t start,
                      uint32_t node,
                      uint32_t *length)
{
    const struct esi_replay_graph *graph = search->graph;
    uint32_t distance = search->nodes[node].distance;
    int result = 0;

    if (!graph->begins[node] && node - 1 == start && distance < *length) {
        *length = distance;
        search->last_node = node;
        search->last_edge = NO_EDGE;
    } else if (!graph->begins[node]) {
        result = reach_node(search, node, node - 1, NO_EDGE);
    }
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1] && result == 0;
         i++) {
        if (graph->edges[i].to != start) {
            result = reach_node(search, node, graph->edges[i].to, i);
        } else if (distance + 1 < *length) {
            *length = distance + 1;
            search->last_node = node;
            search->last_edge = i;
        }
    }
    return result;
}

/* Keeps the cycle that was found as the smallest. */
static int keep_path(struct replay_search *search, uint32_t start, uint32_t length)
{
    uint32_t node = search->last_node;
    uint32_t edge = search->last_edge;
    size_t left = length;

    if (ESI_ARRAY_RESERVE(search->path, search->path_capacity, length) < 0)
        return -ENOMEM;
    search->path_count = length;
    for (;;) {
        if (edge != NO_EDGE)
            search->path[--left] = edge;
        if (node == start)
            return 0;
        edge = search->nodes[node].edge;
        node = search->nodes[node].from;
    }
}

static void clear_nodes(struct replay_search *search, const struct component *component)
{
    for (size_t i = 0; i < component->count; i++)
        search->nodes[component->nodes[i]] =
            (struct search_node){.distance = UINT32_MAX};
}

static void swap_levels(struct replay_search *search)
{
    uint32_t *list = search->level;
    size_t capacity = search->level_capacity;

    search->level = search->next;
    search->level_count = search->next_count;
    search->level_capacity = search->next_capacity;
    search->next = list;
    search->next_count = 0;
    search->next_capacity = capacity;
}

/* The smallest cycle through a node, if it has fewer edges than the one that is kept.
 */
static int search_from(struct replay_search *search,
                       const struct component *component,
                       uint32_t start)
{
    uint32_t best = search->path_count ? (uint32_t)search->path_count : UINT32_MAX;
    uint32_t length = best;
    int result;

    clear_nodes(search, component);
    search->nodes[start].distance = 0;
    search->level_count = 0;
    search->next_count = 0;
    result = append_node(&search->level, &search->level_count, &search->level_capacity,
                         start);
    while (search->level_count > 0 && result == 0) {
        uint32_t node = search->level[--search->level_count];

        if (!search->nodes[node].done && search->nodes[node].distance < length) {
            search->nodes[node].done = true;
            result = leave_node(search, start, node, &length);
        }
        if (search->level_count == 0)
            swap_levels(search);
    }
    return result == 0 && length < best ? keep_path(search, start, length) : result;
}

static bool has_inner_edge(const struct replay_search *search, uint32_t node)
{
    const struct esi_replay_graph *graph = search->graph;

    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
        if (search->components[graph->edges[i].to] == search->components[node])
            return true;
    return false;
}

/* Reports the smallest cycle of a component. */
static int report_component(struct replay_search *search,
                            const struct component *component)
{
    int starts = 0;
    int result = 0;

    if (!search->nodes)
        search->nodes = calloc(search->graph->node_count, sizeof *search->nodes);
    if (!search->nodes)
        return -ENOMEM;
    search->path_count = 0;
    for (size_t i = 0;
         i < component->count && starts < ESI_REPLAY_STARTS && result == 0; i++) {
        if (!has_inner_edge(search, component->nodes[i]))
            continue;
        starts++;
        result = search_from(search, component, component->nodes[i]);
    }
    return result < 0 ? result
                      : search->visit(search->data, search->path, search->path_count);
}

/* --- Components ------------------------------------------------------------------- */

/* The way down is a list of nodes, each with the edge that it goes on with. */
struct tarjan {
    uint32_t *numbers; /* by node, from 1 in the order of visits; 0 = not visited */
    uint32_t *lows;    /* by node */
    uint32_t *cursors; /* by node: 0 = along its thread next; else 1 + edge */
    uint32_t *way;
    uint32_t *stack;
    size_t way_count;
    size_t stack_count;
    uint32_t visited;
    uint32_t component_count;
    int64_t found; /* components with cycles */
};

static void end_tarjan(struct tarjan *tarjan)
{
    free(tarjan->numbers);
    free(tarjan->lows);
    free(tarjan->cursors);
    free(tarjan->way);
    free(tarjan->stack);
}

static int begin_tarjan(struct tarjan *tarjan, size_t nodes)
{
    size_t size = nodes + 1;

    *tarjan = (struct tarjan){
        .numbers = calloc(size, sizeof *tarjan->numbers),
        .lows = calloc(size, sizeof *tarjan->lows),
        .cursors = calloc(size, sizeof *tarjan->cursors),
        .way = calloc(size, sizeof *tarjan->way),
        .stack = calloc(size, sizeof *tarjan->stack),
    };
    return tarjan->numbers && tarjan->lows && tarjan->cursors && tarjan->way &&
                   tarjan->stack
               ? 0
               : -ENOMEM;
}

static void enter_node(struct tarjan *tarjan, uint32_t node)
{
    tarjan->numbers[node] = ++tarjan->visited;
    tarjan->lows[node] = tarjan->visited;
    tarjan->way[tarjan->way_count++] = node;
    tarjan->stack[tarjan->stack_count++] = node;
}

/* The next node that `node` needs; NO_NODE = that was all. */
static uint32_t next_needed(const struct esi_replay_graph *graph,
                            struct tarjan *tarjan,
                            uint32_t node)
{
    uint32_t *cursor = &tarjan->cursors[node];

    if (*cursor == 0) {
        *cursor = 1 + graph->first[node];
        if (!graph->begins[node])
            return node - 1;
    }
    if (*cursor - 1 == graph->first[node + 1])
        return NO_NODE;
    return graph->edges[(*cursor)++ - 1].to;
}

static bool needs_itself(const struct esi_replay_graph *graph, uint32_t node)
{
    for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++)
        if (graph->edges[i].to == node)
            return true;
    return false;
}

/* The node is the first of its component: all of it is on top of the stack. */
static int close_component(struct replay_search *search,
                           struct tarjan *tarjan,
                           uint32_t node)
{
    size_t begin = tarjan->stack_count;
    struct component component = {.number = ++tarjan->component_count};

    while (tarjan->stack[--begin] != node)
        search->components[tarjan->stack[begin]] = component.number;
    search->components[node] = component.number;
    component.nodes = &tarjan->stack[begin];
    component.count = tarjan->stack_count - begin;
    tarjan->stack_count = begin;
    if (component.count == 1 && !needs_itself(search->graph, node))
        return 0;
    tarjan->found++;
    return report_component(search, &component);
}

static void lower_low(struct tarjan *tarjan, uint32_t node, uint32_t low)
{
    if (low < tarjan->lows[node])
        tarjan->lows[node] = low;
}

static int leave_way(struct replay_search *search, struct tarjan *tarjan, uint32_t node)
{
    tarjan->way_count--;
    if (tarjan->way_count > 0)
        lower_low(tarjan, tarjan->way[tarjan->way_count - 1], tarjan->lows[node]);
    return tarjan->lows[node] == tarjan->numbers[node]
               ? close_component(search, tarjan, node)
               : 0;
}

static int visit_from(struct replay_search *search,
                      struct tarjan *tarjan,
                      uint32_t root)
{
    int result = 0;

    enter_node(tarjan, root);
    while (tarjan->way_count > 0 && result >= 0) {
        uint32_t node = tarjan->way[tarjan->way_count - 1];
        uint32_t needed = next_needed(search->graph, tarjan, node);

        if (needed == NO_NODE)
            result = leave_way(search, tarjan, node);
        else if (tarjan->numbers[needed] == 0)
            enter_node(tarjan, needed);
        else if (search->components[needed] == 0)
            lower_low(tarjan, node, tarjan->numbers[needed]);
    }
    return result;
}

int64_t esi_replay_graph_cycles(const struct esi_replay_graph *graph,
                                esi_replay_cycle_fn visit,
                                void *data)
{
    struct replay_search search = {
        .graph = graph,
        .visit = visit,
        .data = data,
        .components = calloc(graph->node_count + 1, sizeof *search.components),
    };
    struct tarjan tarjan;
    int result = begin_tarjan(&tarjan, graph->node_count);

    if (!search.components)
        result = -ENOMEM;
    for (uint32_t i = 0; i < graph->node_count && result >= 0; i++)
        if (tarjan.numbers[i] == 0)
            result = visit_from(&search, &tarjan, i);
    end_tarjan(&tarjan);
    end_search(&search);
    return result < 0 ? result : tarjan.found;
}
