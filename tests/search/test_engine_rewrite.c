/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_engine_rewrite.c - searches of rewritten patterns: numbers of
 * comparisons, and what pruning, orders and failed values save.  test_engines.c
 * checks the matches in general. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/thesis/tuning.h"
#include "tests/failing.h"
#include "tests/search/searched.h"
#include "tests/suites.h"

static const char classes[] = "A := [\"\", \"A\", \"\"]; A $a, *a, ~a, $a2;\n"
                              "B := [\"\", \"B\", \"\"]; B $b, *b, ~b, $b2;\n"
                              "C := [\"\", \"C\", \"\"]; C $c, *c, ~c;\n"
                              "ANY := [\"\", \"\", \"\"];\n";

static void open_text(struct searched *searched,
                      const char *text,
                      const struct small_set *set)
{
    char whole[4096];
    int length = snprintf(whole, sizeof whole, "%s%s", classes, text);

    assert_in_range(length, 1, sizeof whole - 1);
    searched_init(searched, whole, set);
}

static void run(struct searched *searched)
{
    if (searched_run(searched, &esi_engine_rewrite, "Q"))
        fail_msg("%s", searched->error.text);
}

/* Three traces of `length` events of class A; each trace sends to the
 * next one at its middle. */
static void make_traces(struct small_set *ret_set, unsigned length)
{
    static const char *const names[] = {"P", "Q", "R"};
    uint32_t sent = 0;

    small_set_init(ret_set);
    for (unsigned t = 0; t < 3; t++)
        small_set_trace(ret_set, names[t]);
    for (uint32_t t = 0; t < 3; t++)
        for (unsigned i = 0; i < length; i++) {
            bool is_receive = t > 0 && i == length / 2;
            uint32_t event = small_set_event(ret_set, t,
                                             is_receive            ? ES_EVENT_RECEIVE
                                             : i == length / 2 - 1 ? ES_EVENT_SEND
                                                                   : ES_EVENT_UNARY,
                                             "A", "", is_receive ? SMALL_BIT(sent) : 0);

            sent = i == length / 2 - 1 ? event : sent;
        }
    small_set_close(ret_set);
}

/* --- Matches ---------------------------------------------------------------------- */

static void check_matches(const char *text, const char *const *matches)
{
    struct small_set set;
    struct searched searched;

    searched_example(&set);
    open_text(&searched, text, &set);
    run(&searched);
    if (!searched_are(&searched, matches))
        fail_msg("%s", text);
    assert_true(searched.statistics.is_complete);
    searched_fini(&searched);
}

#define MATCHES(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void matches_are_those_of_the_semantics(void **state)
{
    (void)state;
    check_matches("Q := A --> B --> C;", MATCHES("p1 q1 q2"));
    check_matches("Q := (A --> B) | (A --> C);", MATCHES("p1 p2", "p1 q1", "p1 q2"));
    check_matches("Q := (A !--> *c) | (B !--> *c);", MATCHES("p2"));
    check_matches("C $u, $v; Q := ($u <-> *c) | ($v <-> *c);", MATCHES("q2 r1"));
    check_matches("BC := B --> C; BC *x; Q := A --> *x;", MATCHES("p1"));
    check_matches("BC := B --> C; BC *x; Q := BC !--> *x;", MATCHES("q1 q2"));
    check_matches("Q := ~a --> ~b;", MATCHES(""));
    check_matches("Q := *b --> *c;", MATCHES());
    check_matches("Q := A -(ANY)-> B;", MATCHES("p1 p2", "p1 q1"));
    check_matches("Q := A --> at least 2 of B;", MATCHES("p1"));
    check_matches("Q := at most 1 of B --> C;", MATCHES("q2", "r1"));
    check_matches("Q := A => B;", MATCHES("p1 q1"));
}

/* Independent of which clauses assign which variables first. */
static void an_assignment_is_met_once(void **state)
{
    struct small_set set;
    struct searched searched;

    (void)state;
    searched_example(&set);
    open_text(&searched, "Q := $b & $b2 & ($b --> $c | $b2 --> $c | $b || $c);", &set);
    run(&searched);
    assert_int_equal(searched.statistics.assignments, 8);
    searched_fini(&searched);
}

/* --- Comparisons ------------------------------------------------------------------ */

static const struct esi_rewrite_tuning brute = {.prune = true,
                                                .reordering = ES_REORDER_BRUTE,
                                                .failed_first = true};

