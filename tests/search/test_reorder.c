/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_reorder.c - tests of orders of rewritten patterns (Nichols, 6.2). */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/search/thesis/reorder.h"
#include "rewritten.h"
#include "tests/random.h"
#include "tests/suites.h"

/* Shares of success by the variables of a literal, as set by a test. */
struct shares {
    double of[2][ES_PROGRAM_VARIABLES][ES_PROGRAM_VARIABLES]; /* [is negated][x][y] */
};

static double share_of(void *data, const struct esi_literal *literal)
{
    const struct shares *shares = data;

    return shares->of[literal->is_negated][literal->x][literal->y];
}

/* Numbers of values of each variable. */
static const double few = 10, many = 1000;

static struct esi_reordered reorder(const struct rewritten *rewritten,
                                    struct shares *shares,
                                    double count,
                                    enum esi_reordering reordering)
{
    struct esi_reorder_facts facts = {
        .program = rewritten->program, .success = share_of, .data = shares};
    struct esi_reordered reordered = {.orders = 0};

    for (uint32_t v = 0; v < ES_PROGRAM_VARIABLES; v++)
        facts.counts[v] = count;
    assert_int_equal(esi_reorder(rewritten->cnf, &facts, reordering, &reordered), 0);
    return reordered;
}

static void check(const char *text,
                  struct shares *shares,
                  enum esi_reordering reordering,
                  const char *expected)
{
    struct rewritten rewritten = rewritten_of(text);
    struct shares none = {.of = {{{0}}}};

    reorder(&rewritten, shares ? shares : &none, few, reordering);
    check_rewritten(&rewritten, expected);
    rewritten_free(&rewritten);
}

/* --- Estimates -------------------------------------------------------------------- */

static void work_follows_the_formula_of_the_thesis(void **state)
{
    struct esi_work work = {.reached = 1};
    double l1 = 6;
    double l2 = 5;
    double l3 = 4;

    (void)state;
    esi_work_add(&work, l1, 0.5, false);
    esi_work_add(&work, l2, 0.25, false);
    esi_work_add(&work, l3, 0.75, true);
    /* 1 l1 s1 + 2 l2 s2 l1 (1 - s1) + 3 l3 l1 (1 - s1) l2 (1 - s2) */
    assert_true(fabs(work.expected - (l1 * 0.5 + 2 * l2 * 0.25 * l1 * 0.5 +
                                      3 * l3 * l1 * 0.5 * l2 * 0.75)) < 1e-9);
}

/* --- Variable clustering ---------------------------------------------------------- */

static void clusters_begin_with_the_most_frequent_variable(void **state)
{
    (void)state;
    /* The example of 6.2.3: one new variable comes before three. */
    check("Q := ($a & $b & $c & $d & ($a --> $c | $b --> $d)) & $a --> $b & $a --> $d;",
          NULL, ES_REORDER_CLUSTER, "  $a -> $b\n  $a -> $d\n  $b -> $d | $a -> $c\n");
    /* f occurs everywhere and adds the others one by one. */
    check("Q := $a --> $b & $c --> $d & $a --> $f & $f --> $c & $f --> $d;", NULL,
          ES_REORDER_CLUSTER,
          "  $a -> $f\n  $f -> $c\n  $c -> $d\n  $f -> $d\n  $a -> $b\n");
}

static void clusters_leave_universal_variables_for_later(void **state)
{
    (void)state;
    check("Q := (($a !--> *c) | (*c !--> $b)) & $a --> $b;", NULL, ES_REORDER_CLUSTER,
          "  $a -> $b\n  $a !-> *c | *c !-> $b\n");
}

static void clusters_test_what_is_assigned_first(void **state)
{
    (void)state;
    check("Q := $a --> $b & $c & $d & ($c --> $d | $c --> $b | $a --> $d | $b --> $a);",
          NULL, ES_REORDER_CLUSTER,
          "  $a -> $b\n  $b -> $a | $c -> $b | $a -> $d | $c -> $d\n");
}

/* C occurs most often, but almost no A precedes a B, so the written order is better. */
static void what_is_written_stays_if_far_more_of_it_fails(void **state)
{
    const char *text = "Q := (A --> B) --> C;";
    const char *written = "  A -> B\n  A -> C | B -> C\n  C !-> A\n  C !-> B\n"
                          "  A != C\n  B != C\n";
    struct rewritten rewritten = rewritten_of(text);
    struct rewritten clustered = rewritten_of(text);
    struct shares shares = {.of = {{{0}}}};

    (void)state;
    for (unsigned i = 0; i < 9; i++) {
        shares.of[0][i / 3][i % 3] = 0.4;
        shares.of[1][i / 3][i % 3] = 0.9;
    }
    assert_false(reorder(&clustered, &shares, many, ES_REORDER_CLUSTER).is_kept);
    shares.of[0][0][1] = 0;
    assert_true(reorder(&rewritten, &shares, many, ES_REORDER_CLUSTER).is_kept);
    check_rewritten(&rewritten, written);
    /* Without many values nothing is sampled. */
    assert_false(reorder(&rewritten, &shares, few, ES_REORDER_CLUSTER).is_kept);
    rewritten_free(&rewritten);
    rewritten_free(&clustered);
}

/* --- By success ------------------------------------------------------------------- */

static void what_succeeds_most_comes_first_in_a_clause(void **state)
{
    struct shares shares = {.of = {{{0}}}};

    (void)state;
    shares.of[0][0][1] = 0.1;
    shares.of[0][1][2] = 0.9;
    shares.of[0][0][2] = 0.5;
    check("Q := $a & $b & $c & ($a --> $b | $b --> $c | $a --> $c);", &shares,
          ES_REORDER_SUCCESS, "  $b -> $c | $a -> $c | $a -> $b\n");
}

