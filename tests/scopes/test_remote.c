/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of remote stages and their subtrees: tuples written on the other host are
 * delivered exactly once, whatever happens to the connection. */
#include "config.h"

#include "scopes/remote/remote.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

enum { ELEMENTS = 6, HOSTS = 2, TUPLES = 4000 };

/* A run over two hosts, each with a tuple server, and its consumer. */
struct fixture {
    struct made_run run;
    struct esi_writer *writers[ELEMENTS];
    uint32_t written[ELEMENTS];
    struct made_servers servers;
    struct made_consumer consumer;
    unsigned char *seen[ELEMENTS]; /* by origin and position */
    uint64_t taken;
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
    for (int i = 0; i < ELEMENTS; i++) {
        fixture->seen[i] = calloc(1 << 20, 1);
        assert_non_null(fixture->seen[i]);
    }
    made_consumer_begin(&fixture->consumer, &fixture->servers);
    assert_int_equal(fixture->consumer.origins.count, ELEMENTS);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_end(&fixture->consumer);
    made_servers_end(&fixture->servers);
    made_run_end(&fixture->run);
    for (int i = 0; i < ELEMENTS; i++)
        free(fixture->seen[i]);
    free(fixture);
    return 0;
}

/* The index of the writer of an origin, which is its thread. */
static int writer_of(const struct fixture *fixture, uint32_t origin)
{
    return fixture->consumer.origins.items[origin].thread;
}

static void write_one(struct fixture *fixture, int writer)
{
    uint64_t now = made_ticks(&fixture->run, 0);
    struct es_tuple tuple = made_tuple("MPI_Send", now - 1, now);

    tuple.sequence = fixture->written[writer]++;
    tuple.tag = writer;
    tuple.bytes = tuple.sequence % 2;
    esi_writer_write(fixture->writers[writer], &tuple);
}

static void write_some(struct fixture *fixture, int count)
{
    for (int i = 0; i < count; i++)
        write_one(fixture, random_int(&fixture->seed, ELEMENTS));
}

/* Checks the last batch; each tuple may be delivered only once. */
static void take(struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    for (size_t i = 0; i < batch->count; i++) {
        const struct es_mark *mark = &batch->marks[i];
        int writer = writer_of(fixture, mark->origin);

        assert_int_equal(batch->tuples[i].tag, writer);
        assert_int_equal(batch->tuples[i].sequence, mark->position);
        assert_int_equal(fixture->seen[writer][mark->position], 0);
        fixture->taken++;
        fixture->seen[writer][mark->position] = 1;
    }
    for (size_t i = 0; i < batch->report_count; i++)
        assert_int_equal(batch->reports[i].lost, 0);
}

static uint64_t written(const struct fixture *fixture, int host)
{
    uint64_t sum = 0;

    for (int i = 0; i < ELEMENTS; i++)
        if (host < 0 || i % HOSTS == host)
            sum += fixture->written[i];
    return sum;
}

static void pull(struct fixture *fixture, size_t max, bool repeat)
{
    assert_int_equal(made_consumer_pull(&fixture->consumer, max, repeat, false), 0);
    assert_true(repeat || fixture->consumer.batch.count <= max);
}

/* Pulls until `count` tuples have been delivered. */
static void take_until(struct fixture *fixture, uint64_t count)
{
    time_t begun = time(NULL);

    while (fixture->taken < count) {
        assert_true(time(NULL) - begun < 60);
        assert_int_equal(made_consumer_pull(&fixture->consumer, 100000, false, true),
                         0);
        take(fixture);
    }
    assert_int_equal(fixture->taken, count);
}

static struct esi_stage_node *node_of(struct fixture *fixture,
                                      int host,
                                      const char *type)
{
    return made_consumer_node(&fixture->consumer, type, hosts[host], hosts[host],
                              "every");
}

/* A gather on this host over a subtree on each host. */
static struct esi_stage_node *both(struct fixture *fixture, const char *type)
{
    struct esi_stage_node *root =
        made_consumer_node(&fixture->consumer, "gather", NULL, "nobody", "every");

    for (int host = 0; host < HOSTS; host++)
        assert_int_equal(esi_stage_node_add(root, node_of(fixture, host, type)), 0);
    return root;
}

