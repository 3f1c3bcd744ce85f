/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random patterns in random event sets, searched while the events arrive in a random
 * order. At the end exactly the matches of the reference have been delivered, each
 * once; also if everything possible is dropped after each event.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/search/live/live.h"
#include "monitors/search/language/program.h"
#include "tests/failing.h"
#include "tests/search/random_pattern.h"
#include "tests/suites.h"

enum {
    ROUNDS = 150,
    MATCHES = 1 << 14,
    WORK = 500000,
    CANDIDATES = 4096,
    VARIABLES = 9,
    ALLOCATIONS_MOST = 1000
};

/* The matches of a predicate. */
struct told {
    const struct small_set *set;
    uint32_t count;
    uint64_t matches[MATCHES];
};

struct round {
    struct reference_file reference;
    struct small_set set;
    uint32_t order[SMALL_EVENTS];
    char *text;
    struct es_pattern_file *file;
    struct es_order *store;
    struct esi_live *live;
    struct told *told; /* by predicate of the reference */
};

static unsigned rounds(void)
{
    const char *given = getenv("ES_TEST_ROUNDS");

    return given ? (unsigned)strtoul(given, NULL, 10) : ROUNDS;
}

/* `terms` is the maximum for a predicate; 0 = default. */
static void make_round(uint64_t *draw, bool is_extended, int terms, struct round *round)
{
    struct random_pattern_options options;
    struct es_error error = {.text = ""};

    *round = (struct round){.file = NULL};
    random_pattern_options_init(&options);
    options.is_extended = is_extended;
    if (terms > 0)
        options.terms = terms;
    random_pattern_make(draw, &options, &round->reference);
    small_set_random(draw, 1 + random_below(draw, 20), &round->set);
    small_set_extension(&round->set, draw, round->order);
    round->text = random_pattern_text(&round->reference, REFERENCE_NONE, NULL);
    if (es_pattern_file_parse(round->text, strlen(round->text), "random", &round->file,
                              &error) < 0)
        fail_msg("%s\n%s", round->text, error.text);
    round->told = calloc(REFERENCE_PREDICATES, sizeof *round->told);
    assert_non_null(round->told);
}

static void end_round(struct round *round)
{
    esi_live_destroy(round->live);
    es_order_destroy(round->store);
    es_pattern_file_destroy(round->file);
    free(round->text);
    free(round->told);
}

static void show(const struct round *round, const char *name, const char *fault)
{
    small_set_print(&round->set, stdout);
    print_message("order:");
    for (uint32_t i = 0; i < round->set.count; i++)
        print_message(" %u.%u", round->set.events[round->order[i]].id.trace,
                      round->set.events[round->order[i]].id.index);
    print_message("\n%s\n%s: %s\n", round->text, name, fault);
}

static int take_match(void *data, const struct es_event_id *events, size_t count)
{
    struct told *told = data;
    uint64_t match = 0;

    for (size_t i = 0; i < count; i++)
        match |= SMALL_BIT(small_set_find(told->set, events[i]));
    assert_int_equal(count, __builtin_popcountll(match));
    if (told->count == MATCHES)
        return 1; /* more than are stored */
    told->matches[told->count++] = match;
    return 0;
}

