/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of when the ranks of a communicator agree next. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/suites.h"
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

static void numbers_wrap_around(void **state)
{
    struct esi_rule_sync agreed = {.next = 3};

    (void)state;
    assert_false(esi_rule_sync_is_due(&agreed, UINT32_MAX));
    assert_false(esi_rule_sync_is_due(&agreed, 2));
    assert_true(esi_rule_sync_is_due(&agreed, 3));
    assert_true(esi_rule_sync_is_due(&agreed, 4));
}

SUITE(test_rule_sync)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_as_long_as_half_a_second),
        cmocka_unit_test(slow_programs_agree_at_each_operation),
        cmocka_unit_test(fast_programs_stay_within_reach),
        cmocka_unit_test(the_first_gap_is_fixed_and_later_ones_follow_the_rate),
        cmocka_unit_test(numbers_wrap_around),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