/* A gather on the first host, which pulls the subtree of the second one itself. */
static struct esi_stage_node *in_two_levels(struct fixture *fixture, const char *type)
{
    struct esi_stage_node *root = node_of(fixture, 0, type);

    assert_int_equal(esi_stage_node_add(root, node_of(fixture, 1, type)), 0);
    return root;
}

/* --- Delivery ----------------------------------------------------------------- */

static void a_part_gives_each_tuple_once(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, node_of(fixture, 0, "gather"));
    for (int i = 0; i < 200; i++) {
        write_some(fixture, 20);
        pull(fixture, 100000, false);
        take(fixture);
    }
    take_until(fixture, written(fixture, 0));
    assert_true(fixture->consumer.root->cost.bytes > fixture->taken);
}

static void a_limit_holds_and_the_rest_comes_later(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, both(fixture, "gather"));
    write_some(fixture, TUPLES);
    for (int i = 0; i < 100; i++) {
        pull(fixture, 1 + (size_t)i % 30, false);
        take(fixture);
    }
    take_until(fixture, written(fixture, -1));
}

static void what_was_not_used_is_given_again(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, both(fixture, "gather"));
    for (int i = 0; i < 400; i++) {
        write_some(fixture, 10);
        pull(fixture, 1 + random_below(&fixture->seed, 100), false);
        while (random_int(&fixture->seed, 2))
            pull(fixture, 1 + random_below(&fixture->seed, 100), true);
        take(fixture);
    }
    take_until(fixture, written(fixture, -1));
}

static void pulls_ahead_keep_the_order_and_the_limit(void **state)
{
    struct fixture *fixture = *state;
    struct esi_stage_node *node = node_of(fixture, 0, "gather");

    node->ahead = 3;
    made_consumer_open(&fixture->consumer, node);
    for (int i = 0; i < 400; i++) {
        write_some(fixture, 30);
        pull(fixture, 1 + random_below(&fixture->seed, 40), false);
        if (random_int(&fixture->seed, 4) == 0)
            pull(fixture, 1 + random_below(&fixture->seed, 40), true);
        take(fixture);
    }
    take_until(fixture, written(fixture, 0));
}

static void a_part_has_parts_of_its_own(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, in_two_levels(fixture, "gather"));
    for (int i = 0; i < 100; i++) {
        write_some(fixture, 20);
        pull(fixture, 100000, false);
        take(fixture);
    }
    take_until(fixture, written(fixture, -1));
}

static void expect_latest(struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    pull(fixture, 100, false);
    assert_int_equal(batch->count, ELEMENTS / HOSTS);
    for (size_t i = 0; i < batch->count; i++) {
        const struct es_mark *mark = &batch->marks[i];
        int writer = writer_of(fixture, mark->origin);

        assert_int_equal(mark->position + 1, fixture->written[writer]);
        assert_int_equal(batch->tuples[i].sequence, mark->position);
        assert_int_equal(batch->tuples[i].tag, writer);
        assert_int_equal(batch->tuples[i].bytes, mark->position % 2);
    }
}

/* The same tuples again, new ones, and those of a host that has sent none before. */
static void latest_tuples_are_read_over_there(void **state)
{
    struct fixture *fixture = *state;
    struct esi_stage_node *node =
        made_consumer_node(&fixture->consumer, "gather", hosts[0], hosts[0], "latest");

    made_consumer_open(&fixture->consumer, node);
    write_some(fixture, 500);
    for (int i = 0; i < 5; i++) {
        expect_latest(fixture);
        write_some(fixture, i % 2 * 20);
    }
    expect_latest(fixture);
    for (int writer = 0; writer < ELEMENTS; writer++)
        write_one(fixture, writer);
    made_server_stop(&fixture->servers.items[0]);
    made_server_start(&fixture->servers, &fixture->servers.items[0]);
    expect_latest(fixture);
}

static void reading_begins_behind_what_is_there(void **state)
{
    struct fixture *fixture = *state;
    uint64_t before;

    write_some(fixture, 1000);
    for (size_t i = 0; i < fixture->consumer.places.count; i++)
        fixture->consumer.places.items[i].read.position =
            fixture->consumer.places.items[i].delivered = ES_POSITION_END;
    before = written(fixture, -1);
    made_consumer_open(&fixture->consumer, in_two_levels(fixture, "gather"));
    write_some(fixture, 1000);
    take_until(fixture, written(fixture, -1) - before);
}

