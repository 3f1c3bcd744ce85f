/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The cluster store has true answers for every strategy, size and number of levels. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/order/cluster/cluster_tuning.h"
#include "monitors/order/cluster/communications.h"
#include "tests/order/check_store.h"
#include "tests/suites.h"

enum { SEEDS = 32, STRATEGIES = 6 };

static const char *const strategies[STRATEGIES] = {"fixed",  "merge-first", "merge-nth",
                                                   "static", "collect",     "migrate"};

/* Of the configuration that was made last. */
static struct esi_cluster_tuning tuning;

static struct esi_order_config cluster_config(const char *strategy, uint32_t size)
{
    tuning = esi_cluster_defaults;
    tuning.strategy = strategy;
    tuning.max_sizes[0] = size;
    return (struct esi_order_config){.store = "cluster", .tuning = &tuning};
}

/* --- The truth ------------------------------------------------------------------- */

/* Draws levels, sizes, threshold, prefix and seeds. */
static void draw_tuning(uint64_t *draw, unsigned most_levels, uint32_t *seeds)
{
    uint32_t size = 1;

    tuning.levels = 1 + random_below(draw, most_levels);
    for (unsigned i = 0; i < tuning.levels; i++)
        tuning.max_sizes[i] = size += random_below(draw, 5);
    tuning.threshold = random_below(draw, 3) * 0.2;
    tuning.prefix = random_below(draw, 100);
    tuning.seeds = NULL;
    if (random_percent(draw, 50))
        return;
    for (unsigned i = 0; i < SEEDS; i++)
        seeds[i] = random_below(draw, 4);
    tuning.seeds = seeds;
    tuning.seed_count = random_below(draw, SEEDS);
}

static void check_strategy(const char *strategy, unsigned rounds, unsigned most_levels)
{
    struct esi_order_config config = cluster_config(strategy, 1);
    uint64_t seed = random_seed();
    uint64_t draw;
    uint32_t seeds[SEEDS];

    draw = seed;
    for (unsigned i = 0; i < rounds; i++) {
        struct made_config shape = {.shape = i % MADE_SHAPES,
                                    .seed = seed + i,
                                    .traces = 2 + random_below(&draw, 14),
                                    .events = 30 + random_below(&draw, 100),
                                    .is_sparse = random_percent(&draw, 30),
                                    .is_lossy = random_percent(&draw, 30)};
        struct made_computation *made = made_computation_create(&shape);
        struct esi_communications *counts = check_store_communications(made);

        draw_tuning(&draw, most_levels, seeds);
        tuning.communications = counts;
        check_store(&config, made, NULL);
        esi_communications_destroy(counts);
        made_computation_destroy(made);
    }
}

static void stamps_tell_the_order_for_every_strategy(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STRATEGIES; i++)
        check_strategy(strategies[i], 8 * MADE_SHAPES, 4);
}

static void stamps_of_eight_levels_tell_the_order(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STRATEGIES; i++)
        check_strategy(strategies[i], MADE_SHAPES, ES_ORDER_LEVELS);
}

static void every_size_is_exact(void **state)
{
    uint64_t seed = random_seed();

    (void)state;
    for (uint32_t size = 1; size <= 12; size++) {
        struct made_config shape = {
            .shape = MADE_NEAR, .seed = seed + size, .traces = 12, .events = 200};
        struct made_computation *made = made_computation_create(&shape);
        struct esi_communications *counts = check_store_communications(made);

        for (unsigned i = 0; i < STRATEGIES; i++) {
            struct esi_order_config config = cluster_config(strategies[i], size);

            tuning.communications = counts;
            tuning.threshold = 0.1;
            tuning.prefix = 80;
            check_store(&config, made, NULL);
        }
        esi_communications_destroy(counts);
        made_computation_destroy(made);
    }
}

/* --- Cases by hand --------------------------------------------------------------- */

static struct es_order *make_order(const struct esi_order_config *config,
                                   uint32_t traces)
{
    struct es_order *order;

    assert_int_equal(esi_order_create(config, NULL, &order), 0);
    for (uint32_t i = 0; i < traces; i++)
        assert_int_equal(es_order_add_trace(order), 0);
    return order;
}

static struct es_event_id at(uint32_t trace, uint32_t index)
{
    return (struct es_event_id){.trace = trace, .index = index};
}

