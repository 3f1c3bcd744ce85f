/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * tree_node.h - what a stage `tree-node` gives: results of operations at one internal
 * node of a collective tree, as pairs of tuples (docs/stages.md, "Nodes of collective
 * trees").
 *
 *   "tree node up"    start, stop: when the first and the last child's contribution had
 *                     arrived; peer: the child that was last; bytes: how long the node
 *                     had waited for it since its own contribution, ns
 *   "tree node down"  start: when the result had arrived from the parent, at the root
 *                     when it began to send; stop: when the last child had been served;
 *                     peer: that child; bytes: from the time all contributions were
 *                     there to the end of the departure up, ns
 *
 * Both have the communicator, the instance (sequence) and the tag of the edges' tuples,
 * and times in ticks of the node's process.  An operation without contributions from
 * children has no "up"; one in which nothing comes down has peer -1 in "down", and both
 * its times are that of the departure up; at the root of such a one there is no "down".
 */
#ifndef ES_WRAPPERS_STAGES_TREE_NODE_H
#define ES_WRAPPERS_STAGES_TREE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/stage_batch.h"
#include "wrappers/stages/node_edges.h"

/* Whether it is one half of a result. */
static inline bool esi_tree_node_is_result(const struct es_tuple *tuple)
{
    return tuple->operation == ESI_NODE_UP || tuple->operation == ESI_NODE_DOWN;
}

/* The collective operation and the version of the tree that a tag names. */
static inline uint16_t esi_tree_tag_operation(int32_t tag)
{
    return (uint16_t)((uint32_t)tag & 0xffff);
}

static inline uint32_t esi_tree_tag_version(int32_t tag)
{
    return (uint32_t)tag >> 16;
}

#endif
