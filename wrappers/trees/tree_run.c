/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One collective operation over a tree: what its arguments mean, which phases it
 * has, and its course from begin to end.
 */
#include "config.h"

#include "wrappers/trees/tree_run.h"

#include <stdlib.h>
#include <string.h>

#include "wrappers/trees/run_private.h"

static const struct {
    const struct esi_run_phase *up;
    const struct esi_run_phase *down;
} kinds[ES_TREE_KIND_COUNT] = {
    [ES_TREE_BARRIER] = {&esi_run_reduce, &esi_run_bcast},
    [ES_TREE_BCAST] = {NULL, &esi_run_bcast},
    [ES_TREE_REDUCE] = {&esi_run_reduce, NULL},
    [ES_TREE_ALLREDUCE] = {&esi_run_reduce, &esi_run_bcast},
    [ES_TREE_GATHER] = {&esi_run_gather, NULL},
    [ES_TREE_SCATTER] = {NULL, &esi_run_scatter},
    [ES_TREE_ALLGATHER] = {&esi_run_gather, &esi_run_bcast},
};

/* --- Arguments ------------------------------------------------------------------ */

static int read_send(struct esi_tree_run *run)
{
    const struct esi_tree_call *call = &run->call;

    return esi_data_init(&run->own, call->send, call->send_count, call->send_type);
}

static int read_receive(struct esi_tree_run *run, MPI_Count count)
{
    const struct esi_tree_call *call = &run->call;

    return esi_data_init(&run->result, call->receive, count, call->receive_type);
}

/* One type and count, everywhere. */
static int read_reduction(struct esi_tree_run *run)
{
    int commutes;
    int result = read_receive(run, run->call.receive_count);

    run->own = run->result;
    if (!run->in_place)
        run->own.base = (char *)(uintptr_t)run->call.send;
    if (result == MPI_SUCCESS)
        result = ESI_REAL(MPI_Op_commutative)(run->call.op, &commutes);
    if (result == MPI_SUCCESS && !commutes)
        run->up = &esi_run_fold;
    return result;
}

/* The send arguments mean nothing in place, and the receive arguments only at the root.
 */
static int read_gather(struct esi_tree_run *run)
{
    bool has_result = run->is_root || run->call.kind == ES_TREE_ALLGATHER;
    MPI_Count count = run->call.receive_count;
    int result = MPI_SUCCESS;

    if (has_result)
        result = read_receive(run, run->call.tree->size * count);
    if (result != MPI_SUCCESS || !run->in_place)
        return result != MPI_SUCCESS ? result : read_send(run);
    run->own = esi_data_part(&run->result, run->call.rank * count, count);
    return MPI_SUCCESS;
}

static int read_scatter(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    if (run->is_root)
        result = read_send(run);
    if (result == MPI_SUCCESS && !run->in_place)
        result = read_receive(run, run->call.receive_count);
    return result;
}

static int read_arguments(struct esi_tree_run *run)
{
    const struct esi_tree_call *call = &run->call;

    run->in_place = call->kind == ES_TREE_SCATTER
                        ? run->is_root && call->receive == MPI_IN_PLACE
                    : call->kind == ES_TREE_BARRIER ? false
                    : call->kind == ES_TREE_BCAST   ? false
                                                    : call->send == MPI_IN_PLACE;
    switch (call->kind) {
    case ES_TREE_BCAST:
        return read_receive(run, call->receive_count);
    case ES_TREE_REDUCE:
    case ES_TREE_ALLREDUCE:
        return read_reduction(run);
    case ES_TREE_GATHER:
    case ES_TREE_ALLGATHER:
        return read_gather(run);
    case ES_TREE_SCATTER:
        return read_scatter(run);
    default:
        return MPI_SUCCESS;
    }
}

/* Whether anything travels, or would if there were other ranks. */
static bool has_payload(const struct esi_tree_run *run)
{
    return run->call.kind == ES_TREE_BARRIER || run->own.bytes > 0 ||
           run->result.bytes > 0;
}

/* --- Lanes ---------------------------------------------------------------------- */

static void name_lane(struct esi_run_lane *lane, enum esi_edge_event event, int peer)
{
    *lane = (struct esi_run_lane){
        .event = event,
        .peer = peer,
        .sends = event == ESI_EDGE_CONTRIBUTE || event == ESI_EDGE_DEPARTURE_UP ||
                 event == ESI_EDGE_DEPARTURE_DOWN,
    };
}

static struct esi_run_lane *add_lane(struct esi_tree_run *run,
                                     enum esi_edge_event event,
                                     int peer)
{
    struct esi_run_lane *lane = &run->lanes[run->lane_count++];

    name_lane(lane, event, peer);
    return lane;
}

/* A leaf sends its own contribution to its parent and nothing else. */
static void add_lanes_up(struct esi_tree_run *run, int parent)
{
    run->up_from = run->lanes;
    for (int i = 0; i < run->child_count; i++)
        add_lane(run, ESI_EDGE_ARRIVAL_UP, run->children[i]);
    if (!run->is_root)
        run->up_to = add_lane(
            run, run->child_count > 0 ? ESI_EDGE_DEPARTURE_UP : ESI_EDGE_CONTRIBUTE,
            parent);
}

