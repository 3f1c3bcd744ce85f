/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Shapes of collective trees: the regular ones, and the properties of any tree derived
 * from its parents.
 *
 * Linear, k-ary and binomial trees are built from ranks relative to the root.  A
 * binomial tree connects rank r to r without its lowest one bit, so subtrees are ranges
 * of relative ranks (Thakur, Rabenseifner, Gropp: Optimization of Collective
 * Communication Operations in MPICH, 2005).
 */
#include "config.h"

#include "wrappers/shapes/shape.h"

#include <errno.h>
#include <stdlib.h>

/* The input of a shape.  Functions fill the parents of all ranks, -1 for the root. */
struct shape_input {
    const struct esi_tree_rule *rule;
    int size;
    int root;
    const struct esi_location *locations; /* NULL if not known */
    struct es_error *error;
};

static int make_linear(const struct shape_input *input, int *parents)
{
    for (int rank = 0; rank < input->size; rank++)
        parents[rank] = input->root;
    parents[input->root] = -1;
    return 0;
}

/* `above` is the parent's rank, relative to the root, like `below`. */
static void set_parent(const struct shape_input *input,
                       int above,
                       int below,
                       int *parents)
{
    int64_t parent = (int64_t)above + input->root;
    int64_t child = (int64_t)below + input->root;

    parents[child % input->size] = (int)(parent % input->size);
}

static int make_kary(const struct shape_input *input, int *parents)
{
    int fan_out = input->rule->fan_out > 0 ? input->rule->fan_out : 2;

    parents[input->root] = -1;
    for (int rank = 1; rank < input->size; rank++)
        set_parent(input, (rank - 1) / fan_out, rank, parents);
    return 0;
}

static int make_binomial(const struct shape_input *input, int *parents)
{
    parents[input->root] = -1;
    for (int rank = 1; rank < input->size; rank++)
        set_parent(input, rank & (rank - 1), rank, parents);
    return 0;
}

/* --- Explicit trees ------------------------------------------------------------- */

/*
 * Every rank but one must be a child once, and following the parents must lead from
 * every rank to that one.  The edges have their own root.  An operation with another
 * root uses the same edges, reversed on the path between the two roots.
 */

enum { NO_PARENT = -1, SEEN = -2 };

static int add_edge(const struct shape_input *input,
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
                            "edge %d-%d: a rank cannot be its own parent", edge->parent,
                            edge->child);
    if (parents[edge->child] != NO_PARENT)
        return es_error_set(
            input->error, -EINVAL, "edge %d-%d: rank %d already has the parent %d",
            edge->parent, edge->child, edge->child, parents[edge->child]);
    parents[edge->child] = edge->parent;
    return 0;
}

/* The only rank without a parent; an error if there are several. */
static int find_top(const struct shape_input *input, const int *parents)
{
    int top = -1;

    for (int rank = 0; rank < input->size; rank++) {
        if (parents[rank] != NO_PARENT)
            continue;
        if (top >= 0)
            return es_error_set(input->error, -EINVAL,
                                "ranks %d and %d both have no parent, but a tree "
                                "has one root; %d ranks need %d edges",
                                top, rank, input->size, input->size - 1);
        top = rank;
    }
    if (top < 0)
        return es_error_set(input->error, -EINVAL,
                            "every rank has a parent: there is no root");
    return top;
}

/* Checks that all ranks are below `top`.  From a rank that is not, the parents lead
 * into a cycle.  Ranks on a finished path are marked: their parent p becomes SEEN - p,
 * and p again at the end. */
static int check_cycles(const struct shape_input *input, int top, int *parents)
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
                            "edges form a cycle",
                            circle);
    return 0;
}

/* Reverses the edges between the root as written and the requested one. */
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

static int make_explicit(const struct shape_input *input, int *parents)
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

/* --- Trees by level ------------------------------------------------------------- */

/*
 * A leader for each cluster, host, socket and core, as named by the rule (compare
 * Karonis and others: Exploiting Hierarchy in Parallel Computer Networks to Optimize
 * Collective Operation Performance, 2000).
 *
 * A group is divided by the outermost remaining level.  Each part gets a leader and is
 * divided in turn, and the leaders become children of the group's leader.  A rank whose
 * location at a level is not known is in no part at that level.  It is considered again
 * at the next level, beside the parts.
 */

