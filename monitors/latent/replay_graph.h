/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A graph of dependencies between calls, and its smallest cycles.
 *
 * Nodes are the ends of calls, numbered along their threads.  A node depends on the one
 * before it, unless it is the first of a thread, and on the targets of its edges.  The
 * nodes of a cycle never end.
 *
 * Pure logic; linear in nodes and edges, plus the length of what is reported.
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
    uint32_t awaited; /* private to the user: the call that must begin */
    uint16_t request; /* private to the user, like the next two */
    uint8_t reason;
    bool hidden;
};

struct esi_replay_graph {
    size_t node_count;
    const uint8_t *begins; /* by node: it is the first of its thread; borrowed */
    struct esi_replay_edge *edges; /* owned */
    size_t edge_count;
    size_t edge_capacity;
    uint32_t *first; /* by node: its first edge; owned; set by
                        esi_replay_graph_sort() */
};

/* Frees the edges. */
void esi_replay_graph_fini(struct esi_replay_graph *graph);

/* Returns 0 or -ENOMEM, also at 2^32 - 1 edges. */
int esi_replay_graph_add(struct esi_replay_graph *graph,
                         const struct esi_replay_edge *edge);

/* Sorts the edges by node; call after all were added.  Returns 0 or -ENOMEM. */
int esi_replay_graph_sort(struct esi_replay_graph *graph);

/* Receives a cycle as edge numbers; each edge starts on the thread where the one before
 * ends.  Borrowed for the call.  A negative result ends the search. */
typedef int (*esi_replay_cycle_fn)(void *data, const uint32_t *edges, size_t count);

/* Finds the strongly connected components and passes a short cycle of each to `visit`:
 * the shortest if the component has at most ESI_REPLAY_STARTS edges, otherwise the
 * shortest through that many of its nodes.  Returns the number of components with
 * cycles, -ENOMEM, or the result of `visit`. */
enum { ESI_REPLAY_STARTS = 64 };
int64_t esi_replay_graph_cycles(const struct esi_replay_graph *graph,
                                esi_replay_cycle_fn visit,
                                void *data);

#endif
