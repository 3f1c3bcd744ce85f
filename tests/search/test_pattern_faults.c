/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Errors in pattern files: limits, invalid bytes, and how errors are shown. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitors/search/language/pattern.h"
#include "tests/search/pattern_compare.h"
#include "tests/suites.h"

static int parse_bytes(const char *text, size_t length, struct es_error *error)
{
    struct es_pattern_file *file = NULL;
    int code;

    es_error_clear(error);
    code = es_pattern_file_parse(text, length, "text", &file, error);
    if (code < 0) {
        assert_null(file);
        assert_int_not_equal(error->text[0], '\0');
    } else {
        assert_string_equal(error->text, "");
    }
    es_pattern_file_destroy(file);
    return code;
}

static int parse(const char *text, struct es_error *error)
{
    return parse_bytes(text, strlen(text), error);
}

/* `before`, `count` times `unit`, `between`, `count` times `end`,
 * and ";".  Caller frees. */
static char *repeat(const char *before,
                    const char *unit,
                    const char *between,
                    const char *end,
                    size_t count)
{
    char *text = malloc(strlen(before) + strlen(between) + 2 +
                        count * (strlen(unit) + strlen(end)));
    char *at = text;

    assert_non_null(text);
    at = stpcpy(at, before);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, unit);
    at = stpcpy(at, between);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, end);
    stpcpy(at, ";");
    return text;
}

/* --- Limits ----------------------------------------------------------------------- */

static void check_depth(const char *unit,
                        const char *between,
                        const char *end,
                        int most)
{
    static const char before[] = "A := [\"\", \"\", \"\"]; A $a; Q := ";
    const size_t counts[] = {(size_t)most, (size_t)most + 1, 200000};
    struct es_error error = {.text = ""};
    char words[32];

    snprintf(words, sizeof words, "at most %d", most);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char *text = repeat(before, unit, between, end, counts[i]);

        assert_int_equal(parse(text, &error), i == 0 ? 0 : -EINVAL);
        if (i == 1)
            assert_non_null(strstr(error.text, words));
        free(text);
    }
}

static void brackets_and_operators_have_a_depth_that_is_allowed(void **state)
{
    struct es_error error = {.text = ""};
    char *text = repeat("Q := ", "(", "", "", 10000000);

    (void)state;
    assert_int_equal(parse(text, &error), -EINVAL);
    assert_int_equal(error.column, 6 + 1000);
    free(text);
    check_depth("(", "$a", ")", 1000);
    check_depth("$a --> ", "$a", "", 500);
    check_depth("$a & ", "$a", "", 500);
    check_depth("(", "$a", ") within 1ms", 500);
    check_depth("(", "$a", ") | $a", 500);
}

/* Operands are a flat list; those without common variables become predicates. */
static void sides_may_be_many(void **state)
{
    static const char before[] = "A := [\"\", \"\", \"\"]; A $a; Q := ";
    static const char *const sides[] = {"$a | ", "A | ", "A --> A | ",
                                        "(A --> (A | $a)) | "};
    struct es_error error = {.text = ""};

    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        char *text = repeat(before, sides[i], "A", "", 5000);

        /* Operands that share a variable cannot be separated. */
        assert_int_equal(parse(text, &error), i == 3 ? -EINVAL : 0);
        free(text);
    }
    assert_non_null(strstr(error.text, "at most 64"));
}

/* With all brackets there are more of them than were written. */
static void what_is_as_deep_as_allowed_can_be_printed_and_parsed(void **state)
{
    static const char *const units[][2] = {
        {"$a & ", ""}, {"(", ") within 1ms"}, {"$a => (", ")"}, {"(", ") | $a"}};
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;

    (void)state;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char *text = repeat("A := [\"\", \"\", \"\"]; A $a; Q := ", units[i][0], "$a",
                            units[i][1], 500);
        char *printed;

        assert_int_equal(
            es_pattern_file_parse(text, strlen(text), "text", &file, &error), 0);
        printed = pattern_file_text(file);
        assert_int_equal(parse(printed, &error), 0);
        free(printed);
        free(text);
        es_pattern_file_destroy(file);
    }
}

static void a_predicate_has_64_occurrences_at_most(void **state)
{
    static const char before[] = "A := [\"\", \"\", \"\"]; Q := A";
    struct es_error error = {.text = ""};
    char *text = repeat(before, " & A", "", "", 63);

    (void)state;
    assert_int_equal(parse(text, &error), 0);
    free(text);
    text = repeat(before, " & A", "", "", 64);
    assert_int_equal(parse(text, &error), -EINVAL);
    assert_non_null(strstr(error.text, "at most 64"));
    free(text);
}

