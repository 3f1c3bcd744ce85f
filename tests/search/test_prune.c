/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_prune.c - parts implied by the rest of a rewritten pattern are removed (Nichols,
 * 6.1).  Random patterns in test_cnf.c show that nothing else is removed. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rewritten.h"
#include "tests/suites.h"

static void check(const char *text, const char *expected)
{
    struct rewritten rewritten = rewritten_of(text);

    assert_int_equal(esi_cnf_prune(rewritten.cnf), 0);
    check_rewritten(&rewritten, expected);
    rewritten_free(&rewritten);
}

static void a_literal_that_another_contains_is_taken_out(void **state)
{
    (void)state;
    check("Q := $a & $b & $c & ($a --> $b | $a !--> $c | $b !--> $a);",
          "  $b !-> $a | $a !-> $c\n");
    check("Q := $a & $b & ($a <-> $b | $a !--> $b);", "  $a !-> $b\n");
}

static void a_clause_of_complements_is_taken_out(void **state)
{
    (void)state;
    check("Q := $a --> $b & $c & ($a --> $c | $b --> $a | $a !--> $c);",
          "  $a -> $b\n");
    check("Q := $a & $b & ($a !--> $b | $b !--> $a);", "  true\n");
    check("Q := $a & $b & ($a --> $b | $b --> $a | $a || $b | $a <-> $b);", "  true\n");
}

static void clauses_that_others_say_are_taken_out(void **state)
{
    (void)state;
    check("Q := $a --> $b & $c --> $d & $a --> $b;", "  $a -> $b\n  $c -> $d\n");
    check("Q := $b !--> $a & $a --> $b;", "  $a -> $b\n");
    check("Q := $c & $d & ($a --> $b | $c --> $d) & $a --> $b;", "  $a -> $b\n");
    check("Q := $a & $b & $c & $d & ($b !--> $a | $c --> $d) & "
          "($c --> $d | $a --> $b);",
          "  $c -> $d | $a -> $b\n");
}

static void what_cannot_be_leaves_nothing_else(void **state)
{
    (void)state;
    check("Q := $a --> $b & $b --> $c & $b --> $a;", "  false\n");
    check("Q := $a --> $b & $a !--> $b;", "  false\n");
    check("Q := $a <-> $b & $a --> $b;", "  false\n");
}

static void what_follows_over_several_events_stays(void **state)
{
    (void)state;
    check("Q := $a --> $b & $b --> $c & $a --> $c;",
          "  $a -> $b\n  $b -> $c\n  $a -> $c\n");
}

/* For sets, x -> y does not exclude y -> x. */
static void sets_contain_less(void **state)
{
    (void)state;
    check("P := A | B; P $p; P $q; Q := $p & $q & ($p --> $q | $q --> $p);",
          "  $p -> $q | $q -> $p\n"
          "  $q !-> $p | $p !-> $q\n"
          "  $p != $q\n");
}

static void figure_6_1_loses_what_is_always_true(void **state)
{
    (void)state;
    check("Q := ($a --> $b) & ((($a --> *a) & (*a !--> $b)) | ($a !--> *a));",
          "  $a -> $b\n  *a !-> $b | $a !-> *a\n");
}

static void figure_6_2_loses_what_is_said_twice(void **state)
{
    (void)state;
    check("Q := ($a -(ANY)-> $b) & ($a --> $b);",
          "  $a -> $b\n  $a !-> *ANY | *ANY !-> $b\n");
}

SUITE(test_prune)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_literal_that_another_contains_is_taken_out),
        cmocka_unit_test(a_clause_of_complements_is_taken_out),
        cmocka_unit_test(clauses_that_others_say_are_taken_out),
        cmocka_unit_test(what_cannot_be_leaves_nothing_else),
        cmocka_unit_test(what_follows_over_several_events_stays),
        cmocka_unit_test(sets_contain_less),
        cmocka_unit_test(figure_6_1_loses_what_is_always_true),
        cmocka_unit_test(figure_6_2_loses_what_is_said_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
