/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How long an operation would take over a tree: a model to compare trees by.
 *
 * Messages cost as in LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): each end is
 * busy for the overhead, the link for the bytes, and the rest is latency.  A node takes
 * from its children in their order, then sends to its parent; on the way down it takes
 * from its parent and sends to its children in their order.  Bytes that reach a node go
 * through one door, one message after the other, and so do those that leave it.  Large
 * messages go in pieces, each on its way while the next is taken; of more than
 * ES_MODEL_PIECES pieces so many larger ones are reckoned with.
 *
 * Pure arithmetic, O(size).
 */
#ifndef ES_MONITORS_ADVICE_TREE_MODEL_H
#define ES_MONITORS_ADVICE_TREE_MODEL_H

#include <stdint.h>

#include "monitors/advice/link_costs.h"
#include "tuplespace/plan/tree_rules.h"
#include "wrappers/shapes/shape.h"

#define ES_MODEL_PIECES 8

struct esi_model_operation {
    enum esi_tree_kind kind;
    uint64_t bytes;         /* as the call names them: of one rank's block in gathers */
    uint64_t segment_bytes; /* 0 = messages go whole */
    const double *enters_ns; /* of each rank */
    const struct esi_location *places;
    const struct esi_link_cost *costs; /* of each class */
};

struct esi_model_result {
    double last_exit_ns;
    double tree_ns; /* from when it could go on: the last enter, or that of the root if
                       all get from it */
    double rank_ns; /* sum of the times that ranks are in the operation */
};

/* `exits_ns` gets when each rank is done; may be NULL.  -ENOMEM. */
int esi_tree_model_run(const struct esi_tree *tree,
                       const struct esi_model_operation *operation,
                       double *exits_ns,
                       struct esi_model_result *ret_result);

/* Bytes that go over the edge between a rank and its parent. */
double esi_tree_model_bytes_up(const struct esi_tree *tree,
                               const struct esi_model_operation *operation,
                               int child);
double esi_tree_model_bytes_down(const struct esi_tree *tree,
                                 const struct esi_model_operation *operation,
                                 int child);

#endif
