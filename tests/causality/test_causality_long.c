/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A long run needs no more memory than a short one. */
#include "config.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/causality/causality.h"
#include "tests/suites.h"

enum { RANKS = 8, ROUNDS = 50, STEPS = 1000 };

struct ring {
    struct esi_causality *causality;
    uint32_t messages[RANKS]; /* elements */
    uint32_t others[RANKS];
    uint32_t step;
    uint64_t events;
    size_t held; /* maximum */
    uint16_t send, receive, reduce;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    assert_non_null(name);
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct ring *ring = data;

    (void)event;
    ring->events++;
    return 0;
}

static void add_rank(struct ring *ring, int rank)
{
    struct esi_run_process config = {.host = "made", .rank = rank, .identity = 1};
    struct esi_run_reported world = {
        .key = {1, 2}, .name = "MPI_COMM_WORLD", .rank = rank, .size = RANKS};
    struct esi_run_process *process;

    assert_int_equal(esi_run_model_add_process(esi_causality_run(ring->causality),
                                               &config, &process),
                     0);
    assert_int_equal(
        esi_causality_add_element(ring->causality, process, 0, &ring->messages[rank]),
        0);
    assert_int_equal(
        esi_causality_add_element(ring->causality, process, 0, &ring->others[rank]), 0);
    assert_int_equal(esi_run_model_set_communicator(esi_causality_run(ring->causality),
                                                    process, 0, &world),
                     0);
}

static void begin(struct ring *ring, const struct esi_causal_listener *listener)
{
    struct esi_causality_config config = {
        .sink = {.trace = take_trace, .event = take_event, .data = ring},
        .listener = *listener};

    *ring = (struct ring){.send = es_operation_by_name("MPI_Send")->code,
                          .receive = es_operation_by_name("MPI_Recv")->code,
                          .reduce = es_operation_by_name("MPI_Allreduce")->code};
    assert_int_equal(esi_causality_create(&config, &ring->causality), 0);
    for (int rank = 0; rank < RANKS; rank++)
        add_rank(ring, rank);
}

static void add(struct ring *ring, uint32_t element, struct es_tuple tuple)
{
    struct esi_causal_tuple told = {
        .tuple = tuple, .start_ns = tuple.start, .stop_ns = tuple.stop};

    if (esi_causality_add(ring->causality, element, &told) != 0)
        fail();
}

/* Each rank sends to the next one and receives from the previous one; sometimes all
 * call a reduction. */
static void step(struct ring *ring, int rank)
{
    uint64_t time = UINT64_C(100) * ring->step;

    add(ring, ring->messages[rank],
        (struct es_tuple){.operation = ring->send,
                          .start = time + 1,
                          .stop = time + 2,
                          .peer = (rank + 1) % RANKS,
                          .sequence = ring->step});
    add(ring, ring->messages[rank],
        (struct es_tuple){.operation = ring->receive,
                          .start = time + 3,
                          .stop = time + 4,
                          .peer = (rank + RANKS - 1) % RANKS,
                          .sequence = ring->step});
    if (ring->step % 8 == 0)
        add(ring, ring->others[rank],
            (struct es_tuple){.operation = ring->reduce,
                              .start = time + 5,
                              .stop = time + 10 + (uint64_t)rank,
                              .peer = ES_PEER_NONE,
                              .sequence = ring->step / 8});
}

/* One reading: the tuples of each rank, one rank after the other. */
static void read_round(struct ring *ring)
{
    struct esi_causality_totals totals;
    uint32_t first = ring->step;

    for (int rank = 0; rank < RANKS; rank++)
        for (ring->step = first; ring->step < first + STEPS; ring->step++)
            step(ring, rank);
    ring->step = first + STEPS;
    esi_causality_totals(ring->causality, &totals);
    if (totals.held > ring->held)
        ring->held = totals.held;
    assert_int_equal(esi_causality_advance(ring->causality), 0);
}

static void a_long_run_holds_no_more_than_its_readings(void **state)
{
    struct esi_causality_totals totals;
    struct ring ring;
    uint64_t begun_ns;

    (void)state;
    begin(&ring, &(struct esi_causal_listener){.told = NULL});
    begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    for (int round = 0; round < ROUNDS; round++)
        read_round(&ring);
    assert_int_equal(esi_causality_finish(ring.causality), 0);
    esi_causality_totals(ring.causality, &totals);
    print_message("# %.2f million tuples a second\n",
                  (double)totals.tuples * 1e3 /
                      (double)(esi_now_ns(CLOCK_MONOTONIC) - begun_ns));
    assert_int_equal(totals.events, ring.events);
    assert_int_equal(totals.messages, RANKS * ROUNDS * STEPS);
    assert_int_equal(totals.collectives, ROUNDS * STEPS / 8);
    assert_false(esi_causality_is_incomplete(ring.causality));
    /* The tuples of two readings at most are held. */
    assert_true(ring.held <= (size_t)2 * RANKS * STEPS * 17 / 8 + RANKS);
    esi_causality_destroy(ring.causality);
}

static int take_call(void *data,
                     const struct es_set_event *event,
                     const struct esi_causal_call *call)
{
    (void)data;
    (void)event;
    assert_int_equal(call ? call->completed_count : 0, 0);
    return 0;
}

static size_t bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* A view may leave out the calls that complete operations. */
static void what_no_call_completes_is_forgotten(void **state)
{
    struct ring ring;
    size_t bytes;

    (void)state;
    begin(&ring, &(struct esi_causal_listener){.told = take_call});
    ring.receive = es_operation_by_name("MPI_Irecv")->code;
    for (int round = 0; round < 3; round++)
        read_round(&ring);
    bytes = bytes_in_use();
    for (int round = 0; round < ROUNDS; round++)
        read_round(&ring);
    assert_true(bytes_in_use() < bytes + RANKS * STEPS * sizeof(struct esi_completed));
    esi_causality_destroy(ring.causality);
}

SUITE(test_causality_long)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_run_holds_no_more_than_its_readings),
        cmocka_unit_test(what_no_call_completes_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
