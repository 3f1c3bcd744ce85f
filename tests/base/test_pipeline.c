/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A pipeline of two stages: order, bounds and failures, with a thread and without
 * one. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "base/pipeline.h"
#include "tests/suites.h"

enum { SLOTS = 3, COUNT = 5000 };

struct counting {
    unsigned slots[SLOTS];
    atomic_uint passed;
    unsigned consumed;
    unsigned most_ahead;
    unsigned fails_at;   /* producer fails before it passes this one */
    unsigned refuses_at; /* consumer fails at this one */
    int passes_failed;
};

static int produce(void *data, struct esi_pipeline *pipeline)
{
    struct counting *counting = data;
    size_t slot = 0;
    int result = 0;

    for (unsigned i = 0; i < COUNT && result == 0; i++) {
        if (i == counting->fails_at)
            return -EIO;
        counting->slots[slot] = i;
        atomic_fetch_add(&counting->passed, 1);
        result = esi_pipeline_pass(pipeline, &slot);
    }
    counting->passes_failed = result;
    return 0;
}

static int consume(void *data, size_t slot)
{
    struct counting *counting = data;
    unsigned ahead = atomic_load(&counting->passed) - counting->consumed;

    assert_int_equal(counting->slots[slot], counting->consumed);
    if (ahead > counting->most_ahead)
        counting->most_ahead = ahead;
    if (counting->consumed == counting->refuses_at)
        return -ENOSPC;
    counting->consumed++;
    return 0;
}

static int run(struct counting *counting, bool is_alone)
{
    return esi_pipeline_run(
        &(struct esi_pipeline_stages){produce, consume, counting, SLOTS, is_alone});
}

static void slots_come_in_order_and_few_at_a_time(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        struct counting counting = {.fails_at = UINT32_MAX, .refuses_at = UINT32_MAX};

        assert_int_equal(run(&counting, alone), 0);
        assert_int_equal(counting.consumed, COUNT);
        assert_in_range(counting.most_ahead, 1, alone ? 1 : SLOTS);
    }
}

static void what_was_passed_before_a_failure_is_consumed(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++)
        for (unsigned at = 0; at < 2 * SLOTS; at++) {
            struct counting counting = {.fails_at = at, .refuses_at = UINT32_MAX};

            assert_int_equal(run(&counting, alone), -EIO);
            assert_int_equal(counting.consumed, at);
        }
}

static void a_consumer_that_fails_ends_the_producer(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++)
        for (unsigned at = 0; at < 2 * SLOTS; at++) {
            struct counting counting = {.fails_at = UINT32_MAX, .refuses_at = at};

            assert_int_equal(run(&counting, alone), -ENOSPC);
            assert_int_equal(counting.consumed, at);
            assert_int_equal(counting.passes_failed, -ENOSPC);
        }
}

SUITE(test_pipeline)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_come_in_order_and_few_at_a_time),
        cmocka_unit_test(what_was_passed_before_a_failure_is_consumed),
        cmocka_unit_test(a_consumer_that_fails_ends_the_producer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
