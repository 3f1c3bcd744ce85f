/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random patterns in random event sets: every engine with every option finds the
 * matches and counts of the reference.
 *
 * ES_TEST_SEED repeats a run, ES_TEST_ROUNDS makes it longer.  A failing case is
 * reduced and printed with the file, the events and both answers.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/now.h"
#include "tests/search/random_pattern.h"
#include "tests/search/search_case.h"
#include "tests/search/shrink.h"
#include "tests/suites.h"

enum { ROUNDS = 160, LONG_NS = 200000000 };

/* Parameters of random cases. */
struct plan {
    struct random_pattern_options options;
    uint32_t events; /* minimum, approximately */
    uint32_t more;   /* maximum number of additional ones */
    uint64_t work;   /* maximum for the reference and a predicate */
    unsigned part;   /* 1 of `part` rounds is run */
};

/* Totals of all rounds. */
struct tally {
    unsigned predicates;
    unsigned matched;
    unsigned unknown; /* too much work for the reference */
    unsigned refused; /* too large for an engine */
    unsigned too_slow;
    unsigned searches;
};

static unsigned rounds(void)
{
    const char *given = getenv("ES_TEST_ROUNDS");

    return given ? (unsigned)strtoul(given, NULL, 10) : ROUNDS;
}

static void print_tally(const struct tally *tally)
{
    print_message(
        "# %u predicates, %u with matches, %u too much for the reference; "
        "%u searches, %u too large for their engine, %u ended with their time\n",
        tally->predicates, tally->matched, tally->unknown, tally->searches,
        tally->refused, tally->too_slow);
}

/* --- A failing case --------------------------------------------------------------- */

struct difference {
    const struct search_case_config *config;
    uint64_t limit;
    uint64_t work;
    bool is_refused;  /* too large for the engine */
    bool is_too_slow; /* it ended by its time limit */
    char fault[600];  /* of the last failure */
    struct search_answer answer;
};

/* Returns NULL if the answer is as expected. */
static const char *judge(const struct search_case *search,
                         const struct shrink_case *tried,
                         const struct reference_answer *expected,
                         struct difference *difference)
{
    struct esi_search_config config = difference->config->config;
    const char *name = tried->file.predicates[tried->predicate].name;
    struct es_error error = {.text = ""};
    int code;

    config.limit = difference->limit;
    config.deadline_ns = esi_now_ns(CLOCK_MONOTONIC) + 5 * LONG_NS;
    code = search_case_run(search, name, &config, &difference->answer, &error);
    difference->is_refused = code == -EOVERFLOW;
    difference->is_too_slow =
        code == 0 && esi_now_ns(CLOCK_MONOTONIC) >= config.deadline_ns;
    if (difference->is_refused || difference->is_too_slow)
        return NULL;
    if (code < 0) {
        snprintf(difference->fault, sizeof difference->fault, "%s (%s)",
                 strerror(-code), error.text);
        return difference->fault;
    }
    return difference->limit ? search_answer_limited_fault(&difference->answer,
                                                           expected, difference->limit)
                             : search_answer_fault(&difference->answer, expected);
}

static bool differs(void *data, const struct shrink_case *tried)
{
    struct difference *difference = data;
    struct reference_answers *answers =
        reference_search(&tried->file, &tried->set, difference->work);
    const struct reference_answer *expected = &answers->of[tried->predicate];
    char *text = random_pattern_text(&tried->file, tried->predicate, NULL);
    struct search_case *search = NULL;
    const char *fault = NULL;

    search_answer_clear(&difference->answer);
    if (expected->is_known &&
        search_case_create(text, &tried->set, NULL, &search, NULL) == 0)
        fault = judge(search, tried, expected, difference);
    search_case_destroy(search);
    reference_answers_destroy(answers);
    free(text);
    return fault != NULL;
}

static void show(const struct shrink_case *failing, const struct difference *difference)
{
    print_message("# found by %s, %u assignments:\n", difference->config->name,
                  (unsigned)difference->answer.statistics.assignments);
    for (uint32_t i = 0; i < difference->answer.count; i++)
        small_set_print_events(&failing->set, difference->answer.matches[i], stdout);
    putchar('\n');
    shrink_print(failing, stdout);
    fflush(stdout);
}

static void report(const struct shrink_case *failing,
                   struct difference *difference,
                   const char *fault,
                   uint64_t seed)
{
    struct shrink_case *small = malloc(sizeof *small);
    char words[600];

    assert_non_null(small);
    snprintf(words, sizeof words, "%s", fault);
    *small = *failing;
    if (differs(difference, small)) {
        shrink(small, differs, difference);
        differs(difference, small);
    }
    show(small, difference);
    search_answer_clear(&difference->answer);
    free(small);
    fail_msg("ES_TEST_SEED=%llu, %s: %s: %s", (unsigned long long)seed,
             failing->file.predicates[failing->predicate].name,
             difference->config->name, words);
}

/* --- Rounds ----------------------------------------------------------------------- */

/* A file and events, and the answers of the reference. */
struct round {
    const struct plan *plan;
    uint64_t seed;
    uint64_t draw;
    struct shrink_case *tried;
    struct reference_answers *answers;
    struct tally *tally;
};

/* Counts searches that were refused or too slow, and prints them. */
static void note_end(struct round *round, const struct difference *difference)
{
    char *text;

    round->tally->searches++;
    round->tally->refused += difference->is_refused;
    round->tally->too_slow += difference->is_too_slow;
    if (!difference->is_refused && !difference->is_too_slow)
        return;
    text = random_pattern_text(&round->tried->file, round->tried->predicate, NULL);
    print_message("# ES_TEST_SEED=%llu: %s: %s\n%s", (unsigned long long)round->seed,
                  difference->config->name,
                  difference->is_refused ? "too large" : "ended with its time", text);
    free(text);
}

