/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of segments and ids of runs: valid and invalid ones. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/suites.h"
#include "tuplespace/segment_name.h"

static void names_are_made_and_taken_apart(void **state)
{
    static const struct {
        const char *text;
        struct esi_segment_name name;
    } rows[] = {
        {"/eventspace.r1.host.0.42", {"r1", "host", 0, 42, 0}},
        {"/eventspace.a-b_C.node7.cluster.example.12.4194304",
         {"a-b_C", "node7.cluster.example", 12, 4194304, 0}},
        {"/eventspace.r.h.-1.1", {"r", "h", -1, 1, 0}},
        {"/eventspace.4711,0.4.h.0.42", {"4711.0", "4.h", 0, 42, 0}},
        {"/eventspace.a,b,c.h.0.42", {"a.b.c", "h", 0, 42, 0}},
        {"/eventspace.r.10.0.0.1.3.77", {"r", "10.0.0.1", 3, 77, 0}},
        {"/eventspace.r.h.3.77+0000c0de", {"r", "h", 3, 77, 0xc0de}},
        {"/eventspace.r.h+12345678.3.77+ffffffff", {"r", "h+12345678", 3, 77, ~0u}},
    };
    struct esi_segment_name name;
    char text[ES_SEGMENT_NAME_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(esi_segment_name_format(&rows[i].name, text), 0);
        assert_string_equal(text, rows[i].text);
        /* The leading slash is optional. */
        for (int slash = 0; slash < 2; slash++) {
            assert_int_equal(esi_segment_name_parse(rows[i].text + slash, &name), 0);
            assert_string_equal(name.run, rows[i].name.run);
            assert_string_equal(name.host, rows[i].name.host);
            assert_int_equal(name.rank, rows[i].name.rank);
            assert_int_equal(name.pid, rows[i].name.pid);
            assert_int_equal(name.other, rows[i].name.other);
        }
    }
}

static void other_names_are_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "/",
        "eventspace",
        "eventspace.",
        "eventspace.r",
        "eventspace.r.h",
        "eventspace.r.h.1",
        "eventspace..h.1.2",
        "eventspace.r..1.2",
        "eventspace.r.h.x.2",
        "eventspace.r.h.1.x",
        "eventspace.r.h.1.",
        "eventspace.r.h..2",
        "eventspace.r.h.-2.2",
        "eventspace.r.h.1.0",
        "eventspace.r.h.1.-1",
        "eventspace.r.h.1.99999999999",
        "eventspace.r.h.1.2147483648",
        "eventspace.r+.h.1.2",
        "eventspace.,r.h.1.2",
        "eventspace.r,.h.1.2",
        "eventspace.r,,s.h.1.2",
        "eventspace.r.h.1.2+",
        "eventspace.r.h.1.2+1234567",
        "eventspace.r.h.1.2+123456789",
        "eventspace.r.h.1.2+1234567G",
        "eventspace.r.h.1.2+1234567A",
        "eventspace.r.h.1.2+00000000",
        "eventspace.r.h.1.+12345678",
        "+12345678",
        "Eventspace.r.h.1.2",
        "sem.eventspace.r.h.1.2",
        "eventspace."
        "0123456789012345678901234567890123456789012345678901234567890123"
        ".h.1.2",
    };
    struct esi_segment_name name = {.pid = 77};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (esi_segment_name_parse(rows[i], &name) != -EINVAL)
            fail_msg("\"%s\" was taken for a segment's name", rows[i]);
    assert_int_equal(name.pid, 77);
}

static void parts_that_do_not_fit_make_no_name(void **state)
{
    static const struct esi_segment_name rows[] = {
        {"", "h", 0, 1, 0},     {"a.", "h", 0, 1, 0}, {"a,b", "h", 0, 1, 0},
        {"a..b", "h", 0, 1, 0}, {"r", "", 0, 1, 0},   {"r", "a/b", 0, 1, 0},
        {"r", "h", -2, 1, 0},   {"r", "h", 0, 0, 0},
    };
    char text[ES_SEGMENT_NAME_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(esi_segment_name_format(&rows[i], text), -EINVAL);
}

static void the_longest_name_fits(void **state)
{
    struct esi_segment_name name = {
        .rank = 2147483647, .pid = 2147483647, .other = UINT32_MAX};
    struct esi_segment_name again;
    char text[ES_SEGMENT_NAME_BYTES];

    (void)state;
    memset(name.run, 'r', 63);
    memset(name.host, 'h', 63);
    assert_int_equal(esi_segment_name_format(&name, text), 0);
    assert_int_equal(esi_segment_name_parse(text, &again), 0);
    assert_string_equal(again.host, name.host);
    assert_int_equal(again.pid, name.pid);
}

SUITE(test_segment_name)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_made_and_taken_apart),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(parts_that_do_not_fit_make_no_name),
        cmocka_unit_test(the_longest_name_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
