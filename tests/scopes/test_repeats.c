/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tuple servers that hold tuples are lost: the tuples are read again, and none is
 * delivered twice, wherever the first copy is by then. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

/* Further back than the window of a server's sort; machines have
 * run longer than this. */
#define PAST_NS UINT64_C(10000000000)
/* Beyond the window of any sort. */
#define FUTURE_NS UINT64_C(3600000000000)
enum { MOST = 4000, HOSTS = 2 };

static const char *const hosts[HOSTS] = {"alpha", "beta"};

struct fixture {
    struct made_run run;
    struct made_servers servers;
    struct esi_writer *writers[HOSTS];
    uint64_t written[HOSTS];
    struct made_consumer consumer;
    int seen[HOSTS][MOST];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    made_run_begin(&fixture->run);
    made_servers_begin(&fixture->servers, fixture->run.name);
    for (int i = 0; i < HOSTS; i++) {
        struct es_segment *segment =
            made_run_add_rank_on(&fixture->run, hosts[i], i, HOSTS);

        fixture->writers[i] =
            made_run_add_element(&fixture->run, segment, i, 0, "p2p", 1, 8191);
        made_server_add(&fixture->servers, hosts[i]);
    }
    made_consumer_begin(&fixture->consumer, &fixture->servers);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_end(&fixture->consumer);
    made_servers_end(&fixture->servers);
    made_run_end(&fixture->run);
    free(fixture);
    return 0;
}

/* Writes a tuple that stopped so long ago; negative times are in the future. */
static void write_tuple(struct fixture *fixture, int host, int64_t ago_ns)
{
    uint64_t now = made_ticks(&fixture->run, 0);
    uint64_t before = made_ticks(&fixture->run, (uint64_t)llabs(ago_ns));
    uint64_t at = ago_ns < 0 ? now + (now - before) : before;
    struct es_tuple tuple = made_tuple("MPI_Send", at - 1, at);

    esi_writer_write(fixture->writers[host], &tuple);
    fixture->written[host]++;
}

static struct esi_stage_node *sort_node(const char *host,
                                        const char *window,
                                        struct esi_stage_node *child)
{
    struct esi_stage_node *node = esi_stage_node_create("sort", host);

    assert_non_null(node);
    assert_int_equal(esi_stage_node_set(node, "window", window), 0);
    assert_int_equal(esi_stage_node_add(node, child), 0);
    return node;
}

/* A sort on `host` over a gather of the elements of `of`. */
static struct esi_stage_node *part_node(const struct fixture *fixture,
                                        const char *host,
                                        const char *of)
{
    struct esi_stage_node *node = sort_node(
        host, "1ms", made_consumer_node(&fixture->consumer, "gather", of, of, "every"));

    node->limit_ns = UINT64_C(20000000000);
    return node;
}

static void take(struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    for (size_t i = 0; i < batch->count; i++) {
        const struct es_mark *mark = &batch->marks[i];
        int rank = fixture->consumer.origins.items[mark->origin].rank;

        assert_true(mark->position < fixture->written[rank]);
        fixture->seen[rank][mark->position]++;
    }
}

static void pull(struct fixture *fixture, size_t max, bool drain)
{
    assert_int_equal(made_consumer_pull(&fixture->consumer, max, false, drain), 0);
    take(fixture);
}

static void lose(struct fixture *fixture, int host)
{
    made_server_stop(&fixture->servers.items[host]);
    made_server_start(&fixture->servers, &fixture->servers.items[host]);
}

/* Pulls until everything has been delivered, for at most 20 s. */
static void finish(struct fixture *fixture)
{
    time_t end = time(NULL) + 20;
    size_t missing;

    do {
        pull(fixture, 1000, true);
        missing = 0;
        for (int i = 0; i < HOSTS; i++)
            for (uint64_t j = 0; j < fixture->written[i]; j++)
                missing += !fixture->seen[i][j];
    } while (missing && time(NULL) < end);
    pull(fixture, 1000, true);
}

static void expect_each_once(struct fixture *fixture)
{
    for (int i = 0; i < HOSTS; i++)
        for (uint64_t j = 0; j < fixture->written[i]; j++)
            if (fixture->seen[i][j] != 1)
                fail_msg("tuple %" PRIu64 " of %s came %d times", j, hosts[i],
                         fixture->seen[i][j]);
}

