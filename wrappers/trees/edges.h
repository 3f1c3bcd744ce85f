/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What is recorded inside a collective tree: a tuple for the rank's own contribution,
 * for each arrival and for each departure (paper, figure 2b).
 *
 * Tuples go into the elements of the thread that advances the tree, which for
 * nonblocking operations may be another one than began it.  In blocking operations the
 * arrival that is being waited for is shown as the open tuple, so that a tree that
 * hangs shows which child is missing.
 */
#ifndef ES_WRAPPERS_TREES_EDGES_H
#define ES_WRAPPERS_TREES_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "wrappers/trees/tree_run.h"

struct esi_writer;
struct esi_call;

/* One operation's; caller's memory, which must not move before the operation's end. */
struct esi_edges {
    struct esi_tree_observer observer; /* for struct esi_tree_call */
    const struct esi_call *call; /* blocking forms: the program's call; else NULL */
    struct esi_writer *shown;    /* in which an edge's open tuple lies, or NULL ... */
    enum esi_edge_event shown_event; /* ... and which edge's */
    int shown_peer;
    uint64_t shown_start;
    bool is_displaced; /* the call's open tuple has lost its slot */
    uint16_t communicator;
    uint32_t sequence; /* the MPI operation's own instance number */
    int32_t tag;
};

/* `version` is that of the rules that the tree was made by.  `is_blocking`: the call's
 * frame outlives the operation. */
void esi_edges_init(struct esi_edges *edges,
                    const struct esi_call *call,
                    uint32_t version,
                    bool is_blocking);

/* The operation has ended or failed: nothing is shown any more, and the call's own open
 * tuple is as it was. */
void esi_edges_fini(struct esi_edges *edges);

#endif
