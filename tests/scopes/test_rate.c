/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the rate controller with simulated scopes of known costs: it stays within
 * the budget, approaches the best of all settings, and reports contradictions. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scopes/rate.h"
#include "tests/suites.h"

static uint64_t seed;

/* A random number from 0 to 1. */
static double random_share(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 40) / (double)(1 << 24);
}

/* --- A simulated scope ---------------------------------------------------------- */

struct plant {
    size_t servers;
    double pull_us;     /* CPU of a pull on the busiest host */
    double child_us;    /* for each child of an aggregator there */
    double tuple_us;    /* for each tuple */
    double trip_us;     /* one round trip */
    double tuples_hz;   /* rate of the program */
    double kept;        /* tuples kept until they are lost; 0 = all */
    double noise;       /* relative */
    double consumer_hz; /* maximum rate of its pulls; 0 = any */
    uint64_t now_ns;
    struct esi_rate_settings settings;
};

static double children_of(const struct plant *plant, const struct esi_rate_settings *s)
{
    double most = (double)plant->servers;

    if (s->shape == ES_SHAPE_KARY)
        return s->fan_out < most ? s->fan_out : most;
    return s->shape == ES_SHAPE_LEVELS ? most / 2 : most;
}

/* CPU seconds of a pull on the busiest of the program's hosts, which
 * may have an aggregator. */
static double cpu_of_pull(const struct plant *plant, const struct esi_rate_settings *s)
{
    double us = plant->pull_us;

    if (plant->servers > 1 && s->shape == ES_SHAPE_LEVELS)
        us += plant->child_us * children_of(plant, s);
    if (s->shape == ES_SHAPE_KARY && s->fan_out < plant->servers)
        us += plant->child_us * children_of(plant, s);
    if (s->shape == ES_SHAPE_VIEWS)
        us *= 1.4;
    us += 0.5 * s->ahead + 0.3 * s->threads;
    return us / 1e6;
}

/* Wall time of a pull. */
static double time_of_pull(const struct plant *plant, const struct esi_rate_settings *s)
{
    double children = children_of(plant, s);
    double levels = children < (double)plant->servers ? 2 : 1;
    double each = s->mode == ES_MODE_SEQUENTIAL ? plant->trip_us : plant->trip_us / 6;
    double us = levels * (plant->trip_us + each * children);

    if (plant->servers == 0)
        us = 5;
    if (s->threads && children > 1)
        us = us / (s->threads < children ? s->threads : children) + plant->trip_us;
    return us / (1 + s->ahead) / 1e6;
}

static double rate_of(const struct plant *plant, const struct esi_rate_settings *s)
{
    double hz = 1 / time_of_pull(plant, s);

    if (s->interval_ns && hz > 1e9 / (double)s->interval_ns)
        hz = 1e9 / (double)s->interval_ns;
    if (plant->consumer_hz > 0 && hz > plant->consumer_hz)
        hz = plant->consumer_hz;
    return hz;
}

/* Tuples per second that are read at this rate; the others are overwritten. */
static double tuples_taken(const struct plant *plant, double hz)
{
    if (plant->kept > 0 && plant->tuples_hz > hz * plant->kept)
        return hz * plant->kept;
    return plant->tuples_hz;
}

static double share_of(const struct plant *plant, const struct esi_rate_settings *s)
{
    double hz = rate_of(plant, s);

    return hz * cpu_of_pull(plant, s) + tuples_taken(plant, hz) * plant->tuple_us / 1e6;
}

/* Runs for half a second. */
static struct esi_rate_sample run(struct plant *plant, struct esi_rate_host *host)
{
    double hz = rate_of(plant, &plant->settings);
    double vary = 1 + plant->noise * (2 * random_share() - 1);
    double taken = tuples_taken(plant, hz);
    double pulls = hz / 2;

    plant->now_ns += 500000000;
    *host = (struct esi_rate_host){
        "node1", (uint64_t)(share_of(plant, &plant->settings) / 2 * vary * 1e9)};
    return (struct esi_rate_sample){
        .now_ns = plant->now_ns,
        .pulls = (uint64_t)(pulls + random_share()),
        .pull_ns = (uint64_t)(pulls * time_of_pull(plant, &plant->settings) * 1e9),
        .tuples = (uint64_t)(taken / 2),
        .lost = (uint64_t)((plant->tuples_hz - taken) / 2),
        .full = taken / hz >= (double)plant->settings.max ? (uint64_t)pulls : 0,
        .hosts = host,
        .host_count = 1,
        .servers = plant->servers,
        .elements = 100};
}

