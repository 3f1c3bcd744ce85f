/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * One collective operation over a tree: interprets its arguments, selects its phases,
 * and runs it from begin to end.
 *
 * The engine posts pieces when they are ready, and completes those that have arrived.
 * All edges are served at the same time.  Each lane has at most `window` pieces in
 * flight, which are distinguished only by their order; MPI preserves it.
 */
#include "config.h"

#include "wrappers/trees/tree_run.h"

#include <stdlib.h>
#include <string.h>

#include "wrappers/trees/run_private.h"

/* --- Recording -------------------------------------------------------------------- */

void esi_run_show(struct esi_tree_run *run, const struct esi_run_lane *lane)
{
    const struct esi_tree_observer *observer = run->call.observer;

    if (observer != NULL && observer->open != NULL)
        observer->open(observer->data, lane->event, lane->peer, lane->start);
}

void esi_run_note_end(struct esi_tree_run *run, const struct esi_run_lane *lane)
{
    const struct esi_tree_observer *observer = run->call.observer;

    run->ticks = esi_run_now(run);
    if (observer != NULL)
        observer->record(observer->data, lane->event, lane->peer, lane->start,
                         run->ticks, lane->bytes);
}

/* Waiting for the parent begins when nothing is left to be sent to it. */
static void note_lane_end(struct esi_tree_run *run, const struct esi_run_lane *lane)
{
    struct esi_run_lane *parent = run->down_from;

    esi_run_note_end(run, lane);
    if (lane == run->up_to && parent != NULL && parent->posted > 0 && parent->done == 0)
        parent->start = run->ticks;
}

/* Shows the first lane that is waited for. */
static void show_awaited(struct esi_tree_run *run)
{
    for (int i = 0; i < run->lane_count; i++) {
        const struct esi_run_lane *lane = &run->lanes[i];

        if (lane->posted == lane->done)
            continue;
        if (lane != run->shown)
            esi_run_show(run, lane);
        run->shown = lane;
        return;
    }
}

/* --- Posting ---------------------------------------------------------------------- */

