/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tables of fields: names, expected values, defaults, and values as text. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fields.h"
#include "tests/suites.h"

static const struct esi_field host_rows[] = {
    {.name = "name"},  {.name = "cluster"}, {.name = "address"},
    {.name = "slots"}, {.name = "cores"},   {.name = "pus"},
};
static const struct esi_field more_rows[] = {{.name = "memory_bytes"},
                                             {.name = "comment"}};
static const struct esi_fields host_fields = {.rows = host_rows, .row_count = 6};
static const struct esi_fields more_fields = {.rows = more_rows,
                                              .row_count = 2,
                                              .base = &host_fields};

static const char *const choices[] = {"red", "green", "blue", NULL};
static const struct esi_field_group groups[] = {{"all", 6}, {NULL, 0}};

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
        const char *nearest = esi_fields_nearest(&more_fields, slips[i].written);
        if (slips[i].meant == NULL)
            assert_null(nearest);
        else
            assert_string_equal(nearest, slips[i].meant);
    }
}

static void members_are_found_by_their_whole_name(void **state)
{
    (void)state;
    assert_non_null(esi_fields_find(&more_fields, "cores"));
    assert_null(esi_fields_find(&more_fields, "core"));
    assert_null(esi_fields_find(&more_fields, "coress"));
}

static void expectations_are_said_in_words(void **state)
{
    static const struct {
        struct esi_field member;
        const char *words;
        const char *text; /* the same for values as text */
    } rows[] = {
        {{.kind = ESI_FIELD_INTEGER, .minimum = 1, .maximum = 64},
         "an integer from 1 to 64",
         "a whole number from 1 to 64"},
        {{.kind = ESI_FIELD_INTEGER, .minimum = 1, .maximum = INT64_MAX},
         "an integer from 1",
         "a whole number from 1"},
        {{.kind = ESI_FIELD_INTEGER, .minimum = 1, .maximum = 1}, "1", "1"},
        {{.kind = ESI_FIELD_BOOLEAN}, "true or false", "yes or no"},
        {{.kind = ESI_FIELD_CHOICE, .choices = choices},
         "one of 'red', 'green', 'blue'",
         "one of red green blue"},
        {{.kind = ESI_FIELD_CHOICE, .choices = choices, .maximum = 1},
         "one of 'red', 'green'",
         "one of red green blue"},
        {{.kind = ESI_FIELD_FLAGS, .choices = choices, .minimum = 1, .groups = groups},
         "a list of names such as [\"green\"]",
         "some of green blue all"},
        {{.kind = ESI_FIELD_STRING, .maximum = 9},
         "a text of 1 to 9 bytes",
         "a text of a length from 0 to 9"},
        {{.kind = ESI_FIELD_OBJECTS}, "a list of objects", NULL},
    };
    char out[160];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(
            esi_field_expected(&rows[i].member, ESI_FORM_JSON, out, sizeof(out)),
            rows[i].words);
        if (rows[i].text)
            assert_string_equal(
                esi_field_expected(&rows[i].member, ESI_FORM_TEXT, out, sizeof(out)),
                rows[i].text);
    }
}

static void texts_are_held_to_their_kind(void **state)
{
    static const struct {
        enum esi_field_kind kind;
        const char *text;
        bool fits;
    } rows[] = {
        {ESI_FIELD_NAME, "a-Z_0.9", true},      {ESI_FIELD_NAME, "", false},
        {ESI_FIELD_NAME, "a:b", false},         {ESI_FIELD_HOST, "a:b", true},
        {ESI_FIELD_NAME, "12345678", true},     {ESI_FIELD_NAME, "123456789", false},
        {ESI_FIELD_NAME, "a b", false},         {ESI_FIELD_PATTERN, "*/[a]?", true},
        {ESI_FIELD_PATTERN, "a b", false},      {ESI_FIELD_STRING, "a b", true},
        {ESI_FIELD_STRING, "a\tb", false},      {ESI_FIELD_STRING, "gr\303\274n", true},
        {ESI_FIELD_NAME, "gr\303\274n", false}, {ESI_FIELD_STRING, "\x7f", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct esi_field member = {.kind = rows[i].kind, .maximum = 8};
        if (esi_field_has_text(&member, rows[i].text) != rows[i].fits)
            fail_msg("row %zu, \"%s\"", i, rows[i].text);
    }
}

/* --- Values ----------------------------------------------------------------------- */

struct record {
    uint32_t count;
    int64_t wide;
    uint64_t end;
    uint64_t wait_ns;
    bool on;
    int color;
    uint32_t colors;
    char name[8];
    char *text;
};

static const struct esi_field rows[] = {
    {.name = "count",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct record, count),
     .size = 4,
     .maximum = 100,
     .initial = 7},
    {.name = "wide",
     .kind = ESI_FIELD_INTEGER,
     .offset = offsetof(struct record, wide),
     .minimum = -5,
     .maximum = INT64_MAX},
    {.name = "end",
     .kind = ESI_FIELD_INTEGER,
     .flags = ESI_FIELD_ENDLESS,
     .offset = offsetof(struct record, end),
     .maximum = INT64_MAX,
     .initial = INT64_MAX},
    {.name = "wait",
     .kind = ESI_FIELD_DURATION,
     .offset = offsetof(struct record, wait_ns),
     .maximum = 1000000000},
    {.name = "on", .kind = ESI_FIELD_BOOLEAN, .offset = offsetof(struct record, on)},
    {.name = "color",
     .kind = ESI_FIELD_CHOICE,
     .offset = offsetof(struct record, color),
     .choices = choices,
     .initial = 2},
    {.name = "colors",
     .kind = ESI_FIELD_FLAGS,
     .offset = offsetof(struct record, colors),
     .minimum = 1,
     .choices = choices,
     .groups = groups,
     .initial = 6},
    {.name = "name",
     .kind = ESI_FIELD_NAME,
     .flags = ESI_FIELD_IN_PLACE,
     .offset = offsetof(struct record, name),
     .minimum = 1,
     .maximum = 7,
     .initial_text = "none"},
    {.name = "text",
     .kind = ESI_FIELD_STRING,
     .offset = offsetof(struct record, text),
     .maximum = 9},
};
static const struct esi_fields fields = {.rows = rows,
                                         .row_count = sizeof rows / sizeof *rows};

