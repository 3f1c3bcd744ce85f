/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names from outside cannot contain terminal commands or break a row. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "tests/suites.h"

static const struct {
    const char *text;
    const char *plain;
} cases[] = {
    {"", ""},
    {"MPI_COMM_WORLD", "MPI_COMM_WORLD"},
    {"a\\nb", "a\\nb"},
    {"Gr\xc3\xbc\xc3\x9f"
     "e \xe2\x82\xac \xf0\x9f\x98\x80",
     "Gr\xc3\xbc\xc3\x9f"
     "e \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\x1b]0;title\a", "\\e]0;title\\a"},
    {"one\r\ntwo\tthree\v\f\b", "one\\r\\ntwo\\tthree\\v\\f\\b"},
    {"\x01\x7f", "\\x01\\x7f"},
    /* CSI as a UTF-8 character, CSI as a byte, and NEL. */
    {"\xc2\x9b"
     "2J\x9b"
     "2J\xc2\x85",
     "\\u009b2J\\x9b2J\\u0085"},
    /* Not UTF-8: a single byte, truncated, overlong, a surrogate, too large. */
    {"\xff\xe2\x82", "\\xff\\xe2\\x82"},
    {"\xc0\x9b\xed\xa0\x80\xf5\x80", "\\xc0\\x9b\\xed\\xa0\\x80\\xf5\\x80"},
    /* Right-to-left override, zero width space, line separator. */
    {"a\xe2\x80\xae"
     "b\xe2\x80\x8b\xe2\x80\xa8",
     "a\\u202eb\\u200b\\u2028"},
};

enum { CASES = sizeof cases / sizeof cases[0] };

static char *written;
static size_t length;

static FILE *begin(void)
{
    FILE *stream = open_memstream(&written, &length);

    assert_non_null(stream);
    return stream;
}

static void assert_written(FILE *stream, const char *expected)
{
    fclose(stream);
    assert_string_equal(written, expected);
    free(written);
}

static void what_a_terminal_obeys_is_escaped(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        FILE *stream = begin();
        esi_plain_write(stream, cases[i].text);
        assert_written(stream, cases[i].plain);
        assert_int_equal(esi_plain_is(cases[i].text),
                         strcmp(cases[i].text, cases[i].plain) == 0);
    }
}

static void what_is_escaped_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        char *once = esi_plain_duplicate(cases[i].text);
        assert_string_equal(once, cases[i].plain);
        char *twice = esi_plain_duplicate(once);
        assert_string_equal(twice, once);
        free(once);
        free(twice);
    }
}

static void a_copy_is_cut_between_characters(void **state)
{
    char out[8];

    (void)state;
    assert_string_equal(esi_plain_copy(out, 8, "abc\x1b[m"), "abc\\e[m");
    assert_string_equal(esi_plain_copy(out, 7, "abcdef\x1b"), "abcdef");
    assert_string_equal(esi_plain_copy(out, 8, "abcdef\x1b"), "abcdef");
    assert_string_equal(esi_plain_copy(out, 4, "ab\xe2\x82\xac"), "ab");
}

static void a_line_keeps_its_end_only(void **state)
{
    char large[2000];
    FILE *stream = begin();

    (void)state;
    esi_plain_print(stream, "%s of %d\n", "a\nb", 7);
    esi_plain_print(stream, "%s", "\n");
    esi_plain_print(stream, "\n");
    esi_plain_print(stream, "\n  %s\n\n", "\n");
    assert_written(stream, "a\\nb of 7\n\\n\n\n  \\n\n\n");
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    stream = begin();
    esi_plain_print(stream, "%s\n", large);
    fclose(stream);
    assert_int_equal(length, sizeof large);
    assert_int_equal(written[length - 1], '\n');
    free(written);
}

static void quotes_are_closed_by_the_writer_alone(void **state)
{
    FILE *stream = begin();

    (void)state;
    esi_plain_write_quoted(stream, "say \"hi\" \\ \n\xff");
    assert_written(stream, "say \\\"hi\\\" \\\\ \\\\n\\\\xff");
}

static void a_field_is_no_formula_and_no_second_row(void **state)
{
    static const char *const fields[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"a\r\nb", "a\\r\\nb"},
        {"\x1b[2J,", "\"\\e[2J,\""},
        {"=1+2", "\"'=1+2\""},
        {"-1", "-1"},
        {"+1.5", "+1.5"},
        {"-1+2", "\"'-1+2\""},
        {"-", "\"'-\""},
        {"@SUM(\"x\")", "\"'@SUM(\"\"x\"\")\""},
        {"a=1", "a=1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        FILE *stream = begin();
        esi_csv_text(stream, fields[i][0]);
        assert_written(stream, fields[i][1]);
    }
}

static void xml_is_well_formed_and_truncated(void **state)
{
    static const struct {
        const char *text;
        size_t most;
        const char *expected;
    } texts[] = {
        {"", SIZE_MAX, ""},
        {"a<b> & \"c\"", SIZE_MAX, "a&lt;b&gt; &amp; &quot;c&quot;"},
        {"\x1b]0;x\a\n\xc2\x9b\xff", SIZE_MAX, "\\e]0;x\\a\\n\\u009b\\xff"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9\xc3\xa9\xc3\xa9"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xe2\x80\xa6"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        FILE *stream = begin();
        esi_xml_text(stream, texts[i].text, texts[i].most);
        assert_written(stream, texts[i].expected);
    }
}

static void json_has_no_control_character(void **state)
{
    FILE *stream = begin();
    struct esi_json_out out;

    (void)state;
    esi_json_out_init(&out, stream);
    esi_json_out_string(&out, NULL, "\x1b\x7f\xc2\x9b\xc2\xa0\n");
    assert_written(stream, "\"\\u001b\\u007f\\u009b\xc2\xa0\\n\"\n");
}

SUITE(test_plain)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_obeys_is_escaped),
        cmocka_unit_test(what_is_escaped_stays),
        cmocka_unit_test(a_copy_is_cut_between_characters),
        cmocka_unit_test(a_line_keeps_its_end_only),
        cmocka_unit_test(quotes_are_closed_by_the_writer_alone),
        cmocka_unit_test(a_field_is_no_formula_and_no_second_row),
        cmocka_unit_test(xml_is_well_formed_and_truncated),
        cmocka_unit_test(json_has_no_control_character),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