/* The server is lost when the first tuple has been delivered and
 * it holds the others. */
static void lose_with_some_kept(struct fixture *fixture, size_t expected)
{
    write_tuple(fixture, 0, PAST_NS);
    write_tuple(fixture, 0, -(int64_t)FUTURE_NS);
    write_tuple(fixture, 0, PAST_NS);
    pull(fixture, 100, false);
    assert_int_equal(fixture->consumer.batch.count, expected);
    assert_int_equal(fixture->consumer.places.items[0].delivered, expected);
    lose(fixture, 0);
    pull(fixture, 100, false);
    finish(fixture);
    expect_each_once(fixture);
}

static void what_was_given_before_the_loss_is_not_given_again(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, part_node(fixture, "alpha", "alpha"));
    lose_with_some_kept(fixture, 1);
}

/* A sort on this host holds the first tuple. */
static void what_lies_in_a_sort_here_is_not_given_twice(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer,
                       sort_node(NULL, "50min", part_node(fixture, "alpha", "alpha")));
    lose_with_some_kept(fixture, 0);
}

/* The tree is replaced while the server is lost, as by a scope. */
static void another_tree_goes_on_where_the_one_before_ended(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, part_node(fixture, "alpha", "alpha"));
    write_tuple(fixture, 0, PAST_NS);
    write_tuple(fixture, 0, -(int64_t)FUTURE_NS);
    write_tuple(fixture, 0, PAST_NS);
    pull(fixture, 100, false);
    assert_int_equal(fixture->consumer.batch.count, 1);
    lose(fixture, 0);
    made_consumer_open(&fixture->consumer, part_node(fixture, "alpha", "alpha"));
    finish(fixture);
    expect_each_once(fixture);
}

/* A gateway holds the tuples of the host below it. */
static void a_gateway_reads_again_what_the_host_behind_it_kept(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(
        &fixture->consumer,
        sort_node("beta", "50min", part_node(fixture, "alpha", "alpha")));
    lose_with_some_kept(fixture, 0);
}

/* --- Random tests --------------------------------------------------------------- */

static void open_all(struct fixture *fixture)
{
    struct esi_stage_node *root =
        sort_node(NULL, "20ms", part_node(fixture, "alpha", "alpha"));

    assert_int_equal(esi_stage_node_add(root, part_node(fixture, "alpha", "beta")), 0);
    made_consumer_open(&fixture->consumer, root);
}

/* Times vary by more than the windows of all sorts. */
static void write_some(struct fixture *fixture, uint64_t *random)
{
    for (uint64_t i = random_below(random, 12); i > 0; i--) {
        int host = random_int(random, HOSTS);

        if (fixture->written[host] < MOST)
            write_tuple(fixture, host,
                        (int64_t)random_below(random, 60000000) - 30000000);
    }
}

static void each_tuple_comes_once_whatever_is_lost(void **state)
{
    struct fixture *fixture = *state;
    uint64_t random = random_seed();

    open_all(fixture);
    for (int round = 0; round < 300; round++) {
        bool repeat = random_below(&random, 4) == 0;

        write_some(fixture, &random);
        if (random_below(&random, 8) == 0)
            lose(fixture, random_int(&random, HOSTS));
        assert_int_equal(made_consumer_pull(&fixture->consumer,
                                            1 + random_below(&random, 40), false,
                                            random_below(&random, 10) == 0),
                         0);
        /* A repetition includes new tuples; the batch before it is discarded. */
        if (repeat)
            assert_int_equal(made_consumer_pull(&fixture->consumer,
                                                1 + random_below(&random, 40), true,
                                                false),
                             0);
        take(fixture);
    }
    finish(fixture);
    expect_each_once(fixture);
}

SUITE(test_repeats)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_before_the_loss_is_not_given_again),
        cmocka_unit_test(what_lies_in_a_sort_here_is_not_given_twice),
        cmocka_unit_test(another_tree_goes_on_where_the_one_before_ended),
        cmocka_unit_test(a_gateway_reads_again_what_the_host_behind_it_kept),
        cmocka_unit_test(each_tuple_comes_once_whatever_is_lost),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
