/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What must have ended before what, and its smallest cycles.
 *
 * Nodes are the ends of calls, numbered along their threads: a node needs the one
 * before it, unless it begins a thread, and those that its edges name.  What is part of
 * a cycle never ends.
 *
 * Pure logic; linear in nodes and edges but for the length of what is reported.
 */
#ifndef ES_MONITORS_LATENT_REPLAY_GRAPH_H
#define ES_MONITORS_LATENT_REPLAY_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Node `from` cannot end before node `to` has. */
struct esi_replay_edge {
    uint32_t from;
    uint32_t to;
    uint32_t awaited; /* the user's: the call whose beginning is needed */
    uint16_t request; /* the user's, as the next */
    uint8_t reason;
    bool hidden;
};

struct esi_replay_graph {
    size_t node_count;
    const uint8_t *begins; /* by node: no node of its thread is before it; borrowed */
    struct esi_replay_edge *edges; /* owned */
    size_t edge_count;
    size_t edge_capacity;
    uint32_t *first; /* by node: its first edge; owned; from esi_replay_graph_sort() */
};

/* Frees edges. */
void esi_replay_graph_fini(struct esi_replay_graph *graph);

/* -ENOMEM; also where there are 2^32 - 1 edges. */
int esi_replay_graph_add(struct esi_replay_graph *graph,
                         const struct esi_replay_edge *edge);

/* Puts the edges in the order of their nodes; to be called once all are there.  0 or
 * -ENOMEM. */
int esi_replay_graph_sort(struct esi_replay_graph *graph);

/* Gets a cycle: the numbers of its edges, each from where the one before leads to, over
 * nodes of one thread.  Borrowed for the call.  A negative result ends the search. */
typedef int (*esi_replay_cycle_fn)(void *data, const uint32_t *edges, size_t count);

/* Finds the strongly connected components and gives a cycle of few edges of each: the
 * smallest, where a component has at most ESI_REPLAY_STARTS edges, else the smallest
 * through as many of its nodes.  The number of components that have cycles, -ENOMEM, or
 * what `visit` returned. */
enum { ESI_REPLAY_STARTS = 64 };
int64_t esi_replay_graph_cycles(const struct esi_replay_graph *graph,
                                esi_replay_cycle_fn visit,
                                void *data);

#endif
