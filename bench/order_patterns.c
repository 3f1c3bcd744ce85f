/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_patterns.c - who sends to whom in a step of each pattern. */
#include "config.h"

#include "bench/order_patterns.h"

#include <stddef.h>

static const uint32_t NOBODY = UINT32_MAX;

static struct es_event_id send(struct order_stream *stream, uint32_t rank)
{
    return order_emit(stream, rank, ES_EVENT_SEND, NULL, 0);
}

static void receive(struct order_stream *stream, uint32_t rank, struct es_event_id from)
{
    order_emit(stream, rank, ES_EVENT_RECEIVE, &from, 1);
}

static void compute(struct order_stream *stream, uint32_t rank)
{
    order_emit(stream, rank, ES_EVENT_UNARY, NULL, 0);
}

static void message(struct order_stream *stream, uint32_t from, uint32_t to)
{
    receive(stream, to, send(stream, from));
}

/* --- Grids ------------------------------------------------------------------------ */

/* Opposite directions stand side by side. */
static const int directions[ORDER_DIRECTIONS][3] = {
    {0, 0, 1}, {0, 0, -1}, {0, 1, 0}, {0, -1, 0},
    {1, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {0, 0, 0},
};
static const int flat_directions[ORDER_DIRECTIONS][3] = {
    {0, 1, 0}, {0, -1, 0},  {1, 0, 0},  {-1, 0, 0},
    {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0},
};

/* Who is next to a rank; NOBODY beyond an edge, and where that is the rank itself. */
static uint32_t neighbour(const struct order_stream *stream,
                          uint32_t rank,
                          const int direction[3],
                          bool is_torus)
{
    uint32_t place[3], left = rank, found = 0;

    for (int i = 2; i >= 0; i--) {
        place[i] = left % stream->sizes[i];
        left /= stream->sizes[i];
    }
    for (int i = 0; i < 3; i++) {
        int64_t size = stream->sizes[i], at = (int64_t)place[i] + direction[i];

        if (!is_torus && (at < 0 || at >= size))
            return NOBODY;
        found = found * stream->sizes[i] + (uint32_t)((at + size) % size);
    }
    return found == rank ? NOBODY : found;
}

/* Everybody sends in all directions and receives from all. */
static void exchange(struct order_stream *stream,
                     const int (*ways)[3],
                     unsigned way_count,
                     bool is_torus)
{
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        for (unsigned way = 0; way < way_count; way++)
            if (neighbour(stream, rank, ways[way], is_torus) != NOBODY)
                stream->sends[rank * ORDER_DIRECTIONS + way] = send(stream, rank).index;
    }
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        for (unsigned way = 0; way < way_count; way++) {
            uint32_t from = neighbour(stream, rank, ways[way], is_torus);

            if (from != NOBODY)
                receive(
                    stream, rank,
                    (struct es_event_id){
                        .trace = from,
                        .index = stream->sends[from * ORDER_DIRECTIONS + (way ^ 1)]});
        }
    }
}

static void stencil_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    exchange(stream, directions, 6, false);
}

static void life_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    exchange(stream, flat_directions, 8, true);
}

static void ring_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        stream->sends[rank] = send(stream, rank).index;
    }
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);
        uint32_t left = (rank + stream->ranks - 1) % stream->ranks;

        receive(stream, rank,
                (struct es_event_id){.trace = left, .index = stream->sends[left]});
    }
}

