/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of parsed patterns: names and occurrences, values, and
 * the predicates needed. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/language/pattern.h"
#include "tests/suites.h"

static const char classes[] = "A := [\"\", \"A\", \"\"]; B := [\"\", \"B\", \"\"];\n"
                              "C := [\"\", \"C\", \"\"];\n"
                              "A $a, *a, ~a; B $b; C $c, *c;\n";

/* Parses the classes and variables above, followed by a text. */
static struct es_pattern_file *parse(const char *text)
{
    struct es_error error = {.text = ""};
    struct es_pattern_file *file;
    char *all;

    assert_true(asprintf(&all, "%s%s", classes, text) > 0);
    if (es_pattern_file_parse(all, strlen(all), "text", &file, &error) < 0)
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    free(all);
    return file;
}

static const struct esi_pattern_predicate *predicate(const struct es_pattern_file *file,
                                                     const char *name)
{
    uint32_t number = es_pattern_find(file, name);

    assert_int_not_equal(number, ES_PATTERN_NONE);
    return esi_pattern_predicate(file, number);
}

/* The only condition of a class that makes up a predicate. */
static const struct esi_pattern_condition *condition(const struct es_pattern_file *file,
                                                     const char *name)
{
    const struct esi_pattern_class *class =
        esi_pattern_class(file, predicate(file, name)->occurrences[0].class_number);

    assert_int_equal(class->condition_count, 1);
    return &class->conditions[0];
}

/* --- Names and occurrences -------------------------------------------------------- */

struct expected_occurrence {
    enum esi_pattern_sign sign;
    const char *name;
    const char *class_name; /* or NULL */
    const char *predicate;  /* or NULL */
};

static void check_occurrences(const struct es_pattern_file *file,
                              const char *name,
                              const struct expected_occurrence *expected,
                              uint32_t count)
{
    const struct esi_pattern_predicate *found = predicate(file, name);

    assert_int_equal(found->occurrence_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct esi_pattern_occurrence *occurrence = &found->occurrences[i];
        uint32_t of = expected[i].predicate
                          ? es_pattern_find(file, expected[i].predicate)
                          : ES_PATTERN_NONE;

        assert_int_equal(occurrence->sign, expected[i].sign);
        assert_string_equal(occurrence->name, expected[i].name);
        assert_int_equal(occurrence->predicate, of);
        if (expected[i].class_name)
            assert_int_equal(
                occurrence->class_number,
                predicate(file, expected[i].class_name)->occurrences[0].class_number);
        else if (expected[i].predicate)
            assert_int_equal(occurrence->class_number, ES_PATTERN_NONE);
    }
}

static void each_use_of_a_class_is_an_occurrence_and_a_variable_is_one(void **state)
{
    static const struct expected_occurrence expected[] = {
        {ES_SIGN_NONE, "A", "A", NULL},       {ES_SIGN_RETURNED, "$a", "A", NULL},
        {ES_SIGN_NONE, "A", "A", NULL},       {ES_SIGN_HIDDEN, "~a", "A", NULL},
        {ES_SIGN_UNIVERSAL, "*a", "A", NULL}, {ES_SIGN_NONE, "[...]", NULL, NULL},
    };
    struct es_pattern_file *file =
        parse("Q := A --> $a & (A | $a || ~a) & *a <-> $a & $a.x = ~a.x & [x = 1];");

    (void)state;
    check_occurrences(file, "Q", expected, 6);
    es_pattern_file_destroy(file);
}

static void a_limit_is_a_universal_occurrence_of_its_own_unless_declared(void **state)
{
    static const struct expected_occurrence expected[] = {
        {ES_SIGN_NONE, "A", "A", NULL}, {ES_SIGN_UNIVERSAL, "C", "C", NULL},
        {ES_SIGN_NONE, "B", "B", NULL}, {ES_SIGN_UNIVERSAL, "*c", "C", NULL},
        {ES_SIGN_NONE, "B", "B", NULL},
    };
    struct es_pattern_file *file = parse("Q := A -(C)-> B -(*c)-> B & *c;");
    const struct esi_pattern_node *root = predicate(file, "Q")->root;

    (void)state;
    check_occurrences(file, "Q", expected, 5);
    assert_int_equal(root->left->kind, ES_NODE_LIMITED);
    assert_int_equal(root->left->occurrence, 1);
    assert_int_equal(root->left->right->occurrence, 3);
    assert_int_equal(root->right->occurrence, 3);
    es_pattern_file_destroy(file);
}

