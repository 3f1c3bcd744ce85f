/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* JSON Lines are valid for any input. */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_out.h"
#include "tests/suites.h"

/* Collects the output as a string. */
struct capture {
    char *text;
    size_t length;
    FILE *stream;
    struct esi_json_out out;
};

static int set_up(void **state)
{
    struct capture *capture = calloc(1, sizeof *capture);

    assert_non_null(capture);
    capture->stream = open_memstream(&capture->text, &capture->length);
    assert_non_null(capture->stream);
    esi_json_out_init(&capture->out, capture->stream);
    *state = capture;
    return 0;
}

static int tear_down(void **state)
{
    struct capture *capture = *state;

    fclose(capture->stream);
    free(capture->text);
    free(capture);
    return 0;
}

static const char *written(struct capture *capture)
{
    fflush(capture->stream);
    return capture->text;
}

static void a_value_on_top_is_a_line(void **state)
{
    struct capture *capture = *state;

    esi_json_out_signed(&capture->out, NULL, INT64_MIN);
    esi_json_out_unsigned(&capture->out, NULL, UINT64_MAX);
    esi_json_out_bool(&capture->out, NULL, true);
    esi_json_out_null(&capture->out, NULL);
    assert_string_equal(written(capture),
                        "-9223372036854775808\n18446744073709551615\ntrue\nnull\n");
}

static void objects_and_arrays_nest(void **state)
{
    struct capture *capture = *state;
    struct esi_json_out *out = &capture->out;

    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "name", "a");
    esi_json_out_begin_array(out, "list");
    esi_json_out_signed(out, NULL, 1);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_end(out);
    esi_json_out_signed(out, NULL, -2);
    esi_json_out_end(out);
    esi_json_out_bool(out, "last", false);
    esi_json_out_end(out);
    esi_json_out_begin_array(out, NULL);
    esi_json_out_end(out);
    assert_string_equal(written(capture),
                        "{\"name\":\"a\",\"list\":[1,{},-2],\"last\":false}\n[]\n");
}

static void it_nests_as_deep_as_it_promises(void **state)
{
    struct capture *capture = *state;
    char nested[2 * ES_JSON_OUT_DEPTH + 2] = "";

    for (int i = 0; i < ES_JSON_OUT_DEPTH; i++)
        esi_json_out_begin_array(&capture->out, NULL);
    for (int i = 0; i < ES_JSON_OUT_DEPTH; i++)
        esi_json_out_end(&capture->out);
    memset(nested, '[', ES_JSON_OUT_DEPTH);
    memset(nested + ES_JSON_OUT_DEPTH, ']', ES_JSON_OUT_DEPTH);
    nested[2 * ES_JSON_OUT_DEPTH] = '\n';
    assert_string_equal(written(capture), nested);
}

static void strings_are_escaped_and_checked(void **state)
{
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"\"\\/", "\"\\\"\\\\/\""},
        {"\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\""},
        {"\x01\x0b\x1f\x7f", "\"\\u0001\\u000b\\u001f\\u007f\""},
        {"\xc3\xa5\xe2\x82\xac\xf0\x9f\x98\x80",
         "\"\xc3\xa5\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""},
        /* Not UTF-8: a single byte, truncated, overlong, a surrogate, too large. */
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\x80", "\"\xef\xbf\xbd\""},
        {"\xc3", "\"\xef\xbf\xbd\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82z", "\"\xef\xbf\xbd\xef\xbf\xbdz\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe0\x80\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf0\x80\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {NULL, "null"},
    };
    struct capture *capture = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t before = strlen(written(capture));
        esi_json_out_string(&capture->out, NULL, rows[i].text);
        const char *line = written(capture) + before;
        size_t length = strlen(rows[i].expected);
        assert_int_equal(strncmp(line, rows[i].expected, length), 0);
        assert_string_equal(line + length, "\n");
    }
}

static void keys_are_escaped_too(void **state)
{
    struct capture *capture = *state;

    esi_json_out_begin_object(&capture->out, NULL);
    esi_json_out_null(&capture->out, "a\"b");
    esi_json_out_end(&capture->out);
    assert_string_equal(written(capture), "{\"a\\\"b\":null}\n");
}

static void real_numbers_survive_the_way_there_and_back(void **state)
{
    static const double values[] = {0,      0.1,  1.0 / 3,       1e300,
                                    5e-324, -2.5, 123456789.125, 1e21};
    struct capture *capture = *state;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        size_t before = strlen(written(capture));
        esi_json_out_real(&capture->out, NULL, values[i]);
        assert_true(strtod(written(capture) + before, NULL) == values[i]);
    }
    size_t before = strlen(written(capture));
    esi_json_out_real(&capture->out, NULL, 0.1);
    esi_json_out_real(&capture->out, NULL, (double)NAN);
    esi_json_out_real(&capture->out, NULL, (double)-INFINITY);
    assert_string_equal(written(capture) + before, "0.1\nnull\nnull\n");
}

SUITE(test_json_out)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_on_top_is_a_line),
        cmocka_unit_test(objects_and_arrays_nest),
        cmocka_unit_test(it_nests_as_deep_as_it_promises),
        cmocka_unit_test(strings_are_escaped_and_checked),
        cmocka_unit_test(keys_are_escaped_too),
        cmocka_unit_test(real_numbers_survive_the_way_there_and_back),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
