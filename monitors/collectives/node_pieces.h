/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * node_pieces.h - results of stages `tree-node` as values: read from their tuples, and
 * combined if the tree of stages was changed during an operation.
 *
 * Such an operation arrives in pieces: edge tuples, and possibly results for the rest.
 * Results contain only first and last times, so pieces can be merged.
 *
 * A set of pieces may be used by one thread at a time.
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
    uint32_t origin; /* one of the node's origins */
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

/* Fills the members that follow from a finding alone: operation, ranks and spans, but
 * not points in time, nor the node and its communicator. */
void esi_node_finding_measure(const struct esi_node_finding *finding,
                              const struct es_clock *clock,
                              struct esi_tree_node_result *ret_result);

/* The pieces of one node.  Caller's memory; a zeroed struct is empty. */
struct esi_node_pieces {
    struct esi_node_edges edges;
};

void esi_node_pieces_fini(struct esi_node_pieces *pieces);

/* Reads the result at `index` of the batch, with its other half if that follows.  All
 * tuples from `index` to `end` must be of one node.  Returns the number of tuples read;
 * 0 if there is no result. */
size_t esi_node_finding_read(const struct es_batch *batch,
                             size_t index,
                             size_t end,
                             struct esi_node_finding *ret_finding);

/* Stores a tuple of an edge.  Returns 0; -EINVAL if it is not one; or -ENOMEM. */
int esi_node_pieces_add(struct esi_node_pieces *pieces,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark,
                        uint64_t now_ns);

/* Adds the matching pieces to a result. */
void esi_node_pieces_complete(struct esi_node_pieces *pieces,
                              const struct es_clock *clock,
                              struct esi_node_finding *finding);

/* Removes the next operation without news for `patience_ns`, or for `long_patience_ns`
 * if it is incomplete.  Returns 1 and a result; 0 if there is none; -ENODATA if it was
 * incomplete and is given up; -EALREADY if there is nothing to report about it. */
int esi_node_pieces_take(struct esi_node_pieces *pieces,
                         const struct es_clock *clock,
                         uint64_t now_ns,
                         uint64_t patience_ns,
                         uint64_t long_patience_ns,
                         struct esi_node_finding *ret_finding);

#endif
