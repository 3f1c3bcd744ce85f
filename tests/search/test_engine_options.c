/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Behaviour that all engines share with every option: limits, ends by time, by a flag
 * and by the sink, plans, statistics, and failing allocations.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/now.h"
#include "monitors/search/thesis/tuning.h"
#include "tests/failing.h"
#include "tests/search/random_pattern.h"
#include "tests/search/search_case.h"
#include "tests/suites.h"

/* --- Searched sets ---------------------------------------------------------------- */

/* Six traces without communication. */
static void make_apart(struct small_set *set, uint32_t events)
{
    small_set_init(set);
    for (uint32_t trace = 0; trace < 6; trace++)
        small_set_trace(set, "P");
    for (uint32_t i = 0; i < events; i++)
        small_set_event(set, i % 6, ES_EVENT_UNARY, "A", "", 0);
    small_set_close(set);
}

static const char apart_text[] =
    "A := [\"\", \"A\", \"\"]; A *a; Pairs := A || A;"
    "Many := A || A || A || A || A || A; Many *m; None := A !<-> *m; Not := A !--> *a;";

static struct search_case *make_case(struct small_set *set, uint32_t events)
{
    struct search_case *search;
    struct es_error error = {.text = ""};

    make_apart(set, events);
    if (search_case_create(apart_text, set, NULL, &search, &error) < 0)
        fail_msg("%s", error.text);
    return search;
}

/* A sink that counts and acts at one of the matches. */
struct counter {
    uint64_t matches;
    uint64_t last; /* match at which `code` is returned and `is_cancelled` is set */
    int code;
    atomic_bool *is_cancelled;
};

static int count(void *data, const struct es_event_id *events, size_t event_count)
{
    struct counter *counter = data;

    (void)events;
    (void)event_count;
    if (++counter->matches != counter->last)
        return 0;
    if (counter->is_cancelled)
        atomic_store(counter->is_cancelled, true);
    return counter->code;
}

/* Searches with a configuration; the result must be `code`. */
static struct esi_search_statistics give(const struct search_case *search,
                                         const char *predicate,
                                         const struct esi_search_config *config,
                                         const char *name,
                                         struct counter *counter,
                                         int code)
{
    struct esi_match_sink sink = {count, counter};
    struct esi_search_statistics statistics = {.matches = 0};
    struct es_error error = {.text = ""};
    int found = search_case_give(search, predicate, config, &sink, &statistics, &error);

    if (found != code)
        fail_msg("%s: %d, not %d: %s", name, found, code, error.text);
    return statistics;
}

/* --- Limits ----------------------------------------------------------------------- */

static void a_limit_gives_so_many_matches(void **state)
{
    enum { PAIRS = 60 }; /* of 12 events on 6 traces */
    static const uint64_t limits[] = {1, 2, 59, 60, 61, 1000};
    struct small_set set;
    struct search_case *search = make_case(&set, 12);

    (void)state;
    for (size_t i = 0; i < search_case_config_count(); i++)
        for (size_t k = 0; k < sizeof limits / sizeof limits[0]; k++) {
            struct search_case_config config = *search_case_config(i);
            struct counter counter = {.matches = 0};
            struct esi_search_statistics statistics;

            config.config.limit = limits[k];
            statistics =
                give(search, "Pairs", &config.config, config.name, &counter, 0);
            assert_int_equal(counter.matches, limits[k] < PAIRS ? limits[k] : PAIRS);
            assert_int_equal(statistics.matches, counter.matches);
            assert_true(limits[k] <= PAIRS || statistics.is_complete);
            assert_true(limits[k] >= PAIRS || !statistics.is_complete);
        }
    search_case_destroy(search);
}

/* --- Ends ------------------------------------------------------------------------- */

/* No engine has time to find all matches; returns the maximum number found. */
static uint64_t end_soon(const char *predicate)
{
    struct small_set set;
    struct search_case *search = make_case(&set, 60);
    uint64_t most = 0;

    for (size_t i = 0; i < search_case_config_count(); i++) {
        struct search_case_config config = *search_case_config(i);
        struct counter counter = {.matches = 0};
        struct esi_search_statistics statistics;

        config.config.deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + 5000000;
        statistics = give(search, predicate, &config.config, config.name, &counter, 0);
        assert_false(statistics.is_complete);
        assert_int_equal(statistics.matches, counter.matches);
        most = counter.matches > most ? counter.matches : most;
    }
    search_case_destroy(search);
    return most;
}

