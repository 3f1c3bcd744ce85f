/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of which traces the strategies put into one cluster. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/order/cluster/cluster_levels.h"
#include "monitors/order/cluster/cluster_tuning.h"
#include "monitors/order/cluster/clustering_greedy.h"
#include "monitors/order/cluster/communications.h"
#include "monitors/order/order.h"
#include "tests/order/made_computation.h"
#include "tests/suites.h"

static struct esi_communications *make_counts(void)
{
    struct esi_communications *counts;

    assert_int_equal(esi_communications_create(&counts), 0);
    return counts;
}

static void add(struct esi_communications *counts,
                uint32_t trace,
                uint32_t other,
                uint64_t more)
{
    assert_int_equal(esi_communications_add(counts, trace, other, more), 0);
}

/* --- Counts ---------------------------------------------------------------------- */

static void a_sync_counts_two_and_a_message_one(void **state)
{
    struct esi_communications *counts = make_counts();
    struct es_set_sink sink = esi_communications_sink(counts);
    struct es_event_id sends[] = {{.trace = 1, .index = 1}, {.trace = 1, .index = 2}};
    struct es_event_id other = {.trace = 3, .index = 1};
    struct es_event_id half = {.trace = 2, .index = 1};
    struct es_set_event events[] = {
        {.id = {0, 1}, .kind = ES_EVENT_RECEIVE, .partner_count = 2, .partners = sends},
        {.id = half, .kind = ES_EVENT_SYNC, .partner_count = 1, .partners = &other},
        {.id = other, .kind = ES_EVENT_SYNC, .partner_count = 1, .partners = &half},
        {.id = {1, 3}, .kind = ES_EVENT_UNARY},
    };

    (void)state;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        assert_int_equal(sink.event(sink.data, &events[i]), 0);
    assert_int_equal(esi_communications_count(counts, 1, 0), 2);
    assert_int_equal(esi_communications_count(counts, 2, 3), 2);
    assert_int_equal(esi_communications_count(counts, 0, 3), 0);
    assert_int_equal(esi_communications_traces(counts), 4);
    esi_communications_destroy(counts);
}

static void merged_counts_are_sums(void **state)
{
    struct esi_communications *counts = make_counts();
    uint32_t at = 0;

    (void)state;
    add(counts, 0, 1, 5);
    add(counts, 0, 2, 3);
    add(counts, 1, 2, 4);
    add(counts, 1, 3, 1);
    assert_int_equal(esi_communications_merge(counts, 0, 1), 0);
    assert_int_equal(esi_communications_count(counts, 0, 2), 7);
    assert_int_equal(esi_communications_count(counts, 0, 3), 1);
    assert_int_equal(esi_communications_next(counts, 3, &at), 0);
    assert_int_equal(esi_communications_next(counts, 3, &at), UINT32_MAX);
    esi_communications_destroy(counts);
}

/* --- Greedy ---------------------------------------------------------------------- */

enum { MOST_TRACES = 24 };

struct cubic {
    uint64_t counts[MOST_TRACES][MOST_TRACES];
    uint32_t smallest[MOST_TRACES]; /* smallest trace of each trace's cluster */
    uint32_t traces;
};

static uint32_t size_of(const struct cubic *cubic, uint32_t cluster)
{
    uint32_t size = 0;

    for (uint32_t i = 0; i < cubic->traces; i++)
        size += cubic->smallest[i] == cluster;
    return size;
}

static uint64_t between(const struct cubic *cubic, uint32_t a, uint32_t b)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < cubic->traces; i++)
        for (uint32_t j = 0; j < cubic->traces; j++)
            if (cubic->smallest[i] == a && cubic->smallest[j] == b)
                sum += cubic->counts[i][j];
    return sum;
}

/* One iteration of the loop in figure 3; pairs are tried in the order that decides
 * ties. Returns false if no pair is left. */
static bool unite_best(struct cubic *cubic, uint32_t max_size)
{
    uint64_t best_count = 0;
    uint32_t best_size = 1, best_a = 0, best_b = 0;

    for (uint32_t a = 0; a < cubic->traces; a++)
        for (uint32_t b = a + 1; b < cubic->traces; b++) {
            uint32_t size = size_of(cubic, a) + size_of(cubic, b);
            uint64_t count;

            if (cubic->smallest[a] != a || cubic->smallest[b] != b || size > max_size)
                continue;
            count = between(cubic, a, b);
            if (count * best_size > best_count * size) {
                best_count = count;
                best_size = size;
                best_a = a;
                best_b = b;
            }
        }
    for (uint32_t i = 0; best_count > 0 && i < cubic->traces; i++)
        if (cubic->smallest[i] == best_b)
            cubic->smallest[i] = best_a;
    return best_count > 0;
}