static void format(const char *name,
                   const struct record *record,
                   char *out,
                   size_t size)
{
    FILE *file = fmemopen(out, size, "w");

    assert_non_null(file);
    esi_field_format(esi_fields_find(&fields, name), record, file);
    fclose(file);
}

static void defaults_are_set(void **state)
{
    struct record record = {.text = NULL};

    (void)state;
    esi_fields_init(&fields, &record);
    assert_int_equal(record.count, 7);
    assert_true(record.end == UINT64_MAX);
    assert_false(record.on);
    assert_int_equal(record.color, 2);
    assert_int_equal(record.colors, 6);
    assert_string_equal(record.name, "none");
    assert_null(record.text);
}

static void values_are_read_and_written(void **state)
{
    static const struct {
        const char *name, *text, *written; /* NULL = same as text */
    } cases[] = {
        {"count", "100", NULL},   {"count", "+0", "0"},
        {"wide", "-5", NULL},     {"wide", "9223372036854775807", NULL},
        {"end", "12", NULL},      {"end", "9223372036854775807", NULL},
        {"wait", "20ms", NULL},   {"wait", "1.5us", "1500ns"},
        {"wait", "0", "0s"},      {"on", "TRUE", "yes"},
        {"on", "0", "no"},        {"color", "green", NULL},
        {"colors", "blue", NULL}, {"colors", "blue,green", "all"},
        {"colors", "all", NULL},  {"name", "a b", NULL},
        {"text", "", NULL},       {"text", "123456789", NULL},
    };
    struct record record = {.text = NULL};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        struct esi_field_fault fault;
        char out[64] = "";

        assert_int_equal(esi_field_parse(esi_fields_find(&fields, cases[i].name),
                                         esi_text_span_of(text), &fault, &record),
                         0);
        format(cases[i].name, &record, out, sizeof out);
        assert_string_equal(out, cases[i].written ? cases[i].written : text);
    }
    free(record.text);
}

static void faults_leave_the_record_as_it_was(void **state)
{
    static const struct {
        const char *name, *text;
        int at; /* position of the fault */
        const char *expected;
    } cases[] = {
        {"count", "101", 0, "a whole number from 0 to 100"},
        {"count", "", 0, "a whole number from 0 to 100"},
        {"count", "1x", 0, "a whole number from 0 to 100"},
        {"wide", "-6", 0, "a whole number from -5"},
        {"wide", "9223372036854775808", 0, "a whole number from -5"},
        {"wait", "5", 0, "a number with ns, us, ms or s"},
        {"wait", "2s", 0, "a time in ns from 0 to 1000000000"},
        {"on", "maybe", 0, "yes or no"},
        {"color", "black", 0, "one of red green blue"},
        {"color", "grene", 0, "one of red green blue; did you mean 'green'?"},
        {"colors", "red", 0, "some of green blue all"},
        {"colors", "blue,al", 5, "some of green blue all; did you mean 'all'?"},
        {"colors", "blue,", 5, "some of green blue all"},
        {"name", "", 0, "a text of a length from 1 to 7"},
        {"name", "12345678", 0, "a text of a length from 1 to 7"},
        {"text", "1234567890", 0, "a text of a length from 0 to 9"},
    };
    struct record record = {.text = NULL};

    (void)state;
    esi_fields_init(&fields, &record);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record before = record;
        struct esi_field_fault fault;

        assert_int_equal(esi_field_parse(esi_fields_find(&fields, cases[i].name),
                                         esi_text_span_of(cases[i].text), &fault,
                                         &record),
                         -EINVAL);
        assert_string_equal(fault.expected, cases[i].expected);
        assert_int_equal(fault.at.text - cases[i].text, cases[i].at);
        assert_memory_equal(&before, &record, sizeof record);
    }
}

SUITE(test_fields)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_finds_the_name_that_was_meant),
        cmocka_unit_test(members_are_found_by_their_whole_name),
        cmocka_unit_test(expectations_are_said_in_words),
        cmocka_unit_test(texts_are_held_to_their_kind),
        cmocka_unit_test(defaults_are_set),
        cmocka_unit_test(values_are_read_and_written),
        cmocka_unit_test(faults_leave_the_record_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
