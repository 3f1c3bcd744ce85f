/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reconfiguring a scope that reads through a tuple server neither loses nor repeats a
 * tuple.  Users do it by the scope's name. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/host.h"
#include "base/json_out.h"
#include "scopes/remote/servers.h"
#include "tests/await.h"
#include "tests/scopes/changes.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

#define SECOND_NS UINT64_C(1000000000)

struct fixture {
    struct made_run made;
    struct made_servers made_servers;
    struct es_servers *servers;
    struct es_run *run;
    struct es_scope *scope;
    char host[ES_HOST_NAME_BYTES];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct es_error error = {.text = ""};
    const struct made_server *server;

    assert_non_null(fixture);
    made_run_begin(&fixture->made);
    made_servers_begin(&fixture->made_servers, fixture->made.name);
    esi_host_name(fixture->host);
    server = made_server_add(&fixture->made_servers, fixture->host);
    esi_host_registry_set_address(server->registry, server->address, true);
    if (es_servers_open(fixture->made.name, server->address, &error,
                        &fixture->servers) != 0)
        fail_msg("%s", error.text);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    es_scope_close(fixture->scope);
    es_servers_close(fixture->servers);
    es_run_close(fixture->run);
    made_servers_end(&fixture->made_servers);
    made_run_end(&fixture->made);
    free(fixture);
    return 0;
}

static void add_writers(struct fixture *fixture,
                        struct changes *changes,
                        uint32_t threshold)
{
    struct es_segment *first =
        made_run_add_rank_on(&fixture->made, fixture->host, 0, 2);
    struct es_segment *second =
        made_run_add_rank_on(&fixture->made, fixture->host, 1, 2);

    changes->made = &fixture->made;
    for (int i = 0; i < 4; i++)
        changes_add_writer(changes, made_run_add_element(
                                        &fixture->made, i % 2 ? second : first, i % 2,
                                        i / 2, "p2p", 1u << ES_CLASS_SEND, threshold));
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
}

static void the_stream_through_a_server_is_complete_while_the_scope_is_changed(
    void **state)
{
    struct fixture *fixture = *state;
    struct changes changes = {
        .tuples = 30000, .least = 120, .block = true, .through_server = true};

    add_writers(fixture, &changes, 2000);
    changes_run(&changes, fixture->run, fixture->servers);
}

static void it_is_complete_while_reading_moves_between_consumer_and_server(void **state)
{
    struct fixture *fixture = *state;
    struct changes changes = {.tuples = 30000, .least = 120, .toggle = true};

    add_writers(fixture, &changes, 131071);
    changes_run(&changes, fixture->run, fixture->servers);
}

/* The process is found in this host's memory, so it can be read under any host name. */
static void a_process_that_calls_its_host_by_another_name_is_read(void **state)
{
    struct fixture *fixture = *state;

    made_run_add_element(&fixture->made,
                         made_run_add_rank_on(&fixture->made, "stranger", 0, 1), 0, 0,
                         "p2p", 1u << ES_CLASS_SEND, 100);
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    for (int i = 0; i < 2; i++) {
        uint64_t at = made_ticks(&fixture->made, 0);
        struct es_tuple tuple = made_tuple("MPI_Send", at - 1, at);
        struct es_error error = {.text = ""};
        struct es_scope_config config;
        const struct es_batch *batch;

        esi_writer_write(&fixture->made.elements[0].writer, &tuple);
        es_scope_config_init(&config);
        config.servers = fixture->servers;
        config.tree.through_server = i == 1;
        if (es_scope_open(fixture->run, &config, &error, &fixture->scope) < 0)
            fail_msg("%s", error.text);
        assert_int_equal(es_scope_pull(fixture->scope, 0, &batch), 0);
        assert_int_equal(batch->count, i + 1);
        es_scope_close(fixture->scope);
        fixture->scope = NULL;
    }
}