struct outcome {
    unsigned changes;
    double share; /* mean, without noise */
    double hz;
    double highest_share;
};

/* Runs for some samples and follows the decisions of the controller. */
static struct outcome control(struct esi_rate *rate, struct plant *plant, int samples)
{
    struct outcome outcome = {0};

    for (int i = 0; i < samples; i++) {
        struct esi_rate_host host;
        struct esi_rate_sample sample = run(plant, &host);
        struct esi_rate_decision decision;
        double share = share_of(plant, &plant->settings);

        outcome.share += share / samples;
        outcome.hz += rate_of(plant, &plant->settings) / samples;
        if (share > outcome.highest_share)
            outcome.highest_share = share;
        esi_rate_feed(rate, &sample, &decision);
        outcome.changes += decision.changed;
        plant->settings = decision.settings;
    }
    return outcome;
}

static struct esi_rate *new_rate(struct esi_rate_config *config, struct plant *plant)
{
    struct esi_rate *rate;

    assert_int_equal(esi_rate_create(config, &rate), 0);
    plant->settings = config->settings;
    return rate;
}

/* A rate within a budget, or a wanted one; 0 = none. */
static struct esi_rate *make_rate(struct plant *plant, double budget, double wanted_hz)
{
    struct esi_rate_config config;

    esi_rate_config_init(&config);
    config.budget = budget;
    config.wanted_hz = wanted_hz;
    return new_rate(&config, plant);
}

static bool has_said(const struct esi_rate *rate, const char *words)
{
    struct esi_rate_entry entries[ES_RATE_HISTORY];
    size_t count = esi_rate_history(rate, entries);

    for (size_t i = 0; i < count; i++)
        if (strstr(entries[i].reason, words))
            return true;
    for (size_t i = 0; i < count; i++)
        print_message("# %s\n", entries[i].reason);
    return false;
}

/* --- The best settings ----------------------------------------------------------- */

typedef bool (*better_fn)(const struct plant *plant,
                          const struct esi_rate_config *config,
                          const struct esi_rate_settings *a,
                          const struct esi_rate_settings *b);

/* The best of all settings by `better`. */
static struct esi_rate_settings best_of_all(const struct plant *plant,
                                            const struct esi_rate_config *config,
                                            better_fn better)
{
    static const unsigned numbers[] = {0, 1, 2, 4, 8};
    static const unsigned fan_outs[] = {2, 4, 8, 16};
    struct esi_rate_settings best = config->settings;

    for (int shape = 0; shape < 5; shape++)
        for (int fan = 0; fan < (shape == ES_SHAPE_KARY ? 4 : 1); fan++)
            for (int mode = 0; mode < 2; mode++)
                for (int threads = 0; threads < 5; threads++)
                    for (int ahead = 0; ahead < 5; ahead++) {
                        struct esi_rate_settings next = {
                            .max = 1000,
                            .mode = (enum es_mode)mode,
                            .threads = numbers[threads],
                            .ahead = numbers[ahead],
                            .shape = (enum es_shape)shape,
                            .fan_out = shape == ES_SHAPE_KARY ? fan_outs[fan] : 0};

                        if (better(plant, config, &next, &best))
                            best = next;
                    }
    return best;
}

/* The rate that these settings reach within a budget. */
static double rate_in_budget(const struct plant *plant,
                             double budget,
                             const struct esi_rate_settings *settings)
{
    double rest = budget - plant->tuples_hz * plant->tuple_us / 1e6;
    double hz = rest / cpu_of_pull(plant, settings);
    double possible = 1 / time_of_pull(plant, settings);

    return hz < possible ? hz : possible;
}

static bool is_faster(const struct plant *plant,
                      const struct esi_rate_config *config,
                      const struct esi_rate_settings *a,
                      const struct esi_rate_settings *b)
{
    return rate_in_budget(plant, config->budget, a) >
           rate_in_budget(plant, config->budget, b);
}

static bool is_cheaper(const struct plant *plant,
                       const struct esi_rate_config *config,
                       const struct esi_rate_settings *a,
                       const struct esi_rate_settings *b)
{
    double first = 1 / time_of_pull(plant, a);
    double second = 1 / time_of_pull(plant, b);

    if ((first >= config->wanted_hz) != (second >= config->wanted_hz))
        return first >= config->wanted_hz;
    if (first < config->wanted_hz)
        return first > second;
    return cpu_of_pull(plant, a) < cpu_of_pull(plant, b);
}

/* --- Budgets ---------------------------------------------------------------------- */

static struct plant direct_plant(void)
{
    return (struct plant){.pull_us = 5 + 40 * random_share(),
                          .tuple_us = 0.02,
                          .tuples_hz = 20000 * random_share(),
                          .noise = 0.1};
}