static void long_texts_are_refused_and_many_names_are_not(void **state)
{
    struct es_error error = {.text = ""};
    char *text = repeat("", "#\n", "", "", (16 << 20) / 2);
    size_t size;
    FILE *stream;

    (void)state;
    assert_int_equal(parse_bytes(text, 16 << 20, &error), 0);
    assert_int_equal(parse_bytes(text, (16 << 20) + 1, &error), -EINVAL);
    free(text);
    stream = open_memstream(&text, &size);
    assert_non_null(stream);
    for (int i = 0; i < 50000; i++)
        fprintf(stream, "N%d := [a%d = 1]; N%d $x%d;\n", i, i, i, i);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(parse_bytes(text, size, &error), 0);
    free(text);
}

/* --- Invalid bytes ---------------------------------------------------------------- */

static void what_is_not_text_is_refused_where_it_stands(void **state)
{
    static const char *const wrong[] = {"\xff",
                                        "\x80",
                                        "\xc0\x80",
                                        "\xc3",
                                        "\xe0\x80\x80",
                                        "\xed\xa0\x80",
                                        "\xe2\x82",
                                        "\xf0\x80\x80\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf8\x88\x80\x80\x80",
                                        "\xe2\x28\xa1"};
    struct es_error error = {.text = ""};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[64];

        snprintf(text, sizeof text, "# \xc3\xa4\n# \xf0\x9d\x84\x9e%s\n", wrong[i]);
        assert_int_equal(parse(text, &error), -EINVAL);
        assert_int_equal(error.line, 2);
        assert_int_equal(error.column, 7);
        assert_non_null(strstr(error.text, "UTF-8"));
    }
    assert_int_equal(parse_bytes("# \0\n", 4, &error), -EINVAL);
    assert_int_equal(error.column, 3);
    assert_non_null(strstr(error.text, "NUL"));
    assert_int_equal(parse("# \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf", &error), 0);
}

static void expressions_that_are_none_are_refused_where_they_stand(void **state)
{
    static const char *const wrong[] = {
        "MPI_(I)?send(x", "a[b", "*a", "a\\\\\\\\(", "((a{1000}){1000}){1000}", "\\\\C",
        "(?<n>a)(?<n>b)"};
    struct es_error error = {.text = ""};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[128];

        snprintf(text, sizeof text, "A := [x =~ \"%s\"];", wrong[i]);
        if (i == 5)
            snprintf(text, sizeof text, "A := [x =~ \"a\\C\"];");
        assert_int_equal(parse(text, &error), -EINVAL);
        assert_int_equal(strncmp(error.text, "the regular expression is wrong: ", 33),
                         0);
        assert_in_range(error.column, 13, 13 + strlen(wrong[i]));
    }
}

/* --- Display of errors ------------------------------------------------------------ */

static size_t characters(const char *begin, const char *end)
{
    size_t count = 0;

    for (; begin < end; begin++)
        count += ((unsigned char)*begin & 0xc0) != 0x80;
    return count;
}

/* Expects three lines; the caret of the last one is below the '@' of the second. */
static void check_shown(const struct es_error *error, const char *text)
{
    const char *line = strchr(error->text, '\n');
    const char *caret = line ? strchr(line + 1, '\n') : NULL;
    const char *at = line ? strchr(line, '@') : NULL;

    if (!line || !caret || !at || caret[strlen(caret) - 1] != '^' ||
        strchr(caret + 1, '\n') || characters(line + 1, at) != strlen(caret + 1) - 1)
        fail_msg("in\n%s\n%s", text, error->text);
    for (const char *a = line + 1, *b = caret + 1; *b != '^'; b++, a++) {
        while (((unsigned char)*a & 0xc0) == 0x80)
            a++;
        assert_int_equal(*a == '\t', *b == '\t');
    }
}