/* From the outermost to the innermost. */
static const enum esi_tree_level all_levels[] = {
    ES_TREE_LEVEL_CLUSTER,
    ES_TREE_LEVEL_HOST,
    ES_TREE_LEVEL_SOCKET,
    ES_TREE_LEVEL_CORE,
};

enum { LEVELS = sizeof all_levels / sizeof *all_levels };

/* A rank and its part at one level: ranks of a part are equal in all three numbers;
 * {-1, -1, -1} if not known. */
struct item {
    int rank;
    int part[3];
};

struct builder {
    const struct shape_input *input;
    int *parents;
    int levels[LEVELS]; /* those named, outermost first */
    int level_count;
    struct item *items; /* ranks; parts of a group are adjacent */
    int *leaders;       /* a stack: leaders to be connected, of each open group */
    int leader_count;
};

/* Adjacent items. */
struct rank_slice {
    int from;
    int count;
};

static int compare_numbers(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_items(const void *a, const void *b)
{
    const struct item *one = a;
    const struct item *other = b;

    for (int i = 0; i < 3; i++)
        if (one->part[i] != other->part[i])
            return compare_numbers(one->part[i], other->part[i]);
    return compare_numbers(one->rank, other->rank);
}

static int compare_ranks(const void *a, const void *b)
{
    return compare_numbers(*(const int *)a, *(const int *)b);
}

static bool is_same_part(const struct item *a, const struct item *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1] &&
           a->part[2] == b->part[2];
}

/* Sockets and cores are numbered within their host.  The host is part of the key, so
 * that they differ even if hosts are not a level. */
static void set_part(struct item *item, const struct esi_location *location, int level)
{
    bool known = location->host >= 0;

    item->part[0] = location->host;
    item->part[1] = item->part[2] = 0;
    if (level == ES_TREE_LEVEL_CLUSTER) {
        known = location->cluster >= 0;
        item->part[0] = location->cluster;
    } else if (level == ES_TREE_LEVEL_SOCKET) {
        known = known && location->socket >= 0;
        item->part[1] = location->socket;
    } else if (level == ES_TREE_LEVEL_CORE) {
        known = known && location->core >= 0;
        item->part[1] = location->socket;
        item->part[2] = location->core;
    }
    if (!known)
        item->part[0] = item->part[1] = item->part[2] = -1;
}

static void sort_into_parts(struct builder *builder, struct rank_slice slice, int level)
{
    struct item *items = builder->items + slice.from;

    for (int i = 0; i < slice.count; i++)
        set_part(&items[i], &builder->input->locations[items[i].rank], level);
    qsort(items, (size_t)slice.count, sizeof *items, compare_items);
}

/* The first part of a sorted slice. */
static struct rank_slice first_part(const struct builder *builder,
                                    struct rank_slice slice)
{
    const struct item *items = builder->items + slice.from;
    int count = 1;

    while (count < slice.count && is_same_part(&items[0], &items[count]))
        count++;
    return (struct rank_slice){.from = slice.from, .count = count};
}

/* The leader of the group also leads its part.  A cluster is led by the first rank on
 * its gateway, if requested and present; otherwise by the lowest rank. */
static int choose_leader(const struct builder *builder,
                         struct rank_slice part,
                         int level,
                         int above)
{
    const struct shape_input *input = builder->input;
    const struct item *items = builder->items + part.from;
    bool by_gateway = level == ES_TREE_LEVEL_CLUSTER &&
                      (input->rule->levels & ES_TREE_LEVEL_GATEWAY) != 0;
    int chosen = -1;

    for (int i = 0; i < part.count; i++) {
        const struct esi_location *location = &input->locations[items[i].rank];

        if (items[i].rank == above)
            return above;
        if (by_gateway && chosen < 0 && location->gateway_host >= 0 &&
            location->gateway_host == location->host)
            chosen = items[i].rank;
    }
    return chosen >= 0 ? chosen : items[0].rank;
}

/* Makes the leaders from `first` on, except `leader` itself, children of `leader`. */
static void set_leader_parent(struct builder *builder, int first, int leader)
{
    int *row = builder->leaders + first;
    int count = builder->leader_count - first;
    int fan_out = builder->input->rule->fan_out;

    for (int i = 0; i < count; i++)
        if (row[i] == leader) {
            row[i] = row[0];
            row[0] = leader;
        }
    qsort(row + 1, (size_t)(count - 1), sizeof *row, compare_ranks);
    for (int i = 1; i < count; i++)
        builder->parents[row[i]] = fan_out > 0 ? row[(i - 1) / fan_out] : leader;
}