static void a_budget_is_used_and_kept(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        struct esi_rate_config config;
        struct esi_rate *rate;
        struct plant plant;
        struct outcome outcome;
        double best;

        seed = round;
        plant = direct_plant();
        esi_rate_config_init(&config);
        config.budget = 0.002 + 0.05 * random_share();
        config.settings.interval_ns = (uint64_t)(2e5 + 1e9 * random_share());
        rate = new_rate(&config, &plant);
        control(rate, &plant, 40);
        outcome = control(rate, &plant, 100);
        best = rate_in_budget(&plant, config.budget, &plant.settings);
        if (best > 1e9 / (double)config.interval_min_ns)
            best = 1e9 / (double)config.interval_min_ns;
        if (outcome.share > config.budget || outcome.hz < 0.65 * best ||
            outcome.changes > 8)
            print_message("# seed %llu: share %g of %g, %g of %g Hz, %u changes\n",
                          (unsigned long long)round, outcome.share, config.budget,
                          outcome.hz, best, outcome.changes);
        assert_true(outcome.share <= config.budget);
        assert_true(outcome.highest_share <= 1.15 * config.budget);
        assert_true(outcome.hz >= 0.65 * best);
        assert_true(outcome.changes <= 8);
        esi_rate_destroy(rate);
    }
}

static void without_noise_nothing_changes_once_it_fits(void **state)
{
    struct plant plant = {.pull_us = 20};
    struct esi_rate *rate = make_rate(&plant, 0.01, 0);

    (void)state;
    control(rate, &plant, 30);
    assert_int_equal(control(rate, &plant, 200).changes, 0);
    esi_rate_destroy(rate);
}

static void a_load_step_is_answered_within_few_samples(void **state)
{
    struct plant plant = {
        .pull_us = 20, .tuple_us = 0.05, .tuples_hz = 20000, .noise = 0.05};
    struct esi_rate *rate = make_rate(&plant, 0.01, 0);
    double before, after;

    (void)state;
    seed = 1;
    control(rate, &plant, 60);
    before = rate_of(&plant, &plant.settings);
    plant.pull_us = 80;
    control(rate, &plant, 5);
    assert_true(share_of(&plant, &plant.settings) <= 0.01);
    after = rate_of(&plant, &plant.settings);
    assert_true(after < before / 2);
    /* When the load is gone, the rate recovers. */
    plant.pull_us = 20;
    control(rate, &plant, 60);
    assert_true(rate_of(&plant, &plant.settings) > before * 0.7);
    esi_rate_destroy(rate);
}

static void a_budget_finds_the_tree_that_gives_most(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 200; round++) {
        struct esi_rate_config config;
        struct plant plant;
        struct esi_rate *rate;
        struct esi_rate_settings best;
        double most;

        seed = round;
        plant = (struct plant){.servers = 2 + (size_t)(30 * random_share()),
                               .pull_us = 10 + 20 * random_share(),
                               .child_us = 5 + 10 * random_share(),
                               .trip_us = 40 + 500 * random_share(),
                               .noise = 0.02};
        esi_rate_config_init(&config);
        config.budget = 0.005 + 0.1 * random_share();
        rate = new_rate(&config, &plant);
        control(rate, &plant, 400);
        best = best_of_all(&plant, &config, is_faster);
        most = rate_in_budget(&plant, config.budget, &best);
        if (most > 1e9 / (double)config.interval_min_ns)
            most = 1e9 / (double)config.interval_min_ns;
        if (rate_of(&plant, &plant.settings) < 0.6 * most) {
            char text[160];

            print_message("# seed %llu: %g of %g Hz with %s\n",
                          (unsigned long long)round, rate_of(&plant, &plant.settings),
                          most, esi_rate_settings_format(&plant.settings, text, 160));
        }
        assert_true(share_of(&plant, &plant.settings) <= 1.05 * config.budget);
        assert_true(rate_of(&plant, &plant.settings) >= 0.6 * most);
        esi_rate_destroy(rate);
    }
}

/* --- Target rates ----------------------------------------------------------------- */

