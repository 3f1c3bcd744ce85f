/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Events of several hosts, read through their tuple servers, have one order and one
 * time scale; also if the scope itself converts times to global ones. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "monitors/events/events.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

#define SECOND_NS UINT64_C(1000000000)
enum { HOSTS = 3, TUPLES = 60 };

static const char *const hosts[HOSTS] = {"alpha", "beta", "gamma"};

struct fixture {
    struct made_run made;
    struct made_servers made_servers;
    struct es_servers *servers;
    struct es_run *run; /* has no segments mapped here */
    uint64_t written_ns;
    uint64_t stops[TUPLES]; /* in the order of delivery */
    int ranks[TUPLES];
    size_t count;
};

static uint64_t realtime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void register_host(struct fixture *fixture, const struct made_server *server)
{
    struct esi_host_entry entry = {.pid = 1, .ranks = 1, .state = ES_SERVER_UP};

    memcpy(entry.host, server->host, sizeof entry.host);
    memcpy(entry.address, server->address, sizeof entry.address);
    assert_int_equal(esi_host_registry_register(fixture->made_servers.items[0].registry,
                                                &entry, server),
                     0);
}

/* Writes tuples on the hosts in turn, each one second later than the one before. */
static void write_tuples(struct fixture *fixture)
{
    fixture->written_ns = realtime_ns();
    for (int i = 0; i < TUPLES; i++) {
        uint64_t stop = made_ticks(&fixture->made, (uint64_t)(TUPLES - i) * SECOND_NS);
        struct es_tuple tuple = made_tuple("MPI_Send", stop - 1, stop);

        esi_writer_write(&fixture->made.elements[i % HOSTS].writer, &tuple);
    }
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct made_server *home;
    struct es_error error = {.text = ""};
    char nothing[80];

    assert_non_null(fixture);
    made_run_begin(&fixture->made);
    made_servers_begin(&fixture->made_servers, fixture->made.name);
    for (int i = 0; i < HOSTS; i++) {
        struct es_segment *segment =
            made_run_add_rank_on(&fixture->made, hosts[i], i, HOSTS);

        made_run_add_element(&fixture->made, segment, i, 0, "p2p", 1u << ES_CLASS_SEND,
                             1000);
        made_server_add(&fixture->made_servers, hosts[i]);
    }
    home = &fixture->made_servers.items[0];
    esi_host_registry_set_address(home->registry, home->address, true);
    for (int i = 1; i < HOSTS; i++)
        register_host(fixture, &fixture->made_servers.items[i]);
    if (es_servers_open(fixture->made.name, home->address, &error, &fixture->servers) <
        0)
        fail_msg("%s", error.text);
    /* All segments lie in this host's memory; the consumer must not map them. */
    snprintf(nothing, sizeof nothing, "%.60s-none", fixture->made.name);
    assert_int_equal(es_run_open_empty(nothing, NULL, &fixture->run), 0);
    write_tuples(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    es_run_close(fixture->run);
    es_servers_close(fixture->servers);
    made_servers_end(&fixture->made_servers);
    made_run_end(&fixture->made);
    free(fixture);
    return 0;
}

static void note(struct fixture *fixture, uint64_t stop_ns, int rank)
{
    assert_true(fixture->count < TUPLES);
    fixture->stops[fixture->count] = stop_ns;
    fixture->ranks[fixture->count++] = rank;
}

/* All tuples are in order, each at the time at which it was written. */
static void expect_all(const struct fixture *fixture)
{
    assert_int_equal(fixture->count, TUPLES);
    for (size_t i = 0; i < TUPLES; i++) {
        uint64_t wanted = fixture->written_ns - (TUPLES - i) * SECOND_NS;
        int64_t off = (int64_t)(fixture->stops[i] - wanted);

        assert_int_equal(fixture->ranks[i], i % HOSTS);
        assert_true(off > -(int64_t)SECOND_NS / 2 && off < (int64_t)SECOND_NS / 2);
    }
}

static void a_scope_gives_one_time_for_all_hosts(void **state)
{
    struct fixture *fixture = *state;
    struct es_error error = {.text = ""};
    struct es_scope_config config;
    const struct es_batch *batch;
    struct es_scope *scope;

    es_scope_config_init(&config);
    config.servers = fixture->servers;
    config.sorting = ES_SORTING_STOP;
    config.global_time = true;
    if (es_scope_open(fixture->run, &config, &error, &scope) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(es_scope_origin_count(scope), HOSTS);
    for (int i = 0; i < 100 && fixture->count < TUPLES; i++) {
        assert_int_equal(es_scope_pull(scope, ES_PULL_DRAIN, &batch), 0);
        for (size_t j = 0; j < batch->count; j++) {
            const struct es_origin *origin =
                es_scope_origin(scope, batch->marks[j].origin);
            uint64_t stop = batch->tuples[j].stop;

            /* Converting a global time again does not change it. */
            assert_true(es_clock_realtime_ns(origin->clock, stop, NULL) == stop);
            note(fixture, stop, origin->rank);
        }
    }
    expect_all(fixture);
    es_scope_close(scope);
}

static int take_event(void *data, const struct esi_event *event)
{
    note(data, event->activity.stop_ns, event->origin->rank);
    return 0;
}

static int take_loss(void *data, const struct es_origin *origin, uint64_t lost)
{
    (void)data;
    fail_msg("%lu tuples of rank %d are lost", (unsigned long)lost, origin->rank);
    return 0;
}

static void events_come_in_one_order(void **state)
{
    struct fixture *fixture = *state;
    struct esi_events_config config = {.repair = ES_REPAIR_NONE};
    struct esi_event_sink sink = {
        .event = take_event, .loss = take_loss, .data = fixture};
    struct es_error error = {.text = ""};
    struct esi_events *events;

    es_scope_config_init(&config.scope);
    config.scope.sorting = ES_SORTING_STOP;
    config.scope.servers = fixture->servers;
    if (esi_events_create(fixture->run, &config, &error, &events) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_events_read_backlog(events, true, &sink), 0);
    expect_all(fixture);
    assert_false(esi_follower_is_over(esi_events_follower(events)));
    esi_events_destroy(events);
}

SUITE(test_events_hosts)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_gives_one_time_for_all_hosts),
        cmocka_unit_test(events_come_in_one_order),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