static void add_lanes_down(struct esi_tree_run *run, int parent)
{
    if (!run->is_root)
        run->down_from = add_lane(run, ESI_EDGE_ARRIVAL_DOWN, parent);
    run->down_to = run->lanes + run->lane_count;
    for (int i = 0; i < run->child_count; i++)
        add_lane(run, ESI_EDGE_DEPARTURE_DOWN, run->children[i]);
}

static int make_lanes(struct esi_tree_run *run)
{
    int parent = run->call.tree->parents[run->call.rank];
    int phases = (run->up != NULL) + (run->down != NULL);
    size_t count = (size_t)phases * ((size_t)run->child_count + 1);

    run->lanes = run->inline_lanes;
    if (count > ESI_RUN_LANES)
        run->lanes = esi_run_alloc(run, count * sizeof *run->lanes);
    if (run->lanes == NULL)
        return MPI_ERR_NO_MEM;
    if (run->up != NULL)
        add_lanes_up(run, parent);
    run->down_first = run->lane_count;
    if (run->down != NULL)
        add_lanes_down(run, parent);
    return MPI_SUCCESS;
}

/* --- From begin to end ---------------------------------------------------------- */

static int set_up_run(struct esi_tree_run *run)
{
    int result = read_arguments(run);

    if (result != MPI_SUCCESS || !has_payload(run))
        return result;
    result = make_lanes(run);
    if (result == MPI_SUCCESS && run->up != NULL)
        result = run->up->set_up(run);
    if (result == MPI_SUCCESS && run->down != NULL)
        result = run->down->set_up(run);
    if (result == MPI_SUCCESS)
        result = esi_run_prepare_requests(run);
    return result;
}

/* What this rank brings in, where no message of its own shows it: at inner nodes, and
 * at the root. */
static void record_own(const struct esi_tree_run *run, uint64_t start)
{
    const struct esi_tree_observer *observer = run->call.observer;
    bool is_leaf = run->child_count == 0 && !run->is_root;

    if (is_leaf || (run->up == NULL && !run->is_root))
        return;
    observer->record(observer->data, ESI_EDGE_CONTRIBUTE,
                     run->call.tree->parents[run->call.rank], start, observer->now(),
                     (uint64_t)(run->call.kind == ES_TREE_BCAST ? run->result.bytes
                                                                : run->own.bytes));
}

/* Everything that can fail for want of memory comes before the first message. */
static int init_run(struct esi_tree_run *run, const struct esi_tree_call *call)
{
    const struct esi_tree *tree = call->tree;
    bool observed = call->observer != NULL && call->observer->record != NULL &&
                    call->observer->now != NULL;
    uint64_t start = observed ? call->observer->now() : 0;
    int result;

    memset(run, 0, offsetof(struct esi_tree_run, inline_lanes));
    run->call = *call;
    run->up = kinds[call->kind].up;
    run->down = kinds[call->kind].down;
    run->is_root = tree->root == call->rank;
    run->child_count = esi_tree_child_count(tree, call->rank);
    run->children = esi_tree_children(tree, call->rank);
    run->piece_bytes = ESI_RUN_MESSAGE_MAX;
    if (call->segment_bytes > 0 && call->segment_bytes < (uint64_t)ESI_RUN_MESSAGE_MAX)
        run->piece_bytes = (MPI_Count)call->segment_bytes;
    result = set_up_run(run);
    if (result != MPI_SUCCESS) {
        esi_run_free_blocks(run);
        return result;
    }
    if (!has_payload(run))
        return MPI_SUCCESS;
    if (observed)
        record_own(run, start);
    run->error = esi_run_post_pieces(run);
    return MPI_SUCCESS;
}

/* What was not completed may still be written to, or read, by MPI: it stays. */
static void release_run(struct esi_tree_run *run)
{
    if (run->outstanding > 0)
        esi_run_abandon(run);
    else
        esi_run_free_blocks(run);
}

int esi_tree_run_begin(const struct esi_tree_call *call, struct esi_tree_run **ret_run)
{
    struct esi_tree_run *run = malloc(sizeof *run);
    int result = MPI_ERR_NO_MEM;

    *ret_run = NULL;
    if (run != NULL)
        result = init_run(run, call);
    if (result != MPI_SUCCESS) {
        free(run);
        return result;
    }
    *ret_run = run;
    return run->error;
}

int esi_tree_run_step(struct esi_tree_run *run, bool *ret_done)
{
    *ret_done = false;
    if (run->error == MPI_SUCCESS && run->lanes_left > 0) {
        run->error = esi_run_complete_pieces(run, false);
        if (run->error == MPI_SUCCESS)
            run->error = esi_run_post_pieces(run);
    }
    *ret_done = run->lanes_left == 0;
    return run->error;
}

int esi_tree_run_wait(struct esi_tree_run *run)
{
    while (run->error == MPI_SUCCESS && run->lanes_left > 0) {
        run->error = esi_run_complete_pieces(run, true);
        if (run->error == MPI_SUCCESS)
            run->error = esi_run_post_pieces(run);
    }
    return run->error;
}

void esi_tree_run_end(struct esi_tree_run *run)
{
    bool stays;

    if (run == NULL)
        return;
    stays = run->outstanding > 0;
    release_run(run);
    if (!stays)
        free(run);
}

int esi_tree_run(const struct esi_tree_call *call)
{
    struct esi_tree_run run;
    int result = init_run(&run, call);

    if (result != MPI_SUCCESS)
        return result;
    result = esi_tree_run_wait(&run);
    release_run(&run);
    return result;
}
