/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Small random programs of messages and collective operations, blocking or not, run in
 * virtual time.
 *
 *     draw_program(&timeline);
 *     made_timeline_tell(&timeline, &listener);
 */
#ifndef ES_TESTS_MONITORS_DRAWN_PROGRAM_H
#define ES_TESTS_MONITORS_DRAWN_PROGRAM_H

#include "tests/monitors/draw.h"
#include "tests/monitors/made_timeline.h"

enum { DRAWN_STEPS = 12, DRAWN_LINES = 2 };

static inline uint64_t draw_ns(void)
{
    switch (draw_below(4)) {
    case 0:
        return 1 + draw_below(300);
    case 1:
        return 1 + draw_below(100000);
    default:
        return 1 + draw_below(5000000);
    }
}

static inline void compute(struct made_timeline *timeline, int rank)
{
    if (draw_below(4) > 0)
        made_timeline_step(timeline, rank,
                           (struct made_step){.kind = MADE_COMPUTE, .ns = draw_ns()});
}

static inline struct made_step draw_call(enum made_step_kind kind)
{
    return (struct made_step){.kind = kind,
                              .ns = 1 + draw_below(2000),
                              .line = (int)draw_below(DRAWN_LINES),
                              .tag = (int)draw_below(2),
                              .rendezvous = draw_below(3) == 0};
}

static inline int draw_other(const struct made_timeline *timeline, int rank)
{
    int other = (int)draw_below((uint64_t)timeline->ranks - 1);

    return other + (other >= rank);
}

static inline void draw_message(struct made_timeline *timeline)
{
    static const enum made_step_kind sends[] = {MADE_STEP_SEND, MADE_STEP_SEND,
                                                MADE_STEP_SSEND};
    int from = (int)draw_below((uint64_t)timeline->ranks);
    struct made_step send = draw_call(sends[draw_below(3)]);
    struct made_step receive = draw_call(MADE_STEP_RECV);

    send.peer = draw_other(timeline, from);
    receive.peer = from;
    receive.tag = send.tag;
    compute(timeline, from);
    made_timeline_step(timeline, from, send);
    compute(timeline, send.peer);
    made_timeline_step(timeline, send.peer, receive);
}

/* Each rank sends to the next and receives from the one before. */
static inline void draw_ring(struct made_timeline *timeline)
{
    int tag = (int)draw_below(2);
    bool rendezvous = draw_below(3) == 0;

    for (int rank = 0; rank < timeline->ranks; rank++) {
        struct made_step step = draw_call(MADE_STEP_SENDRECV);

        step.peer = (rank + 1) % timeline->ranks;
        step.from = (rank + timeline->ranks - 1) % timeline->ranks;
        step.tag = tag;
        step.rendezvous = rendezvous;
        compute(timeline, rank);
        made_timeline_step(timeline, rank, step);
    }
}

/* One rank sends a request and awaits the answer in one call; another computes it. */
static inline void draw_answer(struct made_timeline *timeline)
{
    int asks = (int)draw_below((uint64_t)timeline->ranks);
    struct made_step exchange = draw_call(MADE_STEP_SENDRECV);
    struct made_step receive = draw_call(MADE_STEP_RECV);
    struct made_step send = draw_call(MADE_STEP_SEND);

    exchange.peer = draw_other(timeline, asks);
    exchange.from = exchange.peer;
    receive.peer = asks;
    send.peer = asks;
    receive.tag = exchange.tag;
    send.tag = exchange.tag;
    compute(timeline, asks);
    made_timeline_step(timeline, asks, exchange);
    compute(timeline, exchange.peer);
    made_timeline_step(timeline, exchange.peer, receive);
    compute(timeline, exchange.peer);
    made_timeline_step(timeline, exchange.peer, send);
}

static inline void draw_collective(struct made_timeline *timeline)
{
    static const enum made_step_kind kinds[] = {
        MADE_STEP_BARRIER, MADE_STEP_ALLREDUCE, MADE_STEP_BCAST,
        MADE_STEP_REDUCE,  MADE_STEP_SCAN,      MADE_STEP_IBARRIER,
    };
    enum made_step_kind kind = kinds[draw_below(6)];
    int root = (int)draw_below((uint64_t)timeline->ranks);

    for (int rank = 0; rank < timeline->ranks; rank++) {
        struct made_step step = draw_call(kind);

        if (kind == MADE_STEP_BCAST || kind == MADE_STEP_REDUCE)
            step.peer = root;
        compute(timeline, rank);
        made_timeline_step(timeline, rank, step);
        if (kind != MADE_STEP_IBARRIER)
            continue;
        compute(timeline, rank);
        made_timeline_step(timeline, rank, draw_call(MADE_STEP_WAITALL));
    }
}

static inline void draw_blocking(struct made_timeline *timeline)
{
    switch (draw_below(4)) {
    case 0:
        draw_message(timeline);
        break;
    case 1:
        draw_ring(timeline);
        break;
    case 2:
        draw_answer(timeline);
        break;
    default:
        draw_collective(timeline);
        break;
    }
}

/* Both ranks start requests and complete them, perhaps with other steps in between. */
static inline void draw_nonblocking(struct made_timeline *timeline)
{
    int ranks[2];
    struct made_step send = draw_call(MADE_STEP_ISEND);
    struct made_step receive = draw_call(MADE_STEP_IRECV);

    ranks[0] = (int)draw_below((uint64_t)timeline->ranks);
    ranks[1] = draw_other(timeline, ranks[0]);
    receive.tag = send.tag;
    for (int i = 0; i < 2; i++) {
        send.peer = ranks[!i];
        receive.peer = ranks[!i];
        compute(timeline, ranks[i]);
        made_timeline_step(timeline, ranks[i], receive);
        if (draw_below(2))
            compute(timeline, ranks[i]);
        made_timeline_step(timeline, ranks[i], send);
    }
    if (draw_below(3) == 0)
        draw_blocking(timeline);
    for (int i = 0; i < 2; i++) {
        compute(timeline, ranks[i]);
        made_timeline_step(timeline, ranks[i], draw_call(MADE_STEP_WAITALL));
    }
}

/* Steps that belong together are added to both ranks at once, so that no rank waits for
 * a step that comes after its own wait. */
static inline void draw_program(struct made_timeline *timeline)
{
    made_timeline_init(timeline, 2 + (int)draw_below(3));
    timeline->latency_ns = draw_below(2) ? 0 : draw_below(3000);
    timeline->advance_tuples = (size_t)1 << draw_below(8);
    for (int i = 0; i < DRAWN_STEPS; i++)
        if (draw_below(3) == 0)
            draw_nonblocking(timeline);
        else
            draw_blocking(timeline);
    made_timeline_run(timeline);
}

#endif
