/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The processor time that a process uses. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/now.h"
#include "base/own_cost.h"
#include "tests/suites.h"

#define BUSY_NS UINT64_C(5000000)

static void the_first_look_says_nothing(void **state)
{
    struct esi_own_cost cost = {.wall_ns = 0};

    (void)state;
    assert_true(esi_own_cost_measure(&cost) < 0);
    assert_true(cost.wall_ns > 0 && cost.cpu_ns > 0);
}

static void work_is_seen_against_the_time_that_passed(void **state)
{
    struct esi_own_cost cost = {.wall_ns = 0}, before;
    double cores, spent, passed;

    (void)state;
    esi_own_cost_measure(&cost);
    before = cost;
    while (esi_now_ns(CLOCK_PROCESS_CPUTIME_ID) - before.cpu_ns < BUSY_NS)
        ;
    cores = esi_own_cost_measure(&cost);
    spent = (double)(cost.cpu_ns - before.cpu_ns);
    passed = (double)(cost.wall_ns - before.wall_ns);
    assert_true(spent >= (double)BUSY_NS);
    assert_true(cores > 0);
    assert_true(cores > .999 * spent / passed && cores < 1.001 * spent / passed);
}

SUITE(test_own_cost)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_look_says_nothing),
        cmocka_unit_test(work_is_seen_against_the_time_that_passed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
