/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shapes of collective trees: the parent of each rank.  Pure arithmetic without MPI,
 * so that monitors can compute trees that nobody has built yet.
 *
 * All ranks compute the same tree from the same rule and locations, without a
 * message. A tree is made for one root.  Children are in ascending order of the
 * lowest rank of their subtrees.  A node reduces their values in that order
 * (docs/collective-trees.md, "The order of operations").
 *
 *   may run at the same time: everything; a tree does not change once it is made.
 */
#ifndef ES_WRAPPERS_SHAPES_SHAPE_H
#define ES_WRAPPERS_SHAPES_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"
#include "tuplespace/plan/tree_rules.h"

/* Where a rank runs, as numbers that are alike in all ranks: hosts, clusters and the
 * rest are numbered by first appearance in rank order; -1 = not known (then the level
 * is passed over for this rank). */
struct esi_location {
    int cluster;
    int gateway_host; /* number of the host that leads into the cluster; -1 = none */
    int host;
    int socket; /* within the host */
    int core;   /* within the socket */
};

struct esi_tree {
    int size;
    int root;
    int *parents;     /* of each rank; -1 = the root */
    int *first_child; /* size + 1 offsets into children */
    int *children;    /* of all ranks, one after the other */
    int *subtree;     /* number of ranks in the subtree of each rank, itself included */
    int *lowest;      /* lowest rank of the subtree of each rank */
    int *order;       /* ranks in preorder: a rank, then its children's subtrees */
    int *position;    /* of each rank in `order`; its subtree stands there and behind */
    int depth;        /* edges from the root to the farthest rank */
    bool exchanges;   /* ranks exchange (exchange.h) where an operation has no root */
};

/* Builds the tree of a rule for `size` ranks and a root.  `locations` has `size`
 * entries, or is NULL: then levels know nothing, and the tree is linear.  EXPLICIT: the
 * edges are checked (-EINVAL with the reason: a rank that is missing, named twice or
 * out of range, a cycle), and the tree is turned so that `root` is its root.  LIBRARY:
 * -EINVAL.  -ENOMEM.  O(size log size). */
int esi_tree_create(const struct esi_tree_rule *rule,
                    int size,
                    int root,
                    const struct esi_location *locations,
                    struct es_error *error,
                    struct esi_tree **ret_tree);
/* Accepts NULL. */
void esi_tree_destroy(struct esi_tree *tree);

static inline int esi_tree_child_count(const struct esi_tree *tree, int rank)
{
    return tree->first_child[rank + 1] - tree->first_child[rank];
}

static inline const int *esi_tree_children(const struct esi_tree *tree, int rank)
{
    return tree->children + tree->first_child[rank];
}

#endif
