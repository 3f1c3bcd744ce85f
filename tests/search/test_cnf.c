/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_cnf.c - rewritten patterns: relations of sets expanded by their definitions, and
 * random patterns that have the same meaning before and after. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formula_truth.h"
#include "rewritten.h"
#include "tests/random.h"
#include "tests/search/random_pattern.h"
#include "tests/suites.h"

enum { FILES = 60, DRAWS = 60 };

static void check(const char *text, const char *expected, size_t size)
{
    struct rewritten rewritten = rewritten_of(text);

    check_rewritten(&rewritten, expected);
    assert_int_equal(rewritten.cnf->size, size);
    rewritten_free(&rewritten);
}

static void single_events_need_one_literal_each(void **state)
{
    (void)state;
    check("Q := $a --> $b;", "  $a -> $b\n", 1);
    check("Q := $a !--> *b;", "  $a !-> *b\n", 1);
    check("Q := $a <-> $b;", "  $a = $b\n", 0);
    check("Q := $a !<-> $b;", "  $a != $b\n", 0);
    check("Q := $a || $b;", "  $a !-> $b\n  $b !-> $a\n  $a != $b\n", 2);
    check("Q := $a !|| $b;", "  $a -> $b | $b -> $a | $a = $b\n", 2);
    check("Q := $a => $b;", "  $a => $b\n", 1);
    check("Q := $a !=> $b;", "  $a !=> $b\n", 1);
}

static void sets_are_written_out_by_their_definitions(void **state)
{
    (void)state;
    check("Q := ($a & $b) --> $c;",
          "  $a -> $c | $b -> $c\n  $c !-> $a\n  $c !-> $b\n  $a != $c\n  $b != $c\n",
          4);
    check("Q := $c !--> ($a & $b);",
          "  $c !-> $a | $a -> $c | $b -> $c | $c = $a | $c = $b\n"
          "  $c !-> $b | $a -> $c | $b -> $c | $c = $a | $c = $b\n",
          6);
    check("Q := $c <-> ($a & $b);",
          "  $c -> $a | $c -> $b | $c = $a | $c = $b\n"
          "  $a -> $c | $b -> $c | $c = $a | $c = $b\n",
          4);
    check("Q := $c !<-> ($a & $b);",
          "  $c != $a\n  $c != $b\n  $c !-> $a | $b !-> $c\n  $c !-> $b | $a !-> $c\n",
          4);
    check("Q := $c => ($a & $b);", "  $c => $a | $c => $b\n", 2);
}

/* The order in which the counts of the thesis result. */
static void what_is_concurrent_is_asked_pair_by_pair_from_the_right(void **state)
{
    (void)state;
    check("Q := ($a & $b) || ($c & $d);",
          "  $a !-> $d\n  $d !-> $a\n  $a != $d\n"
          "  $a !-> $c\n  $c !-> $a\n  $a != $c\n"
          "  $b !-> $d\n  $d !-> $b\n  $b != $d\n"
          "  $b !-> $c\n  $c !-> $b\n  $b != $c\n",
          8);
}

static void an_event_on_both_sides_entangles_them(void **state)
{
    (void)state;
    check("Q := ($a & $b) --> $a;", "  $b -> $a\n  $a !-> $b\n  false\n", 2);
    check("Q := ($a & $b) <-> $a;", "  true\n", 0);
    check("Q := $a --> $a;", "  false\n", 0);
    check("Q := $a !--> $a;", "  true\n", 0);
}

static void sides_are_distributed(void **state)
{
    (void)state;
    /* Nichols, 5.2: the example for `or`. */
    check("Q := $a & $b & $d & $e & $f & "
          "((($a --> $d | $a --> $e) & ($a --> $f | $b --> $d)) | "
          "$e --> $f | $d --> $b);",
          "  $a -> $d | $a -> $e | $e -> $f | $d -> $b\n"
          "  $a -> $f | $b -> $d | $e -> $f | $d -> $b\n",
          8);
    check("Q := $a -(C)-> $b;", "  $a -> $b\n  $a !-> *C | *C !-> $b\n", 3);
    /* A clause that contains another one is left out at once. */
    check("Q := $c & $d & (($a --> $b & $b --> $c) | ($a --> $b & $c --> $d));",
          "  $a -> $b\n  $b -> $c | $c -> $d\n", 3);
}

