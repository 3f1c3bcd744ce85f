/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* All options accept times in the same form. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"
#include "tests/suites.h"

static void a_time_has_a_unit_or_is_in_seconds(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {
        {"0", 0},
        {"10", UINT64_C(10000000000)},
        {"10s", UINT64_C(10000000000)},
        {"0.5", 500000000},
        {".5", 500000000},
        {"1.5ms", 1500000},
        {"250us", 250000},
        {"7ns", 7},
        {"2min", UINT64_C(120000000000)},
        {"1h", UINT64_C(3600000000000)},
    };
    struct argp_state parser = {.flags = ARGP_NO_ERRS};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(esi_option_duration(cases[i].text, "--for", 0, &parser),
                         cases[i].ns);
}

/* Returns the message of argp_error() for an invalid time. */
static const char *refusal(const char *text, uint64_t minimum_ns)
{
    static const struct argp nothing = {.doc = ""};
    static char *message;
    size_t size;
    char name[] = "test";
    struct argp_state parser = {
        .root_argp = &nothing, .flags = ARGP_NO_EXIT, .name = name};

    free(message);
    parser.err_stream = open_memstream(&message, &size);
    esi_option_duration(text, "--for", minimum_ns, &parser);
    fclose(parser.err_stream);
    return message;
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const wrong[] = {"",      "s",   "-1",  "10 s",  "10sec",
                                        "1.2.3", "ten", "nan", "1e999", "9999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_non_null(strstr(refusal(wrong[i], 0), "is not a time, such as 10, 10s"));
    assert_non_null(strstr(refusal("0", 1), "--for: '0' is too short"));
    assert_null(strstr(refusal("1ns", 1), "--for"));
}

SUITE(test_options)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_has_a_unit_or_is_in_seconds),
        cmocka_unit_test(what_is_no_time_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
