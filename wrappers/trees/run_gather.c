/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Gather phase, up the tree: gather, allgather, and reductions that do not commute.
 *
 * A node sends one message, in pieces: its own block, then the messages of its
 * children in their order, so blocks are in preorder.  Its memory holds them all.
 * The contiguous prefix that has arrived is forwarded before the rest arrives.  The
 * root receives blocks where the program wants them if it can, and unpacks the
 * others.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

bool esi_run_is_ascending(const struct esi_tree_run *run, int rank)
{
    const struct esi_tree *tree = run->call.tree;
    const int *order = tree->order + tree->position[rank];

    for (int i = 1; i < tree->subtree[rank]; i++)
        if (order[i] != order[0] + i)
            return false;
    return true;
}

static bool is_folded(const struct esi_tree_run *run)
{
    return run->up == &esi_run_fold;
}

/* Memory for the blocks of the whole subtree; once. */
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
    MPI_Count count = run->call.receive_count;

    return esi_data_part(&run->result, rank * count, count);
}

/* Whether a child's message is received at its final address. */
static bool receive_direct(struct esi_tree_run *run,
                           int child,
                           struct esi_run_lane *lane)
{
    const struct esi_tree *tree = run->call.tree;
    struct esi_data there;
    int ranks = tree->subtree[child];

    if (!run->is_root || is_folded(run))
        return false;
    there = block_of_rank(run, child);
    if (ranks == 1)
        return esi_run_lane_set_direct(lane, run->piece_bytes, &there, true);
    if (!esi_data_is_plain(&run->result) || !esi_run_is_ascending(run, child))
        return false;
    esi_run_lane_set_bytes(lane, run->piece_bytes, there.base, ranks * run->block);
    return true;
}

static int set_up_children(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    for (int i = 0; i < run->child_count && result == MPI_SUCCESS; i++) {
        int child = run->children[i];

        if (receive_direct(run, child, &run->up_from[i]))
            continue;
        result = allocate_staged(run);
        if (result == MPI_SUCCESS)
            esi_run_lane_set_bytes(&run->up_from[i], run->piece_bytes,
                                   esi_run_staged(run, child),
                                   run->call.tree->subtree[child] * run->block);
    }
    return result;
}

/* A leaf sends its own block from the program's memory if it can; else the block is
 * packed in front of the others. */
static int set_up_parent(struct esi_tree_run *run)
{
    MPI_Count ranks = run->call.tree->subtree[run->call.rank];
    bool typed = !is_folded(run) && run->up_to->peer == run->call.tree->root;
    int result;

    if (ranks == 1 &&
        esi_run_lane_set_direct(run->up_to, run->piece_bytes, &run->own, typed)) {
        run->result_is_read = run->in_place;
        return MPI_SUCCESS;
    }
    result = allocate_staged(run);
    if (result == MPI_SUCCESS)
        result = esi_data_pack(run, &run->own, run->staged);
    esi_run_lane_set_bytes(run->up_to, run->piece_bytes, run->staged,
                           ranks * run->block);
    return result;
}

static int gather_set_up(struct esi_tree_run *run)
{
    int result;

    run->block = run->own.bytes;
    if (run->is_root && !is_folded(run))
        run->block = run->call.receive_count * run->result.size;
    result = set_up_children(run);
    if (result == MPI_SUCCESS && run->up_to != NULL)
        result = set_up_parent(run);
    return result;
}

/* At the root: unpacks all blocks of a child's message. */
static int unpack_child(struct esi_tree_run *run, int child)
{
    const struct esi_tree *tree = run->call.tree;
    const int *order = tree->order + tree->position[child];
    int result = MPI_SUCCESS;

    for (int i = 0; i < tree->subtree[child] && result == MPI_SUCCESS; i++) {
        struct esi_data there = block_of_rank(run, order[i]);

        result = esi_data_unpack(run, esi_run_staged(run, order[i]), &there);
    }
    return result;
}

static bool is_staged(const struct esi_tree_run *run, int index)
{
    return run->staged != NULL &&
           run->up_from[index].base == esi_run_staged(run, run->children[index]);
}