/* Nichols, 5.4, example 1: 8 relations and 4 inequalities in addition to the 2. */
static void the_first_example_of_the_thesis_has_fourteen_terms(void **state)
{
    struct rewritten rewritten = rewritten_of("Q := (A --> B) || (C --> D);");

    (void)state;
    assert_int_equal(rewritten.cnf->count, 14);
    assert_int_equal(rewritten.cnf->literals, 14);
    assert_int_equal(rewritten.cnf->size, 10);
    rewritten_free(&rewritten);
}

/* Table 6.4 of Nichols, without cases 1 and 2, which need a negated predicate. */
static void patterns_are_as_long_as_in_the_thesis(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        {"Q := ($a !--> *a) & ($a !--> *b);", 2},
        {"A $e2; Q := ($a --> $e2) & (($a !--> *a) | (*a !--> $e2)) & "
         "(($a !--> *b) | (*b !--> $e2));",
         5},
        {"Q := A || B;", 2},
        {"Q := (ANY --> A) --> B;", 5},
        {"Q := (A --> B) || (A --> B);", 10},
        {"Q := A || A || A || A || A || A || A || A || A;", 72},
        {"Q := A -(ANY)-> A;", 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rewritten rewritten = rewritten_of(cases[i].text);

        assert_int_equal(rewritten.cnf->size, cases[i].size);
        rewritten_free(&rewritten);
    }
}

static void relations_of_universal_variables_without_values_are_left_out(void **state)
{
    struct rewritten rewritten =
        rewritten_of("Q := $a --> $b & $a --> *c & ($b --> *c | $b --> $a);");
    struct esi_cnf *cnf = NULL;

    (void)state;
    assert_int_equal(rewritten.cnf->count, 3);
    assert_int_equal(esi_cnf_create(rewritten.program, 0, 4, &cnf, NULL), 0);
    assert_int_equal(cnf->count, 1);
    esi_cnf_destroy(cnf);
    rewritten_free(&rewritten);
}

/* --- Random patterns -------------------------------------------------------------- */

static void compare_in_orders(const struct esi_program *program,
                              uint32_t disjunct,
                              const struct esi_cnf *cnf,
                              uint64_t empty,
                              uint64_t *state)
{
    struct truth truth;

    for (unsigned i = 0; i < DRAWS; i++) {
        if (i % 10 == 0)
            truth_draw(&truth, 2 + random_below(state, 7), state);
        truth_draw_values(&truth, program, state);
        truth.empty = empty;
        assert_int_equal(
            truth_cnf(&truth, program, cnf),
            truth_formula(&truth, program, program->disjuncts[disjunct].condition));
    }
}

static uint64_t some_universal(const struct esi_program *program, uint64_t *state)
{
    uint64_t some = 0;

    for (uint32_t v = 0; v < program->variable_count; v++)
        if (program->variables[v].is_universal && random_below(state, 4) == 0)
            some |= UINT64_C(1) << v;
    return some;
}

/* Compares before and after pruning. */
static unsigned compare_program(const struct esi_program *program, uint64_t *state)
{
    unsigned compared = 0;

    for (uint32_t s = 0; s < program->disjunct_count; s++) {
        uint64_t empty = some_universal(program, state);
        struct esi_cnf *cnf = NULL;
        size_t literals;

        assert_int_equal(esi_cnf_create(program, s, empty, &cnf, NULL), 0);
        compare_in_orders(program, s, cnf, empty, state);
        literals = cnf->literals;
        assert_int_equal(esi_cnf_prune(cnf), 0);
        assert_true(cnf->literals <= literals);
        compare_in_orders(program, s, cnf, empty, state);
        esi_cnf_destroy(cnf);
        compared++;
    }
    return compared;
}

static unsigned compare_file(uint64_t *draw, uint64_t *state)
{
    struct random_pattern_options options;
    struct reference_file *made = calloc(1, sizeof *made);
    struct es_pattern_file *file = NULL;
    struct es_error error = {.text = ""};
    unsigned compared = 0;
    char *text;

    assert_non_null(made);
    random_pattern_options_init(&options);
    options.terms = 7;
    random_pattern_make(draw, &options, made);
    text = random_pattern_text(made, REFERENCE_NONE, draw);
    if (es_pattern_file_parse(text, strlen(text), "random", &file, &error))
        fail_msg("%s\n%s", error.text, text);
    for (uint32_t p = 0; p < es_pattern_predicates(file); p++) {
        struct esi_program *program = NULL;

        if (esi_program_create(file, p, &program, &error)) {
            /* A limit of the language, which random patterns reach, too. */
            if (!strstr(error.text, "more than 256 different sets of variables"))
                fail_msg("%s\n%s", error.text, text);
            continue;
        }
        compared += compare_program(program, state);
        esi_program_destroy(program);
    }
    es_pattern_file_destroy(file);
    free(text);
    free(made);
    return compared;
}

