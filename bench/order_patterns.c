/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_patterns.c - the senders and receivers in a step of each pattern. */
#include "config.h"

#include "bench/order_patterns.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* Opposite directions are adjacent. */
static const int directions[ORDER_DIRECTIONS][3] = {
    {0, 0, 1}, {0, 0, -1}, {0, 1, 0}, {0, -1, 0},
    {1, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {0, 0, 0},
};
static const int flat_directions[ORDER_DIRECTIONS][3] = {
    {0, 1, 0}, {0, -1, 0},  {1, 0, 0},  {-1, 0, 0},
    {1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0},
};

/* The neighbour of a rank; NOBODY beyond an edge, and if it is the rank itself. */
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

/* All ranks send in all directions and receive from all. */
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

/* From one corner to the opposite one, starting from another corner each time. */
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

/* An all-to-all operation of some ranks, which are `stride` apart. */
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

/* As many tasks as workers, which finish at any time. */
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

/* The place `ahead` places after a place in its team; before it if negative. */
static uint32_t team_mate(const struct order_stream *stream, uint32_t place, int ahead)
{
    uint32_t first = place - place % TEAM, left = stream->ranks - first;
    int64_t size = left < TEAM ? left : TEAM;

    return first + (uint32_t)(((int64_t)(place - first) + ahead + size) % size);
}

/* Some ranks swap places. */
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

/* Places belong to teams that exchange messages; `targets` has the rank at each
 * place. */
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

/* Chooses one of a tier, usually the one that belongs to the requester. */
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

/* Databases are numbered first, then applications, front ends and clients. */
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

/* --- A plane that is balanced ----------------------------------------------------- */

/* Blocks of a plane over which a cloud moves, as in weather models with FD4: each rank
 * has a section of a Hilbert curve through the blocks, exchanges messages with
 * bordering ranks, and transfers blocks when the sections are recomputed. */
enum { BALANCE_PHASE = 20, BLOCKS = 8, CLOUD_WEIGHT = 8 };

/* The position of a block on the curve (Hilbert's; side is a power of two). */
static uint32_t curve_position(uint32_t side, uint32_t x, uint32_t y)
{
    uint32_t position = 0;

    for (uint32_t half = side / 2; half > 0; half /= 2) {
        bool right = x & half, up = y & half;
        uint32_t turned = x;

        position += half * half * ((3u * right) ^ up);
        if (up)
            continue;
        x = right ? side - 1 - y : y;
        y = right ? side - 1 - turned : turned;
    }
    return position;
}

static int make_plane(struct order_stream *stream)
{
    struct order_plane *plane = &stream->plane;
    size_t blocks;

    plane->side = 2;
    while ((size_t)plane->side * plane->side < (size_t)stream->ranks * BLOCKS)
        plane->side *= 2;
    blocks = (size_t)plane->side * plane->side;
    plane->curve = calloc(blocks, sizeof *plane->curve);
    plane->weights = calloc(blocks, sizeof *plane->weights);
    plane->owners = calloc(blocks, sizeof *plane->owners);
    plane->near =
        calloc((size_t)stream->ranks * (1 + ORDER_NEIGHBOURS), sizeof *plane->near);
    if (!plane->curve || !plane->weights || !plane->owners || !plane->near)
        return -ENOMEM;
    for (uint32_t y = 0; y < plane->side; y++)
        for (uint32_t x = 0; x < plane->side; x++)
            plane->curve[(size_t)y * plane->side + x] =
                curve_position(plane->side, x, y);
    return 0;
}

/* The cloud is a disc that moves over the plane from corner to corner. */
static uint32_t block_weight(const struct order_plane *plane,
                             uint32_t x,
                             uint32_t y,
                             uint64_t phase)
{
    int64_t at = (int64_t)(phase * plane->side / 32 % plane->side);
    int64_t dx = (int64_t)x - at, dy = (int64_t)y - at, radius = plane->side / 4;

    return dx * dx + dy * dy < radius * radius ? CLOUD_WEIGHT : 1;
}

static uint64_t weigh_blocks(struct order_plane *plane, uint64_t phase)
{
    uint64_t total = 0;

    for (uint32_t y = 0; y < plane->side; y++)
        for (uint32_t x = 0; x < plane->side; x++) {
            uint32_t weight = block_weight(plane, x, y, phase);

            plane->weights[plane->curve[(size_t)y * plane->side + x]] = weight;
            total += weight;
        }
    return total;
}

/* Cuts sections of about equal weight.  From the second phase on, each new owner of
 * blocks gets a message from the old one. */
static void cut_pieces(struct order_stream *stream, uint64_t phase)
{
    struct order_plane *plane = &stream->plane;
    size_t blocks = (size_t)plane->side * plane->side;
    uint64_t total = weigh_blocks(plane, phase), before = 0;
    uint32_t last_from = 0, last_to = 0;

    for (size_t i = 0; i < blocks; i++) {
        uint32_t from = plane->owners[i];
        uint32_t to = (uint32_t)(before * stream->ranks / total);

        if (phase > 0 && from != to && (from != last_from || to != last_to))
            message(stream, from, to);
        last_from = from;
        last_to = to;
        plane->owners[i] = to;
        before += plane->weights[i];
    }
}

/* The number of ranks that border on a rank, followed by these ranks. */
static uint32_t *near_of(const struct order_plane *plane, uint32_t rank)
{
    return &plane->near[(size_t)rank * (1 + ORDER_NEIGHBOURS)];
}

static void note_near(struct order_plane *plane, uint32_t rank, uint32_t other)
{
    uint32_t *near = near_of(plane, rank);

    for (uint32_t i = 1; i <= near[0]; i++)
        if (near[i] == other)
            return;
    if (rank != other && near[0] < ORDER_NEIGHBOURS)
        near[++near[0]] = other;
}

static uint32_t owner_at(const struct order_plane *plane, uint32_t x, uint32_t y)
{
    return plane->owners[plane->curve[(size_t)y * plane->side + x]];
}

/* Ranks with adjacent blocks are neighbours; the plane is a torus. */
static void find_near(struct order_stream *stream)
{
    struct order_plane *plane = &stream->plane;
    uint32_t side = plane->side;

    memset(plane->near, 0,
           (size_t)stream->ranks * (1 + ORDER_NEIGHBOURS) * sizeof *plane->near);
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++) {
            uint32_t rank = owner_at(plane, x, y);

            note_near(plane, rank, owner_at(plane, (x + 1) % side, y));
            note_near(plane, rank, owner_at(plane, (x + side - 1) % side, y));
            note_near(plane, rank, owner_at(plane, x, (y + 1) % side));
            note_near(plane, rank, owner_at(plane, x, (y + side - 1) % side));
        }
}