static void a_search_of_a_million_matches_ends_when_its_time_is_over(void **state)
{
    (void)state;
    end_soon("Many");
}

static void it_ends_before_the_matches_of_an_inner_predicate_are_found(void **state)
{
    (void)state;
    assert_int_equal(end_soon("None"), 0);
}

static void a_search_that_is_cancelled_ends(void **state)
{
    struct small_set set;
    struct search_case *search = make_case(&set, 60);

    (void)state;
    for (size_t i = 0; i < search_case_config_count(); i++) {
        struct search_case_config config = *search_case_config(i);
        atomic_bool is_cancelled = false;
        struct counter counter = {.last = 3, .is_cancelled = &is_cancelled};

        config.config.is_cancelled = &is_cancelled;
        assert_false(
            give(search, "Many", &config.config, config.name, &counter, 0).is_complete);
        assert_true(counter.matches >= 3);
    }
    search_case_destroy(search);
}

static void what_the_sink_gives_ends_the_search(void **state)
{
    struct small_set set;
    struct search_case *search = make_case(&set, 12);

    (void)state;
    for (size_t i = 0; i < search_case_config_count(); i++) {
        const struct search_case_config *config = search_case_config(i);
        struct counter enough = {.last = 2, .code = 1};
        struct counter broken = {.last = 2, .code = -EIO};

        assert_false(give(search, "Pairs", &config->config, config->name, &enough, 0)
                         .is_complete);
        assert_int_equal(enough.matches, 2);
        give(search, "Pairs", &config->config, config->name, &broken, -EIO);
        assert_int_equal(broken.matches, 2);
    }
    search_case_destroy(search);
}

/* --- Plans and statistics --------------------------------------------------------- */

static char *explain(const struct search_case *search,
                     const char *predicate,
                     const struct search_case_config *config)
{
    struct es_error error = {.text = ""};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    if (search_case_explain(search, predicate, &config->config, out, &error) < 0)
        fail_msg("%s: %s", config->name, error.text);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void plans_are_told_and_the_same_each_time(void **state)
{
    static const char *const predicates[] = {"A", "Pairs", "Many", "None", "Not"};
    struct small_set set;
    struct search_case *search = make_case(&set, 6);

    (void)state;
    for (size_t i = 0; i < search_case_config_count(); i++)
        for (size_t k = 0; k < sizeof predicates / sizeof predicates[0]; k++) {
            char *first = explain(search, predicates[k], search_case_config(i));
            char *second = explain(search, predicates[k], search_case_config(i));

            assert_true(strlen(first) > 0);
            assert_string_equal(first, second);
            free(first);
            free(second);
        }
    search_case_destroy(search);
}

static void counts_of_work_are_the_same_each_time(void **state)
{
    struct small_set set;
    struct search_case *search = make_case(&set, 24);

    (void)state;
    for (size_t i = 0; i < search_case_config_count(); i++) {
        const struct search_case_config *config = search_case_config(i);
        struct counter counter = {.matches = 0};
        struct esi_search_statistics first, second;

        if (config->config.threads > 1)
            continue; /* they depend on the order of threads */
        first = give(search, "Not", &config->config, config->name, &counter, 0);
        second = give(search, "Not", &config->config, config->name, &counter, 0);
        assert_int_equal(first.comparisons, second.comparisons);
        assert_int_equal(first.backtracks, second.backtracks);
        assert_int_equal(first.unknown, 0);
        assert_true(first.is_complete);
    }
    search_case_destroy(search);
}

/* --- Random patterns -------------------------------------------------------------- */

enum { WORK = 20000 };

/* A random file and events, and the matches of the reference for its last predicate. */
struct made {
    struct reference_file file;
    struct small_set set;
    struct reference_answers *answers;
    struct search_case *search;
};

static void make_random(struct made *made, uint64_t seed)
{
    struct random_pattern_options options;
    struct es_error error = {.text = ""};
    uint64_t draw;
    char *text;

    random_pattern_options_init(&options);
    draw = seed;
    do {
        reference_answers_destroy(made->answers);
        small_set_random(&draw, 10, &made->set);
        random_pattern_make(&draw, &options, &made->file);
        made->answers = reference_search(&made->file, &made->set, WORK);
    } while (made->answers->of[made->answers->count - 1].count == 0);
    text = random_pattern_text(&made->file, REFERENCE_NONE, NULL);
    if (search_case_create(text, &made->set, NULL, &made->search, &error) < 0)
        fail_msg("%s", error.text);
    free(text);
}

static void destroy_random(struct made *made)
{
    search_case_destroy(made->search);
    reference_answers_destroy(made->answers);
    made->answers = NULL;
}

static const struct reference_answer *last_answer(const struct made *made)
{
    return &made->answers->of[made->answers->count - 1];
}

static const char *last_name(const struct made *made)
{
    return made->file.predicates[made->answers->count - 1].name;
}

/* The seed of estimates changes the order of the search, but not its result. */
static void seeds_of_estimates_change_no_match(void **state)
{
    enum { ROUNDS = 10 };
    uint64_t seed = random_seed();
    struct made *made = calloc(1, sizeof *made);

    (void)state;
    assert_non_null(made);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        make_random(made, seed + round);
        for (size_t i = 0; i < search_case_config_count(); i++) {
            struct search_case_config config = *search_case_config(i);
            struct esi_rewrite_tuning tuning;
            struct search_answer answer;
            const char *fault;
            int code;

            if (strcmp(config.config.engine, "rewrite") == 0) {
                tuning = *(const struct esi_rewrite_tuning *)config.config.tuning;
                tuning.seed = seed + i;
                config.config.tuning = &tuning;
            }
            code = search_case_run(made->search, last_name(made), &config.config,
                                   &answer, NULL);
            if (code == -EOVERFLOW)
                continue; /* too large for this engine */
            assert_int_equal(code, 0);
            fault = search_answer_fault(&answer, last_answer(made));
            if (fault)
                fail_msg("%s: %s", config.name, fault);
            search_answer_clear(&answer);
        }
        destroy_random(made);
    }
    free(made);
}