static void append(struct es_order *order, uint32_t trace, enum es_event_kind kind)
{
    assert_int_equal(es_order_append(order, trace, kind, NULL, 0), 0);
}

static void receive(struct es_order *order, uint32_t trace, struct es_event_id send)
{
    assert_int_equal(es_order_append(order, trace, ES_EVENT_RECEIVE, &send, 1), 0);
}

static struct esi_order_statistics statistics_of(const struct es_order *order)
{
    struct esi_order_statistics statistics;

    esi_order_statistics(order, &statistics);
    return statistics;
}

/* Erratum 2 (docs/decisions.md): an event before the merge has a vector of one entry,
 * which a later member of the cluster must not index. */
static void an_older_event_does_not_see_who_joined_its_cluster(void **state)
{
    struct esi_order_config config = cluster_config("merge-first", 2);
    struct es_order *order = make_order(&config, 2);

    (void)state;
    append(order, 0, ES_EVENT_UNARY);
    append(order, 1, ES_EVENT_SEND);
    receive(order, 0, at(1, 1));
    append(order, 1, ES_EVENT_UNARY);
    assert_int_equal(statistics_of(order).clusters[0], 1);
    assert_int_equal(statistics_of(order).actual_elements, 1 + 1 + 2 + 2);
    assert_int_equal(es_order_precedes(order, at(1, 1), at(0, 1)), 0);
    assert_int_equal(es_order_precedes(order, at(1, 1), at(0, 2)), 1);
    assert_int_equal(es_order_precedes(order, at(0, 1), at(1, 1)), 0);
    assert_int_equal(es_order_precedes(order, at(0, 1), at(1, 2)), 0);
    assert_int_equal(es_order_precedes(order, at(0, 2), at(1, 2)), 0);
    es_order_destroy(order);
}

/* Erratum 3: the clusters are {0, 1} and {2, 3}; 2 and 3 are members 0 and 1 there. */
static void a_cluster_receive_has_entries_by_trace(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 2);
    struct es_order *order = make_order(&config, 4);

    (void)state;
    append(order, 2, ES_EVENT_UNARY);
    append(order, 3, ES_EVENT_UNARY);
    append(order, 3, ES_EVENT_SEND);
    receive(order, 0, at(3, 2));
    append(order, 0, ES_EVENT_SEND);
    receive(order, 1, at(0, 2));
    assert_int_equal(statistics_of(order).cluster_receives[0], 1);
    for (uint32_t trace = 0; trace < 2; trace++) {
        assert_int_equal(es_order_precedes(order, at(3, 1), at(trace, 1)), 1);
        assert_int_equal(es_order_precedes(order, at(3, 2), at(trace, 1)), 1);
        assert_int_equal(es_order_precedes(order, at(2, 1), at(trace, 1)), 0);
        assert_int_equal(es_order_greatest_predecessor(order, at(trace, 1), 3), 2);
    }
    assert_int_equal(es_order_precedes(order, at(0, 1), at(3, 2)), 0);
    es_order_destroy(order);
}

/* Erratum 4: nothing is known of trace 1, and there is no cluster receive. */
static void nothing_precedes_the_first_events(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 2);
    struct es_order *order = make_order(&config, 4);

    (void)state;
    append(order, 0, ES_EVENT_UNARY);
    append(order, 2, ES_EVENT_UNARY);
    assert_int_equal(es_order_precedes(order, at(0, 1), at(2, 1)), 0);
    assert_int_equal(es_order_precedes(order, at(2, 1), at(0, 1)), 0);
    assert_int_equal(es_order_greatest_predecessor(order, at(0, 1), 1), 0);
    es_order_destroy(order);
}

/* Erratum 6: a path enters the cluster through the far half of the sync, which precedes
 * the events after the near half but not the near half itself. */
