/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Messages of libraries are shown without their internal names. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/library_words.h"
#include "tests/suites.h"

static void flags_are_left_out(void **state)
{
    static const char *const cases[][2] = {
        {"\\u0000 is not allowed without JSON_ALLOW_NUL near '\"a\\u0000b\"'",
         "the character \\u0000 is not allowed near '\"a\\u0000b\"'"},
        {"NUL byte in object key not supported near '\"a\\u0000\"'",
         "the character \\u0000 is not allowed in a member's name near '\"a\\u0000\"'"},
        {"'}' expected near '\"b\"'", "',' or '}' expected near '\"b\"'"},
        {"string or '}' expected near '1'",
         "a name in quotes or '}' expected near '1'"},
        {"']' expected near end of file", "',' or ']' expected near end of file"},
        {"\\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)",
         "\\K is not allowed in lookarounds"},
        {"two named subpatterns have the same name (PCRE2_DUPNAMES not set)",
         "two named subpatterns have the same name"},
        {"PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u",
         "there is no \\F, \\L, \\l, \\N{name}, \\U, or \\u"},
        {"invalid token near 'x'", "invalid token near 'x'"},
        {"", ""},
    };
    char words[200];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(esi_library_words(cases[i][0], words, sizeof words),
                            cases[i][1]);
}

static void long_messages_are_cut(void **state)
{
    char words[8];

    (void)state;
    assert_string_equal(esi_library_words("a long message", words, sizeof words),
                        "a long ");
    assert_string_equal(esi_library_words("'}' expected near", words, sizeof words),
                        "',' or ");
}

SUITE(test_library_words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_left_out),
        cmocka_unit_test(long_messages_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