static int prepare_requests(struct esi_tree_run *run)
{
    size_t count;

    run->window = 1;
    for (int i = 0; i < run->lane_count; i++) {
        MPI_Count pieces = run->lanes[i].pieces;

        run->left += pieces > 0;
        if (pieces > run->window)
            run->window = pieces < ESI_RUN_WINDOW ? (int)pieces : ESI_RUN_WINDOW;
    }
    count = (size_t)run->lane_count * (size_t)run->window;
    run->requests = run->inline_requests;
    run->statuses = run->inline_statuses;
    run->indices = run->inline_indices;
    if (count > ESI_RUN_REQUESTS) {
        run->requests = esi_run_alloc(run, count * sizeof *run->requests);
        run->statuses = esi_run_alloc(run, count * sizeof *run->statuses);
        run->indices = esi_run_alloc(run, count * sizeof *run->indices);
        if (run->requests == NULL || run->statuses == NULL || run->indices == NULL)
            return MPI_ERR_NO_MEM;
    }
    for (size_t i = 0; i < count; i++)
        run->requests[i] = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static MPI_Request *request_of(struct esi_tree_run *run, int lane, MPI_Count piece)
{
    return &run->requests[lane * run->window + (int)(piece % run->window)];
}

static int post_piece(struct esi_tree_run *run, int index)
{
    struct esi_run_lane *lane = &run->lanes[index];
    MPI_Request *request = request_of(run, index, lane->posted);
    char *piece = esi_run_lane_piece(lane, lane->posted);
    int count = (int)esi_run_lane_count(lane, lane->posted);
    int result;

    if (lane->posted == 0)
        lane->start = esi_run_now(run);
    if (lane->sends)
        result = ESI_REAL(MPI_Isend)(piece, count, lane->type, lane->peer,
                                     run->call.tag, run->call.comm, request);
    else
        result = ESI_REAL(MPI_Irecv)(piece, count, lane->type, lane->peer,
                                     run->call.tag, run->call.comm, request);
    if (result == MPI_SUCCESS) {
        lane->posted++;
        run->outstanding++;
    }
    return result;
}

static int post_ready(struct esi_tree_run *run, int index)
{
    struct esi_run_lane *lane = &run->lanes[index];
    const struct esi_run_phase *phase = index < run->down_first ? run->up : run->down;
    MPI_Count ready;
    int result = MPI_SUCCESS;

    if (lane->posted == lane->pieces)
        return MPI_SUCCESS;
    ready = phase->ready(run, lane);
    if (ready > lane->pieces)
        ready = lane->pieces;
    if (ready > lane->done + run->window)
        ready = lane->done + run->window;
    while (lane->posted < ready && result == MPI_SUCCESS)
        result = post_piece(run, index);
    return result;
}

/* Does the work of the phases, and posts all pieces that are ready. */
static int post_pieces(struct esi_tree_run *run)
{
    int result = MPI_SUCCESS;

    if (run->up != NULL)
        result = run->up->work(run);
    if (run->down != NULL && result == MPI_SUCCESS)
        result = run->down->work(run);
    for (int i = 0; i < run->lane_count && result == MPI_SUCCESS; i++)
        result = post_ready(run, i);
    return result;
}

/* --- Completing ------------------------------------------------------------------- */

static void note_completion(struct esi_tree_run *run, int index)
{
    struct esi_run_lane *lane = &run->lanes[index];

    run->outstanding--;
    if (esi_run_lane_is_done(lane))
        return; /* pieces completed after later ones */
    while (lane->done < lane->posted &&
           *request_of(run, index, lane->done) == MPI_REQUEST_NULL)
        lane->done++;
    if (esi_run_lane_is_done(lane)) {
        run->left--;
        note_lane_end(run, lane);
    }
}

/* The error of the first failed request, for MPI_ERR_IN_STATUS. */
static int first_error(const struct esi_tree_run *run, int count)
{
    for (int i = 0; i < count; i++)
        if (run->statuses[i].MPI_ERROR != MPI_SUCCESS &&
            run->statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            return run->statuses[i].MPI_ERROR;
    return MPI_ERR_OTHER;
}

/* Completes what has arrived; if `waits`, first waits for something. */
static int complete_pieces(struct esi_tree_run *run, bool waits)
{
    int all = run->lane_count * run->window;
    int count = 0;
    int result;

    if (run->outstanding == 0)
        return MPI_ERR_INTERN; /* would wait forever: an internal error */
    if (waits)
        show_awaited(run);
    if (waits)
        result = ESI_REAL(MPI_Waitsome)(all, run->requests, &count, run->indices,
                                        run->statuses);
    else
        result = ESI_REAL(MPI_Testsome)(all, run->requests, &count, run->indices,
                                        run->statuses);
    if (result == MPI_ERR_IN_STATUS)
        return first_error(run, count);
    if (result != MPI_SUCCESS)
        return result;
    for (int i = 0; i < count; i++)
        note_completion(run, run->indices[i] / run->window);
    return MPI_SUCCESS;
}

/* After an error the messages are left to MPI.  Receives are cancelled, so that nothing
 * more is stored in the program's memory. */
static void abandon_requests(struct esi_tree_run *run)
{
    for (int i = 0; i < run->lane_count * run->window; i++) {
        if (run->requests[i] == MPI_REQUEST_NULL)
            continue;
        if (!run->lanes[i / run->window].sends)
            ESI_REAL(MPI_Cancel)(&run->requests[i]);
        ESI_REAL(MPI_Request_free)(&run->requests[i]);
    }
}

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

/* --- Arguments -------------------------------------------------------------------- */

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

/* One type and count on all sides. */
static int read_reduction(struct esi_tree_run *run)
{
    int result = read_receive(run, run->call.receive_count);

    run->own = run->result;
    if (!run->in_place)
        run->own.base = (char *)(uintptr_t)run->call.send;
    return result;
}

/* With MPI_IN_PLACE the send arguments are not significant; the receive arguments only
 * are at the root. */
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

/* Returns whether there is data to transfer, even if there are no other ranks. */
static bool has_payload(const struct esi_tree_run *run)
{
    return run->call.kind == ES_TREE_BARRIER || run->own.bytes > 0 ||
           run->result.bytes > 0;
}

/* --- Lanes ------------------------------------------------------------------------ */

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
static void add_lanes_up(struct esi_tree_run *run)
{
    run->up_from = run->lanes;
    for (int i = 0; i < run->child_count; i++)
        add_lane(run, ESI_EDGE_ARRIVAL_UP, run->children[i]);
    if (!run->is_root)
        run->up_to = add_lane(
            run, run->child_count > 0 ? ESI_EDGE_DEPARTURE_UP : ESI_EDGE_CONTRIBUTE,
            run->parent);
}

static void add_lanes_down(struct esi_tree_run *run)
{
    if (!run->is_root)
        run->down_from = add_lane(run, ESI_EDGE_ARRIVAL_DOWN, run->parent);
    run->down_to = run->lanes + run->lane_count;
    for (int i = 0; i < run->child_count; i++)
        add_lane(run, ESI_EDGE_DEPARTURE_DOWN, run->children[i]);
}

static int make_lanes(struct esi_tree_run *run)
{
    int phases = (run->up != NULL) + (run->down != NULL);
    size_t count = (size_t)phases * ((size_t)run->child_count + 1);

    run->lanes = run->inline_lanes;
    if (count > ESI_RUN_LANES)
        run->lanes = esi_run_alloc(run, count * sizeof *run->lanes);
    if (run->lanes == NULL)
        return MPI_ERR_NO_MEM;
    if (run->up != NULL)
        add_lanes_up(run);
    run->down_first = run->lane_count;
    if (run->down != NULL)
        add_lanes_down(run);
    return MPI_SUCCESS;
}

/* --- From begin to end ------------------------------------------------------------ */

/* Large messages use the tree, where they are divided. */
static bool is_exchange(const struct esi_tree_run *run)
{
    enum esi_tree_kind kind = run->call.kind;

    return run->call.tree->exchanges && run->result.bytes <= run->piece_bytes &&
           (kind == ES_TREE_BARRIER || kind == ES_TREE_ALLREDUCE ||
            kind == ES_TREE_ALLGATHER);
}

static int choose_fold(struct esi_tree_run *run)
{
    int commutes;
    int result;

    if (run->up != &esi_run_reduce || run->call.kind == ES_TREE_BARRIER)
        return MPI_SUCCESS;
    result = ESI_REAL(MPI_Op_commutative)(run->call.op, &commutes);
    if (result == MPI_SUCCESS && !commutes)
        run->up = &esi_run_fold;
    return result;
}

static int set_up_run(struct esi_tree_run *run)
{
    int result = read_arguments(run);

    if (result != MPI_SUCCESS || !has_payload(run))
        return result;
    if (is_exchange(run)) {
        result = esi_run_prepare_exchange(run);
        return result == MPI_SUCCESS ? esi_run_start_exchange(run) : result;
    }
    result = choose_fold(run);
    if (result == MPI_SUCCESS)
        result = make_lanes(run);
    if (result == MPI_SUCCESS && run->up != NULL)
        result = run->up->set_up(run);
    if (result == MPI_SUCCESS && run->down != NULL)
        result = run->down->set_up(run);
    if (result == MPI_SUCCESS)
        result = prepare_requests(run);
    return result;
}

/* Records the contribution of this rank if no message shows it: at inner nodes and at
 * the root. */
static void record_own(struct esi_tree_run *run, uint64_t start)
{
    const struct esi_tree_observer *observer = run->call.observer;
    bool is_leaf = run->child_count == 0 && !run->is_root;
    bool is_result = run->call.kind == ES_TREE_BCAST;

    if (observer == NULL || is_leaf || (run->up == NULL && !run->is_root))
        return;
    run->ticks = observer->now();
    observer->record(observer->data, ESI_EDGE_CONTRIBUTE, run->parent, start,
                     run->ticks,
                     (uint64_t)(is_result ? run->result.bytes : run->own.bytes));
}

/* Everything that can fail for lack of memory is done before the first message.  An
 * exchange that `waits` runs to its end. */
static int init_run(struct esi_tree_run *run,
                    const struct esi_tree_call *call,
                    bool waits)
{
    const struct esi_tree *tree = call->tree;
    uint64_t start;
    int result;

    memset(run, 0, offsetof(struct esi_tree_run, inline_lanes));
    run->call = *call;
    start = call->start != 0 ? call->start : esi_run_now(run);
    run->up = kinds[call->kind].up;
    run->down = kinds[call->kind].down;
    run->is_root = tree->root == call->rank;
    run->parent = tree->parents[call->rank];
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
    record_own(run, start);
    run->error =
        run->is_exchange ? esi_run_advance_exchange(run, waits) : post_pieces(run);
    return MPI_SUCCESS;
}

/* Memory that MPI may still write or read is not freed. */
static void release_run(struct esi_tree_run *run)
{
    if (run->outstanding > 0)
        abandon_requests(run);
    else
        esi_run_free_blocks(run);
}

static int create_run(const struct esi_tree_call *call,
                      bool waits,
                      struct esi_tree_run **ret_run)
{
    struct esi_tree_run *run = malloc(sizeof *run);
    int result = MPI_ERR_NO_MEM;

    *ret_run = NULL;
    if (run != NULL)
        result = init_run(run, call, waits);
    if (result != MPI_SUCCESS) {
        free(run);
        return result;
    }
    *ret_run = run;
    return run->error;
}

int esi_tree_run_begin(const struct esi_tree_call *call, struct esi_tree_run **ret_run)
{
    return create_run(call, false, ret_run);
}

/* If `waits`, first waits for something. */
static void advance_run(struct esi_tree_run *run, bool waits)
{
    if (run->error != MPI_SUCCESS || run->left == 0)
        return;
    if (run->is_exchange) {
        run->error = esi_run_advance_exchange(run, waits);
        return;
    }
    run->error = complete_pieces(run, waits);
    if (run->error == MPI_SUCCESS)
        run->error = post_pieces(run);
}

int esi_tree_run_step(struct esi_tree_run *run, bool *ret_done)
{
    advance_run(run, false);
    *ret_done = run->left == 0;
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

static void wait_run(struct esi_tree_run *run)
{
    while (run->error == MPI_SUCCESS && run->left > 0)
        advance_run(run, true);
}

static int run_once(const struct esi_tree_call *call)
{
    struct esi_tree_run run;
    int result = init_run(&run, call, true);

    if (result != MPI_SUCCESS)
        return result;
    wait_run(&run);
    release_run(&run);
    return run.error;
}

/* Runs an exchange again, to its end. */
static void repeat_run(struct esi_tree_run *run, const struct esi_tree_call *call)
{
    run->call.tag = call->tag;
    run->call.observer = call->observer;
    run->call.send = call->send;
    run->call.receive = call->receive;
    run->error = esi_run_start_exchange(run);
    if (run->error != MPI_SUCCESS)
        return;
    record_own(run, call->start != 0 ? call->start : esi_run_now(run));
    run->error = esi_run_advance_exchange(run, true);
}

int esi_tree_run(const struct esi_tree_call *call, struct esi_tree_run **kept)
{
    struct esi_tree_run *run = *kept;
    int result = MPI_SUCCESS;

    if (!call->tree->exchanges)
        return run_once(call);
    if (run != NULL)
        repeat_run(run, call);
    else
        result = create_run(call, true, &run);
    if (result != MPI_SUCCESS)
        return result;
    wait_run(run);
    result = run->error;
    *kept = run;
    if (!run->is_exchange || result != MPI_SUCCESS) {
        esi_tree_run_end(run);
        *kept = NULL;
    }
    return result;
}
