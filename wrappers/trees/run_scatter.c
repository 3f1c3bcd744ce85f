/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Scatter phase, down the tree.
 *
 * The mirror image of the gather phase: a node receives the blocks of its subtree in
 * preorder, its own first, and forwards those of its children as they arrive.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

static int allocate_staged(struct esi_tree_run *run)
{
    size_t ranks = (size_t)run->call.tree->subtree[run->call.rank];

    if (run->staged != NULL)
        return MPI_SUCCESS;
    if ((size_t)run->block > SIZE_MAX / ranks)
        return MPI_ERR_NO_MEM;
    run->staged = esi_run_alloc(run, ranks * (size_t)run->block);
    return run->staged != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* A rank's block in the program's buffer, at the root. */
static struct esi_data block_of_rank(const struct esi_tree_run *run, int rank)
{
    MPI_Count count = run->call.send_count;

    return esi_data_part(&run->own, rank * count, count);
}

static bool send_direct(struct esi_tree_run *run, int child, struct esi_run_lane *lane)
{
    struct esi_data there = block_of_rank(run, child);
    int ranks = run->call.tree->subtree[child];

    if (ranks == 1)
        return esi_run_lane_set_direct(lane, run->piece_bytes, &there, true);
    if (!esi_data_is_plain(&run->own) || !esi_run_is_ascending(run, child))
        return false;
    esi_run_lane_set_bytes(lane, run->piece_bytes, there.base, ranks * run->block);
    return true;
}

/* Packs the blocks of a child's subtree. */
static int pack_child(struct esi_tree_run *run, int child)
{
    const struct esi_tree *tree = run->call.tree;
    const int *order = tree->order + tree->position[child];
    int result = MPI_SUCCESS;

    for (int i = 0; i < tree->subtree[child] && result == MPI_SUCCESS; i++) {
        struct esi_data there = block_of_rank(run, order[i]);

        result = esi_data_pack(run, &there, esi_run_staged(run, order[i]));
    }
    return result;
}

static int set_up_child(struct esi_tree_run *run, int index)
{
    int child = run->children[index];
    struct esi_run_lane *lane = &run->down_to[index];
    int result;

    if (run->is_root && send_direct(run, child, lane))
        return MPI_SUCCESS;
    result = allocate_staged(run);
    if (result != MPI_SUCCESS)
        return result;
    esi_run_lane_set_bytes(lane, run->piece_bytes, esi_run_staged(run, child),
                           run->call.tree->subtree[child] * run->block);
    return run->is_root ? pack_child(run, child) : MPI_SUCCESS;
}

static int set_up_parent(struct esi_tree_run *run)
{
    MPI_Count ranks = run->call.tree->subtree[run->call.rank];
    int result;

    if (ranks == 1 &&
        esi_run_lane_set_direct(run->down_from, run->piece_bytes, &run->result,
                                run->down_from->peer == run->call.tree->root))
        return MPI_SUCCESS;
    result = allocate_staged(run);
    esi_run_lane_set_bytes(run->down_from, run->piece_bytes, run->staged,
                           ranks * run->block);
    return result;
}

static int scatter_set_up(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    run->block =
        run->is_root ? run->call.send_count * run->own.size : run->result.bytes;
    if (!run->is_root)
        result = set_up_parent(run);
    for (int i = 0; i < run->child_count && result == MPI_SUCCESS; i++)
        result = set_up_child(run, i);
    return result;
}

/* Unpacks the own block into the program's memory. */
static int scatter_work(struct esi_tree_run *run)
{
    struct esi_data own;

    if (run->children_done != 0)
        return MPI_SUCCESS;
    if (run->is_root) {
        run->children_done = 1;
        own = block_of_rank(run, run->call.rank);
        return run->in_place ? MPI_SUCCESS : esi_data_copy(run, &run->result, &own);
    }
    if (!esi_run_lane_is_done(run->down_from))
        return MPI_SUCCESS;
    run->children_done = 1;
    return run->staged != NULL ? esi_data_unpack(run, run->staged, &run->result)
                               : MPI_SUCCESS;
}

static MPI_Count scatter_ready(const struct esi_tree_run *run,
                               const struct esi_run_lane *lane)
{
    MPI_Count before;
    MPI_Count come;

    if (run->is_root || lane == run->down_from)
        return lane->pieces;
    before = lane->base - run->staged;
    come = esi_run_lane_bytes_done(run->down_from) - before;
    if (come >= (MPI_Count)lane->bytes)
        return lane->pieces;
    return come > 0 ? come / lane->per_piece : 0;
}

const struct esi_run_phase esi_run_scatter = {.set_up = scatter_set_up,
                                              .work = scatter_work,
                                              .ready = scatter_ready};