/* From one corner to the opposite one, each time from another. */
static void wavefront_step(struct order_stream *stream, uint64_t number)
{
    unsigned turn = number % 4;

    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t row = i / stream->sizes[1], column = i % stream->sizes[1], rank;

        row = turn & 2 ? stream->sizes[0] - 1 - row : row;
        column = turn & 1 ? stream->sizes[1] - 1 - column : column;
        rank = row * stream->sizes[1] + column;
        for (unsigned axis = 0; axis < 2; axis++) {
            unsigned back = axis == 0 ? !(turn & 1) : 2 + !(turn & 2);
            uint32_t from = neighbour(stream, rank, flat_directions[back], false);

            if (from != NOBODY)
                receive(stream, rank,
                        (struct es_event_id){
                            .trace = from,
                            .index = stream->sends[from * ORDER_DIRECTIONS + axis]});
        }
        compute(stream, rank);
        for (unsigned axis = 0; axis < 2; axis++) {
            unsigned ahead = axis == 0 ? turn & 1 : 2 + ((turn & 2) >> 1);

            if (neighbour(stream, rank, flat_directions[ahead], false) != NOBODY)
                stream->sends[rank * ORDER_DIRECTIONS + axis] =
                    send(stream, rank).index;
        }
    }
}

/* All-to-all operation of some ranks, who are `stride` apart. */
static void meet(struct order_stream *stream,
                 uint32_t communicator,
                 uint32_t first,
                 uint32_t stride,
                 uint32_t count)
{
    struct es_event_id release;

    for (uint32_t i = 0; i < count; i++)
        stream->partners[i] = send(stream, first + i * stride);
    order_emit(stream, communicator, ES_EVENT_RECEIVE, stream->partners, count);
    release = send(stream, communicator);
    for (uint32_t i = 0; i < count; i++)
        receive(stream, first + i * stride, release);
}

/* As in a Fourier transform of a plane: rows, then columns. */
static void grid_step(struct order_stream *stream, uint64_t number)
{
    uint32_t rows = stream->sizes[0], columns = stream->sizes[1];

    (void)number;
    for (uint32_t row = 0; row < rows; row++)
        meet(stream, stream->ranks + row, row * columns, 1, columns);
    for (uint32_t column = 0; column < columns; column++)
        meet(stream, stream->ranks + rows + column, column, columns, rows);
}

/* --- One and many ----------------------------------------------------------------- */

static void scatter_gather_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    for (uint32_t rank = 1; rank < stream->ranks; rank++)
        stream->sends[rank] = send(stream, 0).index;
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        if (rank == 0)
            continue;
        receive(stream, rank,
                (struct es_event_id){.trace = 0, .index = stream->sends[rank]});
        compute(stream, rank);
        stream->partners[rank] = send(stream, rank);
    }
    for (uint32_t rank = 1; rank < stream->ranks; rank++)
        receive(stream, 0, stream->partners[rank]);
}

/* As many tasks as there are workers, who are done at any time. */
static void master_worker_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    for (uint32_t i = 1; i < stream->ranks; i++) {
        uint32_t worker = 1 + order_draw_below(stream, stream->ranks - 1);

        compute(stream, worker);
        message(stream, worker, 0);
        message(stream, 0, worker);
    }
}

/* --- Anybody ---------------------------------------------------------------------- */

static void random_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    for (uint32_t rank = 0; rank < stream->ranks; rank++) {
        stream->targets[rank] = order_draw_below(stream, stream->ranks);
        stream->sends[rank] = send(stream, rank).index;
    }
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        receive(stream, stream->targets[rank],
                (struct es_event_id){.trace = rank, .index = stream->sends[rank]});
    }
}

enum { TEAM = 12, PHASE = 100, TEAM_WAYS = 2 };

/* The place some places ahead in the team of a place, or behind. */
static uint32_t team_mate(const struct order_stream *stream, uint32_t place, int ahead)
{
    uint32_t first = place - place % TEAM, left = stream->ranks - first;
    int64_t size = left < TEAM ? left : TEAM;

    return first + (uint32_t)(((int64_t)(place - first) + ahead + size) % size);
}

/* Some ranks change places. */
static void repartition(struct order_stream *stream)
{
    for (uint32_t i = 0; i < stream->ranks / TEAM; i++) {
        uint32_t a = order_draw_below(stream, stream->ranks);
        uint32_t b = order_draw_below(stream, stream->ranks);
        uint32_t rank = stream->targets[a];

        stream->targets[a] = stream->targets[b];
        stream->targets[b] = rank;
    }
}

