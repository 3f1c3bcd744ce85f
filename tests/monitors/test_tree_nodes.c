/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Results of nodes arrive from tuple servers exactly once, also while the scope is
 * changed and while servers are lost. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/host.h"
#include "eventspace/operation.h"
#include "monitors/collectives/node_statistics.h"
#include "monitors/collectives/tree_nodes.h"
#include "tests/random.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"
#include "tests/wrappers/made_edges.h"
#include "tests/wrappers/source.h"

enum { RANKS = 3, THRESHOLD = 16000, PIECED_AFTER = 2000 };

static struct made_edges edges[RANKS];
static unsigned seen[RANKS][MADE_INSTANCES];
static uint64_t random_state = 42;

struct fixture {
    struct made_run made;
    struct made_servers made_servers;
    struct made_server *server;
    struct es_servers *servers;
    struct esi_tree_nodes *nodes;
    struct esi_node_statistics *statistics;
    struct esi_writer *writers[RANKS][MADE_KINDS];
    char host[ES_HOST_NAME_BYTES];
    _Atomic size_t written_count; /* tuples */
    _Atomic bool written;         /* all tuples */
    pthread_t writer;
    bool has_writer;
    unsigned pieced;
};

static void add_rank(struct fixture *fixture, int rank)
{
    static const char *const names[] = {"contribute", "arrival", "departure",
                                        "collective"};
    static const uint32_t classes[] = {1u << ES_CLASS_CONTRIBUTE,
                                       1u << ES_CLASS_ARRIVAL, 1u << ES_CLASS_DEPARTURE,
                                       1u << ES_CLASS_COLLECTIVE};
    struct es_segment *segment =
        made_run_add_rank_on(&fixture->made, fixture->host, rank, RANKS);

    for (uint64_t i = 1; i < MADE_COMMUNICATORS; i++) {
        struct esi_communicator_config config = {
            .key = {1, 2 + i}, .rank = rank, .parent = 0, .name = "other"};
        int32_t group[RANKS] = {0, 1, 2};
        uint16_t index;

        config.group = group;
        config.group_size = RANKS;
        assert_int_equal(esi_segment_add_communicator(segment, &config, &index), 0);
        assert_int_equal(index, i);
    }
    for (int i = 0; i < MADE_KINDS; i++)
        fixture->writers[rank][i] = made_run_add_element(
            &fixture->made, segment, rank, 0, names[i], classes[i], THRESHOLD);
}

static void add_ranks(struct fixture *fixture)
{
    for (int rank = 0; rank < RANKS; rank++) {
        add_rank(fixture, rank);
        made_edges_make(&edges[rank], MADE_INSTANCES,
                        1 + random_next(&random_state) % 8, &random_state);
    }
}

static int set_up_bare(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct es_error error = {.text = ""};

    assert_non_null(fixture);
    made_run_begin(&fixture->made);
    made_servers_begin(&fixture->made_servers, fixture->made.name);
    esi_host_name(fixture->host);
    fixture->server = made_server_add(&fixture->made_servers, fixture->host);
    esi_host_registry_set_address(fixture->server->registry, fixture->server->address,
                                  true);
    if (es_servers_open(fixture->made.name, fixture->server->address, &error,
                        &fixture->servers) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_node_statistics_create(&fixture->statistics), 0);
    memset(seen, 0, sizeof seen);
    *state = fixture;
    return 0;
}

/* Called by tear_down(), too, for a test that failed before. */
static void end_writer(struct fixture *fixture)
{
    if (fixture->has_writer)
        pthread_join(fixture->writer, NULL);
    fixture->has_writer = false;
}

static int set_up(void **state)
{
    set_up_bare(state);
    add_ranks(*state);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    end_writer(fixture);
    esi_tree_nodes_close(fixture->nodes);
    es_servers_close(fixture->servers);
    made_servers_end(&fixture->made_servers);
    made_run_end(&fixture->made);
    esi_node_statistics_destroy(fixture->statistics);
    free(fixture);
    return 0;
}