static void rewritten_and_pruned_patterns_mean_the_same(void **state)
{
    uint64_t seed = random_seed();
    uint64_t draw;
    unsigned compared = 0;

    (void)state;
    draw = seed;
    for (unsigned i = 0; i < FILES; i++)
        compared += compare_file(&draw, &seed);
    print_message("# %u disjuncts were compared\n", compared);
    assert_true(compared > FILES);
}

/* --- Parts that are not expanded -------------------------------------------------- */

/* Twenty operands of several clauses each, and another part. */
static struct rewritten large_pattern(void)
{
    char text[4096] = "Q := $a & $b & $c & $d & $e & $f & (";

    for (int i = 0; i < 14; i++)
        strcat(text, i ? " | (($a & $b & $c) !<-> ($d & $e & $f))"
                       : "(($a & $b & $c) !<-> ($d & $e & $f))");
    for (int i = 0; i < 6; i++) {
        char more[128];

        snprintf(more, sizeof more, " | (($a & $%c) !<-> ($b & $c & $%c))", "defdef"[i],
                 "fedabc"[i]);
        strcat(text, more);
    }
    strcat(text, " | ($a --> $b & $b --> $c & $d --> $e)) & $a || $f;");
    return rewritten_of(text);
}

static size_t count_whole(const struct esi_cnf *cnf)
{
    size_t count = 0;

    for (size_t i = 0; i < cnf->count; i++)
        for (size_t k = 0; k < cnf->clauses[i].count; k++)
            count += cnf->clauses[i].literals[k].kind == ES_LITERAL_FORMULA;
    return count;
}

static void what_grows_too_large_stays_whole(void **state)
{
    struct rewritten rewritten = large_pattern();
    uint64_t seed = random_seed();

    (void)state;
    assert_true(count_whole(rewritten.cnf) > 0);
    assert_true(rewritten.cnf->literals <= 1 << 12);
    compare_in_orders(rewritten.program, 0, rewritten.cnf, 0, &seed);
    assert_int_equal(esi_cnf_prune(rewritten.cnf), 0);
    assert_true(count_whole(rewritten.cnf) > 0);
    compare_in_orders(rewritten.program, 0, rewritten.cnf, 0, &seed);
    rewritten_free(&rewritten);
}

/* Each of twelve operands has at least four clauses: 2^24 in total. */
static void what_stays_whole_is_printed_as_it_was_written(void **state)
{
    char text[4096] = "Q := $a & $b & $c & $d & (";
    struct rewritten rewritten;
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);

    (void)state;
    for (int i = 0; i < 12; i++) {
        char more[128];

        snprintf(more, sizeof more,
                 "%s($a --> $b & $c --> $d & ($a & $c) within %dns & $b.x = %d)",
                 i ? " | " : "", i + 1, i);
        strcat(text, more);
    }
    strcat(text, ");");
    rewritten = rewritten_of(text);
    esi_cnf_print(rewritten.program, rewritten.cnf, out);
    fclose(out);
    assert_non_null(strstr(
        printed, "({$a} --> {$b} & {$c} --> {$d} & {$a, $c} within 12ns & $b.x = 11)"));
    free(printed);
    rewritten_free(&rewritten);
}

SUITE(test_cnf)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_events_need_one_literal_each),
        cmocka_unit_test(sets_are_written_out_by_their_definitions),
        cmocka_unit_test(what_is_concurrent_is_asked_pair_by_pair_from_the_right),
        cmocka_unit_test(an_event_on_both_sides_entangles_them),
        cmocka_unit_test(sides_are_distributed),
        cmocka_unit_test(the_first_example_of_the_thesis_has_fourteen_terms),
        cmocka_unit_test(patterns_are_as_long_as_in_the_thesis),
        cmocka_unit_test(relations_of_universal_variables_without_values_are_left_out),
        cmocka_unit_test(rewritten_and_pruned_patterns_mean_the_same),
        cmocka_unit_test(what_grows_too_large_stays_whole),
        cmocka_unit_test(what_stays_whole_is_printed_as_it_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
