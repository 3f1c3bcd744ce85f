/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tree_model.c - visits ranks so that senders precede receivers: children before
 * parents on the way up, parents before children on the way down. */
#include "config.h"

#include "monitors/advice/tree_model.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* The state of a rank during the operation. */
struct node {
    double busy_ns;                  /* busy until then with its own work */
    double in_ns;                    /* incoming link is busy until then */
    double out_ns;                   /* outgoing link is busy until then */
    double sent_ns[ES_MODEL_PIECES]; /* when the first byte of each piece leaves, to
                                        it (down) or from it (up) */
};

struct model_walk {
    const struct esi_tree *tree;
    const struct esi_model_operation *operation;
    struct node *nodes;
    int *order; /* parents before children */
    unsigned pieces;
};

static bool goes_up(enum esi_tree_kind kind)
{
    return kind != ES_TREE_BCAST && kind != ES_TREE_SCATTER;
}

static bool goes_down(enum esi_tree_kind kind)
{
    return kind != ES_TREE_REDUCE && kind != ES_TREE_GATHER;
}

/* Number of bytes on the edge between a rank and its parent. */
static double count_bytes_up(const struct esi_tree *tree,
                             const struct esi_model_operation *operation,
                             int child)
{
    double bytes = (double)operation->bytes;

    switch (operation->kind) {
    case ES_TREE_REDUCE:
    case ES_TREE_ALLREDUCE:
        return bytes;
    case ES_TREE_GATHER:
    case ES_TREE_ALLGATHER:
        return bytes * tree->subtree[child];
    default:
        return 0;
    }
}

static double count_bytes_down(const struct esi_tree *tree,
                               const struct esi_model_operation *operation,
                               int child)
{
    double bytes = (double)operation->bytes;

    switch (operation->kind) {
    case ES_TREE_BCAST:
    case ES_TREE_ALLREDUCE:
        return bytes;
    case ES_TREE_SCATTER:
        return bytes * tree->subtree[child];
    case ES_TREE_ALLGATHER:
        return bytes * tree->size;
    default:
        return 0;
    }
}

/* If edges carry different numbers of bytes, messages are not divided. */
static unsigned pieces_of(const struct esi_model_operation *operation, double bytes)
{
    double pieces;

    if (operation->segment_bytes == 0 || bytes <= (double)operation->segment_bytes)
        return 1;
    pieces = bytes / (double)operation->segment_bytes;
    return pieces >= ES_MODEL_PIECES ? ES_MODEL_PIECES
                                     : (unsigned)pieces + (pieces > (unsigned)pieces);
}

static unsigned pieces_up(const struct model_walk *walk)
{
    const struct esi_model_operation *operation = walk->operation;

    return operation->kind == ES_TREE_REDUCE || operation->kind == ES_TREE_ALLREDUCE
               ? pieces_of(operation, (double)operation->bytes)
               : 1;
}

static unsigned pieces_down(const struct model_walk *walk)
{
    const struct esi_model_operation *operation = walk->operation;

    if (operation->kind == ES_TREE_SCATTER || operation->kind == ES_TREE_BARRIER)
        return 1;
    return pieces_of(operation,
                     count_bytes_down(walk->tree, operation, walk->tree->root));
}

static const struct esi_link_cost *cost_of(const struct model_walk *walk, int child)
{
    const struct esi_location *places = walk->operation->places;
    int parent = walk->tree->parents[child];

    return &walk->operation->costs[esi_link_class_of(&places[child], &places[parent])];
}

static double later_time(double x, double y)
{
    return x > y ? x : y;
}

/* Sends a piece; returns when its first byte leaves. */
static double send_message(struct node *node,
                           const struct esi_link_cost *cost,
                           double bytes)
{
    double leaves_ns;

    node->busy_ns += cost->overhead_ns;
    leaves_ns = later_time(node->out_ns, node->busy_ns);
    node->out_ns = leaves_ns + cost->ns_per_byte * bytes;
    return leaves_ns;
}