static uint64_t comparisons_of(const char *text,
                               const struct small_set *set,
                               const struct esi_rewrite_tuning *tuning)
{
    struct searched searched;
    uint64_t comparisons;

    open_text(&searched, text, set);
    searched.config.tuning = tuning;
    run(&searched);
    comparisons = searched.statistics.comparisons;
    searched_fini(&searched);
    return comparisons;
}

static void each_question_for_an_order_is_a_comparison(void **state)
{
    struct esi_rewrite_tuning tuning = {.prune = false};
    struct small_set set;

    (void)state;
    searched_example(&set);
    assert_int_equal(comparisons_of("Q := $a --> $b;", &set, &tuning), 2);
    assert_int_equal(comparisons_of("Q := $b --> $c;", &set, &tuning), 4);
    /* Equality is no comparison; p2 and q1 are compared in both directions. */
    assert_int_equal(comparisons_of("Q := $b <-> $b2;", &set, &tuning), 0);
    assert_int_equal(comparisons_of("Q := $b || $b2;", &set, &tuning), 8);
    /* p1 -> p2, p1 -> q1. For q1 the first of q2 and r1 already fails; for
     * p2 both are compared. */
    assert_int_equal(comparisons_of("Q := ($a --> $b) & $b !--> *c;", &set, &tuning),
                     2 + 2 + 1);
}

static void pruning_saves_what_is_said_twice(void **state)
{
    static const char text[] = "Q := ($a -(ANY)-> $a2) & ($a --> $a2);";
    struct esi_rewrite_tuning tuning = {.prune = false};
    struct small_set set;
    uint64_t with;

    (void)state;
    make_traces(&set, 8);
    tuning.prune = true;
    with = comparisons_of(text, &set, &tuning);
    assert_int_equal(with, comparisons_of("Q := $a -(ANY)-> $a2;", &set, &tuning));
    tuning.prune = false;
    assert_true(with < comparisons_of(text, &set, &tuning));
}

static void values_that_failed_fail_soon_again(void **state)
{
    static const char text[] = "Q := A -(ANY)-> A;";
    struct esi_rewrite_tuning tuning = {.prune = false};
    struct small_set set;
    uint64_t without;

    (void)state;
    make_traces(&set, 16);
    without = comparisons_of(text, &set, &tuning);
    tuning.failed_first = true;
    assert_true(comparisons_of(text, &set, &tuning) < without / 4 * 3);
}

static void clustering_saves_what_two_ends_multiply(void **state)
{
    static const char text[] = "Q := (A || A) || (A || A);";
    struct esi_rewrite_tuning tuning = {.prune = false};
    struct small_set set;
    uint64_t without;

    (void)state;
    make_traces(&set, 8);
    without = comparisons_of(text, &set, &tuning);
    tuning.reordering = ES_REORDER_CLUSTER;
    assert_true(2 * comparisons_of(text, &set, &tuning) < without);
}

static void samples_are_not_counted(void **state)
{
    struct esi_rewrite_tuning tuning = {.prune = false};
    struct small_set set;

    (void)state;
    searched_example(&set);
    tuning.reordering = ES_REORDER_BRUTE;
    assert_int_equal(comparisons_of("Q := $a --> $b;", &set, &tuning), 2);
    tuning.reordering = ES_REORDER_SUCCESS;
    assert_int_equal(comparisons_of("Q := $a --> $b;", &set, &tuning), 2);
}

static void the_size_of_a_pattern_is_that_of_its_relations(void **state)
{
    struct small_set set;
    struct searched searched;

    (void)state;
    searched_example(&set);
    open_text(&searched, "Q := (A --> B) || (A --> C);", &set);
    run(&searched);
    assert_int_equal(searched.statistics.pattern_size, 10);
    searched_fini(&searched);
}

/* --- Ends ------------------------------------------------------------------------- */

static void a_search_ends_when_it_is_told_to(void **state)
{
    atomic_bool is_cancelled = true;
    struct small_set set;
    struct searched searched;

    (void)state;
    make_traces(&set, 8);
    open_text(&searched, "Q := A || A;", &set);
    searched.config.is_cancelled = &is_cancelled;
    run(&searched);
    assert_false(searched.statistics.is_complete);
    searched.config.is_cancelled = NULL;
    searched.config.limit = 3;
    run(&searched);
    assert_int_equal(searched.count, 3);
    assert_false(searched.statistics.is_complete);
    searched_fini(&searched);
}