static void the_other_half_of_a_sync_precedes_what_follows(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 2);
    struct es_order *order = make_order(&config, 4);

    (void)state;
    append(order, 2, ES_EVENT_UNARY);
    assert_int_equal(es_order_append_sync(order, 0, 2), 0);
    append(order, 0, ES_EVENT_SEND);
    receive(order, 1, at(0, 2));
    assert_int_equal(statistics_of(order).cluster_receives[0], 2);
    assert_int_equal(es_order_relation(order, at(0, 1), at(2, 2)),
                     ES_RELATION_CONCURRENT);
    assert_int_equal(es_order_precedes(order, at(2, 1), at(0, 1)), 1);
    assert_int_equal(es_order_precedes(order, at(2, 2), at(0, 2)), 1);
    assert_int_equal(es_order_precedes(order, at(2, 2), at(1, 1)), 1);
    assert_int_equal(es_order_greatest_predecessor(order, at(0, 1), 2), 1);
    assert_int_equal(es_order_greatest_predecessor(order, at(1, 1), 2), 2);
    es_order_destroy(order);
}

/* Erratum 6: one of the partners is outside the cluster. */
static void any_partner_outside_makes_a_cluster_receive(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 2);
    struct es_order *order = make_order(&config, 4);
    struct es_event_id sends[] = {{.trace = 1, .index = 1}, {.trace = 2, .index = 1}};

    (void)state;
    append(order, 1, ES_EVENT_SEND);
    append(order, 2, ES_EVENT_SEND);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_RECEIVE, sends, 2), 0);
    append(order, 0, ES_EVENT_UNARY);
    assert_int_equal(statistics_of(order).cluster_receives[0], 1);
    assert_int_equal(es_order_precedes(order, at(2, 1), at(0, 2)), 1);
    assert_int_equal(es_order_precedes(order, at(1, 1), at(0, 2)), 1);
    es_order_destroy(order);
}

/* Erratum 17: C precedes b1 through D.  b1 is stamped over the cluster {B, A} of level
 * 2, and C joins this cluster later.  Level 1 keeps all traces apart; D, E and F fill
 * another cluster of level 2. */
static void who_joined_later_is_found_beyond_a_receive(void **state)
{
    enum { A, B, C, D, E, F };
    struct esi_order_config config = cluster_config("merge-first", 1);
    struct es_order *order;

    (void)state;
    tuning.levels = 2;
    tuning.max_sizes[1] = 3;
    order = make_order(&config, 6);
    append(order, D, ES_EVENT_SEND);
    receive(order, E, at(D, 1));
    receive(order, F, at(D, 1));
    append(order, C, ES_EVENT_SEND);
    receive(order, D, at(C, 1));
    append(order, D, ES_EVENT_SEND);
    receive(order, A, at(D, 3));
    append(order, A, ES_EVENT_SEND);
    receive(order, B, at(A, 2));
    append(order, B, ES_EVENT_SEND);
    receive(order, C, at(B, 2));
    append(order, B, ES_EVENT_UNARY);
    assert_int_equal(statistics_of(order).clusters[0], 6);
    assert_int_equal(statistics_of(order).clusters[1], 2);
    assert_int_equal(statistics_of(order).cluster_receives[1], 2);
    for (uint32_t index = 1; index <= 3; index++)
        assert_int_equal(es_order_precedes(order, at(C, 1), at(B, index)), 1);
    assert_int_equal(es_order_precedes(order, at(C, 2), at(B, 3)), 0);
    assert_int_equal(es_order_greatest_predecessor(order, at(B, 3), C), 1);
    es_order_destroy(order);
}

/* A trace that is added late has no entries in older vectors. */
static void a_late_trace_follows_older_events(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 2);
    struct es_order *order = make_order(&config, 3);

    (void)state;
    append(order, 0, ES_EVENT_SEND);
    receive(order, 2, at(0, 1));
    append(order, 2, ES_EVENT_SEND);
    assert_int_equal(es_order_add_trace(order), 0);
    receive(order, 3, at(2, 2));
    assert_int_equal(es_order_precedes(order, at(0, 1), at(3, 1)), 1);
    assert_int_equal(es_order_precedes(order, at(3, 1), at(2, 1)), 0);
    assert_int_equal(es_order_precedes(order, at(3, 1), at(0, 1)), 0);
    es_order_destroy(order);
}

/* --- Sizes ----------------------------------------------------------------------- */

