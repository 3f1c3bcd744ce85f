/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Arrays grow, keep their items, and stay valid if an allocation fails. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"
#include "tests/failing.h"
#include "tests/suites.h"

static void items_stay_while_an_array_grows(void **state)
{
    uint16_t *items = NULL;
    size_t count = 0;
    size_t capacity = 0;

    (void)state;
    for (; count < 10000; count++) {
        assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, count + 1), 0);
        assert_true(capacity > count);
        items[count] = (uint16_t)(count * 7);
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(items[i], (uint16_t)(i * 7));
    free(items);
}

static void capacity_doubles_or_reaches_what_is_needed(void **state)
{
    char *items = NULL;
    size_t capacity = 0;

    (void)state;
    assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, 100), 0);
    assert_int_equal(capacity, 100);
    assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, 101), 0);
    assert_int_equal(capacity, 200);
    assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, 3), 0);
    assert_int_equal(capacity, 200);
    free(items);
}

static void nothing_changes_when_an_array_would_be_too_large(void **state)
{
    uint64_t *items = NULL;
    const uint64_t *before;
    size_t capacity = 0;

    (void)state;
    assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, 1), 0);
    items[0] = 7;
    before = items;
    assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, SIZE_MAX), -ENOMEM);
    assert_int_equal(ESI_ARRAY_RESERVE(items, capacity, SIZE_MAX / 8 + 2), -ENOMEM);
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, 8);
    assert_int_equal(items[0], 7);
    free(items);
}

/* Items that were reserved before a failure stay usable. */
static int grow_pair(void)
{
    uint64_t *items = NULL;
    char *others = NULL;
    size_t capacity = 0;
    size_t count = 0;
    int result = 0;

    for (; result == 0 && count < 40; count++) {
        result = ESI_ARRAY_RESERVE_PAIR(items, others, capacity, count + 1);
        if (result == 0) {
            items[count] = count;
            others[count] = (char)count;
        }
    }
    if (result < 0)
        count--;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i], i);
        assert_int_equal(others[i], (char)i);
    }
    free(items);
    free(others);
    return result;
}

static void a_pair_has_the_room_of_its_lesser(void **state)
{
    (void)state;
    failing_each(grow_pair, 7);
}

SUITE(test_array)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_while_an_array_grows),
        cmocka_unit_test(capacity_doubles_or_reaches_what_is_needed),
        cmocka_unit_test(nothing_changes_when_an_array_would_be_too_large),
        cmocka_unit_test(a_pair_has_the_room_of_its_lesser),
    };

    return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
