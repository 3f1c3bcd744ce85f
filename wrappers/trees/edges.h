/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Recording inside a collective tree: a tuple for the rank's own contribution, for each
 * arrival and for each departure (paper, figure 2b).
 *
 * Tuples are written into the elements of the thread that advances the tree, which may
 * differ from the one that began a nonblocking operation.  In blocking operations, the
 * arrival being waited for is shown as the open tuple, so a tree that hangs shows which
 * child is missing.
 */
#ifndef ES_WRAPPERS_TREES_EDGES_H
#define ES_WRAPPERS_TREES_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "wrappers/trees/tree_run.h"

struct esi_writer;
struct esi_call;

/* State of one operation, in caller's memory; must not be moved before the operation
 * ends. */
struct esi_edges {
    struct esi_tree_observer observer; /* for struct esi_tree_call */
    const struct esi_call *call;       /* blocking operations: the
                                          program's call; else NULL */
    struct esi_writer *shown;        /* the writer with an edge's open tuple, or NULL */
    enum esi_edge_event shown_event; /* the edge of that tuple */
    int shown_peer;
    uint64_t shown_start;
    bool is_displaced; /* the open tuple of the call was replaced in its slot */
    uint16_t communicator;
    uint32_t sequence; /* instance number of the MPI operation */
    int32_t tag;
};

/* Initializes the state.  `version` is that of the rules from which the tree was built.
 * `is_blocking`: the frame of the call outlives the operation. */
void esi_edges_init(struct esi_edges *edges,
                    const struct esi_call *call,
                    uint32_t version,
                    bool is_blocking);

/* Ends the recording when the operation has ended or failed: no edge is shown any more,
 * and the open tuple of the call is restored. */
void esi_edges_fini(struct esi_edges *edges);

#endif