static void elements_are_counted_as_in_the_papers(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 3);
    struct es_order *order;
    struct esi_order_statistics statistics;

    (void)state;
    config.fixed_vector = 300;
    order = make_order(&config, 5);   /* {0, 1, 2} and {3, 4} */
    append(order, 0, ES_EVENT_SEND);  /* 3 of 3 */
    append(order, 3, ES_EVENT_UNARY); /* 2 of 3 */
    receive(order, 3, at(0, 1));      /* 5 of 300 */
    receive(order, 1, at(0, 1));      /* 3 of 3 */
    statistics = statistics_of(order);
    assert_int_equal(statistics.events, 4);
    assert_int_equal(statistics.actual_elements, 3 + 2 + 5 + 3);
    assert_int_equal(statistics.fixed_elements, 3 + 3 + 300 + 3);
    assert_int_equal(statistics.communication_actual_elements, 3 + 5 + 3);
    assert_int_equal(statistics.communication_fixed_elements, 3 + 300 + 3);
    assert_int_equal(statistics.cluster_receives[0], 1);
    assert_int_equal(statistics.clusters[0], 2);
    assert_true(statistics.stored_bytes > 0);
    assert_true(statistics.writer_bytes > 0);
    es_order_destroy(order);
}

static void cluster_receives_are_counted_for_each_level(void **state)
{
    struct esi_order_config config = cluster_config("fixed", 1);
    struct es_order *order;
    struct esi_order_statistics statistics;

    (void)state;
    tuning.levels = 2;
    tuning.max_sizes[1] = 2;
    order = make_order(&config, 4);
    append(order, 0, ES_EVENT_SEND);
    receive(order, 1, at(0, 1)); /* within level 2 */
    receive(order, 2, at(0, 1)); /* beyond it */
    statistics = statistics_of(order);
    assert_int_equal(statistics.cluster_receives[0], 2);
    assert_int_equal(statistics.cluster_receives[1], 1);
    assert_int_equal(statistics.actual_elements, 1 + 2 + 4);
    assert_int_equal(statistics.fixed_elements, 1 + 2 + 4);
    es_order_destroy(order);
}

/* --- Configurations -------------------------------------------------------------- */

static void a_senseless_configuration_is_refused(void **state)
{
    static const struct {
        const char *strategy;
        unsigned levels;
        uint32_t sizes[2];
        double threshold;
        const char *text;
    } cases[] = {
        {"fixed", 0, {1, 1}, 0, "levels of clusters"},
        {"fixed", ES_ORDER_LEVELS + 1, {1, 1}, 0, "levels of clusters"},
        {"fixed", 1, {0, 1}, 0, "maximum size of 0"},
        {"fixed", 2, {3, 2}, 0, "are smaller (2)"},
        {"nearest", 1, {3, 3}, 0, "'nearest'"},
        {"static", 1, {3, 3}, 0, "communications"},
        {"merge-nth", 1, {3, 3}, -1, "threshold of -1"},
        {"migrate", 1, {3, 3}, -1, "threshold of -1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct esi_order_config config = cluster_config(cases[i].strategy, 1);
        struct es_error error = {.line = 0};
        struct es_order *order;

        tuning.levels = cases[i].levels;
        tuning.max_sizes[0] = cases[i].sizes[0];
        tuning.max_sizes[1] = cases[i].sizes[1];
        tuning.threshold = cases[i].threshold;
        assert_int_equal(esi_order_create(&config, &error, &order), -EINVAL);
        assert_non_null(strstr(error.text, cases[i].text));
    }
}

SUITE(test_cluster)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_tell_the_order_for_every_strategy),
        cmocka_unit_test(stamps_of_eight_levels_tell_the_order),
        cmocka_unit_test(every_size_is_exact),
        cmocka_unit_test(an_older_event_does_not_see_who_joined_its_cluster),
        cmocka_unit_test(a_cluster_receive_has_entries_by_trace),
        cmocka_unit_test(nothing_precedes_the_first_events),
        cmocka_unit_test(the_other_half_of_a_sync_precedes_what_follows),
        cmocka_unit_test(any_partner_outside_makes_a_cluster_receive),
        cmocka_unit_test(who_joined_later_is_found_beyond_a_receive),
        cmocka_unit_test(a_late_trace_follows_older_events),
        cmocka_unit_test(elements_are_counted_as_in_the_papers),
        cmocka_unit_test(cluster_receives_are_counted_for_each_level),
        cmocka_unit_test(a_senseless_configuration_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
