/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shapes of collective trees: the regular ones, and what is known of any tree once its
 * parents are.
 *
 * Linear, k-ary and binomial trees are made of ranks relative to the root.  A binomial
 * tree joins rank r to r without its lowest one bit, so subtrees are runs of relative
 * ranks (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication
 * Operations in MPICH, 2005).
 */
#include "config.h"

#include "wrappers/shapes/shape.h"

#include <errno.h>
#include <stdlib.h>

#include "wrappers/shapes/shape_private.h"

static int make_linear(const struct esi_shape_input *input, int *parents)
{
    for (int rank = 0; rank < input->size; rank++)
        parents[rank] = input->root;
    parents[input->root] = -1;
    return 0;
}

/* `above` is the parent's rank, relative to the root as rank `below` is. */
static void set_parent(const struct esi_shape_input *input,
                       int above,
                       int below,
                       int *parents)
{
    int64_t parent = (int64_t)above + input->root;
    int64_t child = (int64_t)below + input->root;

    parents[child % input->size] = (int)(parent % input->size);
}

static int make_kary(const struct esi_shape_input *input, int *parents)
{
    int fan_out = input->rule->fan_out > 0 ? input->rule->fan_out : 2;

    parents[input->root] = -1;
    for (int rank = 1; rank < input->size; rank++)
        set_parent(input, (rank - 1) / fan_out, rank, parents);
    return 0;
}

static int make_binomial(const struct esi_shape_input *input, int *parents)
{
    parents[input->root] = -1;
    for (int rank = 1; rank < input->size; rank++)
        set_parent(input, rank & (rank - 1), rank, parents);
    return 0;
}

static int make_none(const struct esi_shape_input *input, int *parents)
{
    (void)parents;
    return es_error_set(
        input->error, -EINVAL,
        "shape library is no tree: the MPI library's own algorithm runs");
}

static int (*const shapes[])(const struct esi_shape_input *input, int *parents) = {
    [ES_TREE_LIBRARY] = make_none,       [ES_TREE_LINEAR] = make_linear,
    [ES_TREE_KARY] = make_kary,          [ES_TREE_BINOMIAL] = make_binomial,
    [ES_TREE_LEVELS] = esi_shape_levels, [ES_TREE_EXPLICIT] = esi_shape_explicit,
};

/* One block for the tree and its arrays. */
static struct esi_tree *tree_allocate(int size, int root)
{
    enum { ARRAYS = 7 };
    size_t ranks = (size_t)size;
    struct esi_tree *tree =
        calloc(1, sizeof *tree + (ARRAYS * ranks + 1) * sizeof(int));
    int *next;

    if (tree == NULL)
        return NULL;
    next = (int *)(tree + 1);
    tree->size = size;
    tree->root = root;
    tree->parents = next;
    tree->children = next += ranks;
    tree->subtree = next += ranks;
    tree->lowest = next += ranks;
    tree->order = next += ranks;
    tree->position = next += ranks;
    tree->first_child = next + ranks;
    return tree;
}

/* Counts children, so that each rank knows where its own begin. */
static void place_children(struct esi_tree *tree)
{
    for (int rank = 0; rank < tree->size; rank++)
        if (rank != tree->root)
            tree->first_child[tree->parents[rank] + 1]++;
    for (int rank = 0; rank < tree->size; rank++)
        tree->first_child[rank + 1] += tree->first_child[rank];
}

/* Puts `rank` behind its siblings that are there already; `filled` counts them. */
static void append_child(struct esi_tree *tree, int *filled, int rank)
{
    int parent = tree->parents[rank];

    if (parent >= 0)
        tree->children[tree->first_child[parent] + filled[parent]++] = rank;
}

/* Ranks from the root downward, level by level, into `row`; also the depth. */
static void list_by_depth(struct esi_tree *tree, int *row)
{
    int *depths = tree->position; /* which is filled later */
    int count = 1;

    row[0] = tree->root;
    depths[tree->root] = 0;
    for (int i = 0; i < count; i++) {
        const int *children = esi_tree_children(tree, row[i]);

        tree->depth = depths[row[i]];
        for (int c = 0; c < esi_tree_child_count(tree, row[i]); c++) {
            depths[children[c]] = depths[row[i]] + 1;
            row[count++] = children[c];
        }
    }
}

static void add_up(struct esi_tree *tree, const int *row)
{
    for (int rank = 0; rank < tree->size; rank++) {
        tree->subtree[rank] = 1;
        tree->lowest[rank] = rank;
    }
    for (int i = tree->size - 1; i > 0; i--) {
        int rank = row[i];
        int parent = tree->parents[rank];

        tree->subtree[parent] += tree->subtree[rank];
        if (tree->lowest[rank] < tree->lowest[parent])
            tree->lowest[parent] = tree->lowest[rank];
    }
}

/* Subtrees with the same lowest rank lie on one path upward from it.  Following that
 * path from each rank in turn meets siblings in the right order, and every rank once.
 */
static void sort_children(struct esi_tree *tree, int *filled)
{
    for (int rank = 0; rank < tree->size; rank++)
        filled[rank] = 0;
    for (int low = 0; low < tree->size; low++)
        for (int rank = low; rank >= 0 && tree->lowest[rank] == low;
             rank = tree->parents[rank])
            append_child(tree, filled, rank);
}

static void number_preorder(struct esi_tree *tree, const int *row)
{
    tree->position[tree->root] = 0;
    for (int i = 0; i < tree->size; i++) {
        const int *children = esi_tree_children(tree, row[i]);
        int next = tree->position[row[i]];

        tree->order[next++] = row[i];
        for (int c = 0; c < esi_tree_child_count(tree, row[i]); c++) {
            tree->position[children[c]] = next;
            next += tree->subtree[children[c]];
        }
    }
}

/* Everything but the parents. */
static int complete_tree(struct esi_tree *tree)
{
    int *row = calloc((size_t)tree->size, sizeof *row);
    int *filled = tree->order; /* which is filled last */

    if (row == NULL)
        return -ENOMEM;
    place_children(tree);
    for (int rank = 0; rank < tree->size; rank++)
        append_child(tree, filled, rank);
    list_by_depth(tree, row);
    add_up(tree, row);
    sort_children(tree, filled);
    number_preorder(tree, row);
    free(row);
    return 0;
}

int esi_tree_create(const struct esi_tree_rule *rule,
                    int size,
                    int root,
                    const struct esi_location *locations,
                    struct es_error *error,
                    struct esi_tree **ret_tree)
{
    struct esi_shape_input input = {.rule = rule,
                                    .size = size,
                                    .root = root,
                                    .locations = locations,
                                    .error = error};
    struct esi_tree *tree;
    int result;

    if (size < 1 || root < 0 || root >= size)
        return es_error_set(error, -EINVAL, "no tree of %d ranks has the root %d", size,
                            root);
    if ((size_t)rule->shape >= sizeof shapes / sizeof *shapes)
        return es_error_set(error, -EINVAL, "there is no shape %d", (int)rule->shape);
    tree = tree_allocate(size, root);
    if (tree == NULL)
        return -ENOMEM;
    result = shapes[rule->shape](&input, tree->parents);
    if (result == 0)
        result = complete_tree(tree);
    if (result < 0) {
        esi_tree_destroy(tree);
        return result;
    }
    *ret_tree = tree;
    return 0;
}

void esi_tree_destroy(struct esi_tree *tree)
{
    free(tree);
}
