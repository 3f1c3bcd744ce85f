/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A model of the duration of an operation over a tree, to compare trees.
 *
 * Messages cost as in LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): each end is
 * busy for the overhead, the link for the bytes, and the rest is latency.  A node
 * receives from its children in order, then sends to its parent; on the way down it
 * receives from its parent and sends to its children in order.  Bytes arriving at a
 * node are serialized, and so are those leaving it.  Large messages are sent in pieces,
 * each on its way while the next is received; if there are more than ES_MODEL_PIECES
 * pieces, so many larger ones are assumed.
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
    uint64_t bytes;          /* as in the call: in gathers, of one rank's block */
    uint64_t segment_bytes;  /* 0 = messages are not divided */
    const double *enters_ns; /* per rank */
    const struct esi_location *places;
    const struct esi_link_cost *costs; /* per class */
};

struct esi_model_result {
    double last_exit_ns;
    double tree_ns; /* from when it could proceed: the last enter, or the root's if
                       all data comes from it */
    double rank_ns; /* sum of the times that ranks are in the operation */
};

/* `exits_ns` receives the exit times of the ranks; may be NULL. Returns 0 or
 * -ENOMEM. */
int esi_tree_model_run(const struct esi_tree *tree,
                       const struct esi_model_operation *operation,
                       double *exits_ns,
                       struct esi_model_result *ret_result);

#endif
