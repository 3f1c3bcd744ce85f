/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * An exchange: ranks exchange their data round by round (barrier, allreduce,
 * allgather).
 *
 * Each rank is a root here, except leaves, which send their contribution to a neighbour
 * and receive the result from it.  A step is a round, or one message between a leaf and
 * its neighbour; it begins when the previous one is complete.  A message is one piece.
 * The run has two lanes, which each step sets anew.
 *
 * The cost of an exchange is dominated by small messages, and each MPI routine costs
 * more than everything done here.  In blocking operations, a step therefore posts its
 * receive and then sends: the partner's receive is also posted before it sends, so both
 * sends complete.
 */
#include "config.h"

#include "wrappers/trees/run_private.h"

enum { FROM, TO, LANE_COUNT };

static int step_count(const struct esi_tree_run *run)
{
    return run->exchange.is_leaf ? 2 : 2 * run->child_count + run->exchange.rounds;
}

/* --- Allgather -------------------------------------------------------------------- */

/* Blocks are received in, and sent from, their final place. */
static struct esi_data block_of(const struct esi_tree_run *run, int rank)
{
    MPI_Count count = run->call.receive_count;

    return esi_data_part(&run->result, rank * count, count);
}

static int place_block(struct esi_tree_run *run)
{
    struct esi_data part = block_of(run, run->call.rank);

    return run->in_place ? MPI_SUCCESS : esi_data_copy(run, &part, &run->own);
}

/* --- Allreduce -------------------------------------------------------------------- */

/*
 * Of two values, that of the lower ranks is the left operand, so both ranks get the
 * same result and order is preserved.  A reduction leaves its result in the right
 * operand: a value moves to the memory of data from higher ranks.  It starts where it
 * ends up in the result.
 */

static void swap_values(struct esi_tree_run *run)
{
    char *value = run->value;

    run->value = run->spare;
    run->spare = value;
}

/* Returns whether a value moves an odd number of times.  A leaf is above its neighbour;
 * so is a partner in rounds in which the own number has a zero. */
static bool is_moved(const struct esi_exchange *exchange)
{
    bool is_odd = exchange->neighbour >= 0;

    for (int round = 0; round < exchange->rounds; round++)
        is_odd ^= (exchange->number >> round & 1) == 0;
    return is_odd;
}

static int place_value(struct esi_tree_run *run)
{
    struct esi_data value = run->result;

    run->value = run->result.base;
    run->spare = run->scratch;
    if (is_moved(&run->exchange))
        swap_values(run);
    value.base = run->value;
    return esi_data_copy(run, &value, &run->own);
}

/* Combines received data with the value. */
static int combine_values(struct esi_tree_run *run)
{
    if (run->lanes[FROM].peer > run->call.rank)
        swap_values(run);
    return esi_data_reduce(&run->own, run->own.count, run->spare, run->value,
                           run->call.op);
}

/* --- Steps ------------------------------------------------------------------------ */

static void aim_lane(struct esi_run_lane *lane, enum esi_edge_event event, int peer)
{
    lane->event = event;
    lane->peer = peer;
    lane->pieces = 1;
}

/* Sets `count` elements of a datatype. */
static void load_lane(struct esi_run_lane *lane,
                      const struct esi_data *data,
                      char *base,
                      MPI_Count count)
{
    lane->type = data->type;
    lane->base = base;
    lane->units = count;
    lane->bytes = (uint64_t)(count * data->size);
}

/* The value of an allreduce, or in an allgather the data that the rank with a number
 * has before a round. */
static void load_round(struct esi_tree_run *run,
                       struct esi_run_lane *lane,
                       int number,
                       int round,
                       char *value)
{
    MPI_Count count = run->call.receive_count;
    struct esi_exchange_ranks ranks;

    if (run->call.kind != ES_TREE_ALLGATHER) {
        load_lane(lane, &run->own, value, run->own.count);
        return;
    }
    ranks = esi_exchange_range(&run->exchange, number, round);
    load_lane(lane, &run->result,
              run->result.base + ranks.first * count * run->result.extent,
              ranks.count * count);
}

