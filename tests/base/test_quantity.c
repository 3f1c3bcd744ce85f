/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Quantities are printed with three significant digits and a unit. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "tests/suites.h"

struct quantity_case {
    double number;
    const char *expected;
};

static void assert_cases(const char *(*format)(char *out, size_t size, double number),
                         const struct quantity_case *cases,
                         size_t count)
{
    char text[ESI_QUANTITY_BYTES];

    for (size_t i = 0; i < count; i++)
        assert_string_equal(format(text, sizeof text, cases[i].number),
                            cases[i].expected);
}

static void times_have_three_digits(void **state)
{
    static const struct quantity_case cases[] = {
        {0, "0 ns"},
        {350, "350 ns"},
        {999.4, "999 ns"},
        {999.6, "1.00 us"},
        {1250000, "1.25 ms"},
        {12345678, "12.3 ms"},
        {99960000, "100 ms"},
        {9.996e9, "10.0 s"},
        {119.9e9, "120 s"},
        {200e9, "3 min 20 s"},
        {7199.9e9, "119 min 59 s"},
        {7500e9, "2 h 5 min"},
        {-0.4, "0 ns"},
        {-1, "-1 ns"},
        {-1250000, "-1.25 ms"},
        {-200e9, "-3 min 20 s"},
    };

    (void)state;
    assert_cases(esi_quantity_time, cases, sizeof cases / sizeof *cases);
}

static void sizes_have_three_digits(void **state)
{
    static const struct quantity_case cases[] = {
        {0, "0 B"},         {64, "64 B"},       {1023, "1023 B"},
        {1024, "1.00 KiB"}, {1536, "1.50 KiB"}, {16.0 * 1024 * 1024, "16.0 MiB"},
        {5e15, "4547 TiB"}, {-64, "-64 B"},     {-1536, "-1.50 KiB"},
    };

    (void)state;
    assert_cases(esi_quantity_bytes, cases, sizeof cases / sizeof *cases);
}

static void whole_numbers_stay_as_they_are(void **state)
{
    static const struct quantity_case cases[] = {
        {0, "0"},        {42, "42"},          {12345, "12345"}, {3.14159, "3.14"},
        {12.34, "12.3"}, {123.4, "123"},      {1234.5, "1234"}, {0.0125, "0.0125"},
        {0.5, "0.5"},    {-2.71828, "-2.72"},
    };

    (void)state;
    assert_cases(esi_quantity_number, cases, sizeof cases / sizeof *cases);
}

static void a_part_of_something_is_not_nothing(void **state)
{
    static const struct {
        uint64_t part, whole;
        const char *expected;
    } cases[] = {
        {0, 900, "0 %"},   {1, 900, "<1 %"},    {9, 900, "1 %"},     {873, 900, "97 %"},
        {99, 100, "99 %"}, {899, 900, ">99 %"}, {900, 900, "100 %"}, {0, 0, "0 %"},
    };
    char text[ESI_QUANTITY_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(
            esi_quantity_part(text, sizeof text, cases[i].part, cases[i].whole),
            cases[i].expected);
}

SUITE(test_quantity)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_three_digits),
        cmocka_unit_test(sizes_have_three_digits),
        cmocka_unit_test(whole_numbers_stay_as_they_are),
        cmocka_unit_test(a_part_of_something_is_not_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