/* --- Explanations ----------------------------------------------------------------- */

static char *explained(struct searched *searched)
{
    struct esi_search_task task = {
        .file = searched->file,
        .predicate = es_pattern_find(searched->file, "Q"),
        .domains = searched->domains,
        .order = searched->order,
        .config = &searched->config,
    };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(
        esi_search_explain_by(&esi_engine_rewrite, &task, out, &searched->error), 0);
    fclose(out);
    return text;
}

static void an_explanation_shows_the_pattern_before_and_after(void **state)
{
    static const char *const parts[] = {
        "  $a: 1 events, one, returned\n",
        "match of {$a, $b}:\n",
        "size: 4 relations, and 0 equalities",
        "pruned: 3 relations, and 0 equalities",
        "order: the most frequent variable first",
        "  $a -> $b\n  $a !-> *C | *C !-> $b\n",
        "before pruning:\n  $a -> $b\n  $a !-> *C | *C !-> $b\n  $a -> $b\n",
    };
    struct small_set set;
    struct searched searched;
    char *text;

    (void)state;
    searched_example(&set);
    open_text(&searched, "Q := ($a -(C)-> $b) & ($a --> $b);", &set);
    text = explained(&searched);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(text, parts[i]))
            fail_msg("%s is not in:\n%s", parts[i], text);
    free(text);
    searched.config.tuning = &brute;
    text = explained(&searched);
    assert_non_null(strstr(text, "the best of 4,"));
    free(text);
    searched_fini(&searched);
}

/* Samples show that nothing precedes a B; another variable is the most frequent one. */
static void what_is_written_is_kept_where_it_fails_at_once(void **state)
{
    struct small_set set;
    struct searched searched;
    char *text;

    (void)state;
    small_set_init(&set);
    small_set_trace(&set, "P");
    for (unsigned i = 0; i < 62; i++)
        small_set_event(&set, 0, ES_EVENT_UNARY, i < 6 ? "B" : "A", "", 0);
    small_set_close(&set);
    open_text(&searched, "Q := ((A --> B) --> A) --> A;", &set);
    text = explained(&searched);
    if (!strstr(text, "order: as written"))
        fail_msg("%s", text);
    free(text);
    run(&searched);
    assert_int_equal(searched.count, 0);
    assert_int_equal(searched.statistics.comparisons, 56 * 6);
    searched_fini(&searched);
}

/* --- Failing allocations ---------------------------------------------------------- */

static struct searched failing;

static int count_match(void *data, const struct es_event_id *events, size_t count)
{
    (void)data;
    (void)events;
    (void)count;
    return 0;
}

static int search_while_it_fails(void)
{
    struct esi_match_sink sink = {.match = count_match};
    struct esi_search_statistics statistics;
    struct esi_search_task task = {
        .file = failing.file,
        .predicate = es_pattern_find(failing.file, "Q"),
        .domains = failing.domains,
        .order = failing.order,
        .config = &failing.config,
    };

    return esi_search_run_by(&esi_engine_rewrite, &task, &sink, &statistics, NULL);
}

static void memory_that_cannot_be_had_is_said(void **state)
{
    struct small_set set;

    (void)state;
    searched_example(&set);
    open_text(&failing,
              "BC := B --> C; BC *x; E := A | B;"
              "Q := ((E --> C) | (A !--> *c) | (A --> *x)) & B --> at least 1 of C;",
              &set);
    failing.config.tuning = &brute;
    failing_each(search_while_it_fails, 20);
    searched_fini(&failing);
}

SUITE(test_engine_rewrite)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_are_those_of_the_semantics),
        cmocka_unit_test(an_assignment_is_met_once),
        cmocka_unit_test(each_question_for_an_order_is_a_comparison),
        cmocka_unit_test(pruning_saves_what_is_said_twice),
        cmocka_unit_test(values_that_failed_fail_soon_again),
        cmocka_unit_test(clustering_saves_what_two_ends_multiply),
        cmocka_unit_test(samples_are_not_counted),
        cmocka_unit_test(the_size_of_a_pattern_is_that_of_its_relations),
        cmocka_unit_test(a_search_ends_when_it_is_told_to),
        cmocka_unit_test(an_explanation_shows_the_pattern_before_and_after),
        cmocka_unit_test(what_is_written_is_kept_where_it_fails_at_once),
        cmocka_unit_test(memory_that_cannot_be_had_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