/* The message that `rank` has sent to `to`; index 0 if none. */
static struct es_event_id sent_to(const struct order_stream *stream,
                                  uint32_t rank,
                                  uint32_t to)
{
    const uint32_t *near = near_of(&stream->plane, rank);

    for (uint32_t i = 1; i <= near[0]; i++)
        if (near[i] == to)
            return (struct es_event_id){rank, stream->sends[rank] + i};
    return (struct es_event_id){rank, 0};
}

/* Messages arrive in any order. */
static void receive_near(struct order_stream *stream, uint32_t rank)
{
    const uint32_t *near = near_of(&stream->plane, rank);
    uint32_t first = near[0] ? order_draw_below(stream, near[0]) : 0;

    for (uint32_t i = 0; i < near[0]; i++) {
        uint32_t from = near[1 + (first + i) % near[0]];
        struct es_event_id sent = sent_to(stream, from, rank);

        if (sent.index > 0)
            receive(stream, rank, sent);
    }
}

static void balance_step(struct order_stream *stream, uint64_t number)
{
    if (number == 1)
        stream->code = make_plane(stream);
    if (stream->code < 0)
        return;
    if (number % BALANCE_PHASE == 1) {
        cut_pieces(stream, number / BALANCE_PHASE);
        find_near(stream);
    }
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        stream->sends[rank] = stream->counts[rank];
        for (uint32_t j = 0; j < near_of(&stream->plane, rank)[0]; j++)
            send(stream, rank);
    }
    for (uint32_t i = 0; i < stream->ranks; i++)
        receive_near(stream, order_visit(stream, i));
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
    {{"balance", "a plane whose pieces are cut anew every 20 steps"},
     0,
     0,
     false,
     balance_step},
    {{"production", "stencil, and an all-to-all operation after each step"},
     3,
     1,
     false,
     stencil_step},
    {{NULL, NULL}, 0, 0, false, NULL},
};