/* Places have teams that exchange; who is at which place is in `targets`. */
static void drift_step(struct order_stream *stream, uint64_t number)
{
    for (uint32_t i = 0; number == 1 && i < stream->ranks; i++)
        stream->targets[i] = i;
    if (number % PHASE == 0)
        repartition(stream);
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = stream->targets[i];

        for (int way = 0; way < TEAM_WAYS; way++)
            stream->sends[rank * ORDER_DIRECTIONS + (uint32_t)way] =
                send(stream, rank).index;
    }
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t place = order_visit(stream, i);

        for (int way = 0; way < TEAM_WAYS; way++) {
            uint32_t from = stream->targets[team_mate(stream, place, -1 - way)];
            uint32_t index = stream->sends[from * ORDER_DIRECTIONS + (uint32_t)way];

            if (from != stream->targets[place])
                receive(stream, stream->targets[place],
                        (struct es_event_id){.trace = from, .index = index});
        }
    }
    for (uint32_t place = TEAM; place < stream->ranks; place += TEAM)
        message(stream, stream->targets[place - TEAM], stream->targets[place]);
}

/* One of a tier, which most of the time is the one that belongs to the asker. */
static uint32_t pick(struct order_stream *stream,
                     uint32_t first,
                     uint32_t count,
                     uint32_t asker,
                     unsigned loyalty)
{
    if (order_draw_below(stream, 100) < loyalty)
        return first + asker % count;
    return first + order_draw_below(stream, count);
}

/* Databases come first, then applications, front ends and clients. */
static void begin_request(struct order_stream *stream, struct order_request *request)
{
    uint32_t tier = stream->ranks / 16 + 1, clients = stream->ranks - 3 * tier;
    uint32_t *hops = request->hops;

    request->at = 0;
    if (stream->ranks < 8) {
        hops[0] = hops[2] = 1 + order_draw_below(stream, stream->ranks - 1);
        hops[1] = 0;
        request->count = 3;
        return;
    }
    hops[0] = 3 * tier + order_draw_below(stream, clients);
    hops[1] = pick(stream, 2 * tier, tier, hops[0], 80);
    hops[2] = pick(stream, tier, tier, hops[1], 70);
    hops[3] = pick(stream, 0, tier, hops[2], 70);
    request->count = order_draw_below(stream, 2) ? 5 : 7;
    for (uint32_t i = request->count / 2 + 1; i < request->count; i++)
        hops[i] = hops[request->count - 1 - i];
}

static void web_step(struct order_stream *stream, uint64_t number)
{
    (void)number;
    for (uint32_t i = 0; i < stream->ranks; i++) {
        struct order_request *request =
            &stream->requests[order_draw_below(stream, ORDER_REQUESTS)];

        if (request->at + 1 >= request->count)
            begin_request(stream, request);
        message(stream, request->hops[request->at], request->hops[request->at + 1]);
        request->at++;
    }
}

const struct order_pattern order_patterns[] = {
    {{"stencil", "exchange with six neighbours in a block"}, 3, 0, false, stencil_step},
    {{"ring", "each to the next"}, 0, 0, false, ring_step},
    {{"scatter-gather", "one to all and back"}, 0, 0, false, scatter_gather_step},
    {{"random", "each to anyone"}, 0, 0, false, random_step},
    {{"web", "clients, front ends, applications, databases"}, 0, 0, false, web_step},
    {{"life", "exchange with eight neighbours on a torus"}, 2, 0, false, life_step},
    {{"master-worker", "tasks of one master"}, 0, 0, false, master_worker_step},
    {{"wavefront", "sweeps over a plane from corner to corner"},
     2,
     0,
     false,
     wavefront_step},
    {{"drift", "teams of 12 of which some change places after a while"},
     0,
     0,
     false,
     drift_step},
    {{"grid", "all-to-all operations of each row, then of each column"},
     2,
     0,
     true,
     grid_step},
    {{"production", "stencil, and an all-to-all operation after each step"},
     3,
     1,
     false,
     stencil_step},
    {{NULL, NULL}, 0, 0, false, NULL},
};