static void a_wanted_rate_finds_the_cheapest_tree(void **state)
{
    unsigned reachable = 0;

    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        struct esi_rate_config config;
        struct plant plant;
        struct esi_rate *rate;
        struct esi_rate_settings best;
        double cost, least, hz;

        seed = round;
        plant = (struct plant){.servers = 2 + (size_t)(30 * random_share()),
                               .pull_us = 10 + 20 * random_share(),
                               .child_us = 5 + 10 * random_share(),
                               .trip_us = 40 + 500 * random_share(),
                               .noise = 0.02};
        esi_rate_config_init(&config);
        config.wanted_hz = 20 + 4000 * random_share() * random_share();
        config.settings.mode = ES_MODE_SEQUENTIAL;
        rate = new_rate(&config, &plant);
        control(rate, &plant, 300);
        best = best_of_all(&plant, &config, is_cheaper);
        hz = rate_of(&plant, &plant.settings);
        cost = cpu_of_pull(&plant, &plant.settings);
        least = cpu_of_pull(&plant, &best);
        if (1 / time_of_pull(&plant, &best) < config.wanted_hz) {
            assert_true(hz >= 0.85 / time_of_pull(&plant, &best));
        } else {
            reachable++;
            if (hz < 0.94 * config.wanted_hz || cost > 1.2 * least)
                print_message("# seed %llu: %g of %g Hz, cost %g, least %g\n",
                              (unsigned long long)round, hz, config.wanted_hz, cost,
                              least);
            assert_true(hz >= 0.94 * config.wanted_hz);
            assert_true(cost <= 1.2 * least);
            assert_true(has_said(rate, "cheapest that reaches"));
        }
        esi_rate_destroy(rate);
    }
    assert_true(reachable > 100);
}

static void a_rate_out_of_reach_is_named(void **state)
{
    struct plant plant = {.servers = 8, .pull_us = 10, .child_us = 5, .trip_us = 20000};
    struct esi_rate *rate = make_rate(&plant, 0, 5000);

    (void)state;
    control(rate, &plant, 300);
    assert_true(has_said(rate, "nearest to the 5000 pulls/s wanted"));
    /* The search ends. */
    assert_int_equal(control(rate, &plant, 200).changes, 0);
    esi_rate_destroy(rate);
}

static void freedom_bounds_the_search(void **state)
{
    struct plant plant = {.servers = 8, .pull_us = 10, .child_us = 5, .trip_us = 900};
    struct esi_rate_config config;
    struct esi_rate *rate;

    (void)state;
    esi_rate_config_init(&config);
    config.wanted_hz = 5000;
    config.freedom = ES_RATE_AHEAD;
    config.max_ahead = 2;
    rate = new_rate(&config, &plant);
    for (int i = 0; i < 100; i++) {
        control(rate, &plant, 1);
        assert_int_equal(plant.settings.shape, ES_SHAPE_VIEWS);
        assert_int_equal(plant.settings.mode, ES_MODE_CONCURRENT);
        assert_int_equal(plant.settings.threads, 0);
        assert_true(plant.settings.ahead <= 2);
    }
    assert_int_equal(plant.settings.ahead, 2);
    esi_rate_destroy(rate);
}

/* --- Both, and contradictions ----------------------------------------------------- */

static void a_wanted_rate_gives_way_to_the_budget(void **state)
{
    struct plant plant = {.pull_us = 100, .noise = 0.05};
    struct esi_rate *rate = make_rate(&plant, 0.01, 1000);
    struct outcome outcome;

    (void)state;
    seed = 3;
    control(rate, &plant, 40);
    outcome = control(rate, &plant, 100);
    assert_true(outcome.share <= 0.01);
    assert_true(outcome.hz > 45 && outcome.hz < 72);
    /* With a sufficient budget the target rate is reached and not exceeded. */
    esi_rate_destroy(rate);
    rate = make_rate(&plant, 0.5, 1000);
    control(rate, &plant, 40);
    outcome = control(rate, &plant, 40);
    assert_true(outcome.hz > 999 && outcome.hz < 1001);
    esi_rate_destroy(rate);
}

static void a_budget_that_loses_tuples_says_so(void **state)
{
    struct plant plant = {
        .pull_us = 50, .tuple_us = 0.5, .tuples_hz = 100000, .kept = 100};
    struct esi_rate *rate = make_rate(&plant, 0.01, 0);

    (void)state;
    control(rate, &plant, 60);
    assert_true(share_of(&plant, &plant.settings) <= 0.01);
    assert_true(has_said(rate, "no losses contradict each other"));
    /* 1000 pulls of 70 us and 100000 tuples of 0.5 us. */
    assert_true(has_said(rate, "about 12 % are needed on node1"));
    esi_rate_destroy(rate);
}

