/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * node_pieces.h - results of stages `tree-node` as values: read from their tuples, and
 * put together where the tree of stages was changed in the middle of an operation.
 *
 * Such an operation comes in pieces: edge tuples as they are, and maybe results of what
 * is left of it.  All that results say is a first or a last time, so pieces merge.
 *
 *   one set of pieces is one thread's at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_NODE_PIECES_H
#define ES_MONITORS_COLLECTIVES_NODE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/stage_batch.h"
#include "wrappers/stages/node_edges.h"

/* A result in ticks of the node's process. */
struct esi_node_finding {
    uint32_t origin; /* any of the node's */
    uint16_t communicator;
    uint32_t sequence;
    int32_t tag;
    bool has_up;
    struct es_tuple up; /* see wrappers/stages/node_edges.h */
    bool has_down;
    struct es_tuple down;
    bool pieced;
};

struct esi_tree_node_result;

/* Fills what a finding says by itself: which operation it is of, ranks and spans, but
 * no moments, and nothing of the node and its communicator. */
void esi_node_finding_measure(const struct esi_node_finding *finding,
                              const struct es_clock *clock,
                              struct esi_tree_node_result *ret_result);

/* The pieces of one node.  Caller's memory; all zero is an empty one. */
struct esi_node_pieces {
    struct esi_node_edges edges;
};

void esi_node_pieces_fini(struct esi_node_pieces *pieces);

/* Reads the result at `index` of the batch, with its other half if that follows.  All
 * tuples from `index` to `end` are of one node.  Returns the number of tuples it took,
 * 0: there is no result. */
size_t esi_node_finding_read(const struct es_batch *batch,
                             size_t index,
                             size_t end,
                             struct esi_node_finding *ret_finding);

/* Keeps a tuple of an edge.  0; -EINVAL: it is none; -ENOMEM. */
int esi_node_pieces_add(struct esi_node_pieces *pieces,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark,
                        uint64_t now_ns);

/* Adds to a result what pieces there are of it. */
void esi_node_pieces_complete(struct esi_node_pieces *pieces,
                              const struct es_clock *clock,
                              struct esi_node_finding *finding);

/* Takes out the next operation that has been without news for `patience_ns`; of
 * `long_patience_ns` where it is not complete.  1: a result; 0: there is none;
 * -ENODATA: it was not complete, and is given up; -EALREADY: there is nothing to say of
 * it. */
int esi_node_pieces_take(struct esi_node_pieces *pieces,
                         const struct es_clock *clock,
                         uint64_t now_ns,
                         uint64_t patience_ns,
                         uint64_t long_patience_ns,
                         struct esi_node_finding *ret_finding);

#endif
