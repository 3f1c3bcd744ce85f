/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Graphs in which a node waits for all or for any of others: who can never be released,
 * and the knots of them.  Pure logic.
 *
 * A node that acts is released at once, one that waits when all, or any, of its
 * successors are.  What is left over is stuck (the and/or model; Knapp, Deadlock
 * Detection in Distributed Databases, 1987).  Each node has two modes: what it surely
 * waits for, and what it may wait for; the first releases at least what the second
 * does.  All is linear in nodes and edges.
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
    ESI_NODE_ALL, /* released when all successors are; without any at once */
    ESI_NODE_ANY, /* released when one is; without any never */
    ESI_NODE_NEVER,
};

#define ESI_NODE_NONE UINT32_MAX

struct esi_and_or_node {
    uint8_t surely; /* enum esi_and_or_mode */
    uint8_t maybe;  /* likewise */
    bool shared;    /* stands for a set that several owners wait for */
    int owner; /* whose wait it is part of: cycles are told by owners; -1 = nobody's */
};

struct esi_and_or {
    struct esi_and_or_node *nodes; /* owned */
    size_t count;
    size_t capacity;
    uint32_t (*links)[2]; /* owned; from, to */
    size_t link_count;
    size_t link_capacity;
    uint32_t *starts; /* owned; successors of n: targets[starts[n]] and on */
    uint32_t *targets;
    uint32_t *waiter_starts; /* likewise, those who wait for n */
    uint32_t *waiters;
};

/* All zero is an empty graph.  0 or -ENOMEM. */
int esi_and_or_add(struct esi_and_or *graph,
                   const struct esi_and_or_node *node,
                   uint32_t *ret_number);
int esi_and_or_link(struct esi_and_or *graph, uint32_t from, uint32_t to);
/* Before anything is asked; nothing is added afterwards.  0 or -ENOMEM. */
int esi_and_or_close(struct esi_and_or *graph);
void esi_and_or_fini(struct esi_and_or *graph);

/* Fills stuck[node] by the sure modes, or those that may be.  0 or -ENOMEM. */
int esi_and_or_release(const struct esi_and_or *graph, bool surely, bool *stuck);

/* The strongly connected components of what is stuck. */
struct esi_and_or_knots {
    uint32_t *component; /* owned; per node; ESI_NODE_NONE where it is not stuck */
    bool *sink;          /* owned; per component: a knot, no edge leads out of it */
    size_t count;
    uint32_t *before; /* owned; for searches: ESI_NODE_NONE between them */
    uint32_t *queue;
    bool *leads_back; /* all false between them */
};

/* 0 or -ENOMEM; esi_and_or_knots_fini() frees. */
int esi_and_or_find_knots(const struct esi_and_or *graph,
                          const bool *stuck,
                          struct esi_and_or_knots *ret_knots);
void esi_and_or_knots_fini(struct esi_and_or_knots *knots);

/* A shortest cycle of owners from node `start` through its component, in time linear in
 * that; `start`'s owner comes first.  Caller frees *ret_owners.  Returns their number,
 * 1 where there is no cycle through others, or -ENOMEM. */
int esi_and_or_find_cycle(const struct esi_and_or *graph,
                          struct esi_and_or_knots *knots,
                          uint32_t start,
                          int **ret_owners);

#endif
