/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the waits in a single collective operation: cases by hand. */
#include "config.h"

#include "tests/monitors/made_collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "tuplespace/operation_codes.h"

enum { SIZE = 4 };

/* A copy of the instance passed to on_instance(). */
struct seen {
    struct esi_collective_instance instance;
    struct esi_collective_arrival arrivals[SIZE];
    int order[SIZE];
    size_t count;
};

static void keep(void *data, const struct esi_collective_instance *instance)
{
    struct seen *seen = data;

    assert_int_equal(instance->known, SIZE);
    memcpy(seen->arrivals, instance->arrivals, sizeof seen->arrivals);
    memcpy(seen->order, instance->order, sizeof seen->order);
    seen->instance = *instance;
    seen->instance.arrivals = seen->arrivals;
    seen->instance.order = seen->order;
    seen->count++;
}

/* One instance: the enter and exit times of each rank. */
struct by_hand {
    uint16_t operation;
    int root;
    uint32_t bytes;
    uint64_t error_ns; /* of each rank */
    uint64_t times[4][2];
};

static struct seen hand_seen;

/* The instance of four ranks with these times, on the clock with this number. */
static const struct esi_collective_instance *judge_on(const struct by_hand *hand,
                                                      int clock)
{
    struct made_collectives made;

    hand_seen.count = 0;
    made_collectives_init(
        &made, (struct esi_causality_config){.held_max = 0},
        (struct esi_collectives_config){.on_instance = keep, .data = &hand_seen});
    for (int rank = 0; rank < SIZE; rank++)
        made_collectives_add(&made,
                             &(struct made_part){.operation = hand->operation,
                                                 .instance = 5,
                                                 .size = SIZE,
                                                 .rank = rank,
                                                 .root = hand->root,
                                                 .bytes = hand->bytes,
                                                 .enter_ns = hand->times[rank][0],
                                                 .exit_ns = hand->times[rank][1],
                                                 .error_ns = hand->error_ns,
                                                 .clock = clock});
    made_collectives_fini(&made);
    assert_int_equal(hand_seen.count, 1);
    return &hand_seen.instance;
}

static const struct esi_collective_instance *judge(const struct by_hand *hand)
{
    return judge_on(hand, 0);
}

static void has_waits(const struct esi_collective_instance *instance,
                      uint64_t a,
                      uint64_t b,
                      uint64_t c,
                      uint64_t d)
{
    const uint64_t waits[] = {a, b, c, d};

    assert_true(instance->waits_known);
    for (int rank = 0; rank < 4; rank++)
        assert_int_equal(instance->arrivals[rank].wait_ns, waits[rank]);
    assert_int_equal(instance->lost_ns, a + b + c + d);
}