static void a_name_that_stands_for_a_class_alone_is_the_class(void **state)
{
    static const struct expected_occurrence expected[] = {
        {ES_SIGN_NONE, "Same", "A", NULL},
        {ES_SIGN_HIDDEN, "~s", "A", NULL},
        {ES_SIGN_COUNTED, "Pair", NULL, "Pair"},
        {ES_SIGN_RETURNED, "$p", NULL, "Var"},
    };
    struct es_pattern_file *file =
        parse("Same := ((A)); Same ~s; Pair := A & B; Var := $a; Var $p;"
              "Q := (Same --> ~s) --> at least 2 of Pair & $p;");

    (void)state;
    check_occurrences(file, "Q", expected, 4);
    es_pattern_file_destroy(file);
}

static void a_later_declaration_replaces_the_earlier_below_it(void **state)
{
    static const struct expected_occurrence first[] = {
        {ES_SIGN_RETURNED, "$a", "A", NULL}};
    static const struct expected_occurrence second[] = {
        {ES_SIGN_RETURNED, "$a", NULL, "Q"}};
    struct es_pattern_file *file = parse("Q := $a <-> $a; Q $a; R := $a <-> $a;");

    (void)state;
    check_occurrences(file, "Q", first, 1);
    check_occurrences(file, "R", second, 1);
    es_pattern_file_destroy(file);
}

static void partners_are_added_to_those_of_a_named_class(void **state)
{
    struct es_pattern_file *file = parse("AB := A.B; ABC := AB.C; Q := AB.ABC;");
    const struct esi_pattern_class *class =
        esi_pattern_class(file, predicate(file, "Q")->occurrences[0].class_number);

    (void)state;
    assert_int_equal(class->condition_count, 1);
    assert_string_equal(class->conditions[0].pieces[0], "A");
    assert_int_equal(class->partner_count, 2);
    assert_int_equal(class->partners[0],
                     predicate(file, "B")->occurrences[0].class_number);
    assert_int_equal(class->partners[1],
                     predicate(file, "ABC")->occurrences[0].class_number);
    class = esi_pattern_class(file, class->partners[1]);
    assert_int_equal(class->partner_count, 2);
    es_pattern_file_destroy(file);
}

static void a_predicate_reaches_what_it_is_made_of(void **state)
{
    struct es_pattern_file *file =
        parse("X := A.B; P := X --> X; Other := C; P *p; R := *p !--> A; S := C & C;");
    bool predicates[16] = {false};
    bool needed[16] = {false};
    uint32_t r = es_pattern_find(file, "R");

    (void)state;
    assert_true(es_pattern_predicates(file) <= 16 && esi_pattern_classes(file) <= 16);
    esi_pattern_reach(file, r, predicates, needed);
    for (uint32_t i = 0; i < es_pattern_predicates(file); i++)
        assert_int_equal(predicates[i], i == r || i == es_pattern_find(file, "P"));
    assert_true(needed[predicate(file, "X")->occurrences[0].class_number]);
    assert_true(needed[predicate(file, "A")->occurrences[0].class_number]);
    assert_true(needed[predicate(file, "B")->occurrences[0].class_number]);
    assert_false(needed[predicate(file, "C")->occurrences[0].class_number]);
    esi_pattern_reach(file, es_pattern_find(file, "S"), predicates, needed);
    assert_true(needed[predicate(file, "C")->occurrences[0].class_number]);
    assert_true(predicates[r]);
    es_pattern_file_destroy(file);
}

static void attributes_are_numbered_once_each(void **state)
{
    struct es_pattern_file *file =
        parse("X := [tag = 1, type = \"x\", bytes > 1]; Q := $a.bytes = $b.\"tag\" &"
              "$a.rank = $b.process;");

    (void)state;
    assert_string_equal(esi_pattern_attribute(file, 0), "tag");
    assert_string_equal(esi_pattern_attribute(file, 1), "bytes");
    assert_string_equal(esi_pattern_attribute(file, 2), "rank");
    es_pattern_file_destroy(file);
}

static void names_are_found_exactly(void **state)
{
    struct es_pattern_file *file = parse("Race := A;");

    (void)state;
    assert_int_equal(es_pattern_find(file, "Race"), 3);
    assert_int_equal(es_pattern_find(file, "race"), ES_PATTERN_NONE);
    assert_int_equal(es_pattern_find(file, "$a"), ES_PATTERN_NONE);
    assert_int_equal(es_pattern_find(file, ""), ES_PATTERN_NONE);
    es_pattern_file_destroy(file);
}

