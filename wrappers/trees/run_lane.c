/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Lanes: posting pieces as they get ready, and completing what has arrived.
 *
 * All edges are served at once.  On a lane at most `window` pieces are under way.
 * Their order alone tells them apart, and MPI keeps it.
 */
#include "config.h"

#include <stdlib.h>

#include "wrappers/trees/run_private.h"

/* --- What a lane carries -------------------------------------------------------- */

char *esi_run_lane_piece(const struct esi_run_lane *lane, MPI_Count piece)
{
    MPI_Count slot = lane->ring > 0 ? piece % lane->ring : piece;

    return lane->base + (MPI_Aint)slot * lane->step;
}

MPI_Count esi_run_lane_count(const struct esi_run_lane *lane, MPI_Count piece)
{
    MPI_Count left = lane->units - piece * lane->per_piece;

    return left < lane->per_piece ? left : lane->per_piece;
}

void esi_run_lane_set_typed(struct esi_run_lane *lane,
                            const struct esi_data *data,
                            MPI_Count per_piece)
{
    lane->type = data->type;
    lane->base = data->base;
    lane->step = (MPI_Aint)per_piece * data->extent;
    lane->ring = 0;
    lane->units = data->count;
    lane->per_piece = per_piece > 0 ? per_piece : 1;
    lane->pieces = data->count / lane->per_piece + (data->count % lane->per_piece != 0);
    lane->bytes = (uint64_t)data->bytes;
}

void esi_run_lane_set_bytes(struct esi_run_lane *lane,
                            MPI_Count piece_bytes,
                            char *base,
                            MPI_Count bytes)
{
    struct esi_data data = {
        .base = base, .count = bytes, .type = MPI_PACKED, .extent = 1, .bytes = bytes};

    esi_run_lane_set_typed(lane, &data, piece_bytes);
}

bool esi_run_lane_set_direct(struct esi_run_lane *lane,
                             MPI_Count piece_bytes,
                             struct esi_data *data,
                             bool typed)
{
    if (typed && data->bytes <= piece_bytes)
        esi_run_lane_set_typed(lane, data, data->count);
    else if (esi_data_is_plain(data))
        esi_run_lane_set_bytes(lane, piece_bytes, data->base, data->bytes);
    else
        return false;
    return true;
}

MPI_Count esi_run_lane_bytes_done(const struct esi_run_lane *lane)
{
    return esi_run_lane_is_done(lane) ? (MPI_Count)lane->bytes
                                      : lane->done * lane->per_piece;
}

/* --- Recording ------------------------------------------------------------------ */

static void note_start(const struct esi_tree_run *run, struct esi_run_lane *lane)
{
    if (run->call.observer != NULL && run->call.observer->now != NULL)
        lane->start = run->call.observer->now();
}

/* Waiting for the parent begins when nothing is left to be sent to it. */
static void note_end(struct esi_tree_run *run, struct esi_run_lane *lane)
{
    const struct esi_tree_observer *observer = run->call.observer;
    uint64_t stop;

    if (observer == NULL || observer->now == NULL || observer->record == NULL)
        return;
    stop = observer->now();
    observer->record(observer->data, lane->event, lane->peer, lane->start, stop,
                     lane->bytes);
    if (lane == run->up_to && run->down_from != NULL && run->down_from->posted > 0 &&
        run->down_from->done == 0)
        run->down_from->start = stop;
}

/* Shows what is waited for first. */
static void show_awaited(struct esi_tree_run *run)
{
    const struct esi_tree_observer *observer = run->call.observer;

    if (observer == NULL || observer->open == NULL)
        return;
    for (int i = 0; i < run->lane_count; i++) {
        const struct esi_run_lane *lane = &run->lanes[i];

        if (lane->posted == lane->done)
            continue;
        if (lane != run->shown)
            observer->open(observer->data, lane->event, lane->peer, lane->start);
        run->shown = lane;
        return;
    }
}

/* --- Posting -------------------------------------------------------------------- */

int esi_run_prepare_requests(struct esi_tree_run *run)
{
    size_t count;

    run->window = 1;
    for (int i = 0; i < run->lane_count; i++) {
        MPI_Count pieces = run->lanes[i].pieces;

        run->lanes_left += pieces > 0;
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
        note_start(run, lane);
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

int esi_run_post_pieces(struct esi_tree_run *run)
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

/* --- Taking --------------------------------------------------------------------- */

static void note_completion(struct esi_tree_run *run, int index)
{
    struct esi_run_lane *lane = &run->lanes[index];

    run->outstanding--;
    if (esi_run_lane_is_done(lane))
        return; /* pieces that were completed later than those behind them */
    while (lane->done < lane->posted &&
           *request_of(run, index, lane->done) == MPI_REQUEST_NULL)
        lane->done++;
    if (esi_run_lane_is_done(lane)) {
        run->lanes_left--;
        note_end(run, lane);
    }
}

/* The reason behind MPI_ERR_IN_STATUS. */
static int first_error(const struct esi_tree_run *run, int count)
{
    for (int i = 0; i < count; i++)
        if (run->statuses[i].MPI_ERROR != MPI_SUCCESS &&
            run->statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            return run->statuses[i].MPI_ERROR;
    return MPI_ERR_OTHER;
}

int esi_run_complete_pieces(struct esi_tree_run *run, bool waits)
{
    int all = run->lane_count * run->window;
    int count = 0;
    int result;

    if (run->outstanding == 0)
        return MPI_ERR_INTERN; /* would wait for ever: our own mistake */
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

/* Receives are called back, so that nothing more comes into the program's memory. */
void esi_run_abandon(struct esi_tree_run *run)
{
    for (int i = 0; i < run->lane_count * run->window; i++) {
        if (run->requests[i] == MPI_REQUEST_NULL)
            continue;
        if (!run->lanes[i / run->window].sends)
            ESI_REAL(MPI_Cancel)(&run->requests[i]);
        ESI_REAL(MPI_Request_free)(&run->requests[i]);
    }
}
