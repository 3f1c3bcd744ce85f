/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random pattern files: blanks, comments and redundant brackets have no meaning, the
 * printed form equals the parsed file, and a damaged text is refused or has a meaning
 * that can be printed.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tests/search/pattern_compare.h"
#include "tests/search/random_pattern.h"
#include "tests/suites.h"

enum { ROUNDS = 1500, DAMAGED = 3000 };

static struct es_pattern_file *parse(const char *text)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;

    if (es_pattern_file_parse(text, strlen(text), "random", &file, &error) < 0)
        fail_msg("%d:%d: %s in\n%s", error.line, error.column, error.text, text);
    return file;
}

static void check_printed(const struct es_pattern_file *file, const char *text)
{
    char *printed = pattern_file_text(file);
    struct es_pattern_file *again = parse(printed);

    if (!pattern_files_are_alike(file, again))
        fail_msg("of\n%s\nis printed\n%s", text, printed);
    es_pattern_file_destroy(again);
    free(printed);
}

static void make(uint64_t *draw, struct reference_file *made)
{
    struct random_pattern_options options;

    random_pattern_options_init(&options);
    options.terms = 2 + random_int(draw, 7);
    options.predicates = 1 + random_int(draw, 4);
    options.is_extended = random_percent(draw, 80);
    random_pattern_make(draw, &options, made);
}

static void random_files_are_printed_as_what_they_are(void **state)
{
    struct reference_file *made = calloc(1, sizeof *made);
    uint64_t draw;

    (void)state;
    assert_non_null(made);
    draw = random_seed();
    for (int round = 0; round < ROUNDS; round++) {
        char *plain;
        char *dressed;
        struct es_pattern_file *file;
        struct es_pattern_file *same;

        make(&draw, made);
        plain = random_pattern_text(made, REFERENCE_NONE, NULL);
        dressed = random_pattern_text(made, REFERENCE_NONE, &draw);
        file = parse(plain);
        same = parse(dressed);
        if (!pattern_files_are_alike(file, same))
            fail_msg("not the same:\n%s\n%s", plain, dressed);
        check_printed(file, plain);
        es_pattern_file_destroy(file);
        es_pattern_file_destroy(same);
        free(plain);
        free(dressed);
    }
    free(made);
}

/* Replaces a character, or removes some bytes. */
static void damage(uint64_t *draw, char *text)
{
    static const char signs[] = "()[]&|!-><=~*$.,;:\"\\ 7aw#/";
    size_t length = strlen(text);
    size_t at = random_below(draw, (uint32_t)length);
    size_t bytes = 1 + random_below(draw, 4);

    if (random_percent(draw, 50))
        text[at] = signs[random_below(draw, sizeof signs - 1)];
    else if (at + bytes < length)
        memmove(text + at, text + at + bytes, length - at - bytes + 1);
}

static void damaged_files_are_refused_or_mean_something(void **state)
{
    struct reference_file *made = calloc(1, sizeof *made);
    uint64_t draw;
    unsigned refused = 0;

    (void)state;
    assert_non_null(made);
    draw = random_seed();
    for (int round = 0; round < DAMAGED; round++) {
        struct es_error error = {.text = ""};
        struct es_pattern_file *file;
        char *text;

        make(&draw, made);
        text = random_pattern_text(made, REFERENCE_NONE, NULL);
        damage(&draw, text);
        if (es_pattern_file_parse(text, strlen(text), "random", &file, &error) == 0) {
            check_printed(file, text);
            es_pattern_file_destroy(file);
        } else {
            assert_true(error.line > 0 && error.column > 0);
            assert_int_equal(error.text[strlen(error.text) - 1], '^');
            refused++;
        }
        free(text);
    }
    assert_true(refused > DAMAGED / 4);
    free(made);
}

SUITE(test_pattern_random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_files_are_printed_as_what_they_are),
        cmocka_unit_test(damaged_files_are_refused_or_mean_something),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