/* --- Faults -------------------------------------------------------------------- */

/* Stops and starts servers at random while tuples are written. */
static void survive_restarts(struct fixture *fixture, int server_count)
{
    for (int i = 0; i < 150; i++) {
        int choice = random_int(&fixture->seed, 6);
        struct made_server *server =
            &fixture->servers.items[random_int(&fixture->seed, server_count)];

        write_some(fixture, 20);
        if (choice == 0) {
            made_server_stop(server);
        } else if (choice <= 2 && !server->server) {
            made_server_start(&fixture->servers, server);
        }
        pull(fixture, 1 + random_below(&fixture->seed, 200), false);
        if (random_int(&fixture->seed, 3) == 0)
            pull(fixture, 1 + random_below(&fixture->seed, 200), true);
        take(fixture);
    }
    for (int i = 0; i < server_count; i++)
        if (!fixture->servers.items[i].server)
            made_server_start(&fixture->servers, &fixture->servers.items[i]);
}

static void a_restarted_server_loses_and_repeats_nothing(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, both(fixture, "gather"));
    survive_restarts(fixture, HOSTS);
    take_until(fixture, written(fixture, -1));
}

static void restarted_servers_in_two_levels_lose_nothing(void **state)
{
    struct fixture *fixture = *state;

    made_consumer_open(&fixture->consumer, in_two_levels(fixture, "gather"));
    survive_restarts(fixture, HOSTS);
    take_until(fixture, written(fixture, -1));
}

static void restarted_servers_with_pulls_ahead_lose_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct esi_stage_node *node = both(fixture, "gather");

    for (size_t i = 0; i < node->child_count; i++)
        node->children[i]->ahead = 2;
    made_consumer_open(&fixture->consumer, node);
    survive_restarts(fixture, HOSTS);
    take_until(fixture, written(fixture, -1));
}

static void a_sort_over_there_loses_nothing_by_a_restart(void **state)
{
    struct fixture *fixture = *state;
    struct esi_stage_node *node = both(fixture, "sort");

    made_consumer_open(&fixture->consumer, node);
    survive_restarts(fixture, HOSTS);
    take_until(fixture, written(fixture, -1));
}

/* The next tree reads those tuples again that the sort of the previous one held. */
static void what_a_sort_over_there_keeps_is_read_again(void **state)
{
    struct fixture *fixture = *state;
    struct made_consumer *consumer = &fixture->consumer;
    struct esi_stage_node *node = node_of(fixture, 0, "sort");

    assert_int_equal(esi_stage_node_set(node, "window", "60min"), 0);
    made_consumer_open(consumer, node);
    write_some(fixture, 300);
    pull(fixture, 100000, false);
    assert_int_equal(consumer->batch.count, 0);
    write_some(fixture, 300);
    made_consumer_open(consumer, node_of(fixture, 0, "gather"));
    take_until(fixture, written(fixture, 0));
}

static const struct es_notice *notice_of(const struct fixture *fixture)
{
    return fixture->consumer.batch.notice_count ? fixture->consumer.batch.notices
                                                : NULL;
}

static void a_lost_server_is_told_and_the_rest_delivered(void **state)
{
    struct fixture *fixture = *state;
    struct esi_remote_status status;

    made_consumer_open(&fixture->consumer, both(fixture, "gather"));
    write_some(fixture, 100);
    made_server_stop(&fixture->servers.items[0]);
    pull(fixture, 100000, false);
    take(fixture);
    assert_int_equal(fixture->taken, written(fixture, 1));
    assert_non_null(notice_of(fixture));
    assert_string_equal(notice_of(fixture)->part, "host alpha");
    assert_true(notice_of(fixture)->code < 0);
    esi_remote_status(fixture->consumer.root->children[0], &status);
    assert_true(status.silent);
    made_server_start(&fixture->servers, &fixture->servers.items[0]);
    take_until(fixture, written(fixture, -1));
    esi_remote_status(fixture->consumer.root->children[0], &status);
    assert_false(status.silent);
    assert_int_equal(status.reopened, 1);
}

