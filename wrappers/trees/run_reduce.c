/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reduce phase, up the tree: barrier, reduce, allreduce.
 *
 * A node reduces its own contribution and those of its children's subtrees from left
 * to right, in ascending order of the lowest rank in each.  MPI_Reduce_local()
 * leaves its result in its right operand.  So the value moves through the buffers
 * that children's pieces arrived in, and the last of them has the result; nothing is
 * copied unless the own contribution is in between.
 *
 * Messages are cut into pieces: while a node reduces one, its children send the
 * next.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

MPI_Count esi_run_per_piece(const struct esi_tree_run *run)
{
    MPI_Count count = run->own.size > 0 ? run->piece_bytes / run->own.size : 1;

    if (count > run->own.count)
        count = run->own.count;
    return count > 0 ? count : 1;
}

int esi_run_typed_memory(struct esi_tree_run *run,
                         MPI_Count elements,
                         size_t count,
                         char **ret_base,
                         MPI_Aint *ret_step)
{
    size_t bytes;
    size_t step;
    MPI_Aint before;
    char *memory;
    int result = esi_data_span(&run->own, elements, &bytes, &before);

    if (result != MPI_SUCCESS)
        return result;
    step = (bytes + ESI_RUN_ALIGN - 1) / ESI_RUN_ALIGN * ESI_RUN_ALIGN;
    if (step > 0 && count > SIZE_MAX / step)
        return MPI_ERR_NO_MEM;
    memory = esi_run_alloc(run, step * count);
    if (memory == NULL)
        return MPI_ERR_NO_MEM;
    *ret_base = memory + before;
    *ret_step = (MPI_Aint)step;
    return MPI_SUCCESS;
}

/* Whether the last operand is the own contribution. */
static bool is_own_last(const struct esi_tree_run *run)
{
    return run->own_index == run->child_count;
}

/* Where the own contribution is copied to, if it is a right operand. */
static int set_up_work(struct esi_tree_run *run)
{
    bool has_result = run->is_root || run->call.kind == ES_TREE_ALLREDUCE;
    struct esi_run_lane *work = &run->work;

    esi_run_lane_set_typed(work, &run->own, esi_run_per_piece(run));
    run->work_is_own = run->own_index == 0 || run->in_place;
    run->result_is_read = run->in_place;
    if (run->work_is_own)
        return MPI_SUCCESS;
    if (is_own_last(run) && has_result) {
        work->base = run->result.base;
        run->result_is_read = true;
        return MPI_SUCCESS;
    }
    work->ring = run->ring;
    return esi_run_typed_memory(run, work->per_piece, (size_t)run->ring, &work->base,
                                &work->step);
}

/* Each child has a ring of pieces.  At the root the last child's pieces arrive where
 * the result has to be. */
static int set_up_children(struct esi_tree_run *run)
{
    MPI_Count per_piece = esi_run_per_piece(run);
    bool into_result = run->is_root && !is_own_last(run) && !run->in_place;
    int rings = run->child_count - into_result;
    char *base = NULL;
    MPI_Aint step = 0;
    int result = MPI_SUCCESS;

    if (rings > 0)
        result = esi_run_typed_memory(run, per_piece, (size_t)rings * (size_t)run->ring,
                                      &base, &step);
    for (int i = 0; i < run->child_count; i++) {
        struct esi_run_lane *lane = &run->up_from[i];

        esi_run_lane_set_typed(lane, i < rings ? &run->own : &run->result, per_piece);
        if (i < rings) {
            lane->base = base + (MPI_Aint)i * run->ring * step;
            lane->step = step;
            lane->ring = run->ring;
        }
    }
    return result;
}

/* Nothing travels, but it does so once. */
static int set_up_barrier(struct esi_tree_run *run)
{
    for (int i = 0; i < run->lane_count; i++) {
        run->lanes[i].type = MPI_BYTE;
        run->lanes[i].per_piece = 1;
        run->lanes[i].pieces = 1;
    }
    run->pieces = 1;
    return MPI_SUCCESS;
}

