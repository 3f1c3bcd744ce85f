/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of summaries from other hosts: every operation is counted once, however replies
 * are divided, trees replaced and servers lost. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "eventspace/summary.h"
#include "scopes/remote/remote.h"
#include "tests/random.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

enum { ELEMENTS = 6, HOSTS = 2, ROUNDS = 400 };

struct fixture {
    struct made_run run;
    struct esi_writer *writers[ELEMENTS];
    struct made_servers servers;
    struct made_consumer consumer;
    uint64_t written;
    uint64_t bytes;
    uint64_t counted;
    uint64_t summed;
    uint64_t seed;
};

static const char *const hosts[HOSTS] = {"alpha", "beta"};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    fixture->seed = random_seed();
    made_run_begin(&fixture->run);
    made_servers_begin(&fixture->servers, fixture->run.name);
    made_servers_fill(&fixture->servers, &fixture->run, hosts, HOSTS, fixture->writers,
                      ELEMENTS);
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

/* Operations of many groups and buckets make replies with many summaries. */
static void write_some(struct fixture *fixture, int count)
{
    static const char *const names[] = {"MPI_Send", "MPI_Recv", "MPI_Bsend",
                                        "MPI_Ssend"};

    for (int i = 0; i < count; i++) {
        uint64_t now = made_ticks(&fixture->run, 0);
        struct es_tuple tuple =
            made_tuple(names[random_below(&fixture->seed, 4)], now - 1, now);

        tuple.bytes = 1u << random_below(&fixture->seed, 20);
        esi_writer_write(fixture->writers[random_below(&fixture->seed, ELEMENTS)],
                         &tuple);
        fixture->written++;
        fixture->bytes += tuple.bytes;
    }
}

static void take(struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    for (size_t i = 0; i < batch->count; i++) {
        struct es_summary summary;

        assert_int_equal(
            es_summary_decode(&batch->tuples[i], &batch->marks[i], &summary), 0);
        fixture->counted += summary.count;
        fixture->summed += summary.value;
    }
    for (size_t i = 0; i < batch->report_count; i++)
        assert_int_equal(batch->reports[i].lost, 0);
}

static void pull(struct fixture *fixture, size_t max, bool repeat)
{
    assert_int_equal(made_consumer_pull(&fixture->consumer, max, repeat, false), 0);
    assert_true(repeat || fixture->consumer.batch.count <= max);
}

static void take_all(struct fixture *fixture)
{
    time_t begun = time(NULL);

    while (fixture->counted < fixture->written && time(NULL) - begun < 60) {
        pull(fixture, 100000, false);
        take(fixture);
    }
    assert_int_equal(fixture->counted, fixture->written);
    assert_int_equal(fixture->summed, fixture->bytes);
}

static struct esi_stage_node *reduction(struct fixture *fixture,
                                        int host,
                                        unsigned ahead)
{
    struct esi_stage_node *node = made_consumer_node(&fixture->consumer, "reduce",
                                                     hosts[host], hosts[host], "every");

    assert_int_equal(esi_stage_node_set(node, "to", "histogram"), 0);
    assert_int_equal(esi_stage_node_set(node, "by", "operation"), 0);
    node->ahead = ahead;
    return node;
}

/* Each host summarises its own elements; a gather on this host combines both. */
static struct esi_stage_node *side_by_side(struct fixture *fixture, unsigned ahead)
{
    struct esi_stage_node *root =
        made_consumer_node(&fixture->consumer, "gather", NULL, "nobody", "every");

    for (int host = 0; host < HOSTS; host++)
        assert_int_equal(esi_stage_node_add(root, reduction(fixture, host, ahead)), 0);
    return root;
}

/* The first host passes on the summaries of the second one. If it is lost, the
 * summaries held in it are lost, too. */
static struct esi_stage_node *behind_another(struct fixture *fixture, unsigned ahead)
{
    struct esi_stage_node *root =
        made_consumer_node(&fixture->consumer, "gather", hosts[0], "nobody", "every");