static int copy_own(struct esi_tree_run *run)
{
    struct esi_data there = block_of_rank(run, run->call.rank);

    return run->in_place ? MPI_SUCCESS : esi_data_copy(run, &there, &run->own);
}

/* Children in their order whose messages have come whole. */
static int gather_work(struct esi_tree_run *run)
{
    bool unpacks = run->is_root && !is_folded(run);
    int result = MPI_SUCCESS;

    while (run->children_done < run->child_count && result == MPI_SUCCESS &&
           esi_run_lane_is_done(&run->up_from[run->children_done])) {
        if (unpacks && is_staged(run, run->children_done))
            result = unpack_child(run, run->children[run->children_done]);
        run->children_done++;
    }
    if (run->children_done < run->child_count || run->gathered || result != MPI_SUCCESS)
        return result;
    run->gathered = true;
    return unpacks ? copy_own(run) : MPI_SUCCESS;
}

static MPI_Count gather_ready(const struct esi_tree_run *run,
                              const struct esi_run_lane *lane)
{
    const struct esi_tree *tree = run->call.tree;
    MPI_Count there;
    int child;

    if (lane != run->up_to || run->children_done == run->child_count)
        return lane->pieces;
    child = run->children[run->children_done];
    there = run->block * (tree->position[child] - tree->position[run->call.rank]) +
            esi_run_lane_bytes_done(&run->up_from[run->children_done]);
    return there / lane->per_piece;
}

/* --- Operations that do not commute --------------------------------------------- */

/*
 * The root has all contributions packed, and reduces them in rank order from left to
 * right: one piece of all ranks at a time, so that little memory is needed beyond
 * that of the contributions.
 */
static int fold_set_up(struct esi_tree_run *run)
{
    MPI_Count per_piece = esi_run_per_piece(run);
    MPI_Aint step;
    int result;

    esi_run_lane_set_typed(&run->work, &run->own, per_piece);
    run->pieces = run->work.pieces;
    result = gather_set_up(run);
    if (result != MPI_SUCCESS || !run->is_root)
        return result;
    result = esi_run_typed_memory(run, per_piece, 2, &run->fold_values[0], &step);
    run->fold_values[1] = run->fold_values[0] + step;
    return result;
}

/* A piece of a rank's contribution, to `there`. */
static int fetch_contribution(struct esi_tree_run *run,
                              int rank,
                              MPI_Count piece,
                              struct esi_data *there)
{
    MPI_Count first = piece * run->work.per_piece;
    struct esi_data own = esi_data_part(&run->own, first, there->count);

    if (rank == run->call.rank)
        return esi_data_copy(run, there, &own);
    return esi_data_unpack(run, esi_run_staged(run, rank) + first * run->own.size,
                           there);
}

static int fold_piece(struct esi_tree_run *run, MPI_Count piece)
{
    MPI_Count count = esi_run_lane_count(&run->work, piece);
    struct esi_data to =
        esi_data_part(&run->result, piece * run->work.per_piece, count);
    struct esi_data value = to;
    struct esi_data next = to;
    int result;

    value.base = run->fold_values[0];
    next.base = run->fold_values[1];
    result = fetch_contribution(run, 0, piece, &value);
    for (int rank = 1; rank < run->call.tree->size && result == MPI_SUCCESS; rank++) {
        char *free_memory = value.base;

        result = fetch_contribution(run, rank, piece, &next);
        if (result == MPI_SUCCESS)
            result = ESI_REAL(MPI_Reduce_local)(value.base, next.base, (int)count,
                                                run->own.type, run->call.op);
        value.base = next.base;
        next.base = free_memory;
    }
    return result == MPI_SUCCESS ? esi_data_copy(run, &to, &value) : result;
}

static int fold_work(struct esi_tree_run *run)
{
    int result = gather_work(run);

    while (run->is_root && run->gathered && run->reduced < run->pieces &&
           result == MPI_SUCCESS)
        result = fold_piece(run, run->reduced++);
    return result;
}

const struct esi_run_phase esi_run_gather = {.set_up = gather_set_up,
                                             .work = gather_work,
                                             .ready = gather_ready};
const struct esi_run_phase esi_run_fold = {.set_up = fold_set_up,
                                           .work = fold_work,
                                           .ready = gather_ready};
