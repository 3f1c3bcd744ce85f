/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of subtrees over TCP and TLS, and of remote stages that are pulled by threads
 * at the same time: each tuple is delivered once, also when servers are lost. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "scopes/remote/remote.h"
#include "tests/random.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

enum { HOSTS = 4, ELEMENTS = 8, ROUNDS = 150, MOST = 1 << 16 };

struct fixture {
    struct made_run run;
    struct esi_writer *writers[ELEMENTS];
    uint32_t written[ELEMENTS];
    struct made_servers servers;
    struct made_consumer consumer;
    unsigned char *seen[ELEMENTS]; /* by thread and position */
    uint64_t taken;
    uint64_t seed;
};

static const char *const hosts[HOSTS] = {"alpha", "beta", "gamma", "delta"};

static void begin(struct fixture *fixture, const char *scheme)
{
    *fixture = (struct fixture){.taken = 0};
    fixture->seed = random_seed();
    made_run_begin(&fixture->run);
    made_servers_begin(&fixture->servers, fixture->run.name);
    if (scheme)
        made_servers_use_network(&fixture->servers, scheme);
    made_servers_fill(&fixture->servers, &fixture->run, hosts, HOSTS, fixture->writers,
                      ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++) {
        fixture->seen[i] = calloc(MOST, 1);
        assert_non_null(fixture->seen[i]);
    }
    made_consumer_begin(&fixture->consumer, &fixture->servers);
}

static void end(struct fixture *fixture)
{
    made_consumer_end(&fixture->consumer);
    made_servers_end(&fixture->servers);
    made_run_end(&fixture->run);
    for (int i = 0; i < ELEMENTS; i++)
        free(fixture->seen[i]);
}

static void write_some(struct fixture *fixture, int count)
{
    for (int i = 0; i < count; i++) {
        unsigned writer = random_below(&fixture->seed, ELEMENTS);
        uint64_t now = made_ticks(&fixture->run, 0);
        struct es_tuple tuple = made_tuple("MPI_Send", now - 1, now);

        tuple.sequence = fixture->written[writer]++;
        esi_writer_write(fixture->writers[writer], &tuple);
    }
}

static void take(struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    for (size_t i = 0; i < batch->count; i++) {
        const struct es_mark *mark = &batch->marks[i];
        int thread = fixture->consumer.origins.items[mark->origin].thread;

        assert_int_equal(batch->tuples[i].sequence, mark->position);
        assert_true(mark->position < MOST);
        assert_int_equal(fixture->seen[thread][mark->position]++, 0);
        fixture->taken++;
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
    uint64_t written = 0;
    time_t begun = time(NULL);

    for (int i = 0; i < ELEMENTS; i++)
        written += fixture->written[i];
    while (fixture->taken < written && time(NULL) - begun < 60) {
        pull(fixture, 100000, false);
        take(fixture);
    }
    assert_int_equal(fixture->taken, written);
}

/* Adds subtrees of the hosts from `first` on to a stage. */
static void add_parts(struct fixture *fixture, struct esi_stage_node *node, int first)
{
    for (int host = first; host < HOSTS; host++)
        assert_int_equal(
            esi_stage_node_add(node,
                               made_consumer_node(&fixture->consumer, "gather",
                                                  hosts[host], hosts[host], "every")),
            0);
}

static struct esi_stage_node *one_level(struct fixture *fixture, const char *type)
{
    struct esi_stage_node *root =
        made_consumer_node(&fixture->consumer, type, NULL, "nobody", "every");

    add_parts(fixture, root, 0);
    return root;
}

/* The first host is the gateway of the others. */
static struct esi_stage_node *two_levels(struct fixture *fixture, const char *type)
{
    struct esi_stage_node *root =
        made_consumer_node(&fixture->consumer, type, hosts[0], hosts[0], "every");

    add_parts(fixture, root, 1);
    return root;
}

/* Writes and pulls; with `losses` servers are stopped and restarted. */
static void work(struct fixture *fixture, bool losses)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct made_server *server =
            &fixture->servers.items[random_below(&fixture->seed, HOSTS)];

        write_some(fixture, 30);
        if (losses && random_below(&fixture->seed, 10) == 0)
            made_server_stop(server);
        else if (!server->server && random_below(&fixture->seed, 2) == 0)
            made_server_start(&fixture->servers, server);
        pull(fixture, 1 + random_below(&fixture->seed, 200), false);
        if (random_below(&fixture->seed, 4) == 0)
            pull(fixture, 1 + random_below(&fixture->seed, 200), true);
        take(fixture);
    }
    for (int i = 0; i < HOSTS; i++)
        if (!fixture->servers.items[i].server)
            made_server_start(&fixture->servers, &fixture->servers.items[i]);
    take_all(fixture);
}

static void all_arrives_once_also_if_servers_are_lost(void **state)
{
    static const struct {
        const char *what;
        const char *scheme;
        struct esi_stage_node *(*make)(struct fixture *fixture, const char *type);
        const char *type;
    } cases[] = {
        {"parts over TCP", "tcp", one_level, "gather"},
        {"parts over TLS", "tls", one_level, "gather"},
        {"parts of parts over TCP", "tcp", two_levels, "gather"},
        {"parts of parts over TLS", "tls", two_levels, "gather"},
        {"threads pull parts at the same time", NULL, one_level, "threads"},
        {"threads pull parts over TLS", "tls", one_level, "threads"},
        {"threads in the server of the gateway", "tls", two_levels, "threads"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int losses = 0; losses < 2; losses++) {
            struct fixture fixture;

            print_message("# %s%s\n", cases[i].what, losses ? ", with losses" : "");
            begin(&fixture, cases[i].scheme);
            made_consumer_open(&fixture.consumer,
                               cases[i].make(&fixture, cases[i].type));
            work(&fixture, losses != 0);
            end(&fixture);
        }
}

static void a_consumer_with_another_key_is_refused(void **state)
{
    struct fixture fixture;
    struct es_error error = {.text = ""};
    struct esi_stage_node *node;
    struct es_stage *root;

    (void)state;
    begin(&fixture, "tls");
    fixture.servers.key.bytes[0] ^= 1;
    node = one_level(&fixture, "gather");
    assert_int_equal(
        esi_stage_node_open(node, "", &fixture.consumer.context, &error, &root),
        -EACCES);
    assert_true(error.text[0] != '\0');
    esi_stage_node_destroy(node);
    end(&fixture);
}

SUITE(test_remote_network)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_arrives_once_also_if_servers_are_lost),
        cmocka_unit_test(a_consumer_with_another_key_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