static void greedy_gives_what_the_cubic_loops_give(void **state)
{
    uint64_t seed = random_seed();
    uint64_t draw;

    (void)state;
    draw = seed;
    for (unsigned round = 0; round < 300; round++) {
        struct cubic cubic = {.traces = 2 + random_below(&draw, MOST_TRACES - 2)};
        struct esi_communications *counts = make_counts();
        uint32_t sizes[3] = {1 + random_below(&draw, 5)};
        /* Few different counts make many ties. */
        uint32_t most = 1 + random_below(&draw, 6);
        uint32_t *smallest;

        sizes[1] = sizes[0] + random_below(&draw, 6);
        sizes[2] = sizes[1] + random_below(&draw, 9);
        for (uint32_t i = 0; i < cubic.traces * 3; i++) {
            uint32_t a = random_below(&draw, cubic.traces);
            uint32_t b = random_below(&draw, cubic.traces);
            uint32_t more = 1 + random_below(&draw, most);

            if (a == b)
                continue;
            add(counts, a, b, more);
            cubic.counts[a][b] += more;
            cubic.counts[b][a] += more;
        }
        for (uint32_t i = 0; i < cubic.traces; i++)
            cubic.smallest[i] = i;
        assert_int_equal(
            esi_clustering_greedy(counts, cubic.traces, 3, sizes, &smallest), 0);
        for (unsigned level = 0; level < 3; level++) {
            while (unite_best(&cubic, sizes[level]))
                ;
            for (uint32_t i = 0; i < cubic.traces; i++)
                assert_int_equal(smallest[level * cubic.traces + i], cubic.smallest[i]);
        }
        free(smallest);
        esi_communications_destroy(counts);
    }
}

static void of_equal_pairs_the_least_traces_are_united(void **state)
{
    struct esi_communications *counts = make_counts();
    uint32_t max_size = 2;
    uint32_t *smallest;

    (void)state;
    add(counts, 1, 2, 4);
    add(counts, 0, 3, 4);
    add(counts, 0, 2, 4);
    assert_int_equal(esi_clustering_greedy(counts, 4, 1, &max_size, &smallest), 0);
    /* (0, 2) is taken first; 1 and 3 have no partner left. */
    assert_int_equal(smallest[2], 0);
    assert_int_equal(smallest[1], 1);
    assert_int_equal(smallest[3], 3);
    free(smallest);
    esi_communications_destroy(counts);
}

/* --- Levels ---------------------------------------------------------------------- */

static void make_levels(struct esi_levels *levels,
                        unsigned count,
                        const uint32_t *max_sizes,
                        uint32_t traces)
{
    esi_levels_init(levels, count, max_sizes);
    for (uint32_t i = 0; i < traces; i++)
        assert_int_equal(esi_levels_add_trace(levels), 0);
}

static void places_stay_what_they_were(void **state)
{
    static const uint32_t max_size = 8;
    struct esi_levels levels;

    (void)state;
    make_levels(&levels, 1, &max_size, 6);
    esi_levels_join(&levels, 1, 1, 4); /* {1, 4} */
    esi_levels_join(&levels, 1, 0, 1); /* {0, 1, 4} */
    esi_levels_join(&levels, 1, 4, 5); /* {0, 1, 4, 5} */
    assert_int_equal(esi_levels_cluster(&levels, 1, 5), 0);
    assert_int_equal(esi_levels_locate(&levels, 1, 0, 4, 4), 2);
    assert_int_equal(esi_levels_locate(&levels, 1, 0, 2, 4), ESI_NOWHERE);
    assert_int_equal(esi_levels_locate(&levels, 1, 1, 2, 4), 1);
    assert_int_equal(esi_levels_locate(&levels, 1, 1, 2, 0), ESI_NOWHERE);
    assert_int_equal(esi_levels_locate(&levels, 1, 1, 2, 5), ESI_NOWHERE);
    assert_int_equal(esi_levels_locate(&levels, 1, 3, 1, 0), ESI_NOWHERE);
    assert_int_equal(esi_levels_members(&levels, 1, 1)[1], 4);
    esi_levels_fini(&levels);
}

