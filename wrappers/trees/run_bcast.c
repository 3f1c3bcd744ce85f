/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Bcast phase, down the tree: bcast, and the second phase of barrier, allreduce and
 * allgather.
 *
 * A node forwards each piece as it has arrived.  Reductions have one datatype
 * everywhere, so their pieces travel typed, cut as in the reduce phase.  Otherwise
 * types may differ, and a message that is cut travels as packed bytes.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

static bool is_reduction(const struct esi_tree_run *run)
{
    return run->call.kind == ES_TREE_ALLREDUCE;
}

static int set_up_bcast_lane(struct esi_tree_run *run, struct esi_run_lane *lane)
{
    if (is_reduction(run)) {
        esi_run_lane_set_typed(lane, &run->result, esi_run_per_piece(run));
        return MPI_SUCCESS;
    }
    if (run->packed == NULL &&
        esi_run_lane_set_direct(lane, run->piece_bytes, &run->result, true))
        return MPI_SUCCESS;
    if (run->packed == NULL)
        run->packed = esi_run_alloc(run, (size_t)run->result.bytes);
    esi_run_lane_set_bytes(lane, run->piece_bytes, run->packed, run->result.bytes);
    return run->packed != NULL ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int bcast_set_up(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    if (run->call.kind == ES_TREE_BARRIER)
        return MPI_SUCCESS; /* the reduce phase has done so for all lanes */
    for (int i = run->down_first; i < run->lane_count && result == MPI_SUCCESS; i++)
        result = set_up_bcast_lane(run, &run->lanes[i]);
    return result;
}

/* Pieces that the root has. */
static MPI_Count root_pieces_ready(const struct esi_tree_run *run)
{
    if (run->call.kind == ES_TREE_BCAST)
        return INT64_MAX;
    if (run->call.kind == ES_TREE_ALLGATHER)
        return run->gathered ? INT64_MAX : 0;
    return run->reduced;
}

static int bcast_work(struct esi_tree_run *run)
{
    if (run->packed == NULL || run->packed_done)
        return MPI_SUCCESS;
    if (run->is_root ? root_pieces_ready(run) == 0
                     : !esi_run_lane_is_done(run->down_from))
        return MPI_SUCCESS;
    run->packed_done = true;
    return run->is_root ? esi_data_pack(run, &run->result, run->packed)
                        : esi_data_unpack(run, run->packed, &run->result);
}

/* Pieces that may overwrite what the program's memory had before. */
static MPI_Count pieces_receivable(const struct esi_tree_run *run)
{
    if (!run->result_is_read)
        return INT64_MAX;
    /* Pieces of both phases are alike only where values are reduced on the way up. */
    if (run->up == &esi_run_reduce)
        return run->up_to->done;
    return esi_run_lane_is_done(run->up_to) ? INT64_MAX : 0;
}

static MPI_Count bcast_ready(const struct esi_tree_run *run,
                             const struct esi_run_lane *lane)
{
    if (lane == run->down_from)
        return pieces_receivable(run);
    return run->is_root ? root_pieces_ready(run) : run->down_from->done;
}

const struct esi_run_phase esi_run_bcast = {.set_up = bcast_set_up,
                                            .work = bcast_work,
                                            .ready = bcast_ready};
