/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the tables say of members: nearest names, expectations, texts. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pathmap/schema.h"

static void a_slip_finds_the_name_that_was_meant(void **state)
{
    static const struct {
        const char *written;
        const char *meant;
    } slips[] = {
        {"core", "cores"},
        {"coers", "cores"},
        {"Name", "name"},
        {"memory", NULL},
        {"memory_byte", "memory_bytes"},
        {"slot", "slots"},
        {"adress", "address"},
        {"topology", NULL},
        {"", NULL},
        {"x", NULL},
        {"clusters", "cluster"},
        {"puss", "pus"},
        {"a name that is much longer than any member of any table", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++) {
        const char *nearest = esi_schema_nearest(&esi_schema_host, slips[i].written);
        if (slips[i].meant == NULL)
            assert_null(nearest);
        else
            assert_string_equal(nearest, slips[i].meant);
    }
}

static void members_are_found_by_their_whole_name(void **state)
{
    (void)state;
    assert_non_null(esi_schema_find(&esi_schema_host, "cores"));
    assert_null(esi_schema_find(&esi_schema_host, "core"));
    assert_null(esi_schema_find(&esi_schema_host, "coress"));
}

static void expectations_are_said_in_words(void **state)
{
    static const char *const choices[] = {"red", "green", NULL};
    static const struct {
        struct esi_member member;
        const char *words;
    } rows[] = {
        {{.kind = ESI_INTEGER, .minimum = 1, .maximum = 64}, "an integer from 1 to 64"},
        {{.kind = ESI_INTEGER, .minimum = 1, .maximum = INT64_MAX},
         "an integer from 1"},
        {{.kind = ESI_INTEGER, .minimum = 1, .maximum = 1}, "1"},
        {{.kind = ESI_BOOLEAN}, "true or false"},
        {{.kind = ESI_CHOICE, .choices = choices}, "one of \"red\", \"green\""},
        {{.kind = ESI_STRING, .maximum = 9}, "a text of 1 to 9 bytes"},
        {{.kind = ESI_OBJECTS}, "a list of objects"},
    };
    char out[160];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(esi_member_expected(&rows[i].member, out, sizeof(out)),
                            rows[i].words);
}

static void texts_are_held_to_their_kind(void **state)
{
    static const struct {
        enum esi_kind kind;
        const char *text;
        bool fits;
    } rows[] = {
        {ESI_NAME, "a-Z_0.9", true},      {ESI_NAME, "", false},
        {ESI_NAME, "a:b", false},         {ESI_HOST, "a:b", true},
        {ESI_NAME, "12345678", true},     {ESI_NAME, "123456789", false},
        {ESI_NAME, "a b", false},         {ESI_PATTERN, "*/[a]?", true},
        {ESI_PATTERN, "a b", false},      {ESI_STRING, "a b", true},
        {ESI_STRING, "a\tb", false},      {ESI_STRING, "gr\303\274n", true},
        {ESI_NAME, "gr\303\274n", false}, {ESI_STRING, "\x7f", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct esi_member member = {.kind = rows[i].kind, .maximum = 8};
        if (esi_member_has_text(&member, rows[i].text) != rows[i].fits)
            fail_msg("row %zu, \"%s\"", i, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_finds_the_name_that_was_meant),
        cmocka_unit_test(members_are_found_by_their_whole_name),
        cmocka_unit_test(expectations_are_said_in_words),
        cmocka_unit_test(texts_are_held_to_their_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