/* Checks all options, and one of them with a limit.  If a predicate is too large or
 * nearly too large for an engine, its other options are skipped. */
static void check_predicate(const struct search_case *search, struct round *round)
{
    const struct reference_answer *expected =
        &round->answers->of[round->tried->predicate];
    size_t count = search_case_config_count();
    const char *too_large_for = "";

    for (size_t i = 0; i <= count; i++) {
        struct difference difference = {
            .config = search_case_config(i < count ? i : round->seed % count),
            .limit = i < count ? 0 : 1 + round->seed % 3,
            .work = round->plan->work};
        const char *fault;

        if (strcmp(difference.config->config.engine, too_large_for) == 0)
            continue;
        fault = judge(search, round->tried, expected, &difference);
        note_end(round, &difference);
        if (difference.is_refused || difference.is_too_slow ||
            difference.answer.statistics.elapsed_ns > LONG_NS)
            too_large_for = difference.config->config.engine;
        search_answer_clear(&difference.answer);
        if (fault)
            report(round->tried, &difference, fault, round->seed);
    }
}

static void check_predicates(const struct search_case *search, struct round *round)
{
    for (int i = 0; i < round->answers->count; i++) {
        const struct reference_answer *answer = &round->answers->of[i];

        round->tried->predicate = i;
        if (round->tried->file.predicates[i].name[0] != 'P')
            continue;
        round->tally->predicates++;
        round->tally->matched += answer->count > 0;
        round->tally->unknown += !answer->is_known;
        if (answer->is_known)
            check_predicate(search, round);
    }
}

static void check_file(struct round *round)
{
    char *text = random_pattern_text(&round->tried->file, REFERENCE_NONE, &round->draw);
    uint32_t order[SMALL_EVENTS];
    struct search_case *search;
    struct es_error error = {.text = ""};

    small_set_extension(&round->tried->set, &round->draw, order);
    if (search_case_create(text, &round->tried->set, order, &search, &error) < 0)
        fail_msg("ES_TEST_SEED=%llu: %d:%d: %s\n%s", (unsigned long long)round->seed,
                 error.line, error.column, error.text, text);
    check_predicates(search, round);
    search_case_destroy(search);
    free(text);
}

/* Whether most of the last predicates have no match. */
static bool is_dull(const struct reference_answers *answers, int predicates)
{
    int matched = 0;

    for (int i = answers->count - predicates; i < answers->count; i++)
        matched += answers->of[i].count > 0;
    return matched * 2 < predicates;
}

/* Draws again, up to four times, if there are few matches. */
static void make_round(struct round *round)
{
    const struct plan *plan = round->plan;
    struct shrink_case *made = round->tried;

    round->draw = round->seed;
    for (int i = 0; i < 4; i++) {
        reference_answers_destroy(round->answers);
        small_set_random(&round->draw,
                         plan->events + random_below(&round->draw, plan->more + 1),
                         &made->set);
        random_pattern_make(&round->draw, &plan->options, &made->file);
        round->answers = reference_search(&made->file, &made->set, plan->work);
        if (random_percent(&round->draw, 20) ||
            !is_dull(round->answers, plan->options.predicates))
            break;
    }
}

static void check_rounds(const struct plan *plan)
{
    uint64_t seed = random_seed();
    struct shrink_case *tried = malloc(sizeof *tried);
    struct tally tally = {.searches = 0};

    assert_non_null(tried);
    for (unsigned i = 0; i < rounds() / plan->part; i++) {
        struct round round = {
            .plan = plan, .seed = seed + i, .tried = tried, .tally = &tally};

        make_round(&round);
        check_file(&round);
        reference_answers_destroy(round.answers);
    }
    print_tally(&tally);
    free(tried);
}

static struct plan usual_plan(void)
{
    struct plan plan = {.events = 3, .more = 8, .work = 20000, .part = 1};

    random_pattern_options_init(&plan.options);
    return plan;
}

static void the_language_of_the_thesis_means_the_same_to_all_engines(void **state)
{
    struct plan plan = usual_plan();

    (void)state;
    plan.options.is_extended = false;
    check_rounds(&plan);
}

static void what_is_beyond_it_means_the_same_to_all_engines(void **state)
{
    struct plan plan = usual_plan();

    (void)state;
    check_rounds(&plan);
}

static void many_universal_variables_mean_the_same_to_all_engines(void **state)
{
    struct plan plan = usual_plan();

    (void)state;
    plan.options.universals = 4;
    plan.options.terms = 6;
    plan.options.predicates = 2;
    plan.part = 4;
    check_rounds(&plan);
}

static void traces_of_more_events_are_searched_alike(void **state)
{
    struct plan plan = usual_plan();

    (void)state;
    plan.options.terms = 3;
    plan.options.predicates = 2;
    plan.events = 18;
    plan.more = 24;
    plan.work = 100000;
    plan.part = 8;
    check_rounds(&plan);
}

SUITE(test_engines)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_language_of_the_thesis_means_the_same_to_all_engines),
        cmocka_unit_test(what_is_beyond_it_means_the_same_to_all_engines),
        cmocka_unit_test(many_universal_variables_mean_the_same_to_all_engines),
        cmocka_unit_test(traces_of_more_events_are_searched_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