static void aim_round(struct esi_tree_run *run, int round)
{
    const struct esi_exchange *exchange = &run->exchange;
    int number = exchange->number ^ 1 << round;
    int partner = esi_exchange_rank(exchange, number);

    aim_lane(&run->lanes[FROM], ESI_EDGE_ARRIVAL_UP, partner);
    load_round(run, &run->lanes[FROM], number, round, run->spare);
    aim_lane(&run->lanes[TO], ESI_EDGE_DEPARTURE_UP, partner);
    load_round(run, &run->lanes[TO], exchange->number, round, run->value);
}

/* A leaf and its neighbour exchange one message. */
static void aim_leaf(struct esi_tree_run *run)
{
    if (run->step == 0) {
        aim_lane(&run->lanes[TO], ESI_EDGE_CONTRIBUTE, run->parent);
        load_lane(&run->lanes[TO], &run->own, run->own.base, run->own.count);
    } else {
        aim_lane(&run->lanes[FROM], ESI_EDGE_ARRIVAL_DOWN, run->parent);
        load_lane(&run->lanes[FROM], &run->result, run->result.base, run->result.count);
    }
}

static void load_contribution(struct esi_tree_run *run,
                              struct esi_run_lane *lane,
                              int leaf)
{
    struct esi_data block;

    if (run->call.kind != ES_TREE_ALLGATHER) {
        load_lane(lane, &run->own, run->spare, run->own.count);
        return;
    }
    block = block_of(run, leaf);
    load_lane(lane, &block, block.base, block.count);
}

static void aim_neighbour(struct esi_tree_run *run)
{
    int leaf = run->exchange.neighbour;

    if (run->step == 0) {
        aim_lane(&run->lanes[FROM], ESI_EDGE_ARRIVAL_UP, leaf);
        load_contribution(run, &run->lanes[FROM], leaf);
    } else {
        aim_lane(&run->lanes[TO], ESI_EDGE_DEPARTURE_DOWN, leaf);
        load_lane(&run->lanes[TO], &run->result, run->result.base, run->result.count);
    }
}

static void aim_step(struct esi_tree_run *run)
{
    int round = run->step - run->child_count;

    run->lanes[FROM].pieces = 0;
    run->lanes[TO].pieces = 0;
    if (run->exchange.is_leaf)
        aim_leaf(run);
    else if (round >= 0 && round < run->exchange.rounds)
        aim_round(run, round);
    else
        aim_neighbour(run);
}

/* --- Messages --------------------------------------------------------------------- */

static int post_arrival(struct esi_tree_run *run, uint64_t start)
{
    struct esi_run_lane *lane = &run->lanes[FROM];
    int result;

    lane->start = start;
    result = ESI_REAL(MPI_Irecv)(lane->base, (int)lane->units, lane->type, lane->peer,
                                 run->call.tag, run->call.comm, &run->requests[FROM]);
    run->outstanding += result == MPI_SUCCESS;
    return result;
}

static int post_departure(struct esi_tree_run *run, uint64_t start, bool waits)
{
    struct esi_run_lane *lane = &run->lanes[TO];
    int count = (int)lane->units;
    int result;

    lane->start = start;
    if (waits) {
        result = ESI_REAL(MPI_Send)(lane->base, count, lane->type, lane->peer,
                                    run->call.tag, run->call.comm);
        if (result == MPI_SUCCESS)
            esi_run_note_end(run, lane);
        return result;
    }
    result = ESI_REAL(MPI_Isend)(lane->base, count, lane->type, lane->peer,
                                 run->call.tag, run->call.comm, &run->requests[TO]);
    run->outstanding += result == MPI_SUCCESS;
    return result;
}