/* Receives a piece whose first byte left at `leaves_ns`. */
static void receive_message(struct node *node,
                            const struct esi_link_cost *cost,
                            double bytes,
                            double leaves_ns)
{
    node->in_ns = later_time(node->in_ns, leaves_ns + cost->latency_ns) +
                  cost->ns_per_byte * bytes;
    node->busy_ns = later_time(node->busy_ns, node->in_ns) + cost->overhead_ns;
}

static void go_up(struct model_walk *walk, int rank)
{
    const struct esi_tree *tree = walk->tree;
    struct node *node = &walk->nodes[rank];
    const int *children = esi_tree_children(tree, rank);
    double own = rank == tree->root ? 0 : count_bytes_up(tree, walk->operation, rank);

    for (unsigned piece = 0; piece < walk->pieces; piece++) {
        for (int i = 0; i < esi_tree_child_count(tree, rank); i++)
            receive_message(node, cost_of(walk, children[i]),
                            count_bytes_up(tree, walk->operation, children[i]) /
                                walk->pieces,
                            walk->nodes[children[i]].sent_ns[piece]);
        if (rank != tree->root)
            node->sent_ns[piece] =
                send_message(node, cost_of(walk, rank), own / walk->pieces);
    }
}

static void go_down(struct model_walk *walk, int rank)
{
    const struct esi_tree *tree = walk->tree;
    struct node *node = &walk->nodes[rank];
    const int *children = esi_tree_children(tree, rank);

    for (unsigned piece = 0; piece < walk->pieces; piece++) {
        if (rank != tree->root)
            receive_message(node, cost_of(walk, rank),
                            count_bytes_down(tree, walk->operation, rank) /
                                walk->pieces,
                            node->sent_ns[piece]);
        for (int i = 0; i < esi_tree_child_count(tree, rank); i++)
            walk->nodes[children[i]].sent_ns[piece] = send_message(
                node, cost_of(walk, children[i]),
                count_bytes_down(tree, walk->operation, children[i]) / walk->pieces);
    }
}

static void find_order(struct model_walk *walk)
{
    const struct esi_tree *tree = walk->tree;
    int count = 0;

    walk->order[count++] = tree->root;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < esi_tree_child_count(tree, walk->order[i]); j++)
            walk->order[count++] = esi_tree_children(tree, walk->order[i])[j];
}

static void read_result(const struct model_walk *walk,
                        double *exits_ns,
                        struct esi_model_result *ret_result)
{
    const struct esi_model_operation *operation = walk->operation;
    double from_ns = operation->enters_ns[walk->tree->root];
    struct esi_model_result result = {.last_exit_ns = walk->nodes[0].busy_ns};

    for (int i = 0; i < walk->tree->size; i++) {
        double exit_ns = walk->nodes[i].busy_ns;

        if (goes_up(operation->kind))
            from_ns = later_time(from_ns, operation->enters_ns[i]);
        result.last_exit_ns = later_time(result.last_exit_ns, exit_ns);
        result.rank_ns += exit_ns - operation->enters_ns[i];
        if (exits_ns)
            exits_ns[i] = exit_ns;
    }
    result.tree_ns = result.last_exit_ns - from_ns;
    *ret_result = result;
}

int esi_tree_model_run(const struct esi_tree *tree,
                       const struct esi_model_operation *operation,
                       double *exits_ns,
                       struct esi_model_result *ret_result)
{
    struct model_walk walk = {.tree = tree, .operation = operation};
    size_t size = (size_t)tree->size;

    walk.nodes = calloc(size, sizeof *walk.nodes);
    walk.order = calloc(size, sizeof *walk.order);
    if (!walk.nodes || !walk.order) {
        free(walk.nodes);
        free(walk.order);
        return -ENOMEM;
    }
    for (size_t i = 0; i < size; i++)
        walk.nodes[i].busy_ns = operation->enters_ns[i];
    find_order(&walk);
    walk.pieces = pieces_up(&walk);
    for (size_t i = size; goes_up(operation->kind) && i-- > 0;)
        go_up(&walk, walk.order[i]);
    walk.pieces = pieces_down(&walk);
    for (size_t i = 0; goes_down(operation->kind) && i < size; i++)
        go_down(&walk, walk.order[i]);
    read_result(&walk, exits_ns, ret_result);
    free(walk.nodes);
    free(walk.order);
    return 0;
}
