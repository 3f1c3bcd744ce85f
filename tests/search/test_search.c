/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_search.c - the search around an engine that tries everything: predicates of
 * predicates, ends, statistics, plans; and random patterns against the reference. */
#include "config.h"

#include "monitors/search/search.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/now.h"
#include "tests/search/plain_engine.h"
#include "tests/search/random_pattern.h"
#include "tests/search/searched.h"
#include "tests/suites.h"

static const char classes[] = "A := [\"\", \"A\", \"\"];\n"
                              "B := [\"\", \"B\", \"\"];\n"
                              "C := [\"\", \"C\", \"\"];\n"
                              "D := [\"\", \"D\", \"\"];\n"
                              "ANY := [\"\", \"\", \"\"];\n";

static struct small_set example;

static void prepare(struct searched *searched, const char *text)
{
    char whole[1024];

    searched_example(&example);
    snprintf(whole, sizeof whole, "%s%s", classes, text);
    searched_init(searched, whole, &example);
}

/* --- Predicates of predicates ----------------------------------------------------- */

/* Number of calls of the engine. */
static unsigned searches;

static int count_and_search(const struct esi_engine_task *task, struct es_error *error)
{
    searches++;
    return plain_engine.search(task, error);
}

static const struct esi_engine_ops counting_engine = {.name = "counting",
                                                      .help = "",
                                                      .search = count_and_search};

static void matches_of_predicates_are_values_found_first_and_once(void **state)
{
    static const char *const wanted[] = {"p1", NULL};
    static const char *const all[] = {"", NULL};
    struct searched searched;

    (void)state;
    prepare(&searched, "BC := B --> C; BC *x; Q := A --> *x;"
                       "BC *y; Both := (*x <-> *y) & (*y <-> *x);");
    searches = 0;
    assert_int_equal(searched_run(&searched, &counting_engine, "Q"), 0);
    assert_true(searched_are(&searched, wanted));
    assert_int_equal(searches, 2);
    searches = 0;
    assert_int_equal(searched_run(&searched, &counting_engine, "Both"), 0);
    assert_true(searched_are(&searched, all));
    assert_int_equal(searches, 2);
    searched_fini(&searched);
}

static void a_chain_of_predicates_is_searched_from_below(void **state)
{
    static const char *const wanted[] = {"p1 p2 q2 r1", "p1 q1 q2 r1", NULL};
    struct searched searched;

    (void)state;
    prepare(&searched, "Two := (C || C) | D; Unused := B | C; A ~a;"
                       "Three := (Two & A) | D; Q := Three & B;"
                       "Q *q; T := A !--> *q;");
    searches = 0;
    assert_int_equal(searched_run(&searched, &counting_engine, "Q"), 0);
    assert_true(searched_are(&searched, wanted));
    assert_int_equal(searches, 3);
    searches = 0;
    assert_int_equal(searched_run(&searched, &counting_engine, "T"), 0);
    assert_int_equal(searches, 4);
    searched_fini(&searched);
}

static void limits_are_not_for_inner_predicates(void **state)
{
    struct searched searched;

    (void)state;
    prepare(&searched, "Either := (A --> B) | (A --> C); Either *e; Q := ANY !<-> *e;"
                       "Count := A --> at least 3 of ANY;");
    assert_int_equal(searched_run(&searched, &plain_engine, "Q"), 0);
    assert_int_equal(searched.count, 1); /* r1 */
    searched.config.limit = 1;
    assert_int_equal(searched_run(&searched, &plain_engine, "Q"), 0);
    assert_int_equal(searched.count, 1);
    assert_int_equal(searched.matches[0], SMALL_BIT(4));
    assert_int_equal(searched_run(&searched, &plain_engine, "Count"), 0);
    assert_int_equal(searched.count, 1);
    searched_fini(&searched);
}

/* --- Ends ------------------------------------------------------------------------- */