static void a_change_that_a_server_refuses_repeats_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct changes changes = {.tuples = 0};
    struct es_scope_config config;
    const struct es_batch *batch;
    size_t count;

    add_writers(fixture, &changes, 100);
    for (int i = 0; i < 10; i++) {
        uint64_t at = made_ticks(&fixture->made, 1000000);
        struct es_tuple tuple = made_tuple("MPI_Send", at - 1, at);

        esi_writer_write(&fixture->made.elements[0].writer, &tuple);
    }
    es_scope_config_init(&config);
    config.servers = fixture->servers;
    config.sorting = ES_SORTING_STOP;
    config.window_ns = 1000 * SECOND_NS;
    assert_int_equal(es_scope_open(fixture->run, &config, NULL, &fixture->scope), 0);
    assert_int_equal(es_scope_pull(fixture->scope, 0, &batch), 0);
    count = batch->count;
    made_server_stop(&fixture->made_servers.items[0]);
    snprintf(fixture->made_servers.run, sizeof fixture->made_servers.run, "another");
    made_server_start(&fixture->made_servers, &fixture->made_servers.items[0]);
    config = *es_scope_config(fixture->scope);
    config.tree.through_server = true;
    assert_true(es_scope_reconfigure(fixture->scope, &config, NULL) < 0);
    assert_int_equal(es_scope_pull(fixture->scope, ES_PULL_REPEAT, &batch), 0);
    assert_true(batch->count >= count);
    count = batch->count;
    assert_int_equal(es_scope_pull(fixture->scope, ES_PULL_DRAIN, &batch), 0);
    count += batch->count;
    assert_int_equal(count, 10);
}

static void write_at(struct fixture *fixture, int64_t ago_ns)
{
    uint64_t now = made_ticks(&fixture->made, 0);
    uint64_t before = made_ticks(&fixture->made, (uint64_t)llabs(ago_ns));
    uint64_t at = ago_ns < 0 ? now + (now - before) : before;
    struct es_tuple tuple = made_tuple("MPI_Send", at - 1, at);

    esi_writer_write(&fixture->made.elements[0].writer, &tuple);
}

/* Tuples that the server held are read here; those it had
 * delivered are not repeated. */
static void reading_here_instead_of_by_a_server_that_is_lost_repeats_nothing(
    void **state)
{
    struct fixture *fixture = *state;
    struct changes changes = {.tuples = 0};
    struct es_scope_config config;
    const struct es_batch *batch;
    uint64_t next = 1;

    add_writers(fixture, &changes, 100);
    write_at(fixture, SECOND_NS);
    write_at(fixture, -(int64_t)(3600 * SECOND_NS));
    write_at(fixture, SECOND_NS);
    es_scope_config_init(&config);
    config.servers = fixture->servers;
    config.sorting = ES_SORTING_STOP;
    config.window_ns = 1000000;
    config.tree.through_server = true;
    assert_int_equal(es_scope_open(fixture->run, &config, NULL, &fixture->scope), 0);
    assert_int_equal(es_scope_pull(fixture->scope, 0, &batch), 0);
    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->marks[0].position, 0);
    made_server_stop(&fixture->made_servers.items[0]);
    config = *es_scope_config(fixture->scope);
    config.tree.through_server = false;
    assert_int_equal(es_scope_reconfigure(fixture->scope, &config, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(es_scope_pull(fixture->scope, ES_PULL_DRAIN, &batch), 0);
        for (size_t j = 0; j < batch->count; j++)
            assert_int_equal(batch->marks[j].position, next++);
    }
    assert_int_equal(next, 3);
}

/* --- By name ----------------------------------------------------------------- */

struct consumer {
    struct es_scope *scope;
    atomic_bool stop;
    pthread_t thread;
};