static void places_are_those_of_operators_and_terms(void **state)
{
    struct es_pattern_file *file = parse("Q := A\n  --> $b\n & B;");
    const struct esi_pattern_node *root = predicate(file, "Q")->root;

    (void)state;
    assert_int_equal(predicate(file, "Q")->place.line, 4);
    assert_int_equal(predicate(file, "Q")->place.column, 1);
    assert_int_equal(root->place.line, 6);
    assert_int_equal(root->place.column, 2);
    assert_int_equal(root->left->place.line, 5);
    assert_int_equal(root->left->place.column, 3);
    assert_int_equal(root->left->right->place.column, 7);
    assert_int_equal(predicate(file, "Q")->occurrences[0].place.column, 6);
    es_pattern_file_destroy(file);
}

/* --- Values ----------------------------------------------------------------------- */

static void strings_are_what_stands_between_their_wildcards(void **state)
{
    static const struct {
        const char *string;
        const char *pieces[4];
        size_t count;
    } table[] = {
        {"abc", {"abc"}, 1},
        {"*", {"", ""}, 2},
        {"a*", {"a", ""}, 2},
        {"*a", {"", "a"}, 2},
        {"a**b*c", {"a", "b", "c"}, 3},
        {"**", {"", ""}, 2},
        {"\\*a\\*", {"*a*"}, 1},
        {"\\**", {"*", ""}, 2},
        {"a\\\"b\\\\c\\td\\ne", {"a\"b\\c\td\ne"}, 1},
        {"M1(0x0x9ac5730) [a.b] ^$", {"M1(0x0x9ac5730) [a.b] ^$"}, 1},
        {"\\\\*", {"\\", ""}, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[128];
        struct es_pattern_file *file;
        const struct esi_pattern_condition *found;

        snprintf(text, sizeof text, "Q := [x = \"%s\"];", table[i].string);
        file = parse(text);
        found = condition(file, "Q");
        assert_int_equal(found->test, ES_TEST_GLOB);
        assert_int_equal(found->piece_count, table[i].count);
        for (size_t k = 0; k < table[i].count; k++)
            assert_string_equal(found->pieces[k], table[i].pieces[k]);
        es_pattern_file_destroy(file);
    }
}

static void an_empty_string_is_no_condition(void **state)
{
    struct es_pattern_file *file = parse("Q := [\"\", \"\", \"\"]; R := [x = \"\"];");
    uint32_t q = predicate(file, "Q")->occurrences[0].class_number;
    uint32_t r = predicate(file, "R")->occurrences[0].class_number;

    (void)state;
    assert_int_equal(esi_pattern_class(file, q)->condition_count, 0);
    assert_int_equal(esi_pattern_class(file, r)->condition_count, 0);
    es_pattern_file_destroy(file);
}

static void numbers_are_whole_in_nanoseconds_and_bytes(void **state)
{
    static const struct {
        const char *text;
        int64_t number;
    } table[] = {
        {"0", 0},
        {"-0", 0},
        {"007", 7},
        {"-12", -12},
        {"3.000", 3},
        {"5ns", 5},
        {"1.5us", 1500},
        {"2 ms", 2000000},
        {"0.000000001s", 1},
        {"1min", INT64_C(60000000000)},
        {"1B", 1},
        {"0.5KiB", 512},
        {"1MiB", 1048576},
        {"3GiB", INT64_C(3221225472)},
        {"1kB", 1000},
        {"1.048576MB", 1048576},
        {"2GB", 2000000000},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775807ns", -INT64_MAX},
        {"9223372036.854775807s", INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[64];
        struct es_pattern_file *file;

        snprintf(text, sizeof text, "Q := [x <= %s];", table[i].text);
        file = parse(text);
        assert_true(condition(file, "Q")->value.is_number);
        if (condition(file, "Q")->value.number != table[i].number)
            fail_msg("%s is %lld", table[i].text,
                     (long long)condition(file, "Q")->value.number);
        es_pattern_file_destroy(file);
    }
}

static void signs_are_tests_and_their_negations(void **state)
{
    static const struct {
        const char *text;
        enum esi_pattern_test test;
        bool is_negated;
    } table[] = {
        {"= \"a\"", ES_TEST_GLOB, false},   {"!= \"a\"", ES_TEST_GLOB, true},
        {"=~ \"a\"", ES_TEST_REGEX, false}, {"!~ \"a\"", ES_TEST_REGEX, true},
        {"= 1", ES_TEST_EQUAL, false},      {"!= 1", ES_TEST_EQUAL, true},
        {"< 1", ES_TEST_LESS, false},       {"<= 1", ES_TEST_LESS_EQUAL, false},
        {"> 1", ES_TEST_GREATER, false},    {">= 1", ES_TEST_GREATER_EQUAL, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[64];
        struct es_pattern_file *file;

        snprintf(text, sizeof text, "Q := [x %s]; R := $a.x %s;", table[i].text,
                 table[i].text);
        file = parse(text);
        assert_int_equal(condition(file, "Q")->test, table[i].test);
        assert_int_equal(condition(file, "Q")->is_negated, table[i].is_negated);
        assert_int_equal(predicate(file, "R")->root->test,
                         table[i].test == ES_TEST_GLOB ? ES_TEST_EQUAL : table[i].test);
        assert_int_equal(predicate(file, "R")->root->is_negated, table[i].is_negated);
        es_pattern_file_destroy(file);
    }
}

static void comparisons_name_their_occurrences_and_constants(void **state)
{
    struct es_pattern_file *file =
        parse("Q := $b & $a.tag < $b.type; R := $a.\"x y\" = \"t\\*\" | $a.x >= 2KiB;");
    const struct esi_pattern_node *root = predicate(file, "Q")->root->right;

    (void)state;
    assert_int_equal(root->kind, ES_NODE_COMPARE);
    assert_int_equal(root->test, ES_TEST_LESS);
    assert_int_equal(root->operands[0].occurrence, 1);
    assert_int_equal(root->operands[0].field, ES_FIELD_ATTRIBUTE);
    assert_int_equal(root->operands[1].occurrence, 0);
    assert_int_equal(root->operands[1].field, ES_FIELD_TYPE);
    root = predicate(file, "R")->root->left;
    assert_string_equal(esi_pattern_attribute(file, root->operands[0].attribute),
                        "x y");
    assert_int_equal(root->operands[1].occurrence, ES_PATTERN_NONE);
    assert_string_equal(root->operands[1].constant.text, "t*");
    root = predicate(file, "R")->root->right;
    assert_true(root->operands[1].constant.is_number);
    assert_int_equal(root->operands[1].constant.number, 2048);
    es_pattern_file_destroy(file);
}

static void counts_and_times_are_kept(void **state)
{
    struct es_pattern_file *file =
        parse("Q := (A --> at least 3 of B) within 5ms; R := at most 0 of A !|| B;");
    const struct esi_pattern_node *root = predicate(file, "Q")->root;

    (void)state;
    assert_int_equal(root->kind, ES_NODE_WITHIN);
    assert_int_equal(root->within_ns, 5000000);
    assert_int_equal(root->left->right->kind, ES_NODE_COUNT);
    assert_int_equal(root->left->right->number, 3);
    assert_false(root->left->right->at_most);
    root = predicate(file, "R")->root;
    assert_true(root->is_negated);
    assert_int_equal(root->op, ES_OPERATOR_CONCURRENT);
    assert_true(root->left->at_most);
    assert_int_equal(root->left->number, 0);
    es_pattern_file_destroy(file);
}

SUITE(test_pattern)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_use_of_a_class_is_an_occurrence_and_a_variable_is_one),
        cmocka_unit_test(a_limit_is_a_universal_occurrence_of_its_own_unless_declared),
        cmocka_unit_test(a_name_that_stands_for_a_class_alone_is_the_class),
        cmocka_unit_test(a_later_declaration_replaces_the_earlier_below_it),
        cmocka_unit_test(partners_are_added_to_those_of_a_named_class),
        cmocka_unit_test(a_predicate_reaches_what_it_is_made_of),
        cmocka_unit_test(attributes_are_numbered_once_each),
        cmocka_unit_test(names_are_found_exactly),
        cmocka_unit_test(places_are_those_of_operators_and_terms),
        cmocka_unit_test(strings_are_what_stands_between_their_wildcards),
        cmocka_unit_test(an_empty_string_is_no_condition),
        cmocka_unit_test(numbers_are_whole_in_nanoseconds_and_bytes),
        cmocka_unit_test(signs_are_tests_and_their_negations),
        cmocka_unit_test(comparisons_name_their_occurrences_and_constants),
        cmocka_unit_test(counts_and_times_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