static void a_wrong_tree_is_refused_with_words(void **state)
{
    struct fixture *fixture = *state;
    struct esi_stage_node *node = node_of(fixture, 0, "gahter");
    struct es_error error = {.text = ""};
    struct es_stage *root;

    assert_int_equal(
        esi_stage_node_open(node, "", &fixture->consumer.context, &error, &root),
        -ENOENT);
    assert_non_null(strstr(error.text, "gahter"));
    assert_non_null(strstr(error.text, "alpha"));
    esi_stage_node_destroy(node);
}

static void elements_that_are_not_there_give_nothing(void **state)
{
    struct fixture *fixture = *state;

    fixture->consumer.origins.items[0].name = "nobody";
    made_consumer_open(&fixture->consumer, both(fixture, "gather"));
    write_some(fixture, 100);
    take_until(fixture, written(fixture, -1) - fixture->written[writer_of(fixture, 0)]);
}

/* --- Costs --------------------------------------------------------------------- */

struct rows {
    char text[1000];
    uint64_t tuples;
};

static void add_row(void *data, const struct esi_stage_row *row)
{
    struct rows *rows = data;
    size_t length = strlen(rows->text);

    if (row->depth == 1)
        rows->tuples = row->tuples;
    snprintf(rows->text + length, sizeof rows->text - length, "%d %s %s|", row->depth,
             row->type, row->host ? row->host : "");
}

static void costs_are_told_by_all_servers_below(void **state)
{
    struct fixture *fixture = *state;
    struct rows rows = {.text = ""};

    made_consumer_open(&fixture->consumer, in_two_levels(fixture, "gather"));
    write_some(fixture, 100);
    pull(fixture, 100000, false);
    assert_int_equal(esi_remote_foreach_row(fixture->consumer.root, 1,
                                            UINT64_C(10000000000), add_row, &rows),
                     0);
    assert_string_equal(rows.text, "1 gather alpha|2 element |2 element |2 element |"
                                   "2 remote |3 gather beta|4 element |4 element |"
                                   "4 element |");
    assert_int_equal(rows.tuples, 100);
    take(fixture);
    take_until(fixture, written(fixture, -1));
}

static void ask_costs(struct fixture *fixture)
{
    struct rows rows = {.text = ""};

    assert_int_equal(esi_remote_foreach_row(fixture->consumer.root, 1,
                                            UINT64_C(10000000000), add_row, &rows),
                     0);
}

/* Pulls ahead and requests for costs alternate; a reply must not be
 * taken for the other. */
static void costs_are_told_while_pulls_are_under_way(void **state)
{
    struct fixture *fixture = *state;
    struct esi_stage_node *node = node_of(fixture, 0, "gather");

    node->ahead = 3;
    made_consumer_open(&fixture->consumer, node);
    for (int i = 0; i < 3; i++)
        ask_costs(fixture);
    for (int i = 0; i < 10; i++) {
        write_some(fixture, 20);
        pull(fixture, 100000, false);
        assert_int_equal(fixture->consumer.batch.notice_count, 0);
        take(fixture);
        ask_costs(fixture);
    }
    take_until(fixture, written(fixture, 0));
}

SUITE(test_remote)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_gives_each_tuple_once),
        cmocka_unit_test(a_limit_holds_and_the_rest_comes_later),
        cmocka_unit_test(what_was_not_used_is_given_again),
        cmocka_unit_test(pulls_ahead_keep_the_order_and_the_limit),
        cmocka_unit_test(a_part_has_parts_of_its_own),
        cmocka_unit_test(latest_tuples_are_read_over_there),
        cmocka_unit_test(reading_begins_behind_what_is_there),
        cmocka_unit_test(a_restarted_server_loses_and_repeats_nothing),
        cmocka_unit_test(restarted_servers_in_two_levels_lose_nothing),
        cmocka_unit_test(restarted_servers_with_pulls_ahead_lose_nothing),
        cmocka_unit_test(a_sort_over_there_loses_nothing_by_a_restart),
        cmocka_unit_test(what_a_sort_over_there_keeps_is_read_again),
        cmocka_unit_test(a_lost_server_is_told_and_the_rest_delivered),
        cmocka_unit_test(a_wrong_tree_is_refused_with_words),
        cmocka_unit_test(elements_that_are_not_there_give_nothing),
        cmocka_unit_test(costs_are_told_by_all_servers_below),
        cmocka_unit_test(costs_are_told_while_pulls_are_under_way),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