static int post_step(struct esi_tree_run *run, bool waits)
{
    uint64_t start = run->ticks != 0 ? run->ticks : esi_run_now(run);
    int result = MPI_SUCCESS;

    aim_step(run);
    run->is_posted = true;
    if (run->lanes[FROM].pieces > 0)
        result = post_arrival(run, start);
    if (run->lanes[TO].pieces > 0 && result == MPI_SUCCESS)
        result = post_departure(run, start, waits);
    return result;
}

static int complete_message(struct esi_tree_run *run, int index, bool waits)
{
    MPI_Request *request = &run->requests[index];
    int done = 1;
    int result;

    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (waits) {
        esi_run_show(run, &run->lanes[index]);
        result = ESI_REAL(MPI_Wait)(request, MPI_STATUS_IGNORE);
    } else {
        result = ESI_REAL(MPI_Test)(request, &done, MPI_STATUS_IGNORE);
    }
    if (result == MPI_SUCCESS && done) {
        run->outstanding--;
        esi_run_note_end(run, &run->lanes[index]);
    }
    return result;
}

/* Ends a step whose messages are complete. */
static int end_step(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    if (run->call.kind == ES_TREE_ALLREDUCE && run->is_root &&
        run->lanes[FROM].pieces > 0) {
        result = combine_values(run);
        run->ticks = 0; /* it took time */
    }
    run->is_posted = false;
    run->step++;
    run->left--;
    return result;
}

/* --- From begin to end ------------------------------------------------------------ */

int esi_run_prepare_exchange(struct esi_tree_run *run)
{
    struct esi_exchange exchange =
        esi_exchange_of(run->call.tree->size, run->call.rank);
    MPI_Aint step;

    run->is_exchange = true;
    run->exchange = exchange;
    run->is_root = !exchange.is_leaf;
    run->parent = exchange.is_leaf ? exchange.neighbour : -1;
    run->child_count = run->is_root && exchange.neighbour >= 0;
    run->lanes = run->inline_lanes;
    run->lanes[FROM].sends = false;
    run->lanes[TO].sends = true;
    run->lane_count = LANE_COUNT;
    run->window = 1;
    run->requests = run->inline_requests;
    run->requests[FROM] = MPI_REQUEST_NULL;
    run->requests[TO] = MPI_REQUEST_NULL;
    if (run->call.kind == ES_TREE_BARRIER)
        run->own.type = run->result.type = MPI_BYTE;
    if (run->call.kind != ES_TREE_ALLREDUCE || !run->is_root)
        return MPI_SUCCESS;
    return esi_run_typed_memory(run, run->own.count, 1, &run->scratch, &step);
}

/* Determines the addresses of the program's memory for this call. */
static void find_memory(struct esi_tree_run *run)
{
    const struct esi_tree_call *call = &run->call;

    run->result.base = call->receive;
    run->own.base = run->in_place ? call->receive : (char *)(uintptr_t)call->send;
    if (run->in_place && call->kind == ES_TREE_ALLGATHER)
        run->own.base += call->rank * call->receive_count * run->result.extent;
}

int esi_run_start_exchange(struct esi_tree_run *run)
{
    run->step = 0;
    run->left = step_count(run);
    run->ticks = 0;
    find_memory(run);
    if (run->call.kind == ES_TREE_BARRIER || !run->is_root)
        return MPI_SUCCESS;
    return run->call.kind == ES_TREE_ALLREDUCE ? place_value(run) : place_block(run);
}

int esi_run_advance_exchange(struct esi_tree_run *run, bool waits)
{
    int result = MPI_SUCCESS;

    while (run->left > 0 && result == MPI_SUCCESS) {
        if (!run->is_posted)
            result = post_step(run, waits);
        for (int i = 0; i < LANE_COUNT && result == MPI_SUCCESS; i++)
            result = complete_message(run, i, waits);
        if (run->outstanding > 0)
            break;
        if (result == MPI_SUCCESS)
            result = end_step(run);
    }
    return result;
}
