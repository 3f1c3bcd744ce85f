/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The phase exchange: ranks give each other what they have, round by round (barrier,
 * allreduce, allgather).
 *
 * Every rank is a root here but leaves, which hand their contribution to a neighbour
 * and take the result from it in the phase bcast.  A step is a leaf's contribution, or
 * a round; it begins when the one before is done.  A message is one piece.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

void esi_run_begin_exchange(struct esi_tree_run *run)
{
    struct esi_exchange exchange =
        esi_exchange_of(run->call.tree->size, run->call.rank);

    run->up = &esi_run_exchange;
    run->down = &esi_run_bcast;
    run->exchange = exchange;
    run->is_root = !exchange.is_leaf;
    run->parent = exchange.is_leaf ? exchange.neighbour : -1;
    run->child_count = run->is_root && exchange.neighbour >= 0;
    run->children = &run->exchange.neighbour;
}

static int step_count(const struct esi_tree_run *run)
{
    return run->child_count + run->exchange.rounds;
}

/* The lane of a step on which something arrives.  In a round the one that departs is
 * behind it. */
static struct esi_run_lane *step_lane(const struct esi_tree_run *run, int step)
{
    int round = step - run->child_count;

    return &run->lanes[round < 0 ? step : run->child_count + 2 * round];
}

static bool is_round(const struct esi_tree_run *run, int step)
{
    return step >= run->child_count;
}

/* --- Allgather -------------------------------------------------------------------- */

static struct esi_data blocks_of(const struct esi_tree_run *run,
                                 struct esi_exchange_ranks ranks)
{
    MPI_Count count = run->call.receive_count;

    return esi_data_part(&run->result, ranks.first * count, ranks.count * count);
}

/* Blocks arrive where they belong, and depart from there. */
static int set_up_blocks(struct esi_tree_run *run)
{
    const struct esi_exchange *exchange = &run->exchange;
    struct esi_data part =
        blocks_of(run, (struct esi_exchange_ranks){run->call.rank, 1});

    if (run->child_count > 0) {
        struct esi_data there =
            blocks_of(run, (struct esi_exchange_ranks){exchange->neighbour, 1});

        esi_run_lane_set_typed(step_lane(run, 0), &there, there.count);
    }
    for (int i = 0; i < exchange->rounds; i++) {
        struct esi_run_lane *from = step_lane(run, run->child_count + i);
        struct esi_data there =
            blocks_of(run, esi_exchange_range(exchange, exchange->number ^ 1 << i, i));
        struct esi_data here =
            blocks_of(run, esi_exchange_range(exchange, exchange->number, i));

        esi_run_lane_set_typed(from, &there, there.count);
        esi_run_lane_set_typed(from + 1, &here, here.count);
    }
    return run->in_place ? MPI_SUCCESS : esi_data_copy(run, &part, &run->own);
}

/* --- Allreduce -------------------------------------------------------------------- */

/*
 * Of two values the one of the lower ranks is the left operand, so both ranks come to
 * the same, and order is kept.  MPI_Reduce_local() leaves its result in its right
 * operand: a value moves to the memory of what arrived from higher ranks.  It begins
 * where it will be in the result at the end.
 */

static bool is_from_above(const struct esi_tree_run *run, int step)
{
    return step_lane(run, step)->peer > run->call.rank;
}

/* The next thing arrives beside the value, and the value departs. */
static void aim_step(struct esi_tree_run *run, int step)
{
    struct esi_run_lane *from = step_lane(run, step);

    from->base = run->spare;
    if (is_round(run, step))
        from[1].base = run->value;
}

static int set_up_values(struct esi_tree_run *run)
{
    struct esi_data value = run->result;
    bool is_elsewhere = false;
    MPI_Aint step;
    int result = esi_run_typed_memory(run, run->own.count, 1, &run->spare, &step);

    if (result != MPI_SUCCESS)
        return result;
    for (int i = 0; i < step_count(run); i++) {
        struct esi_run_lane *from = step_lane(run, i);

        esi_run_lane_set_typed(from, &run->own, run->own.count);
        if (is_round(run, i))
            esi_run_lane_set_typed(from + 1, &run->own, run->own.count);
        is_elsewhere ^= is_from_above(run, i);
    }
    run->value = run->result.base;
    if (is_elsewhere) {
        run->value = run->spare;
        run->spare = run->result.base;
    }
    value.base = run->value;
    if (step_count(run) > 0)
        aim_step(run, 0);
    return esi_data_copy(run, &value, &run->own);
}

static int combine_values(struct esi_tree_run *run, int step)
{
    bool from_above = is_from_above(run, step);
    char *left = from_above ? run->value : run->spare;
    char *right = from_above ? run->spare : run->value;

    run->value = right;
    run->spare = left;
    if (step + 1 < step_count(run))
        aim_step(run, step + 1);
    return ESI_REAL(MPI_Reduce_local)(left, right, (int)run->own.count, run->own.type,
                                      run->call.op);
}

/* --- The phase -------------------------------------------------------------------- */

static int exchange_set_up(struct esi_tree_run *run)
{
    run->pieces = 1;
    if (run->call.kind == ES_TREE_BARRIER)
        return esi_run_set_up_barrier(run);
    if (!run->is_root) {
        esi_run_lane_set_typed(run->up_to, &run->own, run->own.count);
        run->result_is_read = run->in_place;
        return MPI_SUCCESS;
    }
    return run->call.kind == ES_TREE_ALLREDUCE ? set_up_values(run)
                                               : set_up_blocks(run);
}

static bool is_step_done(const struct esi_tree_run *run, int step)
{
    const struct esi_run_lane *from = step_lane(run, step);

    return esi_run_lane_is_done(from) &&
           (!is_round(run, step) || esi_run_lane_is_done(from + 1));
}

static int exchange_work(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    while (run->steps_done < step_count(run) && result == MPI_SUCCESS &&
           is_step_done(run, run->steps_done)) {
        if (run->call.kind == ES_TREE_ALLREDUCE)
            result = combine_values(run, run->steps_done);
        run->steps_done++;
    }
    if (run->steps_done == step_count(run)) {
        run->reduced = run->pieces;
        run->gathered = true;
    }
    return result;
}

static MPI_Count exchange_ready(const struct esi_tree_run *run,
                                const struct esi_run_lane *lane)
{
    return !run->is_root || run->steps_done == step_count(run) ||
                   lane < step_lane(run, run->steps_done + 1)
               ? lane->pieces
               : 0;
}

const struct esi_run_phase esi_run_exchange = {.set_up = exchange_set_up,
                                               .work = exchange_work,
                                               .ready = exchange_ready};