/* Searches while an allocation fails; returns whether one did.  An engine may continue
 * without memory that only saves time. */
static bool search_without(const struct made *made,
                           const struct search_case_config *config,
                           long number)
{
    struct counter counter = {.matches = 0};
    struct esi_match_sink sink = {count, &counter};
    struct esi_search_statistics statistics;
    bool has_failed;
    int code;

    failing_begin(number);
    code = search_case_give(made->search, last_name(made), &config->config, &sink,
                            &statistics, NULL);
    has_failed = failing_end();
    if (code != 0 && code != -EOVERFLOW && !(has_failed && code == -ENOMEM))
        fail_msg("%s, allocation %ld: %d", config->name, number, code);
    if (code == 0)
        assert_int_equal(counter.matches, last_answer(made)->count);
    return has_failed;
}

static void allocations_may_fail(void **state)
{
    enum { ROUNDS = 3 };
    uint64_t seed = random_seed();
    struct made *made = calloc(1, sizeof *made);

    (void)state;
    assert_non_null(made);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        make_random(made, seed + round);
        for (size_t i = 0; i < search_case_config_count(); i++) {
            const struct search_case_config *config = search_case_config(i);
            long number = 1;

            if (config->config.threads > 1)
                continue; /* allocations are counted for one thread */
            while (search_without(made, config, number))
                number += 1 + number / 8; /* all of the first, then fewer */
            assert_true(number > 4);
        }
        destroy_random(made);
    }
    free(made);
}

SUITE(test_engine_options)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_gives_so_many_matches),
        cmocka_unit_test(a_search_of_a_million_matches_ends_when_its_time_is_over),
        cmocka_unit_test(it_ends_before_the_matches_of_an_inner_predicate_are_found),
        cmocka_unit_test(a_search_that_is_cancelled_ends),
        cmocka_unit_test(what_the_sink_gives_ends_the_search),
        cmocka_unit_test(plans_are_told_and_the_same_each_time),
        cmocka_unit_test(counts_of_work_are_the_same_each_time),
        cmocka_unit_test(seeds_of_estimates_change_no_match),
        cmocka_unit_test(allocations_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