static void a_move_closes_the_cluster_that_is_left(void **state)
{
    static const uint32_t max_sizes[] = {3, 4};
    struct esi_levels levels;
    uint32_t rest;

    (void)state;
    make_levels(&levels, 2, max_sizes, 6);
    esi_levels_merge(&levels, 1, 0, 1);
    esi_levels_merge(&levels, 1, 0, 2); /* {0, 1, 2} */
    esi_levels_merge(&levels, 1, 3, 4); /* {3, 4} */
    assert_true(esi_levels_can_move(&levels, 1, 3));
    assert_int_equal(esi_levels_move(&levels, 1, 3, 77), 0);
    rest = esi_levels_cluster(&levels, 1, 0);
    assert_int_not_equal(rest, 0);
    assert_int_equal(esi_levels_cluster(&levels, 1, 2), rest);
    assert_int_equal(esi_levels_cluster(&levels, 1, 1), 3);
    assert_int_equal(esi_levels_locate(&levels, 1, 0, 3, 1), 1);
    assert_int_equal(esi_levels_locate(&levels, 1, 0, 3, 2), 2);
    assert_int_equal(esi_levels_locate(&levels, 1, rest, 2, 2), 1);
    assert_int_equal(esi_levels_locate(&levels, 1, rest, 2, 1), ESI_NOWHERE);
    assert_int_equal(esi_levels_locate(&levels, 1, 3, 3, 1), 2);
    for (unsigned k = 1; k <= 2; k++) {
        assert_int_equal(esi_levels_clean(&levels, k, 0), 77);
        assert_int_equal(esi_levels_clean(&levels, k, 1), 77);
        assert_int_equal(esi_levels_clean(&levels, k, 3), 0);
    }
    assert_false(esi_levels_can_move(&levels, 0, 3));
    esi_levels_fini(&levels);
}

/* --- Strategies, by their cluster receives ---------------------------------------- */

struct strategy_case {
    const char *what;
    const char *strategy; /* NULL = the default */
    uint32_t max_sizes[2];
    double threshold;
    uint32_t traces;
    const char *hosts; /* one digit for each trace; NULL = none are known */
    struct {
        const char *messages; /* "0>1 0=1": from trace 0 to trace 1, then a sync */
        uint64_t clusters[2]; /* after them; 0 = no further step, or level */
        uint64_t receives;    /* of clusters on level 1 */
    } steps[4];
};

static const struct strategy_case strategy_cases[] = {
    {.what = "erratum 21: two traces merge if count / 2 > 1.5: at the fourth message",
     .strategy = "merge-nth",
     .max_sizes = {2},
     .threshold = 1.5,
     .traces = 2,
     .steps = {{"0>1 0>1 0>1", {2}, 3}, {"0>1", {1}, 3}}},
    {.what = "a sync is two communications",
     .strategy = "merge-nth",
     .max_sizes = {2},
     .threshold = 1.5,
     .traces = 2,
     .steps = {{"0=1", {2}, 2}, {"1=0", {1}, 2}}},
    {.what = "the count of {0, 1} and 2 is the sum of those of 0 and 1: 2 / 3 > 0.5",
     .strategy = "merge-nth",
     .max_sizes = {3},
     .threshold = 0.5,
     .traces = 3,
     .steps = {{"2>0 0>1 1>0", {2}, 2}, {"2>1", {1}, 2}}},
    {.what = "a merger that does not fit is not made",
     .strategy = "merge-first",
     .max_sizes = {3},
     .traces = 4,
     .steps = {{"0>1 2>3 1>2", {2}, 1}}},
    {.what = "erratum 9: what does not fit on a higher level is not merged on a lower",
     .strategy = "merge-first",
     .max_sizes = {2, 3},
     .traces = 5,
     .steps = {{"0>1 1>2", {4, 3}, 1}, /* 2 joins {0, 1} only on level 2 */
               {"2>3", {4, 3}, 2},     /* {2, 3} would fit only level 1 */
               {"3>4", {3, 2}, 2}}},
    {.what = "fixed blocks are nested: on level 2 two blocks of three",
     .strategy = "fixed",
     .max_sizes = {3, 7},
     .traces = 14,
     .steps = {{"", {5, 3}, 0}}},
    {.what = "seeds begin together as far as they fit: 01 34 5 26 7, and 0134 5 26 7",
     .max_sizes = {2, 4},
     .traces = 8,
     .hosts = "7797779",
     .steps = {{"", {5, 4}, 0}}},
    {.what = "clusters are made after the prefix of 20 events, that is ten messages",
     .strategy = "collect",
     .max_sizes = {2},
     .traces = 4,
     .steps = {{"0>2 3>1 0>2 3>1 0>2 3>1 0>2 3>1 0>2 3>1", {4}, 10},
               {"0>2 1>3", {2}, 10}}},
};

