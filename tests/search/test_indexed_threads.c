/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_indexed_threads.c - several threads that search one disjunct deliver the matches
 * of one thread in the same order; small enough for the thread sanitizer.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/now.h"
#include "monitors/search/indexed/indexed.h"
#include "monitors/search/search.h"
#include "tests/search/typed_world.h"
#include "tests/suites.h"

enum {
    EVENTS = 210,
    TRACES = 9,
};

static const char text[] = "A := [type =~ \"a\"];\n"
                           "B := [type =~ \"b\"];\n"
                           "C := [type =~ \"c\"];\n"
                           "N := [type = \"none\"];\n"
                           "A $a, *u; B $b, ~h; C $c, $other; N *n;\n"
                           "Pairs := A --> B;\n"
                           "Equal := ($a --> $b) & $a.key = $b.key;\n"
                           "Above := ($a || $b) & $a.key > $b.other;\n"
                           "Alike := A || A;\n"
                           "Rising := A --> (B --> C);\n"
                           "Between := A -(C)-> B;\n"
                           "Sides := ($a --> $b) | ($a || $c);\n"
                           "Hidden := ($a --> ~h) & ($a || $c);\n"
                           "Last := ($c !--> *u) & ($b || $c);\n"
                           "Many := (A --> at least 3 of B) & (A || C);\n"
                           "One := ($a --> $b) & ($a !--> *n);\n"
                           "Two := ($c --> $other) & ($c !--> *n);\n"
                           "Either := (($a --> $b) & ($a !--> *n)) |\n"
                           "    (($c --> $other) & ($c !--> *n));\n"
                           "Both := (($a --> $b) & ($a !--> *u)) |\n"
                           "    (($c --> $other) & ($c !--> *u));\n";

static const char *const predicates[] = {"Pairs",  "Equal",   "Above", "Alike",
                                         "Rising", "Between", "Sides", "Hidden",
                                         "Last",   "Many",    "Both"};

static const struct typed_world_config worlds = {.text = text,
                                                 .traces = TRACES,
                                                 .events = EVENTS,
                                                 .keys = 4};

static void check_predicate(const struct typed_world *world,
                            const char *predicate,
                            uint64_t limit)
{
    struct esi_indexed_tuning tuning = esi_indexed_defaults;
    struct esi_search_config config;
    struct typed_answer one;

    esi_search_config_init(&config);
    config.engine = "indexed";
    config.limit = limit;
    tuning.alone_ns = 0;
    config.tuning = &tuning;
    one = typed_world_search(world, predicate, &config);
    for (config.threads = 2; config.threads <= 5; config.threads += 3) {
        struct typed_answer many = typed_world_search(world, predicate, &config);

        typed_answers_check(&one, &many);
        typed_answer_fini(&many);
    }
    typed_answer_fini(&one);
}

static void check_all(const struct typed_world *world)
{
    for (unsigned i = 0; i < sizeof predicates / sizeof predicates[0]; i++) {
        check_predicate(world, predicates[i], 0);
        check_predicate(world, predicates[i], 1);
        check_predicate(world, predicates[i], 37);
    }
}

/* --- Tests ------------------------------------------------------------------------ */

static void matches_come_in_one_order_for_any_number_of_threads(void **state)
{
    static const enum made_shape shapes[] = {MADE_NEAR, MADE_CLIENTS, MADE_SYNCS};

    (void)state;
    typed_worlds_check(&worlds, shapes, sizeof shapes / sizeof shapes[0], check_all);
}

static void what_is_cancelled_ends_with_what_was_found(void **state)
{
    atomic_bool is_cancelled = true;
    struct esi_indexed_tuning tuning = esi_indexed_defaults;
    struct esi_search_config config;
    struct typed_world world;
    struct typed_answer answer;

    (void)state;
    typed_world_init(&world, &worlds, 1, MADE_NEAR);
    esi_search_config_init(&config);
    config.engine = "indexed";
    config.threads = 4;
    tuning.alone_ns = 0;
    config.tuning = &tuning;
    config.is_cancelled = &is_cancelled;
    answer = typed_world_search(&world, "Rising", &config);
    assert_false(answer.statistics.is_complete);
    typed_answer_fini(&answer);

    atomic_store(&is_cancelled, false);
    config.deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + 1000000;
    answer = typed_world_search(&world, "Rising", &config);
    config.deadline_ns = 0;
    typed_answer_fini(&answer);
    answer = typed_world_search(&world, "Rising", &config);
    assert_true(answer.statistics.is_complete);
    assert_true(answer.matches > 0);
    typed_answer_fini(&answer);
    typed_world_fini(&world);
}

/* --- Other tests of the same predicates ----------- */

static struct esi_search_statistics statistics_of(const struct typed_world *world,
                                                  const char *predicate)
{
    struct esi_search_config config;
    struct typed_answer answer;

    esi_search_config_init(&config);
    config.engine = "indexed";
    answer = typed_world_search(world, predicate, &config);
    typed_answer_fini(&answer);
    return answer.statistics;
}

static void sides_that_nothing_holds_together_are_searched_each_alone(void **state)
{
    struct esi_search_statistics one, two, either;
    struct typed_world world;

    (void)state;
    typed_world_init(&world, &worlds, random_seed(), MADE_NEAR);
    one = statistics_of(&world, "One");
    two = statistics_of(&world, "Two");
    either = statistics_of(&world, "Either");
    assert_int_equal(either.assignments, one.assignments + two.assignments);
    assert_int_equal(either.backtracks, one.backtracks + two.backtracks);
    typed_world_fini(&world);
}

static void a_plan_says_what_ranges_tell_and_where_it_begins(void **state)
{
    static const char *const alike[] = {
        "A concurrent with A#2  (ranges)", "begins with A:",
        "may be exchanged, so that only rising values are searched: A, A#2",
        "each needs a trace of its own", NULL};
    static const char *const between[] = {"A before B  (ranges)", "for all ",
                                          "(gives ranges of A, B)", NULL};
    static const char *const many[] = {"(tested)", NULL};
    struct typed_world world;

    (void)state;
    typed_world_init(&world, &worlds, 1, MADE_NEAR);
    typed_world_check_explained(&world, "Alike", alike);
    typed_world_check_explained(&world, "Between", between);
    typed_world_check_explained(&world, "Many", many);
    typed_world_fini(&world);
}

SUITE(test_indexed_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_come_in_one_order_for_any_number_of_threads),
        cmocka_unit_test(what_is_cancelled_ends_with_what_was_found),
        cmocka_unit_test(sides_that_nothing_holds_together_are_searched_each_alone),
        cmocka_unit_test(a_plan_says_what_ranges_tell_and_where_it_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
