/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of positions in a JSON text: lines and columns of values and names. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pathmap/text_location.h"
#include "tests/suites.h"

static const char text[] = "\n"
                           "{\"a\" : 1, \"list\":[10,\r\n"
                           "  {\"x\": \"}],\\\"{\", \"y\" :true},\n"
                           "\t[ ] , null],\n"
                           "\"k\\u0065y\": {\"in\": {}}, \"last\": -1.5e3 }\n";

static const struct esi_step root = {0};
static const struct esi_step a = {&root, "a", 0};
static const struct esi_step list = {&root, "list", 0};
static const struct esi_step item0 = {&list, NULL, 0};
static const struct esi_step item1 = {&list, NULL, 1};
static const struct esi_step item2 = {&list, NULL, 2};
static const struct esi_step item3 = {&list, NULL, 3};
static const struct esi_step item4 = {&list, NULL, 4};
static const struct esi_step y = {&item1, "y", 0};
static const struct esi_step key = {&root, "key", 0};
static const struct esi_step in = {&key, "in", 0};
static const struct esi_step last = {&root, "last", 0};
static const struct esi_step none = {&root, "none", 0};
static const struct esi_step in_number = {&a, "b", 0};
static const struct esi_step in_object = {&root, NULL, 0};

static struct es_error fail_at(const struct esi_step *step, bool name)
{
    struct es_error error = {.text = ""};
    struct esi_reader reader = {text, strlen(text), "text", &error};

    assert_int_equal(name ? esi_reader_fail_name(&reader, step, "odd")
                          : esi_reader_fail(&reader, step, -EINVAL, "odd"),
                     -EINVAL);
    return error;
}

static void values_and_names_are_located(void **state)
{
    static const struct {
        const struct esi_step *step;
        bool name;
        int line, column;
    } cases[] = {
        {&root, false, 2, 1},
        {&a, false, 2, 8},
        {&a, true, 2, 2},
        {&list, false, 2, 18},
        {&last, true, 5, 25},
        {&last, false, 5, 33},
        {&item0, false, 2, 19},
        {&item1, false, 3, 3},
        {&item2, false, 4, 2},
        {&item3, false, 4, 8},
        /* Behind a string full of brackets. */
        {&y, true, 3, 19},
        {&y, false, 3, 24},
        /* Escaped names are what they spell. */
        {&key, true, 5, 1},
        {&in, false, 5, 20},
        /* What is not there has no location. */
        {&none, false, 0, 0},
        {&item4, false, 0, 0},
        {&in_number, false, 0, 0},
        {&in_object, false, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_error error = fail_at(cases[i].step, cases[i].name);

        print_message("# %s\n", error.text);
        assert_int_equal(error.line, cases[i].line);
        assert_int_equal(error.column, cases[i].column);
    }
}

static void cut_texts_are_never_overrun(void **state)
{
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
    struct esi_step long_way[5] = {{0}};
    struct es_error error;

    (void)state;
    assert_string_equal(fail_at(&cores, false).text, "cluster.hosts[2].cores: odd");
    assert_string_equal(fail_at(&root, false).text, "document: odd");
    assert_string_equal(fail_at(&odd, false).text, "a?[2J?: odd");
    for (size_t i = 1; i < 5; i++)
        long_way[i] = (struct esi_step){&long_way[i - 1],
                                        "a name that is so long that a path of four "
                                        "of them is cut off",
                                        0};
    error = fail_at(&long_way[4], false);
    assert_int_equal(strlen(error.text), 191 + strlen(": odd"));
    assert_string_equal(error.text + 191, ": odd");
}

SUITE(test_place)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_names_are_located),
        cmocka_unit_test(cut_texts_are_never_overrun),
        cmocka_unit_test(ways_are_written_as_people_write_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