static int compare_matches(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* Searches all predicates that the reference knows.  Returns 0 or a negative errno. */
static int search(struct round *round,
                  const struct reference_answers *answers,
                  const struct esi_live_config *config)
{
    struct esi_live_wanted wanted[REFERENCE_PREDICATES];
    struct esi_order_config order_config = {.store = NULL};
    struct es_error error = {.text = ""};
    struct es_set_sink sink;
    uint32_t count = 0;
    int result;

    for (int p = 0; p < round->reference.predicate_count; p++) {
        if (answers && !answers->of[p].is_known)
            continue;
        round->told[p].set = &round->set;
        round->told[p].count = 0;
        wanted[count++] = (struct esi_live_wanted){
            es_pattern_find(round->file, round->reference.predicates[p].name),
            {take_match, &round->told[p]}};
    }
    /* Other stores do not need a second attempt. */
    order_config.store = answers ? "epoch" : "dense";
    result = esi_order_create(&order_config, &error, &round->store);
    if (result == 0)
        result = esi_live_create(round->file, wanted, count, round->store, config,
                                 &round->live, &error);
    if (result < 0)
        return result;
    sink = esi_live_sink(round->live);
    result = small_set_stream(&round->set, round->order, &sink);
    return result < 0 ? result : esi_live_end(round->live);
}

/* Returns NULL if the matches are those expected. */
static const char *fault_of(struct told *told, const struct reference_answer *expected)
{
    static char words[120];

    if (expected->count >= MATCHES)
        return told->count == MATCHES ? NULL : "too few matches";
    qsort(told->matches, told->count, sizeof *told->matches, compare_matches);
    for (uint32_t i = 1; i < told->count; i++)
        if (told->matches[i] == told->matches[i - 1])
            return "a match was told twice";
    if (told->count == expected->count &&
        (told->count == 0 || memcmp(told->matches, expected->matches,
                                    told->count * sizeof *told->matches) == 0))
        return NULL;
    snprintf(words, sizeof words, "%u matches, not %u", told->count, expected->count);
    return words;
}

/* Predicates with very many variables, after names are replaced, may take minutes. They
 * are left to test_engines, which limits the time of searches. */
static void leave_out_large(const struct round *round,
                            struct reference_answers *answers)
{
    for (int p = 0; p < round->reference.predicate_count; p++) {
        uint32_t predicate =
            es_pattern_find(round->file, round->reference.predicates[p].name);
        struct esi_program *program = NULL;

        if (esi_program_create(round->file, predicate, &program, NULL) < 0 ||
            program->variable_count > VARIABLES)
            answers->of[p].is_known = false;
        esi_program_destroy(program);
    }
}

static unsigned check_round(uint64_t *draw,
                            bool is_extended,
                            const struct esi_live_config *config)
{
    struct esi_live_statistics statistics;
    struct reference_answers *answers;
    struct round round;
    unsigned found = 0;
    int result;

    make_round(draw, is_extended, 0, &round);
    answers = reference_search(&round.reference, &round.set, WORK);
    leave_out_large(&round, answers);
    result = search(&round, answers, config);
    if (result == -EINVAL || result == -EOVERFLOW) {
        /* Too many variables or disjuncts. */
        reference_answers_destroy(answers);
        end_round(&round);
        return 0;
    }
    assert_int_equal(0, result);
    esi_live_statistics(round.live, &statistics);
    if (statistics.lost_candidates > 0) {
        /* More candidates than can be stored, as reported: matches may be missing. */
        assert_false(statistics.is_complete);
        reference_answers_destroy(answers);
        end_round(&round);
        return 0;
    }
    for (int p = 0; p < round.reference.predicate_count; p++) {
        const char *fault =
            answers->of[p].is_known ? fault_of(&round.told[p], &answers->of[p]) : NULL;
        if (fault) {
            show(&round, round.reference.predicates[p].name, fault);
            fail_msg("%s", fault);
        }
        found += round.told[p].count > 0;
    }
    assert_int_equal(0, statistics.candidates);
    assert_true(statistics.is_complete || config->drop_every == 1);
    reference_answers_destroy(answers);
    end_round(&round);
    return found;
}

static void all_matches_are_told_in_the_end(void **state)
{
    struct esi_live_config config;
    uint64_t draw;
    unsigned found = 0;

    (void)state;
    esi_live_config_init(&config);
    config.kept_candidates = CANDIDATES;
    draw = random_seed();
    for (unsigned i = 0; i < rounds(); i++)
        found += check_round(&draw, i % 2, &config);
    assert_true(found > rounds() / 2);
}

/* Events are dropped as early as possible. */
static void what_is_dropped_is_not_missed(void **state)
{
    struct esi_live_config config;
    uint64_t draw;
    unsigned found = 0;

    (void)state;
    esi_live_config_init(&config);
    config.drop_every = 1;
    config.asked_candidates = 0;
    config.traces_are_told = true;
    config.kept_candidates = CANDIDATES;
    draw = random_seed();
    for (unsigned i = 0; i < rounds(); i++) {
        config.skew_ns = INT64_MAX;
        found += check_round(&draw, i % 2, &config);
    }
    assert_true(found > rounds() / 2);
}

static uint64_t failing_draw;

static int try_to_search(void)
{
    uint64_t draw = failing_draw;
    struct esi_live_config config;
    struct round round;
    int result;

    failing_pause();
    /* There is a search for each allocation, so there are few variables. */
    make_round(&draw, true, 3, &round);
    esi_live_config_init(&config);
    config.drop_every = 1;
    failing_resume();
    result = search(&round, NULL, &config);
    failing_pause();
    end_round(&round);
    failing_resume();
    return result;
}

/* Some patterns need many thousands of allocations, and each would need a search. */
static bool has_few_allocations(void)
{
    failing_begin(ALLOCATIONS_MOST);
    (void)try_to_search();
    return !failing_end();
}

static void fail_allocations(uint64_t seed)
{
    failing_draw = seed;
    for (unsigned tried = 0; tried < 8;) {
        if (has_few_allocations()) {
            failing_each(try_to_search, 10);
            tried++;
        }
        random_below(&failing_draw, 7);
    }
}

static void an_allocation_that_fails_is_told(void **state)
{
    (void)state;
    fail_allocations(random_seed());
}

/* That of a list of values, of which none remained. */
static void an_allocation_that_failed_once_is_told(void **state)
{
    (void)state;
    fail_allocations(UINT64_C(1795811464));
}

SUITE(test_live_random)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_matches_are_told_in_the_end),
        cmocka_unit_test(what_is_dropped_is_not_missed),
        cmocka_unit_test(an_allocation_that_fails_is_told),
        cmocka_unit_test(an_allocation_that_failed_once_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