static void the_caret_stands_below_the_fault(void **state)
{
    static const char *const units[] = {
        "a", " ", "\t", "\xc3\xa4", "\xf0\x9d\x84\x9e", "a\t\xc3\xa4 "};
    static const size_t counts[] = {0,  1,  5,  24, 25,  26,  30,
                                    49, 50, 51, 99, 100, 101, 300};
    enum { COUNTS = sizeof counts / sizeof counts[0] };
    struct es_error error = {.text = ""};

    (void)state;
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        for (size_t i = 0; i < (size_t)COUNTS * COUNTS; i++) {
            char *before = repeat("# x\n/*", units[u], "*/ @", "", counts[i / COUNTS]);
            char *all = repeat(before, "", "//", units[u], counts[i % COUNTS]);

            assert_int_equal(parse(all, &error), -EINVAL);
            assert_int_equal(error.line, 2);
            check_shown(&error, all);
            free(before);
            free(all);
        }
    }
}

static void long_messages_stay_whole(void **state)
{
    struct es_error error = {.text = ""};
    char *name = repeat("", "long_name_", "", "", 1000);
    char *text;

    (void)state;
    name[strlen(name) - 1] = '\0';
    assert_true(asprintf(&text, "%s %s @;", name, name) > 0);
    assert_int_equal(parse(text, &error), -EINVAL);
    assert_int_equal(error.text[strlen(error.text) - 1], '^');
    free(text);
    assert_true(asprintf(&text, "A := %s --> A;", name) > 0);
    assert_int_equal(parse(text, &error), -EINVAL);
    assert_int_equal(error.text[strlen(error.text) - 1], '^');
    free(text);
    free(name);
}

static void no_record_of_errors_is_needed(void **state)
{
    struct es_pattern_file *file = NULL;

    (void)state;
    assert_int_equal(es_pattern_file_parse("A", 1, "text", &file, NULL), -EINVAL);
    assert_int_equal(es_pattern_file_parse("\xff", 1, "text", &file, NULL), -EINVAL);
    assert_null(file);
}

static void what_is_found_wrong_later_is_shown_as_well(void **state)
{
    static const char text[] = "A := [x = 1];\n\tA $a; Q := A;";
    struct es_error error = {.text = ""};
    struct es_pattern_file *file = NULL;
    char *copy = strdup(text);

    (void)state;
    assert_non_null(copy);
    assert_int_equal(es_pattern_file_parse(copy, strlen(copy), "text", &file, &error),
                     0);
    free(copy);
    assert_int_equal(esi_pattern_fault(file, esi_pattern_predicate(file, 1)->place,
                                       "too large", &error),
                     -EINVAL);
    assert_string_equal(error.source, "text");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 8);
    assert_string_equal(error.text, "too large\n    \tA $a; Q := A;\n    \t      ^");
    es_pattern_file_destroy(file);
}

/* --- Files ------------------------------------------------------------------------ */

static void files_that_cannot_be_read_say_so(void **state)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file = NULL;

    (void)state;
    assert_int_equal(es_pattern_file_read("/nowhere/at/all", &file, &error), -ENOENT);
    assert_string_equal(error.source, "/nowhere/at/all");
    assert_int_not_equal(error.text[0], '\0');
    es_error_clear(&error);
    assert_int_equal(es_pattern_file_read("/", &file, &error), -EISDIR);
    assert_null(file);
}

static void the_standard_input_is_read_as_well(void **state)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file = NULL;
    int ends[2];
    int kept = dup(0);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "A := [x = 1];", 13), 13);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], 0), 0);
    close(ends[0]);
    assert_int_equal(es_pattern_file_read("-", &file, &error), 0);
    assert_int_equal(es_pattern_predicates(file), 1);
    es_pattern_file_destroy(file);
    dup2(kept, 0);
    close(kept);
}

SUITE(test_pattern_faults)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_and_operators_have_a_depth_that_is_allowed),
        cmocka_unit_test(what_is_as_deep_as_allowed_can_be_printed_and_parsed),
        cmocka_unit_test(sides_may_be_many),
        cmocka_unit_test(a_predicate_has_64_occurrences_at_most),
        cmocka_unit_test(long_texts_are_refused_and_many_names_are_not),
        cmocka_unit_test(what_is_not_text_is_refused_where_it_stands),
        cmocka_unit_test(expressions_that_are_none_are_refused_where_they_stand),
        cmocka_unit_test(the_caret_stands_below_the_fault),
        cmocka_unit_test(long_messages_stay_whole),
        cmocka_unit_test(no_record_of_errors_is_needed),
        cmocka_unit_test(what_is_found_wrong_later_is_shown_as_well),
        cmocka_unit_test(files_that_cannot_be_read_say_so),
        cmocka_unit_test(the_standard_input_is_read_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
