/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shapes of collective trees: the parent of each rank.  Pure arithmetic without MPI, so
 * that monitors can compute trees that have not been built.
 *
 * All ranks compute the same tree from the same rule and locations, without
 * communication.  A tree has one root.  Children are in ascending order of the lowest
 * rank of their subtrees, and a node reduces their values in that order
 * (docs/collective-trees.md, "The order of operations").
 *
 *   may run at the same time: everything; a tree is immutable.
 */
#ifndef ES_WRAPPERS_SHAPES_SHAPE_H
#define ES_WRAPPERS_SHAPES_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/error.h"
#include "tuplespace/plan/tree_rules.h"

/* Where a rank runs, as numbers that are the same in all ranks: hosts, clusters and so
 * on are numbered by first appearance in rank order; -1 if not known, and then the
 * level is skipped for this rank. */
struct esi_location {
    int cluster;
    int gateway_host; /* number of the host through which the
                         cluster is reached; -1 if none */
    int host;
    int socket; /* within the host */
    int core;   /* within the socket */
};

struct esi_tree {
    int size;
    int root;
    int *parents;     /* of each rank; -1 for the root */
    int *first_child; /* size + 1 indices into children */
    int *children;    /* of all ranks, concatenated */
    int *subtree;     /* number of ranks in the subtree of
                         each rank, including itself */
    int *lowest;      /* lowest rank of the subtree of each rank */
    int *order;       /* ranks in preorder: a rank, then its children's subtrees */
    int *position;    /* index of each rank in `order`, where its subtree starts */
    int depth;        /* maximum number of edges from the root to a rank */
    bool exchanges;   /* operations without a root exchange (exchange.h) */
};

/* Builds the tree of a rule for `size` ranks and a root.  `locations` has `size`
 * entries, or is NULL; then levels are not known, and a tree by levels is linear.
 * EXPLICIT trees are rearranged so that `root` is their root.  Returns 0; -EINVAL for
 * LIBRARY, and for edges that are not a tree (a rank that is missing, named twice or
 * out of range, or a cycle, which `error` names); or -ENOMEM.  O(size log size). */
int esi_tree_create(const struct esi_tree_rule *rule,
                    int size,
                    int root,
                    const struct esi_location *locations,
                    struct es_error *error,
                    struct esi_tree **ret_tree);
/* Frees the tree.  Accepts NULL. */
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