static void the_least_work_comes_first(void **state)
{
    struct shares shares = {.of = {{{0}}}};

    (void)state;
    /* A single literal is tested 100 times in any case; two
     * literals need more tests. */
    shares.of[0][0][1] = 0.5;
    shares.of[0][1][2] = 0.5;
    check("Q := $a & $b & $c & ($a --> $b | $b --> $c) & $a --> $c;", &shares,
          ES_REORDER_SUCCESS, "  $a -> $c\n  $a -> $b | $b -> $c\n");
}

/* --- Brute force ------------------------------------------------------------------ */

static void brute_force_finds_what_fails_soon(void **state)
{
    struct shares shares = {.of = {{{0}}}};
    struct rewritten rewritten =
        rewritten_of("Q := $a --> $b & $b --> $c & $c --> $d & $d --> $e;");
    struct esi_reordered reordered;

    (void)state;
    shares.of[0][0][1] = 0.9;
    shares.of[0][1][2] = 0.9;
    shares.of[0][2][3] = 0.01; /* in the middle of the chain almost nothing holds */
    shares.of[0][3][4] = 0.9;
    reordered = reorder(&rewritten, &shares, 10, ES_REORDER_BRUTE);
    assert_int_equal(reordered.orders, 24);
    assert_false(reordered.is_too_large);
    assert_int_equal(rewritten.cnf->clauses[0].literals[0].x, 2);
    rewritten_free(&rewritten);
}

/* The work of an order, computed again by the definition. */
static double work_of(const struct esi_cnf *cnf, struct shares *shares, double count)
{
    struct esi_work all = {.reached = 1};
    uint64_t assigned = 0;

    for (size_t i = 0; i < cnf->count; i++) {
        struct esi_work work = {.reached = 1};
        double failure = 1;

        for (size_t k = 0; k < cnf->clauses[i].count; k++) {
            const struct esi_literal *literal = &cnf->clauses[i].literals[k];
            double success = share_of(shares, literal);
            double pairs = (assigned >> literal->x & 1 ? 1 : count) *
                           (assigned >> literal->y & 1 ? 1 : count);

            esi_work_add(&work, pairs, success, k + 1 == cnf->clauses[i].count);
            failure *= 1 - success;
            assigned |= UINT64_C(1) << literal->x | UINT64_C(1) << literal->y;
        }
        esi_work_add(&all, work.expected, failure, i + 1 == cnf->count);
    }
    return all.expected;
}

static void no_order_is_better_than_that_of_brute_force(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (int round = 0; round < 20; round++) {
        static struct shares shares;
        struct rewritten best = rewritten_of(
            "Q := $d & ($a --> $b | $b --> $c) & $c --> $a & ($d --> $a | $c --> $d);");
        struct esi_reordered reordered;

        for (unsigned i = 0; i < 16; i++)
            shares.of[0][i / 4][i % 4] = random_below(&random, 100) / 100.0;
        reordered = reorder(&best, &shares, 5, ES_REORDER_BRUTE);
        assert_int_equal(reordered.orders, 24);
        assert_true(fabs(reordered.work - work_of(best.cnf, &shares, 5)) <
                    1e-6 * (1 + reordered.work));
        for (int i = 0; i < 50; i++) {
            struct esi_clause *a = &best.cnf->clauses[random_below(&random, 3)];
            struct esi_clause *b = &best.cnf->clauses[random_below(&random, 3)];
            struct esi_clause keep = *a;

            *a = *b;
            *b = keep;
            assert_true(work_of(best.cnf, &shares, 5) >= reordered.work * (1 - 1e-9));
        }
        rewritten_free(&best);
    }
}

static void brute_force_gives_way_where_there_is_too_much(void **state)
{
    struct rewritten rewritten = rewritten_of("Q := (A || B) || (C || D);");
    struct rewritten clustered = rewritten_of("Q := (A || B) || (C || D);");
    struct shares shares = {.of = {{{0}}}};
    struct esi_reordered reordered;

    (void)state;
    reordered = reorder(&rewritten, &shares, 10, ES_REORDER_BRUTE);
    assert_true(reordered.is_too_large);
    assert_int_equal(reordered.reordering, ES_REORDER_CLUSTER);
    reorder(&clustered, &shares, 10, ES_REORDER_CLUSTER);
    for (size_t i = 0; i < clustered.cnf->count; i++)
        assert_memory_equal(clustered.cnf->clauses[i].literals,
                            rewritten.cnf->clauses[i].literals,
                            sizeof(struct esi_literal));
    rewritten_free(&rewritten);
    rewritten_free(&clustered);
}

SUITE(test_reorder)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_follows_the_formula_of_the_thesis),
        cmocka_unit_test(clusters_begin_with_the_most_frequent_variable),
        cmocka_unit_test(clusters_leave_universal_variables_for_later),
        cmocka_unit_test(clusters_test_what_is_assigned_first),
        cmocka_unit_test(what_is_written_stays_if_far_more_of_it_fails),
        cmocka_unit_test(what_succeeds_most_comes_first_in_a_clause),
        cmocka_unit_test(the_least_work_comes_first),
        cmocka_unit_test(brute_force_finds_what_fails_soon),
        cmocka_unit_test(no_order_is_better_than_that_of_brute_force),
        cmocka_unit_test(brute_force_gives_way_where_there_is_too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