static void a_budget_below_the_tuples_cost_says_so(void **state)
{
    struct plant plant = {.pull_us = 50, .tuple_us = 1, .tuples_hz = 100000};
    struct esi_rate_config config;
    struct esi_rate *rate;

    (void)state;
    esi_rate_config_init(&config);
    config.budget = 0.01;
    rate = new_rate(&config, &plant);
    /* With ten seconds between pulls most samples contain none. */
    control(rate, &plant, 400);
    assert_int_equal(plant.settings.interval_ns, config.interval_max_ns);
    assert_true(has_said(rate, "cannot be held"));
    esi_rate_destroy(rate);
}

static void a_slow_consumer_is_not_the_trees_fault(void **state)
{
    struct plant plant = {.pull_us = 50, .consumer_hz = 30};
    struct esi_rate *rate = make_rate(&plant, 0, 100);

    (void)state;
    control(rate, &plant, 30);
    assert_true(has_said(rate, "the consumer does not ask more often"));
    esi_rate_destroy(rate);
}

/* --- Other tests ------------------------------------------------------------------ */

static void pulls_that_are_always_full_may_give_more(void **state)
{
    struct plant plant = {.pull_us = 5, .tuples_hz = 50000};
    struct esi_rate_config config;
    struct esi_rate *rate;

    (void)state;
    esi_rate_config_init(&config);
    config.wanted_hz = 10;
    config.settings.max = 1000;
    rate = new_rate(&config, &plant);
    control(rate, &plant, 60);
    assert_int_equal(plant.settings.max, 8000);
    esi_rate_destroy(rate);
}

static void the_history_holds_the_last_decisions(void **state)
{
    struct plant plant = {.pull_us = 5};
    struct esi_rate_entry entries[ES_RATE_HISTORY];
    struct esi_rate *rate = make_rate(&plant, 0.01, 0);

    (void)state;
    assert_int_equal(esi_rate_history(rate, entries), 0);
    for (int i = 0; i < 30; i++) {
        plant.pull_us = i % 2 ? 5 : 100;
        control(rate, &plant, 20);
    }
    assert_int_equal(esi_rate_history(rate, entries), ES_RATE_HISTORY);
    for (size_t i = 1; i < ES_RATE_HISTORY; i++)
        assert_true(entries[i].now_ns > entries[i - 1].now_ns);
    assert_string_equal(entries[0].host, "node1");
    esi_rate_destroy(rate);
}

static void settings_are_told_in_words(void **state)
{
    struct esi_rate_settings settings = {.interval_ns = 20000000,
                                         .mode = ES_MODE_SEQUENTIAL,
                                         .threads = 2,
                                         .ahead = 1,
                                         .shape = ES_SHAPE_KARY};
    char text[160];

    (void)state;
    assert_string_equal(esi_rate_settings_format(&settings, text, sizeof text),
                        "every 20.0 ms, kary 8, sequential, 2 threads, 1 ahead");
    settings = (struct esi_rate_settings){0};
    assert_string_equal(esi_rate_settings_format(&settings, text, sizeof text),
                        "without a pause, views, concurrent");
    assert_string_equal(esi_rate_settings_format(&settings, text, 8), "without");
}

static void goals_that_are_none_are_refused(void **state)
{
    struct esi_rate_config config;
    struct esi_rate *rate;

    (void)state;
    esi_rate_config_init(&config);
    assert_int_equal(esi_rate_create(&config, &rate), -EINVAL);
    config.budget = -1;
    assert_int_equal(esi_rate_create(&config, &rate), -EINVAL);
    config.budget = 0.01;
    config.interval_min_ns = config.interval_max_ns + 1;
    assert_int_equal(esi_rate_create(&config, &rate), -EINVAL);
    esi_rate_destroy(NULL);
}

SUITE(test_rate)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_budget_is_used_and_kept),
        cmocka_unit_test(without_noise_nothing_changes_once_it_fits),
        cmocka_unit_test(a_load_step_is_answered_within_few_samples),
        cmocka_unit_test(a_budget_finds_the_tree_that_gives_most),
        cmocka_unit_test(a_wanted_rate_finds_the_cheapest_tree),
        cmocka_unit_test(a_rate_out_of_reach_is_named),
        cmocka_unit_test(freedom_bounds_the_search),
        cmocka_unit_test(a_wanted_rate_gives_way_to_the_budget),
        cmocka_unit_test(a_budget_that_loses_tuples_says_so),
        cmocka_unit_test(a_budget_below_the_tuples_cost_says_so),
        cmocka_unit_test(a_slow_consumer_is_not_the_trees_fault),
        cmocka_unit_test(pulls_that_are_always_full_may_give_more),
        cmocka_unit_test(the_history_holds_the_last_decisions),
        cmocka_unit_test(settings_are_told_in_words),
        cmocka_unit_test(goals_that_are_none_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
