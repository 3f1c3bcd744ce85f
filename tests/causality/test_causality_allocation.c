/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Each allocation fails in turn while tuples are put in order: the call returns
 * -ENOMEM, or all events are delivered as without a failure; nothing leaks.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/causality/causality.h"
#include "tests/failing.h"
#include "tests/suites.h"

enum { RANKS = 3, ROUNDS = 40 };

/* --- The trial -------------------------------------------------------------------- */

struct trial {
    struct esi_causality *causality;
    uint32_t elements[RANKS];
    uint64_t now;
    int result; /* of the first call that failed */
    size_t events;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    (void)data, (void)trace, (void)name;
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct trial *trial = data;

    (void)event;
    trial->events++;
    return 0;
}

static void add(struct trial *trial,
                int rank,
                const char *operation,
                int32_t peer,
                int32_t tag,
                uint32_t sequence)
{
    struct esi_causal_tuple told = {
        .tuple = {.operation = es_operation_by_name(operation)->code,
                  .peer = peer,
                  .tag = tag,
                  .sequence = sequence,
                  .bytes = 8,
                  .start = ++trial->now}};

    told.tuple.stop = ++trial->now;
    told.start_ns = told.tuple.start;
    told.stop_ns = told.tuple.stop;
    if (trial->result == 0)
        trial->result =
            esi_causality_add(trial->causality, trial->elements[rank], &told);
}

static void add_process(struct trial *trial, int rank)
{
    struct esi_run_process config = {.host = "host", .rank = rank};
    struct esi_run_reported world = {
        .key = {1, 2}, .name = "world", .rank = rank, .size = RANKS};
    struct esi_run_process *process;

    if (trial->result == 0)
        trial->result = esi_run_model_add_process(esi_causality_run(trial->causality),
                                                  &config, &process);
    if (trial->result == 0)
        trial->result = esi_causality_add_element(trial->causality, process, 0,
                                                  &trial->elements[rank]);
    if (trial->result == 0)
        trial->result = esi_run_model_set_communicator(
            esi_causality_run(trial->causality), process, 0, &world);
}

/* Adds a message, a synchronous one, an unmatched one, collectives of each kind, and an
 * epoch. */
static void add_round(struct trial *trial, uint32_t round)
{
    uint32_t instance = 4 * round;

    add(trial, 0, "MPI_Send", 1, 5, round);
    add(trial, 1, "MPI_Recv", 0, 5, round);
    add(trial, 1, "MPI_Ssend", 2, 6, round);
    add(trial, 2, "MPI_Recv", 1, 6, round);
    add(trial, 2, "MPI_Send", 0, 100 + (int32_t)round, 0); /* is not received */
    for (int rank = 0; rank < RANKS; rank++) {
        add(trial, rank, "MPI topology neighbour", (rank + 1) % RANKS, 1, 0);
        add(trial, rank, "MPI_Barrier", ES_PEER_NONE, -1, instance);
        add(trial, rank, "MPI_Bcast", 1, -1, instance + 1);
        add(trial, rank, "MPI_Scan", ES_PEER_NONE, -1, instance + 2);
        add(trial, rank, "MPI_Neighbor_alltoall", ES_PEER_NONE, -1, instance + 3);
        add(trial, rank, "MPI_Win_fence", ES_PEER_NONE, (int32_t)round, 0);
        add(trial, rank, "MPI_Win_free", ES_PEER_NONE, (int32_t)round, 1);
    }
    add(trial, 0, "MPI_Win_post", ES_PEER_NONE, 7, round);
    trial->now -= 2; /* members have the times of the call */
    add(trial, 0, "MPI_Win_post member", 1, 7, round);
    add(trial, 1, "MPI_Win_start", ES_PEER_NONE, 7, round);
    trial->now -= 2;
    add(trial, 1, "MPI_Win_start member", 0, 7, round);
    add(trial, 1, "MPI_Win_complete", ES_PEER_NONE, 7, round);
    add(trial, 0, "MPI_Win_wait", ES_PEER_NONE, 7, round);
    if (trial->result == 0 && round % 8 == 7)
        trial->result = esi_causality_advance(trial->causality);
}

static struct trial try_with_failure(long number)
{
    struct trial trial = {.now = 10};
    struct esi_causality_config config = {.sink = {take_trace, take_event, &trial},
                                          .attributes = true};

    failing_begin(number);
    trial.result = esi_causality_create(&config, &trial.causality);
    for (int rank = 0; rank < RANKS; rank++)
        add_process(&trial, rank);
    for (uint32_t round = 0; round < ROUNDS && trial.result == 0; round++)
        add_round(&trial, round);
    if (trial.result == 0)
        trial.result = esi_causality_finish(trial.causality);
    esi_causality_destroy(trial.causality);
    return trial;
}

static void any_allocation_may_fail(void **state)
{
    struct trial whole = try_with_failure(0);
    long number = 1;
    long failures = 0;

    (void)state;
    assert_int_equal(whole.result, 0);
    assert_true(whole.events > ROUNDS * 30);
    for (;; number++) {
        struct trial trial = try_with_failure(number);
        bool was_hit = failing_end();

        if (trial.result == 0)
            assert_int_equal(trial.events, whole.events);
        else
            assert_int_equal(trial.result, -ENOMEM);
        failures += trial.result != 0;
        if (!was_hit)
            break;
    }
    assert_true(failures > 50);
}

SUITE(test_causality_allocation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
