/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_closure_memory.c - convex closures without memory: each allocation fails in
 * turn, and the maker can be used again afterwards. */
#include "config.h"

#include "monitors/search/thesis/closure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/failing.h"
#include "tests/search/made_sets.h"
#include "tests/suites.h"

static struct made_computation *made;
static struct es_order *order;
static struct esi_successors *successors;

static int fill(struct esi_successors *filled)
{
    struct es_set_sink sink = esi_successors_sink(filled);
    int result = made_computation_stream(made, NULL, &sink);

    esi_successors_finish(filled);
    return result;
}

static int set_up(void **state)
{
    (void)state;
    made = made_for_round(MADE_SYNCS, 7);
    order = made_order(made, 0);
    assert_int_equal(esi_successors_create(&successors), 0);
    return fill(successors);
}

static int tear_down(void **state)
{
    (void)state;
    esi_successors_destroy(successors);
    es_order_destroy(order);
    made_computation_destroy(made);
    return 0;
}

/* Makes two closures and their combination. */
static int make_closures(struct esi_closure_maker *maker, uint64_t *ret_size)
{
    struct esi_precedence precedence = {.order = order};
    struct esi_closure closures[3] = {{.ends = {.count = 0}}};
    struct made_set_of_events set;
    uint64_t draw;
    int result = 0;

    draw = 11;
    for (unsigned i = 0; i < 2 && result == 0; i++) {
        made_set_draw(made, &draw, MADE_SET, &set);
        result =
            esi_closure_make(maker, &precedence, set.events, set.count, &closures[i]);
    }
    if (result == 0)
        result = esi_closure_combine(maker, &precedence, &closures[0], &closures[1],
                                     &closures[2]);
    *ret_size = esi_closure_size(&closures[2]);
    for (unsigned i = 0; i < 3; i++)
        esi_closure_fini(&closures[i]);
    return result;
}

static int try_method(enum esi_closure_method method)
{
    struct esi_closure_maker *maker;
    uint64_t size, again, expected;
    int result = esi_closure_maker_create(order, method, successors, &maker);

    if (result < 0)
        return result;
    result = make_closures(maker, &size);
    /* A failure leaves the maker intact. */
    failing_pause();
    assert_int_equal(make_closures(maker, &again), 0);
    esi_closure_maker_destroy(maker);
    assert_int_equal(
        esi_closure_maker_create(order, ES_CLOSURE_STEP, successors, &maker), 0);
    assert_int_equal(make_closures(maker, &expected), 0);
    esi_closure_maker_destroy(maker);
    failing_resume();
    assert_true(expected > 0);
    assert_int_equal(again, expected);
    assert_int_equal(size, result == 0 ? expected : 0);
    return result;
}

static int try_existing(void)
{
    return try_method(ES_CLOSURE_EXISTING);
}

static int try_binary(void)
{
    return try_method(ES_CLOSURE_BINARY);
}

static int try_successors(void)
{
    struct esi_successors *filled;
    int result = esi_successors_create(&filled);

    if (result < 0)
        return result;
    result = fill(filled);
    esi_successors_destroy(filled);
    return result;
}

static void closures_say_when_there_is_no_memory(void **state)
{
    (void)state;
    failing_each(try_existing, 5);
    failing_each(try_binary, 3);
    failing_each(try_successors, 3);
}

SUITE(test_closure_memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closures_say_when_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