static void a_search_ends_when_its_time_is_over_or_it_is_cancelled(void **state)
{
    atomic_bool is_cancelled = true;
    struct searched searched;

    (void)state;
    prepare(&searched, "Q := ANY & ANY; P := A | B; P *p; R := ANY !<-> *p;");
    for (int i = 0; i < 2; i++) {
        const char *predicate = i ? "Q" : "R";

        searched.config.is_cancelled = &is_cancelled;
        searched.config.deadline_ns = 0;
        atomic_store(&is_cancelled, true);
        assert_int_equal(searched_run(&searched, &plain_engine, predicate), 0);
        assert_int_equal(searched.count, 0);
        assert_false(searched.statistics.is_complete);
        atomic_store(&is_cancelled, false);
        assert_int_equal(searched_run(&searched, &plain_engine, predicate), 0);
        assert_true(searched.statistics.is_complete);
        searched.config.deadline_ns = esi_now_ns(CLOCK_MONOTONIC);
        assert_int_equal(searched_run(&searched, &plain_engine, predicate), 0);
        assert_int_equal(searched.count, 0);
        assert_false(searched.statistics.is_complete);
    }
    searched_fini(&searched);
}

static int refuse(const struct esi_engine_task *task, struct es_error *error)
{
    (void)task;
    return es_error_set(error, -EOVERFLOW, "it is too large");
}

static void what_an_engine_refuses_is_passed_on(void **state)
{
    static const struct esi_engine_ops engine = {.name = "no", .search = refuse};
    struct searched searched;

    (void)state;
    prepare(&searched, "Q := A;");
    assert_int_equal(searched_run(&searched, &engine, "Q"), -EOVERFLOW);
    assert_string_equal(searched.error.text, "it is too large");
    searched_fini(&searched);
}

static void only_what_was_kept_can_be_searched(void **state)
{
    bool is_needed[16] = {false};
    struct searched searched;
    uint32_t kept;

    (void)state;
    prepare(&searched, "P := A; Q := B --> C;");
    esi_domains_destroy(searched.domains);
    kept = es_pattern_find(searched.file, "P");
    is_needed[kept] = true;
    assert_int_equal(
        esi_domains_create(searched.file, is_needed, NULL, &searched.domains, NULL), 0);
    assert_int_equal(searched_run(&searched, &plain_engine, "P"), 0);
    assert_int_equal(searched_run(&searched, &plain_engine, "Q"), -EINVAL);
    assert_non_null(strstr(searched.error.text, "not kept"));
    searched_fini(&searched);
}

/* --- Statistics and plans --------------------------------------------------------- */

static void statistics_are_sums_over_all_that_was_searched(void **state)
{
    struct searched searched;
    struct esi_search_statistics inner;

    (void)state;
    prepare(&searched, "P := A --> B | B --> C; P *p; Q := ANY !<-> *p;");
    assert_int_equal(searched_run(&searched, &plain_engine, "P"), 0);
    inner = searched.statistics;
    assert_int_equal(inner.matches, 3);
    assert_true(inner.comparisons > 0);
    assert_true(inner.backtracks > 0);
    assert_true(inner.elapsed_ns > 0);
    assert_true(inner.pattern_size > 0);
    assert_true(inner.bytes > 0);
    assert_int_equal(searched_run(&searched, &plain_engine, "Q"), 0);
    assert_int_equal(searched.statistics.matches, 1);
    assert_int_equal(searched.statistics.assignments, 1);
    assert_true(searched.statistics.comparisons > inner.comparisons);
    assert_true(searched.statistics.backtracks > inner.backtracks);
    assert_true(searched.statistics.pattern_size > inner.pattern_size);
    searched_fini(&searched);
}

static void a_plan_tells_of_inner_predicates_and_their_matches(void **state)
{
    struct searched searched;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct esi_search_task task;
    const char *inner;

    (void)state;
    prepare(&searched, "P := A --> B | B --> C; P *p; Q := ANY !<-> *p;");
    task = (struct esi_search_task){
        .file = searched.file,
        .predicate = es_pattern_find(searched.file, "Q"),
        .domains = searched.domains,
        .order = searched.order,
        .config = &searched.config,
    };
    assert_int_equal(esi_search_explain_by(&plain_engine, &task, out, NULL), 0);
    fclose(out);
    inner = strstr(text, "3 matches");
    assert_non_null(inner);
    assert_non_null(strstr(inner, "1 disjuncts, one after the other"));
    assert_non_null(strstr(inner, "Q := "));
    assert_null(strstr(inner, "P := "));
    assert_non_null(strstr(text, "P := "));
    free(text);
    searched_fini(&searched);
}