    for (int host = 0; host < HOSTS; host++)
        assert_int_equal(esi_stage_node_add(root, reduction(fixture, host, ahead)), 0);
    root->ahead = ahead;
    return root;
}

/* --- Tests --------------------------------------------------------------------- */

typedef struct esi_stage_node *(*make_fn)(struct fixture *fixture, unsigned ahead);

/* Limits change between pulls, so that replies requested with a larger limit do not
 * fit. Batches are repeated, and trees are replaced after a batch was used. */
static void replace_trees(struct fixture *fixture, make_fn make, unsigned ahead)
{
    made_consumer_open(&fixture->consumer, make(fixture, ahead));
    for (int i = 0; i < ROUNDS; i++) {
        write_some(fixture, 20);
        pull(fixture, 1 + random_below(&fixture->seed, 60), false);
        while (random_below(&fixture->seed, 3) == 0)
            pull(fixture, 1 + random_below(&fixture->seed, 60), true);
        take(fixture);
        if (random_below(&fixture->seed, 6) == 0)
            made_consumer_open(&fixture->consumer, make(fixture, ahead));
    }
    take_all(fixture);
}

static void replaced_trees_count_all_once(void **state)
{
    replace_trees(*state, side_by_side, 0);
}

static void replaced_trees_with_pulls_ahead_count_all_once(void **state)
{
    replace_trees(*state, side_by_side, 3);
}

static void replaced_trees_in_two_levels_count_all_once(void **state)
{
    replace_trees(*state, behind_another, 2);
}

static void lose_servers(struct fixture *fixture, make_fn make, unsigned ahead)
{
    made_consumer_open(&fixture->consumer, make(fixture, ahead));
    for (int i = 0; i < ROUNDS / 2; i++) {
        struct made_server *server =
            &fixture->servers.items[random_below(&fixture->seed, HOSTS)];

        write_some(fixture, 20);
        if (random_below(&fixture->seed, 8) == 0)
            made_server_stop(server);
        else if (!server->server)
            made_server_start(&fixture->servers, server);
        pull(fixture, 1 + random_below(&fixture->seed, 60), false);
        if (random_below(&fixture->seed, 3) == 0)
            pull(fixture, 1 + random_below(&fixture->seed, 60), true);
        take(fixture);
    }
    for (int i = 0; i < HOSTS; i++)
        if (!fixture->servers.items[i].server)
            made_server_start(&fixture->servers, &fixture->servers.items[i]);
    take_all(fixture);
}

static void lost_servers_count_all_once(void **state)
{
    lose_servers(*state, side_by_side, 0);
}

static void lost_servers_with_pulls_ahead_count_all_once(void **state)
{
    lose_servers(*state, side_by_side, 3);
}

static void lost_servers_in_two_levels_count_all_once(void **state)
{
    lose_servers(*state, behind_another, 2);
}

/* If the limit stays too small, the subtree is opened again with a smaller one. */
static void a_smaller_limit_holds_nothing_up(void **state)
{
    struct fixture *fixture = *state;
    struct esi_remote_status status;

    made_consumer_open(&fixture->consumer, reduction(fixture, 0, 1));
    write_some(fixture, 3000);
    pull(fixture, 60, false);
    take(fixture);
    fixture->written = fixture->counted; /* the second host is not read */
    assert_true(fixture->written > 0);
    for (int i = 0; i < 2000 && fixture->consumer.batch.more; i++) {
        pull(fixture, 2, false);
        take(fixture);
    }
    assert_false(fixture->consumer.batch.more);
    esi_remote_status(fixture->consumer.root, &status);
    assert_true(status.reopened > 0);
}

SUITE(test_remote_summaries)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(replaced_trees_count_all_once),
        cmocka_unit_test(replaced_trees_with_pulls_ahead_count_all_once),
        cmocka_unit_test(replaced_trees_in_two_levels_count_all_once),
        cmocka_unit_test(lost_servers_count_all_once),
        cmocka_unit_test(lost_servers_with_pulls_ahead_count_all_once),
        cmocka_unit_test(lost_servers_in_two_levels_count_all_once),
        cmocka_unit_test(a_smaller_limit_holds_nothing_up),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
