/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of when the ranks of a communicator synchronise rules, and when not. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "wrappers/mpi/tree_ops.h"
#include "wrappers/trees/rules.h"

enum { MS = 1000000 };

static void a_gap_is_as_long_as_half_a_second(void **state)
{
    (void)state;
    assert_int_equal(esi_rule_sync_gap(100, 1000 * (uint64_t)MS), 50);
    assert_int_equal(esi_rule_sync_gap(10, 50 * MS), 100);
}

static void slow_programs_agree_at_each_operation(void **state)
{
    (void)state;
    assert_int_equal(esi_rule_sync_gap(1, 3600000 * (uint64_t)MS), 1);
    assert_int_equal(esi_rule_sync_gap(0, MS), 1);
}

static void fast_programs_stay_within_reach(void **state)
{
    (void)state;
    assert_int_equal(esi_rule_sync_gap(1024, MS), ESI_RULE_SYNC_MAX_GAP);
    assert_int_equal(esi_rule_sync_gap(UINT32_MAX, 1), ESI_RULE_SYNC_MAX_GAP);
    assert_int_equal(esi_rule_sync_gap(5, 0), ESI_RULE_SYNC_MAX_GAP);
}

static void the_first_gap_is_fixed_and_later_ones_follow_the_rate(void **state)
{
    struct esi_rule_sync_pace pace = {.began = false};
    uint32_t next;

    (void)state;
    next = esi_rule_sync_next(&pace, 0, 7);
    assert_int_equal(next, ESI_RULE_SYNC_FIRST_GAP);
    next = esi_rule_sync_next(&pace, 8, 7 + 80 * MS);
    assert_int_equal(next, 8 + 50);
}

static bool is_due(uint32_t count)
{
    struct esi_tree_gate gate = {.count = count, .next = 3};

    return esi_tree_sync_is_due(&gate);
}

static void numbers_wrap_around(void **state)
{
    (void)state;
    assert_false(is_due(UINT32_MAX));
    assert_false(is_due(2));
    assert_true(is_due(3));
    assert_true(is_due(4));
}

static void the_library_does_what_no_rule_names(void **state)
{
    struct esi_comm comm = {
        .gate = {.native = 1u << ES_TREE_BCAST | ES_TREE_NONBLOCKING(ES_TREE_BCAST),
                 .count = 7,
                 .next = 8}};

    (void)state;
    assert_false(esi_tree_is_native(NULL, 1u << ES_TREE_BCAST));
    assert_false(esi_tree_is_native(&comm, 1u << ES_TREE_BARRIER));
    assert_int_equal(comm.gate.count, 7);
    assert_true(esi_tree_is_native(&comm, 1u << ES_TREE_BCAST));
    assert_int_equal(comm.gate.count, 8);
    /* The next blocking operation synchronises rules; a nonblocking one does not. */
    assert_false(esi_tree_is_native(&comm, 1u << ES_TREE_BCAST));
    assert_true(esi_tree_is_native(&comm, ES_TREE_NONBLOCKING(ES_TREE_BCAST)));
    assert_int_equal(comm.gate.count, 9);
}

SUITE(test_rule_sync)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_as_long_as_half_a_second),
        cmocka_unit_test(slow_programs_agree_at_each_operation),
        cmocka_unit_test(fast_programs_stay_within_reach),
        cmocka_unit_test(the_first_gap_is_fixed_and_later_ones_follow_the_rate),
        cmocka_unit_test(numbers_wrap_around),
        cmocka_unit_test(the_library_does_what_no_rule_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