static void engines_are_found_by_name(void **state)
{
    struct es_error error = {.text = ""};
    struct esi_search_config config;

    (void)state;
    esi_search_config_init(&config);
    assert_int_equal(esi_search_config_check(&config, NULL), 0);
    for (unsigned i = 0; esi_engines[i]; i++) {
        config.engine = esi_engines[i]->name;
        assert_int_equal(esi_search_config_check(&config, NULL), 0);
        assert_true(strlen(esi_engines[i]->help) > 0);
    }
    config.engine = "steam";
    assert_int_equal(esi_search_config_check(&config, &error), -EINVAL);
    assert_non_null(strstr(error.text, "no engine is named 'steam'; expected "));
    for (unsigned i = 0; esi_engines[i]; i++)
        assert_non_null(strstr(error.text, esi_engines[i]->name));
}

/* --- Against the reference -------------------------------------------------------- */

static int compare_words(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;

    return (*a > *b) - (*a < *b);
}

/* Checks the answer against the reference, if that knows it. */
static void check_predicate(struct searched *searched,
                            const char *name,
                            const struct reference_answer *answer,
                            const char *text)
{
    int result = searched_run(searched, &plain_engine, name);

    if (result == -E2BIG || !answer->is_known)
        return;
    assert_int_equal(result, 0);
    if (searched->count > 0)
        qsort(searched->matches, searched->count, sizeof *searched->matches,
              compare_words);
    if (searched->count == answer->count &&
        searched->statistics.assignments == answer->assignments &&
        (answer->count == 0 || memcmp(searched->matches, answer->matches,
                                      answer->count * sizeof *answer->matches) == 0))
        return;
    small_set_print(searched->set, stdout);
    fail_msg("%s: %u matches, %u assignments; the reference has %u and %u\n%s", name,
             (unsigned)searched->count, (unsigned)searched->statistics.assignments,
             (unsigned)answer->count, (unsigned)answer->assignments, text);
}

static void random_patterns_are_found_as_by_definition(void **state)
{
    enum { ROUNDS = 300, WORK = 30000 };
    struct random_pattern_options options;
    uint64_t draw;

    (void)state;
    draw = random_seed();
    random_pattern_options_init(&options);
    plain_engine_set_limit(10 * WORK);
    for (int i = 0; i < ROUNDS; i++) {
        static struct reference_file file;
        static struct small_set set;
        struct reference_answers *answers;
        struct searched searched;
        char *text;

        small_set_random(&draw, 1 + random_below(&draw, 9), &set);
        options.is_extended = i % 2;
        random_pattern_make(&draw, &options, &file);
        text = random_pattern_text(&file, REFERENCE_NONE, &draw);
        answers = reference_search(&file, &set, WORK);
        searched_init(&searched, text, &set);
        for (int p = 0; p < answers->count; p++)
            check_predicate(&searched, file.predicates[p].name, &answers->of[p], text);
        searched_fini(&searched);
        reference_answers_destroy(answers);
        free(text);
    }
    plain_engine_set_limit(UINT64_MAX);
}

SUITE(test_search)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_of_predicates_are_values_found_first_and_once),
        cmocka_unit_test(a_chain_of_predicates_is_searched_from_below),
        cmocka_unit_test(limits_are_not_for_inner_predicates),
        cmocka_unit_test(a_search_ends_when_its_time_is_over_or_it_is_cancelled),
        cmocka_unit_test(what_an_engine_refuses_is_passed_on),
        cmocka_unit_test(only_what_was_kept_can_be_searched),
        cmocka_unit_test(statistics_are_sums_over_all_that_was_searched),
        cmocka_unit_test(a_plan_tells_of_inner_predicates_and_their_matches),
        cmocka_unit_test(engines_are_found_by_name),
        cmocka_unit_test(random_patterns_are_found_as_by_definition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
