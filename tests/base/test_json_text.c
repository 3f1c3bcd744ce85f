/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* JSON in memory equals what was written, at any length. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_out.h"
#include "tests/suites.h"

static void test_object(void **state)
{
    struct esi_json_text json;
    char *text;
    size_t length;

    (void)state;
    assert_int_equal(esi_json_text_begin(&json), 0);
    esi_json_out_begin_object(&json.out, NULL);
    esi_json_out_string(&json.out, "request", "open");
    esi_json_out_signed(&json.out, "rank", -1);
    esi_json_out_end(&json.out);
    assert_int_equal(esi_json_text_finish(&json, &text, &length), 0);
    assert_string_equal(text, "{\"request\":\"open\",\"rank\":-1}\n");
    assert_int_equal(length, strlen(text));
    free(text);
}

/* JSON that is text already is written to the stream between other values. */
static void test_stream(void **state)
{
    struct esi_json_text json;
    char *text;

    (void)state;
    assert_int_equal(esi_json_text_begin(&json), 0);
    esi_json_out_begin_object(&json.out, NULL);
    esi_json_out_bool(&json.out, "a", true);
    fputs(",\"b\":[1]}", json.stream);
    assert_int_equal(esi_json_text_finish(&json, &text, NULL), 0);
    assert_string_equal(text, "{\"a\":true,\"b\":[1]}");
    free(text);
}

static void test_nothing(void **state)
{
    struct esi_json_text json;
    char *text;
    size_t length = 1;

    (void)state;
    assert_int_equal(esi_json_text_begin(&json), 0);
    assert_int_equal(esi_json_text_finish(&json, &text, &length), 0);
    assert_string_equal(text, "");
    assert_int_equal(length, 0);
    free(text);
}

static void test_long(void **state)
{
    enum { NUMBERS = 100000 };
    struct esi_json_text json;
    char *text;
    size_t length;

    (void)state;
    assert_int_equal(esi_json_text_begin(&json), 0);
    esi_json_out_begin_array(&json.out, NULL);
    for (int i = 0; i < NUMBERS; i++)
        esi_json_out_unsigned(&json.out, NULL, 7);
    esi_json_out_end(&json.out);
    assert_int_equal(esi_json_text_finish(&json, &text, &length), 0);
    /* Each number is "7" and "," or the last "]"; in addition there are "[" and the
     * newline. */
    assert_int_equal(length, 2 * NUMBERS + 2);
    assert_int_equal(strlen(text), length);
    free(text);
}

SUITE(test_json_text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
