/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of JSON messages: the values read, and the errors of invalid ones. */
#include "config.h"

#include "pathmap/message.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_out.h"
#include "tests/suites.h"

static const char text[] =
    "{\"name\": \"a\", \"count\": 9223372036854775807, \"low\": -3, \"share\": 0.5,\n"
    " \"on\": true, \"off\": false, \"none\": null,\n"
    " \"list\": [1, \"two\", {\"three\": 3}], \"inner\": {\"z\": 1, \"a\": 2}}";

static int set_up(void **state)
{
    struct es_message *message;

    assert_int_equal(esi_message_parse(text, strlen(text), "test", NULL, &message), 0);
    *state = message;
    return 0;
}

static int tear_down(void **state)
{
    esi_message_destroy(*state);
    return 0;
}

static void members_are_read_with_their_types(void **state)
{
    const struct es_member *root = esi_message_root(*state);
    const char *name = NULL;
    int64_t count = 0;
    bool on = false;

    assert_int_equal(esi_member_text(root, "name", NULL, &name), 0);
    assert_string_equal(name, "a");
    assert_int_equal(esi_member_integer(root, "count", 0, INT64_MAX, NULL, &count), 0);
    assert_true(count == INT64_MAX);
    assert_int_equal(esi_member_boolean(root, "on", NULL, &on), 0);
    assert_true(on);
}

static void expect_fault(int result, const struct es_error *error, const char *words)
{
    assert_int_equal(result, -EINVAL);
    assert_non_null(strstr(error->text, words));
}

static void wrong_members_are_named(void **state)
{
    const struct es_member *root = esi_message_root(*state);
    struct es_error error = {.text = ""};
    const char *name = "kept";
    int64_t count = 7;
    bool on = true;

    expect_fault(esi_member_text(root, "nobody", &error, &name), &error,
                 "'nobody' is missing, expected a text");
    es_error_clear(&error);
    expect_fault(esi_member_text(root, "low", &error, &name), &error,
                 "'low' is an integer, expected a text");
    es_error_clear(&error);
    expect_fault(esi_member_integer(root, "low", 0, 9, &error, &count), &error,
                 "'low' is -3, expected 0 to 9");
    es_error_clear(&error);
    expect_fault(esi_member_integer(root, "share", 0, 9, &error, &count), &error,
                 "'share' is a number with a fraction, expected an integer");
    es_error_clear(&error);
    expect_fault(esi_member_boolean(root, "none", &error, &on), &error,
                 "'none' is null");
    es_error_clear(&error);
    expect_fault(esi_member_boolean(root, "inner", &error, &on), &error,
                 "'inner' is an object");
    assert_string_equal(name, "kept");
    assert_int_equal(count, 7);
    assert_true(on);
}

static void what_is_not_there_takes_the_fallback(void **state)
{
    const struct es_member *root = esi_message_root(*state);

    assert_string_equal(esi_member_text_or(root, "name", "b"), "a");
    assert_string_equal(esi_member_text_or(root, "low", "b"), "b");
    assert_null(esi_member_text_or(root, "nobody", NULL));
    assert_int_equal(esi_member_integer_or(root, "low", 5), -3);
    assert_int_equal(esi_member_integer_or(root, "name", 5), 5);
    assert_false(esi_member_boolean_or(root, "off", true));
    assert_true(esi_member_boolean_or(root, "nobody", true));
    assert_true(esi_member_real_or(root, "share", 1) == 0.5);
    assert_true(esi_member_real_or(root, "nobody", 1) == 1);
}

static void lists_are_walked(void **state)
{
    const struct es_member *list = esi_member_find(esi_message_root(*state), "list");

    assert_int_equal(esi_member_count(list), 3);
    assert_int_equal(esi_member_as_integer(esi_member_at(list, 0)), 1);
    assert_null(esi_member_as_text(esi_member_at(list, 0)));
    assert_string_equal(esi_member_as_text(esi_member_at(list, 1)), "two");
    assert_int_equal(esi_member_as_integer(esi_member_at(list, 1)), 0);
    assert_int_equal(esi_member_integer_or(esi_member_at(list, 2), "three", 0), 3);
    assert_null(esi_member_at(list, 3));
}

