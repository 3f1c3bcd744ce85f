/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What came out of turn is remembered, against a plain list. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/remote/given.h"
#include "tests/suites.h"

enum { ORIGINS = 5, POSITIONS = 200, STEPS = 6000 };

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

static void what_was_added_is_there_until_it_is_cut(void **state)
{
    static bool added[ORIGINS][POSITIONS];
    struct es_given given = {.list_count = 0};
    unsigned seed = 4711;

    (void)state;
    assert_int_equal(es_given_reserve(&given, ORIGINS), 0);
    for (int step = 0; step < STEPS; step++) {
        uint32_t origin = draw(&seed, ORIGINS);
        uint64_t position = draw(&seed, POSITIONS);

        assert_int_equal(es_given_has(&given, origin, position),
                         added[origin][position]);
        if (step % 3 == 0)
            continue;
        if (step % 3 == 1 && step % 2) {
            assert_int_equal(es_given_remove(&given, origin, position), 0);
            added[origin][position] = false;
            continue;
        }
        if (step % 500 == 2) {
            es_given_cut(&given, origin, position);
            memset(added[origin], 0, position);
            continue;
        }
        assert_int_equal(es_given_add(&given, origin, position), 0);
        added[origin][position] = true;
    }
    for (uint32_t i = 0; i < ORIGINS; i++)
        for (uint64_t j = 0; j < POSITIONS; j++)
            assert_int_equal(es_given_has(&given, i, j), added[i][j]);
    assert_false(es_given_has(&given, ORIGINS + 100, 0));
    es_given_fini(&given);
    assert_true(es_given_is_empty(&given, 0));
}

static void a_long_run_takes_no_room(void **state)
{
    struct es_given given = {.list_count = 0};

    (void)state;
    assert_int_equal(es_given_reserve(&given, 4), 0);
    for (uint64_t i = 0; i < 1000000; i++)
        assert_int_equal(es_given_add(&given, 3, i), 0);
    assert_int_equal(given.lists[3].count, 1);
    assert_true(es_given_has(&given, 3, 0));
    assert_false(es_given_has(&given, 3, 1000000));
    es_given_cut(&given, 3, 1000000);
    assert_true(es_given_is_empty(&given, 3));
    es_given_fini(&given);
}

static void the_lowest_are_forgotten_when_there_are_too_many(void **state)
{
    struct es_given given = {.list_count = 0};

    (void)state;
    assert_int_equal(es_given_reserve(&given, 1), 0);
    for (uint64_t i = 0; i < ES_GIVEN_MOST + 10; i++)
        assert_int_equal(es_given_add(&given, 0, 2 * i), 0);
    assert_true(given.lists[0].count <= ES_GIVEN_MOST);
    assert_false(es_given_has(&given, 0, 0));
    for (uint64_t i = ES_GIVEN_MOST; i < ES_GIVEN_MOST + 10; i++)
        assert_true(es_given_has(&given, 0, 2 * i));
    es_given_fini(&given);
}

SUITE(test_given)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_there_until_it_is_cut),
        cmocka_unit_test(a_long_run_takes_no_room),
        cmocka_unit_test(the_lowest_are_forgotten_when_there_are_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
