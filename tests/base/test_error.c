/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Error records: the first fault is kept, and all texts fit. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/error.h"
#include "tests/suites.h"

static void the_first_fault_wins(void **state)
{
    struct es_error error = {.text = ""};

    (void)state;
    assert_int_equal(es_error_set(&error, -EINVAL, "first %d", 1), -EINVAL);
    assert_int_equal(es_error_set(&error, -ENOENT, "second"), -ENOENT);
    assert_int_equal(es_error_set_at(&error, -ENOENT, "file", 1, 2, "third"), -ENOENT);
    assert_string_equal(error.text, "first 1");
    assert_string_equal(error.source, "");
    es_error_clear(&error);
    es_error_set_at(&error, -ENOENT, "file", 1, 2, "third");
    assert_string_equal(error.text, "third");
}

static void no_record_is_fine(void **state)
{
    (void)state;
    es_error_clear(NULL);
    assert_int_equal(es_error_set(NULL, -EPERM, "x"), -EPERM);
    assert_int_equal(es_error_set_at(NULL, -EPERM, "x", 1, 1, "x"), -EPERM);
}

static void the_parts_that_are_known_are_shown(void **state)
{
    static const struct {
        const char *source;
        int line;
        int column;
        const char *shown;
    } rows[] = {
        {NULL, 0, 0, "text"},
        {"map.json", 0, 0, "map.json: text"},
        {"map.json", 3, 0, "map.json:3: text"},
        {"map.json", 3, 14, "map.json:3:14: text"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_error error = {.text = ""};
        char out[100];

        es_error_set_at(&error, -1, rows[i].source, rows[i].line, rows[i].column,
                        "text");
        assert_ptr_equal(es_error_format(&error, out, sizeof out), out);
        assert_string_equal(out, rows[i].shown);
    }
}

static void long_texts_are_cut(void **state)
{
    struct es_error error = {.text = ""};
    char text[2000], out[8];

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    es_error_set_at(&error, -1, text, 0, 0, "%s", text);
    assert_int_equal(strlen(error.source), sizeof error.source - 1);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    es_error_format(&error, out, sizeof out);
    assert_string_equal(out, "xxxxxxx");
}

SUITE(test_error)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_fault_wins),
        cmocka_unit_test(no_record_is_fine),
        cmocka_unit_test(the_parts_that_are_known_are_shown),
        cmocka_unit_test(long_texts_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
