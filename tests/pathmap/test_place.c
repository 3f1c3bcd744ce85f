/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of positions in a JSON text: lines and columns of values and names. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pathmap/text_location.h"
#include "tests/suites.h"

static const char text[] = "\n"
                           "{\"a\" : 1, \"list\":[10,\r\n"
                           "  {\"x\": \"}],\\\"{\", \"y\" :true},\n"
                           "\t[ ] , null],\n"
                           "\"k\\u0065y\": {\"in\": {}}, \"last\": -1.5e3 }\n";

static const struct esi_step root = {0};
static const struct esi_step list = {&root, "list", 0};
static const struct esi_step item1 = {&list, NULL, 1};

static bool find(const struct esi_step *step, bool name, int *line, int *column)
{
    struct esi_text_cursor cursor;

    esi_text_cursor_init(&cursor, text, strlen(text));
    if (!esi_text_cursor_seek(&cursor, step, name))
        return false;
    esi_text_cursor_locate(&cursor, line, column);
    return true;
}

static void assert_place(const struct esi_step *step, bool name, int line, int column)
{
    int found_line = 0, found_column = 0;

    assert_true(find(step, name, &found_line, &found_column));
    assert_int_equal(found_line, line);
    assert_int_equal(found_column, column);
}

static void root_is_the_first_value(void **state)
{
    (void)state;
    assert_place(&root, false, 2, 1);
}

static void members_are_found_by_value_and_name(void **state)
{
    struct esi_step a = {&root, "a", 0}, last = {&root, "last", 0};

    (void)state;
    assert_place(&a, false, 2, 8);
    assert_place(&a, true, 2, 2);
    assert_place(&list, false, 2, 18);
    assert_place(&last, true, 5, 25);
    assert_place(&last, false, 5, 33);
}

static void items_are_found_by_number(void **state)
{
    struct esi_step item0 = {&list, NULL, 0}, item2 = {&list, NULL, 2};
    struct esi_step item3 = {&list, NULL, 3};

    (void)state;
    assert_place(&item0, false, 2, 19);
    assert_place(&item1, false, 3, 3);
    assert_place(&item2, false, 4, 2);
    assert_place(&item3, false, 4, 8);
}

static void strings_full_of_brackets_are_skipped(void **state)
{
    struct esi_step y = {&item1, "y", 0};

    (void)state;
    assert_place(&y, true, 3, 19);
    assert_place(&y, false, 3, 24);
}

static void escaped_names_are_what_they_spell(void **state)
{
    struct esi_step key = {&root, "key", 0}, in = {&key, "in", 0};

    (void)state;
    assert_place(&key, true, 5, 1);
    assert_place(&in, false, 5, 20);
}

static void what_is_not_there_is_not_found(void **state)
{
    struct esi_step none = {&root, "none", 0}, item4 = {&list, NULL, 4};
    struct esi_step in_number = {&(struct esi_step){&root, "a", 0}, "b", 0};
    struct esi_step in_object = {&root, NULL, 0};
    int line, column;

    (void)state;
    assert_false(find(&none, false, &line, &column));
    assert_false(find(&item4, false, &line, &column));
    assert_false(find(&in_number, false, &line, &column));
    assert_false(find(&in_object, false, &line, &column));
}

static void cut_texts_are_never_overrun(void **state)
{
    struct esi_step last = {&root, "last", 0};
    struct esi_text_cursor cursor;
    size_t found = 0;

    (void)state;
    for (size_t length = 0; length < strlen(text); length++) {
        char *copy = test_malloc(length + 1);
        memcpy(copy, text, length);
        esi_text_cursor_init(&cursor, copy, length);
        found += esi_text_cursor_seek(&cursor, &last, false);
        assert_true(cursor.at <= copy + length);
        test_free(copy);
    }
    assert_int_equal(found, strlen("1.5e3 }\n"));
}

static void ways_are_written_as_people_write_them(void **state)
{
    struct esi_step hosts = {&(struct esi_step){&root, "cluster", 0}, "hosts", 0};
    struct esi_step host = {&hosts, NULL, 2}, cores = {&host, "cores", 0};
    struct esi_step odd = {&root, "a\x1b[2J\n", 0};
    char out[64], little[9];

    (void)state;
    assert_string_equal(esi_step_format(&cores, out, sizeof(out)),
                        "cluster.hosts[2].cores");
    assert_string_equal(esi_step_format(&root, out, sizeof(out)), "document");
    assert_string_equal(esi_step_format(&odd, out, sizeof(out)), "a?[2J?");
    assert_string_equal(esi_step_format(&cores, little, sizeof(little)), "cluster.");
}

SUITE(test_place)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root_is_the_first_value),
        cmocka_unit_test(members_are_found_by_value_and_name),
        cmocka_unit_test(items_are_found_by_number),
        cmocka_unit_test(strings_full_of_brackets_are_skipped),
        cmocka_unit_test(escaped_names_are_what_they_spell),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(cut_texts_are_never_overrun),
        cmocka_unit_test(ways_are_written_as_people_write_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
