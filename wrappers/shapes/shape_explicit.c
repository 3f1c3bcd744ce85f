/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Trees that a person wrote edge by edge.
 *
 * Every rank but one must be a child once, and following the parents must lead from
 * every rank to that one.  The edges have a root of their own.  An operation with
 * another root uses the same edges, turned on the path between the two roots.
 */
#include "config.h"

#include <errno.h>

#include "wrappers/shapes/shape_private.h"

enum { NO_PARENT = -1, SEEN = -2 };

static int add_edge(const struct esi_shape_input *input,
                    const struct esi_tree_edge *edge,
                    int *parents)
{
    int beyond =
        edge->parent < 0 || edge->parent >= input->size ? edge->parent : edge->child;

    if (beyond < 0 || beyond >= input->size)
        return es_error_set(input->error, -EINVAL,
                            "edge %d-%d: there is no rank %d among %d ranks",
                            edge->parent, edge->child, beyond, input->size);
    if (edge->parent == edge->child)
        return es_error_set(input->error, -EINVAL,
                            "edge %d-%d: a rank cannot hang under itself", edge->parent,
                            edge->child);
    if (parents[edge->child] != NO_PARENT)
        return es_error_set(
            input->error, -EINVAL, "edge %d-%d: rank %d hangs under rank %d already",
            edge->parent, edge->child, edge->child, parents[edge->child]);
    parents[edge->child] = edge->parent;
    return 0;
}

/* The one rank without a parent; an error if it is not one. */
static int find_top(const struct esi_shape_input *input, const int *parents)
{
    int top = -1;

    for (int rank = 0; rank < input->size; rank++) {
        if (parents[rank] != NO_PARENT)
            continue;
        if (top >= 0)
            return es_error_set(input->error, -EINVAL,
                                "ranks %d and %d both hang under no rank, but a tree "
                                "has one root; %d ranks need %d edges",
                                top, rank, input->size, input->size - 1);
        top = rank;
    }
    if (top < 0)
        return es_error_set(input->error, -EINVAL,
                            "every rank hangs under another: there is no root");
    return top;
}

/* Whether all ranks are below `top`.  From a rank that is not, the parents lead into a
 * cycle.  Ranks on a finished path are marked: their parent p becomes SEEN - p, and p
 * again in the end. */
static int check_cycles(const struct esi_shape_input *input, int top, int *parents)
{
    int circle = -1;

    for (int from = 0; from < input->size && circle < 0; from++) {
        int rank = from;
        int steps = 0;

        while (rank != top && parents[rank] >= 0 && steps++ <= input->size)
            rank = parents[rank];
        if (rank != top && parents[rank] >= 0)
            circle = rank;
        for (rank = from; circle < 0 && rank != top && parents[rank] >= 0;) {
            int above = parents[rank];

            parents[rank] = SEEN - above;
            rank = above;
        }
    }
    for (int rank = 0; rank < input->size; rank++)
        if (parents[rank] <= SEEN)
            parents[rank] = SEEN - parents[rank];
    if (circle >= 0)
        return es_error_set(input->error, -EINVAL,
                            "following the parents of rank %d leads back to it: "
                            "edges form a circle",
                            circle);
    return 0;
}

/* Turns the edges between the root as written and the one that is asked for. */
static void turn_to_root(int root, int *parents)
{
    int below = -1;

    for (int rank = root; rank >= 0;) {
        int above = parents[rank];

        parents[rank] = below;
        below = rank;
        rank = above;
    }
}

int esi_shape_explicit(const struct esi_shape_input *input, int *parents)
{
    int result = 0;
    int top;

    for (int rank = 0; rank < input->size; rank++)
        parents[rank] = NO_PARENT;
    for (size_t i = 0; i < input->rule->edge_count && result == 0; i++)
        result = add_edge(input, &input->rule->edges[i], parents);
    if (result < 0)
        return result;
    top = find_top(input, parents);
    if (top < 0)
        return top;
    result = check_cycles(input, top, parents);
    if (result < 0)
        return result;
    turn_to_root(input->root, parents);
    return 0;
}