/* A missing member can be used like an empty list, without a check. */
static void nothing_is_an_empty_list(void **state)
{
    const struct es_member *nothing =
        esi_member_find(esi_message_root(*state), "nobody");

    assert_null(nothing);
    assert_int_equal(esi_member_count(nothing), 0);
    assert_null(esi_member_at(nothing, 0));
    assert_null(esi_member_find(nothing, "deeper"));
    assert_null(esi_member_as_text(nothing));
    assert_int_equal(esi_member_as_integer(nothing), 0);
    assert_int_equal(esi_member_integer_or(nothing, "deeper", 4), 4);
    assert_int_equal(
        esi_member_count(esi_member_find(esi_message_root(*state), "name")), 0);
}

struct visited {
    char names[16];
    int stop_at;
};

static int visit(void *data, const char *name, const struct es_member *value)
{
    struct visited *visited = data;

    strcat(visited->names, name);
    return esi_member_as_integer(value) == visited->stop_at ? 42 : 0;
}

static void members_are_visited_in_the_order_of_the_text(void **state)
{
    const struct es_member *inner = esi_member_find(esi_message_root(*state), "inner");
    struct visited visited = {.stop_at = 0};

    assert_int_equal(esi_member_foreach(inner, visit, &visited), 0);
    assert_string_equal(visited.names, "za");
    visited = (struct visited){.stop_at = 1};
    assert_int_equal(esi_member_foreach(inner, visit, &visited), 42);
    assert_string_equal(visited.names, "z");
    assert_int_equal(esi_member_foreach(NULL, visit, &visited), 0);
}

static void what_is_no_message_is_refused_at_its_place(void **state)
{
    static const struct {
        const char *text;
        int line;
    } cases[] = {
        {"", 1},
        {"[1]", 1},
        {"7", 1},
        {"{\"a\": 1, \"a\": 2}", 1},
        {"{\n\"a\": }", 2},
        {"{\"a\": 9223372036854775808}", 1},
        {"{\"a\": \"\\u0000\"}", 1},
        {"{\"a\": 1} {}", 1},
        {"{\"a\": \"\xff\"}", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_error error = {.text = ""};
        struct es_message *message = NULL;

        assert_int_equal(esi_message_parse(cases[i].text, strlen(cases[i].text), "peer",
                                           &error, &message),
                         -EINVAL);
        assert_null(message);
        assert_string_equal(error.source, "peer");
        assert_int_equal(error.line, cases[i].line);
        assert_true(error.column >= 1 && error.text[0] != '\0');
    }
}

static void deep_nesting_is_refused(void **state)
{
    static char deep[200000];
    struct es_message *message;

    (void)state;
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{\"a\":", 5);
    assert_int_equal(esi_message_parse(deep, sizeof deep, "peer", NULL, &message),
                     -EINVAL);
}

static void objects_are_copied_and_written_again(void **state)
{
    static const char nested[] =
        "{\"a\":{\"t\":\"x\\n\",\"n\":-3,\"r\":0.5,\"y\":true,\"z\":null,"
        "\"l\":[1,[],{}]},\"b\":7}";
    struct es_message *message, *copy = NULL;
    struct esi_json_text json;
    char *written;

    (void)state;
    assert_int_equal(esi_message_parse(nested, strlen(nested), "m", NULL, &message), 0);
    assert_int_equal(
        esi_message_copy(esi_member_find(esi_message_root(message), "b"), &copy),
        -EINVAL);
    assert_int_equal(esi_message_copy(NULL, &copy), -EINVAL);
    assert_int_equal(
        esi_message_copy(esi_member_find(esi_message_root(message), "a"), &copy), 0);
    esi_message_destroy(message);
    assert_int_equal(esi_json_text_begin(&json), 0);
    esi_member_write(esi_message_root(copy), &json.out, NULL);
    assert_int_equal(esi_json_text_finish(&json, &written, NULL), 0);
    assert_non_null(strstr(written, "\"t\":\"x\\n\",\"n\":-3,\"r\":0.5,\"y\":true,"
                                    "\"z\":null,\"l\":[1,[],{}]"));
    free(written);
    esi_message_destroy(copy);
}

SUITE(test_message)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_are_read_with_their_types, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(wrong_members_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_takes_the_fallback, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lists_are_walked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_an_empty_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_are_visited_in_the_order_of_the_text,
                                        set_up, tear_down),
        cmocka_unit_test(what_is_no_message_is_refused_at_its_place),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(objects_are_copied_and_written_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