static void all_wait_for_the_last(void **state)
{
    const struct by_hand hand = {ES_OP_MPI_Allreduce,
                                 -1,
                                 8,
                                 0,
                                 {{100, 510}, {500, 520}, {200, 530}, {300, 505}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    has_waits(instance, 400, 0, 300, 200);
    assert_int_equal(instance->culprit, 1);
    assert_int_equal(instance->last, 1);
    assert_int_equal(instance->late, 1);
    assert_int_equal(instance->arrivals[1].debt_ns, 900);
    assert_int_equal(instance->arrivals[1].world_rank, 101);
    assert_int_equal(instance->spread_ns, 400);
    assert_int_equal(instance->lead_ns, 200);
    assert_int_equal(instance->tree_ns, 30);
    assert_int_equal(instance->time_ns, 430);
    assert_int_equal(instance->departure_ns, 25);
    assert_int_equal(instance->first_enter_ns, 100);
    assert_int_equal(instance->last_exit_ns, 530);
    assert_int_equal(instance->bytes, 8);
    assert_int_equal(instance->order[0], 0);
    assert_int_equal(instance->order[1], 2);
    assert_int_equal(instance->order[2], 3);
    assert_int_equal(instance->order[3], 1);
    assert_true(instance->imbalance < 0);
}

static void members_wait_for_the_root(void **state)
{
    const struct by_hand hand = {
        ES_OP_MPI_Bcast, 2, 8, 0, {{100, 510}, {500, 520}, {400, 430}, {300, 505}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    has_waits(instance, 300, 0, 0, 100);
    assert_int_equal(instance->culprit, 2);
    assert_int_equal(instance->last, 1);
    assert_int_equal(instance->arrivals[2].debt_ns, 400);
    assert_int_equal(instance->tree_ns, 120);
}

static void the_root_waits_for_the_last(void **state)
{
    const struct by_hand hand = {
        ES_OP_MPI_Reduce, 0, 8, 0, {{100, 510}, {490, 495}, {400, 430}, {300, 305}}};
    const struct by_hand root_last = {
        ES_OP_MPI_Reduce, 1, 8, 0, {{100, 510}, {500, 520}, {400, 430}, {300, 305}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    has_waits(instance, 390, 0, 0, 0);
    assert_int_equal(instance->culprit, 1);
    instance = judge(&root_last);
    has_waits(instance, 0, 0, 0, 0);
    assert_int_equal(instance->culprit, -1);
    assert_int_equal(instance->last, 1);
}

static void ranks_of_a_scan_wait_for_lower_ones(void **state)
{
    const struct by_hand hand = {
        ES_OP_MPI_Scan, -1, 8, 0, {{200, 210}, {100, 520}, {500, 530}, {300, 540}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    has_waits(instance, 0, 100, 0, 200);
    assert_int_equal(instance->arrivals[0].debt_ns, 100);
    assert_int_equal(instance->arrivals[2].debt_ns, 200);
    assert_int_equal(instance->culprit, 2);
}

static void what_clocks_cannot_tell_is_not_blamed(void **state)
{
    struct by_hand hand = {
        ES_OP_MPI_Barrier, -1, 0, 50, {{400, 510}, {500, 520}, {450, 530}, {420, 505}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    assert_int_equal(instance->error_ns, 100);
    has_waits(instance, 0, 0, 0, 0);
    assert_int_equal(instance->culprit, -1);
    assert_int_equal(instance->late, 4);
    /* Two late ranks that cannot be distinguished share the debt. */
    hand.times[0][0] = 100;
    hand.times[3][0] = 100;
    instance = judge(&hand);
    has_waits(instance, 400, 0, 0, 400);
    assert_int_equal(instance->late, 2);
    assert_int_equal(instance->culprit, -1);
    assert_int_equal(instance->arrivals[1].debt_ns, 400);
    assert_int_equal(instance->arrivals[2].debt_ns, 400);
}

static void times_that_cannot_be_are_repaired_or_refused(void **state)
{
    struct by_hand hand = {ES_OP_MPI_Alltoall,
                           -1,
                           8,
                           10,
                           {{100, 485}, {500, 520}, {200, 530}, {300, 505}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    has_waits(instance, 385, 0, 300, 200);
    assert_int_equal(instance->repaired, 1);
    assert_int_equal(instance->impossible, 0);
    assert_int_equal(instance->culprit, 1);
    hand.times[0][1] = 470;
    instance = judge(&hand);
    assert_false(instance->waits_known);
    assert_int_equal(instance->impossible, 1);
    assert_int_equal(instance->culprit, -1);
    assert_int_equal(instance->lost_ns, 0);
    assert_int_equal(instance->spread_ns, 400);
    /* No rank waits if there is no data, or if counts may differ between ranks. */
    hand.bytes = 0;
    instance = judge(&hand);
    has_waits(instance, 0, 0, 300, 200);
    hand.bytes = 8;
    hand.operation = ES_OP_MPI_Alltoallv;
    instance = judge(&hand);
    has_waits(instance, 0, 0, 300, 200);
    assert_int_equal(instance->impossible, 0);
}

static void of_nonblocking_forms_only_the_spread_is_told(void **state)
{
    const struct by_hand hand = {ES_OP_MPI_Iallreduce,
                                 -1,
                                 8,
                                 0,
                                 {{100, 510}, {500, 520}, {200, 530}, {300, 505}}};
    const struct by_hand neighbours = {
        ES_OP_MPI_Neighbor_allgather,
        -1,
        8,
        0,
        {{100, 110}, {500, 520}, {200, 530}, {300, 505}}};
    const struct esi_collective_instance *instance = judge(&hand);

    (void)state;
    assert_false(instance->waits_known);
    assert_int_equal(instance->lost_ns, 0);
    assert_int_equal(instance->culprit, -1);
    assert_int_equal(instance->last, 1);
    assert_int_equal(instance->spread_ns, 400);
    instance = judge(&neighbours);
    assert_false(instance->waits_known);
    assert_int_equal(instance->spread_ns, 400);
}

/* The error of the host's clock does not matter within the host. */
static void times_of_one_clock_are_compared_without_its_error(void **state)
{
    const struct by_hand hand = {
        ES_OP_MPI_Barrier,
        -1,
        0,
        100000,
        {{1000, 5100}, {5000, 5200}, {2000, 5300}, {4950, 5050}}};
    const struct esi_collective_instance *instance = judge_on(&hand, 3);

    (void)state;
    assert_int_equal(instance->error_ns, ES_SAME_CLOCK_ERROR_NS);
    has_waits(instance, 4000, 0, 3000, 0);
    assert_int_equal(instance->late, 2);
    assert_int_equal(instance->arrivals[1].debt_ns, 3500);
    instance = judge(&hand);
    assert_int_equal(instance->error_ns, 200000);
    has_waits(instance, 0, 0, 0, 0);
}

SUITE(test_collective_judge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_wait_for_the_last),
        cmocka_unit_test(members_wait_for_the_root),
        cmocka_unit_test(the_root_waits_for_the_last),
        cmocka_unit_test(ranks_of_a_scan_wait_for_lower_ones),
        cmocka_unit_test(what_clocks_cannot_tell_is_not_blamed),
        cmocka_unit_test(times_that_cannot_be_are_repaired_or_refused),
        cmocka_unit_test(of_nonblocking_forms_only_the_spread_is_told),
        cmocka_unit_test(times_of_one_clock_are_compared_without_its_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