static int reduce_set_up(struct esi_tree_run *run)
{
    const struct esi_tree *tree = run->call.tree;
    MPI_Count per_piece;
    int result = MPI_SUCCESS;

    if (run->call.kind == ES_TREE_BARRIER)
        return set_up_barrier(run);
    per_piece = esi_run_per_piece(run);
    run->pieces = run->own.count / per_piece + (run->own.count % per_piece != 0);
    run->ring = run->pieces < ESI_RUN_WINDOW ? (int)run->pieces : ESI_RUN_WINDOW;
    while (run->own_index < run->child_count &&
           tree->lowest[run->children[run->own_index]] < run->call.rank)
        run->own_index++;
    result = set_up_work(run);
    if (result == MPI_SUCCESS)
        result = set_up_children(run);
    if (run->up_to != NULL) {
        const struct esi_run_lane *from =
            is_own_last(run) ? &run->work : &run->up_from[run->child_count - 1];

        esi_run_lane_set_typed(run->up_to, &run->own, per_piece);
        run->up_to->base = from->base;
        run->up_to->step = from->step;
        run->up_to->ring = from->ring;
    }
    return result;
}

/* The own contribution to a piece; copied if it is a right operand. */
static int own_piece(struct esi_tree_run *run, MPI_Count piece, char **ret_part)
{
    const struct esi_run_lane *work = &run->work;
    struct esi_data from = esi_data_part(&run->own, piece * work->per_piece,
                                         esi_run_lane_count(work, piece));
    struct esi_data to = from;

    to.base = *ret_part = esi_run_lane_piece(work, piece);
    return run->work_is_own ? MPI_SUCCESS : esi_data_copy(run, &to, &from);
}

static int reduce_piece(struct esi_tree_run *run, MPI_Count piece)
{
    MPI_Count count = esi_run_lane_count(&run->work, piece);
    struct esi_data from;
    struct esi_data to;
    char *value = NULL;
    int result = MPI_SUCCESS;

    for (int part = 0; part <= run->child_count && result == MPI_SUCCESS; part++) {
        char *next;

        if (part == run->own_index)
            result = own_piece(run, piece, &next);
        else
            next = esi_run_lane_piece(&run->up_from[part - (part > run->own_index)],
                                      piece);
        if (value != NULL && result == MPI_SUCCESS)
            result = ESI_REAL(MPI_Reduce_local)(value, next, (int)count, run->own.type,
                                                run->call.op);
        value = next;
    }
    if (!run->is_root || result != MPI_SUCCESS)
        return result;
    to = esi_data_part(&run->result, piece * run->work.per_piece, count);
    from = to;
    from.base = value;
    return esi_data_copy(run, &to, &from);
}

static bool has_arrived(const struct esi_tree_run *run, MPI_Count piece)
{
    for (int i = 0; i < run->child_count; i++)
        if (run->up_from[i].done <= piece)
            return false;
    /* The own contribution to an earlier piece may still be under way upward. */
    return run->up_to == NULL || run->work.ring == 0 ||
           piece < run->up_to->done + run->work.ring;
}

static int reduce_work(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    while (run->reduced < run->pieces && result == MPI_SUCCESS &&
           has_arrived(run, run->reduced)) {
        if (run->call.kind != ES_TREE_BARRIER && (run->child_count > 0 || run->is_root))
            result = reduce_piece(run, run->reduced);
        run->reduced++;
    }
    return result;
}

/* The last operand's memory is sent from, so it is free later. */
static MPI_Count reduce_ready(const struct esi_tree_run *run,
                              const struct esi_run_lane *lane)
{
    if (lane == run->up_to)
        return run->reduced;
    if (lane->ring == 0)
        return lane->pieces;
    return lane->ring + (run->up_to != NULL && !is_own_last(run) &&
                                 lane == &run->up_from[run->child_count - 1]
                             ? run->up_to->done
                             : run->reduced);
}

const struct esi_run_phase esi_run_reduce = {.set_up = reduce_set_up,
                                             .work = reduce_work,
                                             .ready = reduce_ready};