/* --- Writing ---------------------------------------------------------------------- */

static void write_one(struct fixture *fixture, int rank, size_t counts[MADE_KINDS])
{
    size_t at = 0;
    int element;
    struct es_tuple tuple;

    for (int i = 0; i < MADE_KINDS; i++)
        at += counts[i];
    element = edges[rank].order[at];
    tuple = edges[rank].tuples[element][counts[element]++];
    esi_writer_write(fixture->writers[rank][element], &tuple);
}

/* Writes the tuples of the ranks, a few at a time. */
static void *write_all(void *data)
{
    struct fixture *fixture = data;
    size_t counts[RANKS][MADE_KINDS] = {{0}};
    size_t left = 0, done[RANKS] = {0};
    uint64_t random = 7;

    for (int rank = 0; rank < RANKS; rank++)
        left += edges[rank].published;
    while (left > 0) {
        int rank = (int)(random_next(&random) % RANKS);

        if (done[rank] == edges[rank].published)
            continue;
        write_one(fixture, rank, counts[rank]);
        done[rank]++;
        fixture->written_count++;
        if (--left % 64 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    fixture->written = true;
    return NULL;
}

static void start_writer(struct fixture *fixture)
{
    assert_int_equal(pthread_create(&fixture->writer, NULL, write_all, fixture), 0);
    fixture->has_writer = true;
}

/* --- Expected results ------------------------------------------------------------- */

/* The expected half of a result. */
static const struct es_tuple *half(const struct made_instance *instance, uint16_t code)
{
    for (size_t i = 0; i < instance->result_count; i++)
        if (instance->results[i].operation == code)
            return &instance->results[i];
    return NULL;
}

static uint64_t span_ns(const struct fixture *fixture, uint64_t ticks)
{
    return es_clock_span_ns(&esi_segment_layout(fixture->made.segments[0])->clock,
                            ticks);
}

/* A better estimate of the clock's frequency gives a slightly different span. */
static void assert_span(const struct fixture *fixture, uint64_t span, uint64_t ticks)
{
    uint64_t expected = span_ns(fixture, ticks);
    uint64_t slack = 1 + expected / 1000;

    assert_in_range(span, expected > slack ? expected - slack : 0, expected + slack);
}

static void check(const struct fixture *fixture,
                  const struct made_instance *instance,
                  const struct esi_tree_node_result *result)
{
    const struct es_tuple *up = half(instance, ESI_NODE_UP);
    const struct es_tuple *down = half(instance, ESI_NODE_DOWN);

    if (result->has_up != (up != NULL))
        fail_msg("rank %d, communicator %d, instance %u, %s: up %d, down %d, pieced %d",
                 result->world_rank, instance->communicator, instance->sequence,
                 es_operation_name(result->operation), result->has_up, result->has_down,
                 result->pieced);
    assert_int_equal(result->rank, result->world_rank);
    if (up) {
        assert_int_equal(result->last_child, up->peer);
        assert_span(fixture, result->spread_ns, up->stop - up->start);
        assert_span(fixture, result->wait_ns, up->bytes);
    }
    assert_int_equal(result->has_down, down != NULL && down->peer >= 0);
    if (result->has_down && !result->pieced)
        assert_span(fixture, result->down_ns, down->stop - down->start);
    if (down && !result->pieced)
        assert_span(fixture, result->up_ns, down->bytes);
}

static void take(void *data, const struct esi_tree_node_result *result)
{
    struct fixture *fixture = data;
    const struct es_tuple wanted = {.communicator = (uint16_t)(result->key[1] - 2),
                                    .sequence = result->instance};
    struct made_instance *instance;

    assert_int_equal(result->key[0], 1);
    assert_true(result->world_rank >= 0 && result->world_rank < RANKS);
    instance = made_edges_find(&edges[result->world_rank], &wanted);
    assert_non_null(instance);
    check(fixture, instance, result);
    seen[result->world_rank][instance - edges[result->world_rank].instances]++;
    fixture->pieced += result->pieced;
    assert_int_equal(esi_node_statistics_add(fixture->statistics, result), 0);
}

static void each_came_once(const struct fixture *fixture)
{
    struct esi_tree_nodes_counts counts;
    uint64_t results = 0, rows = 0;

    esi_tree_nodes_counts(fixture->nodes, &counts);
    for (int rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < edges[rank].instance_count; i++) {
            bool wanted = edges[rank].instances[i].result_count > 0;

            if (seen[rank][i] != wanted)
                fail_msg("rank %d, communicator %d, instance %u: %u results", rank,
                         edges[rank].instances[i].communicator,
                         edges[rank].instances[i].sequence, seen[rank][i]);
            results += wanted;
        }
    for (size_t i = 0; i < esi_node_statistics_count(fixture->statistics); i++)
        rows += esi_node_statistics_at(fixture->statistics, i)->count;
    assert_int_equal(counts.results, results);
    assert_int_equal(rows, results);
    assert_int_equal(counts.incomplete, 0);
    assert_int_equal(counts.lost, 0);
    assert_int_equal(counts.pieced, fixture->pieced);
}

static void open_nodes(struct fixture *fixture, bool servers)
{
    struct esi_tree_nodes_config config;
    struct es_error error = {.text = ""};

    esi_tree_nodes_config_init(&config);
    config.run = fixture->made.name;
    config.servers = servers ? fixture->servers : NULL;
    config.on_result = take;
    config.data = fixture;
    config.interval_ns = 2000000;
    if (esi_tree_nodes_open(&config, &error, &fixture->nodes) != 0)
        fail_msg("%s", error.text);
}

/* --- Tests ------------------------------------------------------------------------ */

static void a_thread_gathers_what_servers_analyse(void **state)
{
    struct fixture *fixture = *state;

    open_nodes(fixture, true);
    assert_int_equal(esi_tree_nodes_start(fixture->nodes), 0);
    start_writer(fixture);
    end_writer(fixture);
    esi_tree_nodes_stop(fixture->nodes);
    each_came_once(fixture);
    assert_int_equal(fixture->pieced, 0);
}

static void without_servers_they_are_analysed_here(void **state)
{
    struct fixture *fixture = *state;

    open_nodes(fixture, false);
    write_all(fixture);
    assert_true(esi_tree_nodes_drain(fixture->nodes) > 0);
    each_came_once(fixture);
}

/* Draws the rank's only operation, on the first communicator, until it has a result in
 * one direction only. */
static void make_one_way(int rank, uint16_t code)
{
    const struct made_instance *only = &edges[rank].instances[0];

    do
        made_edges_make(&edges[rank], 1, 1, &random_state);
    while (only->communicator != 0 || only->result_count != 1 || !half(only, code));
}

/* An operation may end with a result upwards at one node and have only one downwards at
 * the next node, whose results follow in the same batch. */
static void results_of_two_nodes_stay_apart(void **state)
{
    struct fixture *fixture = *state;

    make_one_way(0, ESI_NODE_UP);
    make_one_way(1, ESI_NODE_DOWN);
    make_one_way(2, ESI_NODE_DOWN);
    open_nodes(fixture, false);
    write_all(fixture);
    assert_int_equal(esi_tree_nodes_drain(fixture->nodes), RANKS);
    each_came_once(fixture);
}

/* Without trees nothing is opened on the hosts of a run. */
static void nothing_is_opened_before_there_are_trees(void **state)
{
    struct fixture *fixture = *state;

    open_nodes(fixture, true);
    assert_null(esi_tree_nodes_scope(fixture->nodes));
    assert_int_equal(esi_tree_nodes_pull(fixture->nodes), 0);
    assert_int_equal(esi_tree_nodes_drain(fixture->nodes), 0);
    add_ranks(fixture);
    write_all(fixture);
    assert_true(esi_tree_nodes_drain(fixture->nodes) > 0);
    assert_non_null(esi_tree_nodes_scope(fixture->nodes));
    each_came_once(fixture);
}

static void change_to(struct fixture *fixture, const char *name, const char *value)
{
    struct es_scope *scope = esi_tree_nodes_scope(fixture->nodes);
    struct es_scope_config config = *es_scope_config(scope);
    struct es_error error = {.text = ""};

    assert_int_equal(es_scope_config_set(&config, name, value, NULL), 0);
    if (es_scope_reconfigure(scope, &config, &error) != 0)
        fail_msg("%s=%s: %s", name, value, error.text);
}

static void change(struct fixture *fixture)
{
    static const char *const changes[][2] = {
        {"node-threads", "0"},
        {"node-threads", "1"},
        {"node-threads", "8"},
        {"batch", "0"},
        {"batch", "40"},
        {"batch-wait", "3ms"},
        {"threads", "2"},
        {"threads", "0"},
        {"shape", "flat"},
        {"shape", "views"},
        {"ahead", "2"},
        {"ahead", "0"},
        {"max", "2"},
        {"max", "50"},
        {"max", "65536"},
        {"through-server", "no"},
        {"through-server", "yes"},
    };
    size_t index = random_next(&random_state) % (sizeof changes / sizeof *changes);

    change_to(fixture, changes[index][0], changes[index][1]);
}

/* A pull of at most one tuple splits a result of two halves, so that all pending
 * operations are delivered in pieces.  The next tree reads those again that have not
 * been delivered. */
static void pull_in_pieces(struct fixture *fixture)
{
    while (fixture->written_count < PIECED_AFTER)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    change_to(fixture, "max", "1");
    for (int i = 0; i < 100; i++)
        assert_true(esi_tree_nodes_pull(fixture->nodes) >= 0);
    change_to(fixture, "max", "65536");
}

static void results_are_complete_across_reconfigurations(void **state)
{
    struct fixture *fixture = *state;

    open_nodes(fixture, true);
    start_writer(fixture);
    pull_in_pieces(fixture);
    while (!fixture->written) {
        assert_true(esi_tree_nodes_pull(fixture->nodes) >= 0);
        if (random_next(&random_state) % 3 == 0)
            change(fixture);
    }
    end_writer(fixture);
    assert_true(esi_tree_nodes_drain(fixture->nodes) >= 0);
    each_came_once(fixture);
    assert_true(fixture->pieced > 0);
}

/* Pulls once.  Returns whether all servers have answered. */
static bool all_have_answered(const struct fixture *fixture)
{
    struct esi_tree_nodes_counts counts;
    int result = esi_tree_nodes_pull(fixture->nodes);

    esi_tree_nodes_counts(fixture->nodes, &counts);
    return result >= 0 && counts.silent == 0;
}

static void results_are_complete_though_servers_are_lost(void **state)
{
    struct fixture *fixture = *state;

    open_nodes(fixture, true);
    start_writer(fixture);
    while (!fixture->written) {
        (void)esi_tree_nodes_pull(fixture->nodes);
        if (random_next(&random_state) % 20 == 0) {
            made_server_stop(fixture->server);
            made_server_start(&fixture->made_servers, fixture->server);
        }
    }
    end_writer(fixture);
    /* Waits until the connection is restored. */
    for (int tries = 1; !all_have_answered(fixture); tries++) {
        assert_true(tries < 1000);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    assert_true(esi_tree_nodes_drain(fixture->nodes) >= 0);
    each_came_once(fixture);
}

SUITE(test_tree_nodes)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_thread_gathers_what_servers_analyse, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(without_servers_they_are_analysed_here, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(results_of_two_nodes_stay_apart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_opened_before_there_are_trees,
                                        set_up_bare, tear_down),
        cmocka_unit_test_setup_teardown(results_are_complete_across_reconfigurations,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_are_complete_though_servers_are_lost,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
