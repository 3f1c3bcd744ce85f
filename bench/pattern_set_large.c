/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pattern_set_large.c - an event set like those of MPI programs, of any length.
 *
 * Ranks form a ring of rows: in each step they send to four neighbours and receive from
 * them; in some steps all perform an MPI_Allreduce on the trace of the communicator.
 * Occasionally a rank has a rare event: "timeout" (one of some 10,000 events),
 * "checkpoint" (one of some 100,000).  Messages have the attributes `tag`, `bytes`,
 * `peer`, `start` and `stop`.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/pattern_set_maker.h"

enum {
    WAYS = 4,
    MEETING = 10,   /* steps between two */
    TIMEOUT = 1250, /* one of this many visits of a rank has one: a visit is 8 events */
    CHECKPOINT = 12500,
    ATTRIBUTES = 5,
    EVENT_NS = 1000,
};

struct large {
    struct pattern_set_maker *maker;
    uint32_t ranks;
    uint32_t world;            /* the trace of the communicator */
    struct es_event_id *sends; /* [rank][way]; of a meeting, [rank] */
};

/* The neighbour on a way; the opposite way is way ^ 1. */
static uint32_t neighbour(const struct large *large, uint32_t rank, uint32_t way)
{
    uint32_t row = large->ranks < 64 ? 1 : 32;
    uint32_t step = (way < 2 ? 1 : row) % large->ranks;

    return (rank + (way % 2 == 0 ? step : large->ranks - step)) % large->ranks;
}

/* An event of a message with a peer; sends have no partner. */
static struct es_event_id make_end(struct large *large,
                                   uint32_t rank,
                                   uint32_t peer,
                                   uint32_t way,
                                   const struct es_event_id *partner)
{
    struct pattern_set_maker *maker = large->maker;
    int64_t start = (int64_t)maker->made * EVENT_NS;
    const struct es_event_attribute attributes[ATTRIBUTES] = {
        {.name = "tag", .number = way},
        {.name = "bytes", .number = 512 << (way * 2)},
        {.name = "peer", .number = peer},
        {.name = "start", .number = start},
        {.name = "stop", .number = start + EVENT_NS / 2 + set_draw(maker, EVENT_NS)}};
    struct es_set_event event = {.id.trace = rank,
                                 .kind = partner ? ES_EVENT_RECEIVE : ES_EVENT_SEND,
                                 .partner_count = partner != NULL,
                                 .partners = partner,
                                 .type = partner ? "MPI_Recv" : "MPI_Send",
                                 .attributes = attributes,
                                 .attribute_count = ATTRIBUTES};

    return set_event(maker, &event);
}

static void exchange(struct large *large)
{
    for (uint32_t rank = 0; rank < large->ranks; rank++)
        for (uint32_t way = 0; way < WAYS; way++)
            large->sends[rank * WAYS + way] =
                make_end(large, rank, neighbour(large, rank, way), way, NULL);
    for (uint32_t rank = 0; rank < large->ranks; rank++) {
        for (uint32_t way = 0; way < WAYS; way++) {
            uint32_t from = neighbour(large, rank, way ^ 1);

            make_end(large, rank, from, way, &large->sends[from * WAYS + way]);
        }
        if (set_draw(large->maker, TIMEOUT) == 0)
            set_unary(large->maker, rank, "timeout", NULL);
        if (set_draw(large->maker, CHECKPOINT) == 0)
            set_unary(large->maker, rank, "checkpoint", NULL);
    }
}

static void meet(struct large *large)
{
    struct pattern_set_maker *maker = large->maker;
    struct es_set_event join = {.id.trace = large->world,
                                .kind = ES_EVENT_RECEIVE,
                                .partner_count = large->ranks,
                                .partners = large->sends,
                                .type = "join"};
    struct es_event_id release;

    for (uint32_t rank = 0; rank < large->ranks; rank++)
        large->sends[rank] = set_send(maker, rank, "MPI_Allreduce enter", NULL);
    set_event(maker, &join);
    release = set_send(maker, large->world, "release", NULL);
    for (uint32_t rank = 0; rank < large->ranks; rank++)
        set_receive(maker, rank, "MPI_Allreduce exit", NULL, release);
}

void make_large_set(struct pattern_set_maker *maker)
{
    struct large large = {.maker = maker, .ranks = maker->config->ranks};

    large.sends = calloc((size_t)large.ranks * WAYS, sizeof *large.sends);
    if (!large.sends) {
        maker->code = -ENOMEM;
        return;
    }
    for (uint32_t rank = 0; rank < large.ranks; rank++) {
        char name[24];

        snprintf(name, sizeof name, "%u.0", rank);
        set_trace(maker, name);
    }
    large.world = set_trace(maker, "comm:MPI_COMM_WORLD");
    for (uint64_t step = 1; maker->code >= 0 && maker->made < maker->config->events;
         step++) {
        exchange(&large);
        if (step % MEETING == 0)
            meet(&large);
    }
    free(large.sends);
}
