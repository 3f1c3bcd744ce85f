/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What was given out of turn is remembered, against a plain list. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "scopes/given.h"

static void what_was_added_is_there(void **state)
{
    enum { ORIGINS = 5, POSITIONS = 200, STEPS = 3000 };
    static bool added[ORIGINS][POSITIONS];
    struct es_given given = {.total = 0};
    unsigned random = 4711;
    size_t total = 0;

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        uint32_t origin;
        uint64_t position;

        random = random * 1103515245u + 12345u;
        origin = (random >> 16) % ORIGINS;
        random = random * 1103515245u + 12345u;
        position = (random >> 16) % POSITIONS;
        assert_int_equal(es_given_has(&given, origin, position),
                         added[origin][position]);
        if (step % 3 == 0)
            continue;
        assert_int_equal(es_given_add(&given, origin, position), 0);
        total += !added[origin][position];
        added[origin][position] = true;
        assert_true(es_given_has(&given, origin, position));
        assert_int_equal(given.total, total);
    }
    assert_false(es_given_has(&given, ORIGINS + 100, 0));
    es_given_fini(&given);
    assert_int_equal(given.total, 0);
}

static void the_lowest_are_forgotten_when_there_are_too_many(void **state)
{
    struct es_given given = {.total = 0};

    (void)state;
    for (uint64_t i = 0; i < ES_GIVEN_MOST + 10; i++)
        assert_int_equal(es_given_add(&given, 3, i), 0);
    assert_int_equal(given.total, ES_GIVEN_MOST);
    assert_false(es_given_has(&given, 3, 9));
    assert_true(es_given_has(&given, 3, 10));
    assert_true(es_given_has(&given, 3, ES_GIVEN_MOST + 9));
    es_given_fini(&given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_there),
        cmocka_unit_test(the_lowest_are_forgotten_when_there_are_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
