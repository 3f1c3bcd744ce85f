/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * AND/OR wait graphs: a node waits for all or for any of its successors.  Finds the
 * nodes that can never be released, and the knots among them.  Pure logic.
 *
 * An acting node is released at once; a waiting node when all, or any, of its
 * successors are released.  The remaining nodes are stuck (the and/or model; Knapp,
 * Deadlock Detection in Distributed Databases, 1987). Each node has two modes: what it
 * certainly waits for, and what it may wait for.  Every node released in the second
 * mode is also released in the first.  All functions are linear in nodes and edges.
 *
 *     esi_and_or_add(&graph, &node, &number);
 *     esi_and_or_link(&graph, from, to);
 *     esi_and_or_close(&graph);
 *     esi_and_or_release(&graph, true, stuck);
 *     esi_and_or_find_knots(&graph, stuck, &knots);
 */
#ifndef ES_MONITORS_VERDICT_AND_OR_H
#define ES_MONITORS_VERDICT_AND_OR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum esi_and_or_mode {
    ESI_NODE_ACTS,
    ESI_NODE_ALL, /* released when all successors are; at once if it has none */
    ESI_NODE_ANY, /* released when one successor is; never if it has none */
    ESI_NODE_NEVER,
};

#define ESI_NODE_NONE UINT32_MAX

struct esi_and_or_node {
    uint8_t surely; /* enum esi_and_or_mode */
    uint8_t maybe;  /* enum esi_and_or_mode */
    bool shared;    /* stands for a set of ranks that several owners wait for */
    int owner; /* to whose wait it belongs: cycles are reported as owners; -1 = none */
};

struct esi_and_or {
    struct esi_and_or_node *nodes; /* owned */
    size_t count;
    size_t capacity;
    uint32_t (*links)[2]; /* owned; from, to */
    size_t link_count;
    size_t link_capacity;
    uint32_t *starts; /* owned; the successors of n begin at targets[starts[n]] */
    uint32_t *targets;
    uint32_t *waiter_starts; /* likewise, the nodes that wait for n */
    uint32_t *waiters;
};

/* Adds a node or an edge.  A zeroed struct is an empty graph.  Returns 0 or -ENOMEM. */
int esi_and_or_add(struct esi_and_or *graph,
                   const struct esi_and_or_node *node,
                   uint32_t *ret_number);
int esi_and_or_link(struct esi_and_or *graph, uint32_t from, uint32_t to);
/* Completes the graph: call before any query; nothing may be added afterwards.  Returns
 * 0 or -ENOMEM. */
int esi_and_or_close(struct esi_and_or *graph);
void esi_and_or_fini(struct esi_and_or *graph);

/* Sets stuck[node] according to the certain modes (`surely`) or the possible ones.
 * Returns 0 or -ENOMEM. */
int esi_and_or_release(const struct esi_and_or *graph, bool surely, bool *stuck);

/* The strongly connected components of the stuck nodes. */
struct esi_and_or_knots {
    uint32_t *component; /* owned; per node; ESI_NODE_NONE if it is not stuck */
    bool *sink;          /* owned; per component: a knot, that is, no edge leaves it */
    size_t count;
    uint32_t *before; /* owned; scratch for cycle searches: ESI_NODE_NONE between
                         them */
    uint32_t *queue;
    bool *leads_back; /* scratch; all false between searches */
};

/* Returns 0 or -ENOMEM; free with esi_and_or_knots_fini(). */
int esi_and_or_find_knots(const struct esi_and_or *graph,
                          const bool *stuck,
                          struct esi_and_or_knots *ret_knots);
void esi_and_or_knots_fini(struct esi_and_or_knots *knots);

/* Finds a shortest cycle of owners through node `start` within its component, in time
 * linear in the component.  The owner of `start` comes first.  The caller frees
 * *ret_owners.  Returns the number of owners, 1 if no cycle leads through others, or
 * -ENOMEM. */
int esi_and_or_find_cycle(const struct esi_and_or *graph,
                          struct esi_and_or_knots *knots,
                          uint32_t start,
                          int **ret_owners);

#endif
