/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_vocabulary_check.c - misspelt attributes and texts in patterns. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/domains/vocabulary_check.h"
#include "tests/suites.h"

static const char *colour_at(size_t number)
{
    static const char *const colours[] = {"red", "green", NULL};

    return colours[number];
}

static const char *type_at(size_t number)
{
    static const char *const types[] = {"X_Send", "X_Receive", NULL};

    return types[number];
}

static const char *const endings[] = {" begin", " end", NULL};
static const struct esi_vocabulary_word words[] = {
    {.name = "type", .value = type_at, .endings = endings},
    {.name = "colour", .value = colour_at},
    {.name = "weight"},
    {.name = "maker"},
};
static const struct esi_vocabulary vocabulary = {.words = words,
                                                 .count = 4,
                                                 .mark = "maker",
                                                 .prefix = "X_"};

/* A check of a text with up to 8 predicates and classes, all needed. */
static struct esi_vocabulary_check *make_check(const char *text,
                                               struct es_pattern_file **ret_file)
{
    static const bool needed[8] = {true, true, true, true, true, true, true, true};
    struct es_error error = {.text = ""};
    struct esi_vocabulary_check *check;

    if (es_pattern_file_parse(text, strlen(text), "words", ret_file, &error) < 0)
        fail_msg("%s: %s", text, error.text);
    assert_int_equal(
        0, esi_vocabulary_check_create(*ret_file, needed, needed, &vocabulary, &check));
    return check;
}

static void expect_words(const char *text, int result, struct es_error *error)
{
    if (!text) {
        assert_int_equal(0, result);
        return;
    }
    assert_int_equal(-22, result);
    if (strncmp(error->text, text, strlen(text)) != 0)
        fail_msg("not \"%s\", but \"%s\"", text, error->text);
}

/* Checks the message for a pattern and events of the vocabulary's origin. */
static void check_words(const char *text,
                        bool all_types,
                        int column,
                        const char *expected)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;
    struct esi_vocabulary_check *check = make_check(text, &file);

    expect_words(expected, esi_vocabulary_check_words(check, all_types, &error),
                 &error);
    if (expected)
        assert_int_equal(column, error.column);
    esi_vocabulary_check_destroy(check);
    es_pattern_file_destroy(file);
}

static void misspelt_attributes_are_told_with_the_nearest(void **state)
{
    (void)state;
    check_words("A := [colour = \"red\", weight > 3, duration < 1s, kind = \"send\"];",
                true, 35, "there is no attribute 'duration', expected one of colour");
    check_words("A := [color = \"red\"];", true, 7,
                "there is no attribute 'color', did you mean 'colour'?");
    check_words("A := [txet = \"red\"];", true, 7,
                "there is no attribute 'txet', did you mean 'text'?");
    check_words("A := [colour = \"red\"]; A $a, $b; P := ($a --> $b) & $a.weight = "
                "$b.wieght;",
                true, 68, "there is no attribute 'wieght', did you mean 'weight'?");
}

static void misspelt_texts_are_told_with_the_nearest(void **state)
{
    (void)state;
    check_words("A := [colour = \"red\", maker = \"any\"];", true, 0, NULL);
    check_words("A := [colour != \"gren\"];", true, 17,
                "there is no colour 'gren', did you mean 'green'?");
    check_words("A := [colour = \"ultramarine\"];", true, 16,
                "there is no colour 'ultramarine', expected one of red, green");
    check_words("A := [kind = \"sned\"];", true, 14,
                "there is no kind 'sned', did you mean 'send'?");
    check_words("A := [weight > 3]; A $a; P := $a & $a.colour = \"rde\";", true, 48,
                "there is no colour 'rde', did you mean 'red'?");
    /* Texts with wildcards and regular expressions are not checked. */
    check_words("A := [colour = \"b*\"]; B := [colour =~ \"blue\"];", true, 0, NULL);
}

static void types_may_have_endings(void **state)
{
    (void)state;
    check_words("A := [\"\", \"X_Send\", \"\"]; B := [\"\", \"X_Receive end\", \"\"];",
                true, 0, NULL);
    check_words("A := [\"\", \"X_Snd end\", \"\"];", true, 11,
                "there is no type 'X_Snd end', did you mean 'X_Send end'?");
    check_words("A := [\"\", \"Snd\", \"\"];", true, 11,
                "there is no type 'Snd', did you mean 'X_Send'?");
    /* Without a certain origin it may be a type of another one. */
    check_words("A := [\"\", \"Snd\", \"\"];", false, 0, NULL);
    check_words("A := [\"\", \"X_Snd\", \"\"];", false, 11, "there is no type 'X_Snd'");
}

static void the_first_fault_of_the_file_is_told(void **state)
{
    (void)state;
    check_words("A := [wieght > 3]; B := [colour = \"rde\"];", true, 7,
                "there is no attribute 'wieght'");
    check_words("A := [colour = \"rde\"]; B := [wieght > 3];", true, 16,
                "there is no colour 'rde'");
}

/* Checks the message for a pattern after one event of a file. */
static void check_event(const char *text,
                        const struct es_set_event *event,
                        const char *expected)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;
    struct esi_vocabulary_check *check = make_check(text, &file);
    struct es_set_sink sink = esi_vocabulary_check_sink(check);

    if (event)
        assert_int_equal(0, sink.event(sink.data, event));
    expect_words(expected, esi_vocabulary_check_events(check, &error), &error);
    esi_vocabulary_check_destroy(check);
    es_pattern_file_destroy(file);
}

static void other_sets_have_what_their_events_have(void **state)
{
    static const struct es_event_attribute attributes[] = {{"priority", "high", 0},
                                                           {"start", NULL, 5}};
    const struct es_set_event event = {
        .type = "x", .text = "", .attributes = attributes, .attribute_count = 2};
    const struct es_set_event bare = {.type = "x", .text = ""};

    (void)state;
    check_event("A := [priority = \"low\", duration > 1s, start > 1];", &event, NULL);
    check_event("A := [\"\", \"X_Snd\", \"\"];", &event, NULL);
    check_event("A := [priorty = \"low\"];", &event,
                "there is no attribute 'priorty', did you mean 'priority'?");
    check_event("A := [weight > 3];", &event,
                "there is no attribute 'weight', expected one of priority, start");
    check_event("A := [weight > 3];", &bare, "there is no attribute 'weight'");
    check_event("A := [kind = \"sned\"];", &event, "there is no kind 'sned'");
    check_event("A := [weight > 3, colour = \"blue\"];", NULL, NULL);
}

static void marked_sets_have_the_vocabulary_too(void **state)
{
    static const struct es_event_attribute attributes[] = {{"maker", "me", 0},
                                                           {"colour", "blue", 0}};
    const struct es_set_event event = {
        .type = "x", .text = "", .attributes = attributes, .attribute_count = 2};

    (void)state;
    check_event("A := [weight > 3, colour = \"blue\"];", &event, NULL);
    check_event("A := [colour = \"gren\"];", &event, "there is no colour 'gren'");
    check_event("A := [wieght > 3];", &event,
                "there is no attribute 'wieght', did you mean 'weight'?");
}

SUITE(test_vocabulary_check)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misspelt_attributes_are_told_with_the_nearest),
        cmocka_unit_test(misspelt_texts_are_told_with_the_nearest),
        cmocka_unit_test(types_may_have_endings),
        cmocka_unit_test(the_first_fault_of_the_file_is_told),
        cmocka_unit_test(other_sets_have_what_their_events_have),
        cmocka_unit_test(marked_sets_have_the_vocabulary_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
