/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of records found by name. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pathmap/names.h"
#include "tests/suites.h"

struct record {
    int other;
    const char *name;
};

static struct record records[] = {
    {1, "m"}, {2, "a"}, {3, NULL}, {4, "z"}, {5, "b"}, {6, "a"}, {7, "z"}, {8, "a"},
};

static struct esi_names names_of_first(size_t count)
{
    struct esi_names names;

    assert_int_equal(esi_names_init(&names, records, count, sizeof(records[0]),
                                    offsetof(struct record, name), false),
                     0);
    return names;
}

static void names_are_found_and_strangers_are_not(void **state)
{
    struct esi_names names = names_of_first(5);
    size_t index = 99;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        if (records[i].name != NULL) {
            assert_true(esi_names_find(&names, records[i].name, &index));
            assert_int_equal(index, i);
        }
    assert_false(esi_names_find(&names, "", &index));
    assert_false(esi_names_find(&names, "aa", &index));
    assert_false(esi_names_find(&names, "zz", &index));
    esi_names_fini(&names);
}

static void the_first_repetition_is_told(void **state)
{
    struct esi_names five = names_of_first(5), all = names_of_first(8);
    size_t index, earlier;

    (void)state;
    assert_false(esi_names_repeat(&five, &index, &earlier));
    assert_true(esi_names_repeat(&all, &index, &earlier));
    assert_int_equal(index, 5);
    assert_int_equal(earlier, 1);
    esi_names_fini(&all);
    esi_names_fini(&five);
}

static void of_no_records_nothing_is_found(void **state)
{
    struct esi_names names = names_of_first(0);
    size_t index, earlier;

    (void)state;
    assert_false(esi_names_find(&names, "a", &index));
    assert_false(esi_names_repeat(&names, &index, &earlier));
    esi_names_fini(&names);
}

SUITE(test_names)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_and_strangers_are_not),
        cmocka_unit_test(the_first_repetition_is_told),
        cmocka_unit_test(of_no_records_nothing_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