static void build_group(struct builder *builder,
                        struct rank_slice group,
                        int depth,
                        int leader);

/* Pushes the leaders of a group's parts at the levels from `depth` on.  The caller
 * connects them, except those below `leader`. */
static void split_group(struct builder *builder,
                        struct rank_slice group,
                        int depth,
                        int leader)
{
    if (depth == builder->level_count) {
        for (int i = 0; i < group.count; i++)
            builder->leaders[builder->leader_count++] =
                builder->items[group.from + i].rank;
        return;
    }
    sort_into_parts(builder, group, builder->levels[depth]);
    while (group.count > 0) {
        struct rank_slice part = first_part(builder, group);

        if (builder->items[part.from].part[0] < 0) {
            split_group(builder, part, depth + 1, leader);
        } else {
            int chosen = choose_leader(builder, part, builder->levels[depth], leader);

            build_group(builder, part, depth + 1, chosen);
            builder->leaders[builder->leader_count++] = chosen;
        }
        group.from += part.count;
        group.count -= part.count;
    }
}

static void build_group(struct builder *builder,
                        struct rank_slice group,
                        int depth,
                        int leader)
{
    int first = builder->leader_count;

    split_group(builder, group, depth, leader);
    set_leader_parent(builder, first, leader);
    builder->leader_count = first;
}

static int make_levels(const struct shape_input *input, int *parents)
{
    struct builder builder = {.input = input, .parents = parents};
    size_t ranks = (size_t)input->size;
    int result = -ENOMEM;

    for (int i = 0; i < LEVELS && input->locations != NULL; i++)
        if ((input->rule->levels & all_levels[i]) != 0)
            builder.levels[builder.level_count++] = (int)all_levels[i];
    builder.items = calloc(ranks, sizeof *builder.items);
    /* A rank leads at most once per level, and is a leaf once. */
    builder.leaders = calloc(ranks * (LEVELS + 1), sizeof *builder.leaders);
    if (builder.items != NULL && builder.leaders != NULL) {
        for (int rank = 0; rank < input->size; rank++)
            builder.items[rank].rank = rank;
        build_group(&builder, (struct rank_slice){.count = input->size}, 0,
                    input->root);
        parents[input->root] = -1;
        result = 0;
    }
    free(builder.leaders);
    free(builder.items);
    return result;
}

static int make_none(const struct shape_input *input, int *parents)
{
    (void)parents;
    return es_error_set(
        input->error, -EINVAL,
        "shape library has no tree: the MPI library's own algorithm runs");
}

static int (*const shapes[])(const struct shape_input *input, int *parents) = {
    [ES_TREE_LIBRARY] = make_none,      [ES_TREE_LINEAR] = make_linear,
    [ES_TREE_KARY] = make_kary,         [ES_TREE_BINOMIAL] = make_binomial,
    [ES_TREE_EXCHANGE] = make_binomial, [ES_TREE_LEVELS] = make_levels,
    [ES_TREE_EXPLICIT] = make_explicit,
};

/* --- Any tree ------------------------------------------------------------------- */

/* Allocates the tree and its arrays in one block. */
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

/* Counts children to determine where those of each rank start. */
static void place_children(struct esi_tree *tree)
{
    for (int rank = 0; rank < tree->size; rank++)
        if (rank != tree->root)
            tree->first_child[tree->parents[rank] + 1]++;
    for (int rank = 0; rank < tree->size; rank++)
        tree->first_child[rank + 1] += tree->first_child[rank];
}

/* Appends `rank` to its siblings; `filled` counts them. */
static void append_child(struct esi_tree *tree, int *filled, int rank)
{
    int parent = tree->parents[rank];

    if (parent >= 0)
        tree->children[tree->first_child[parent] + filled[parent]++] = rank;
}

/* Lists ranks from the root downward, level by level, in `row`; also computes the
 * depth. */
static void list_by_depth(struct esi_tree *tree, int *row)
{
    int *depths = tree->position; /* filled later */
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

/* Subtrees with the same lowest rank are on one path upward from it.  Following that
 * path from each rank in turn visits siblings in the right order, and every rank
 * once. */
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

/* Computes everything but the parents. */
static int complete_tree(struct esi_tree *tree)
{
    int *row = calloc((size_t)tree->size, sizeof *row);
    int *filled = tree->order; /* filled last */

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
    struct shape_input input = {.rule = rule,
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
    tree->exchanges = rule->shape == ES_TREE_EXCHANGE;
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