static void *pull_on(void *data)
{
    struct consumer *consumer = data;
    struct timespec pause = {.tv_nsec = 1000000};
    const struct es_batch *batch;

    while (!atomic_load(&consumer->stop)) {
        if (es_scope_pull(consumer->scope, 0, &batch) < 0)
            break;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

struct command {
    const char *scope;
    const char *text;
};

static void write_command(struct esi_json_out *out, void *data)
{
    const struct command *command = data;

    esi_json_out_string(out, "name", command->scope);
    esi_json_out_raw(out, "command", command->text);
}

/* The value as text; caller frees. */
static char *text_of(const struct es_member *value)
{
    struct esi_json_text json;
    char *text = NULL;

    assert_int_equal(esi_json_text_begin(&json), 0);
    esi_member_write(value, &json.out, NULL);
    assert_int_equal(esi_json_text_finish(&json, &text, NULL), 0);
    return text;
}

/* The reply of the home server as text, or the text of its failure; caller frees. */
static char *command(struct fixture *fixture, const char *scope, const char *text)
{
    struct command members = {scope, text};
    const struct esi_rpc_request request = {"scope.command", write_command, &members};
    struct es_error error = {.text = ""};
    struct es_message *reply;
    char *answer;

    if (esi_servers_call(fixture->servers, NULL, &request, 20 * SECOND_NS, &error,
                         &reply) < 0)
        return strdup(error.text);
    answer = text_of(esi_member_find(esi_message_root(reply), "answer"));
    esi_message_destroy(reply);
    return answer;
}

static void a_live_scope_is_shown_and_changed_by_its_name(void **state)
{
    static const char set[] = "{\"do\": \"set\", \"settings\": {\"shape\": \"hosts\"}}";
    struct fixture *fixture = *state;
    struct changes changes = {.tuples = 1};
    struct consumer consumer = {.stop = false};
    struct es_scope_config config;
    char *shown;
    char *changed;
    char *refused;

    add_writers(fixture, &changes, 100);
    es_scope_config_init(&config);
    config.servers = fixture->servers;
    config.name = "mine";
    config.tree.through_server = true;
    assert_int_equal(es_scope_open(fixture->run, &config, NULL, &fixture->scope), 0);
    consumer.scope = fixture->scope;
    assert_int_equal(pthread_create(&consumer.thread, NULL, pull_on, &consumer), 0);
    shown = command(fixture, "mine", "{\"do\": \"show\"}");
    changed = command(fixture, "mine", set);
    refused = command(fixture, "other", "{}");
    /* Checks come after the end of the thread, since a failure frees what it uses. */
    atomic_store(&consumer.stop, true);
    pthread_join(consumer.thread, NULL);
    if (!strstr(shown, "\"type\":\"remote\"") ||
        !strstr(shown, "\"type\":\"element\"") || !strstr(shown, "\"shape\":\"views\""))
        fail_msg("%s", shown);
    if (!strstr(changed, "\"shape\":\"hosts\""))
        fail_msg("%s", changed);
    if (!strstr(refused, "there is no scope 'other'"))
        fail_msg("%s", refused);
    assert_int_equal(es_scope_config(fixture->scope)->tree.shape, ES_SHAPE_HOSTS);
    free(shown);
    free(changed);
    free(refused);
}

static size_t count_scopes(struct fixture *fixture)
{
    const struct esi_rpc_request request = {.name = "scopes"};
    struct es_message *reply;
    size_t count;

    assert_int_equal(esi_servers_call(fixture->servers, NULL, &request, 20 * SECOND_NS,
                                      NULL, &reply),
                     0);
    count = esi_member_count(esi_member_find(esi_message_root(reply), "scopes"));
    esi_message_destroy(reply);
    return count;
}

static void a_scope_whose_consumer_is_gone_is_forgotten(void **state)
{
    struct fixture *fixture = *state;
    struct changes changes = {.tuples = 1};
    struct es_scope_config config;

    add_writers(fixture, &changes, 100);
    es_scope_config_init(&config);
    config.servers = fixture->servers;
    config.name = "mine";
    assert_int_equal(es_scope_open(fixture->run, &config, NULL, &fixture->scope), 0);
    es_scope_close(fixture->scope);
    fixture->scope = NULL;
    AWAIT(count_scopes(fixture) == 0);
}

SUITE(test_reconfigure_server)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_stream_through_a_server_is_complete_while_the_scope_is_changed),
        cmocka_unit_test(
            it_is_complete_while_reading_moves_between_consumer_and_server),
        cmocka_unit_test(
            reading_here_instead_of_by_a_server_that_is_lost_repeats_nothing),
        cmocka_unit_test(a_process_that_calls_its_host_by_another_name_is_read),
        cmocka_unit_test(a_change_that_a_server_refuses_repeats_nothing),
        cmocka_unit_test(a_live_scope_is_shown_and_changed_by_its_name),
        cmocka_unit_test(a_scope_whose_consumer_is_gone_is_forgotten),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