static struct es_order *make_order(const struct strategy_case *from)
{
    struct esi_cluster_tuning tuning = esi_cluster_defaults;
    const struct esi_order_config config = {.store = "cluster", .tuning = &tuning};
    struct es_order *order;
    uint32_t hosts[16];

    if (from->strategy)
        tuning.strategy = from->strategy;
    tuning.levels = from->max_sizes[1] ? 2 : 1;
    for (unsigned i = 0; i < tuning.levels; i++)
        tuning.max_sizes[i] = from->max_sizes[i];
    tuning.threshold = from->threshold;
    tuning.prefix = 20;
    for (; from->hosts && from->hosts[tuning.seed_count]; tuning.seed_count++)
        hosts[tuning.seed_count] = (uint32_t)from->hosts[tuning.seed_count];
    tuning.seeds = hosts;
    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    for (uint32_t i = 0; i < from->traces; i++)
        assert_int_equal(es_order_add_trace(order), 0);
    return order;
}

static void send_to(struct es_order *order, uint32_t from, uint32_t to)
{
    struct es_event_id send = {.trace = from};

    assert_int_equal(es_order_append(order, from, ES_EVENT_SEND, NULL, 0), 0);
    send.index = es_order_count(order, from);
    assert_int_equal(es_order_append(order, to, ES_EVENT_RECEIVE, &send, 1), 0);
}

static struct esi_order_statistics statistics_of(const struct es_order *order)
{
    struct esi_order_statistics statistics;

    esi_order_statistics(order, &statistics);
    return statistics;
}

static void strategies_merge_what_communicates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof strategy_cases / sizeof *strategy_cases; i++) {
        const struct strategy_case *from = &strategy_cases[i];
        struct es_order *order = make_order(from);

        print_message("# %s\n", from->what);
        for (unsigned step = 0; step < 4 && from->steps[step].clusters[0]; step++) {
            struct esi_order_statistics statistics;

            for (const char *at = from->steps[step].messages; *at; at += at[3] ? 4 : 3)
                if (at[1] == '=')
                    assert_int_equal(es_order_append_sync(order,
                                                          (uint32_t)(at[0] - '0'),
                                                          (uint32_t)(at[2] - '0')),
                                     0);
                else
                    send_to(order, (uint32_t)(at[0] - '0'), (uint32_t)(at[2] - '0'));
            statistics = statistics_of(order);
            for (unsigned k = 0; k < 2 && from->steps[step].clusters[k]; k++)
                assert_int_equal(statistics.clusters[k], from->steps[step].clusters[k]);
            assert_int_equal(statistics.cluster_receives[0],
                             from->steps[step].receives);
        }
        es_order_destroy(order);
    }
}

/* First the pairs (0, 1) and (2, 3) communicate, then (0, 2) and (1, 3). */
static struct es_order *change_partners(const char *strategy)
{
    struct es_order *order = make_order(&(struct strategy_case){
        .strategy = strategy, .max_sizes = {2}, .threshold = 1, .traces = 4});

    for (unsigned i = 0; i < 10; i++) {
        send_to(order, 0, 1);
        send_to(order, 2, 3);
    }
    for (unsigned i = 0; i < 200; i++) {
        send_to(order, i % 2 ? 0 : 2, i % 2 ? 2 : 0);
        send_to(order, i % 2 ? 1 : 3, i % 2 ? 3 : 1);
    }
    return order;
}

static void traces_migrate_where_they_belong(void **state)
{
    struct es_order *stay = change_partners("merge-nth");
    struct es_order *move = change_partners("migrate");

    (void)state;
    assert_true(statistics_of(stay).cluster_receives[0] >= 400);
    assert_true(statistics_of(move).cluster_receives[0] < 100);
    assert_int_equal(statistics_of(move).clusters[0], 2);
    es_order_destroy(stay);
    es_order_destroy(move);
}

SUITE(test_clustering)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sync_counts_two_and_a_message_one),
        cmocka_unit_test(merged_counts_are_sums),
        cmocka_unit_test(greedy_gives_what_the_cubic_loops_give),
        cmocka_unit_test(of_equal_pairs_the_least_traces_are_united),
        cmocka_unit_test(places_stay_what_they_were),
        cmocka_unit_test(a_move_closes_the_cluster_that_is_left),
        cmocka_unit_test(strategies_merge_what_communicates),
        cmocka_unit_test(traces_migrate_where_they_belong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
