/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The sockets of ranks are read from the run's map, in the local run directory or on
 * the home server, and become aggregators of the tree. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/host.h"
#include "eventspace/scope.h"
#include "pathmap/pathmap.h"
#include "scopes/remote/run_files.h"
#include "scopes/run_map.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"
#include "tuplespace/run_directory.h"

enum { RANKS = 4 };

struct fixture {
    struct made_run made;
    struct made_servers made_servers;
    char host[ES_HOST_NAME_BYTES];
    char path[ES_RUN_PATH_BYTES]; /* of the run's map */
    pid_t server;                 /* the home server, with a run directory */
    struct es_servers *servers;
    struct es_run *run;
};

/* Runs the server until it is killed. */
static void serve(struct fixture *fixture, int ready)
{
    struct made_server *server = &fixture->made_servers.items[0];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    made_server_start(&fixture->made_servers, server);
    esi_host_registry_set_address(server->registry, server->address, true);
    if (write(ready, "r", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void start_server(struct fixture *fixture)
{
    int ready[2];
    char byte;

    made_server_name(&fixture->made_servers, fixture->host);
    assert_int_equal(pipe(ready), 0);
    fixture->server = fork();
    assert_true(fixture->server >= 0);
    if (fixture->server == 0)
        serve(fixture, ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

/* Two sockets of two cores, with a rank on each core. */
static void save_map(const struct fixture *fixture)
{
    static const char format[] =
        "{\"version\": 1, \"application\": {\"ranks\": %d},"
        " \"cluster\": {\"hosts\": [{\"name\": \"%s\", \"cores\": 4, \"pus\": 4,"
        "  \"packages\": [{\"cores\": [{\"pus\": [0]}, {\"pus\": [1]}]},"
        "                {\"cores\": [{\"pus\": [2]}, {\"pus\": [3]}]}]}]},"
        " \"mapping\": {\"ranks\": [{\"ranks\": \"0-3\", \"host\": \"%s\","
        "  \"cores\": \"0-3\"}]}}";
    struct es_error error = {.text = ""};
    struct esi_pathmap *map;
    char text[1024];
    int length =
        snprintf(text, sizeof text, format, RANKS, fixture->host, fixture->host);

    if (esi_pathmap_parse(text, (size_t)length, "made", &error, &map) < 0 ||
        esi_pathmap_expand(map, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_pathmap_save(map, fixture->path, NULL), 0);
    esi_pathmap_destroy(map);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct es_error error = {.text = ""};

    assert_non_null(fixture);
    esi_host_name(fixture->host);
    made_run_begin(&fixture->made);
    for (int rank = 0; rank < RANKS; rank++)
        made_run_add_element(
            &fixture->made,
            made_run_add_rank_on(&fixture->made, fixture->host, rank, RANKS), rank, 0,
            "p2p", 1, 100);
    made_servers_begin(&fixture->made_servers, fixture->made.name);
    assert_int_equal(esi_run_directory_create(fixture->made.name, NULL, fixture->path),
                     0);
    assert_int_equal(
        esi_run_directory_path(fixture->made.name, "map.json", NULL, fixture->path), 0);
    start_server(fixture);
    if (es_servers_open(fixture->made.name, fixture->made_servers.items[0].address,
                        &error, &fixture->servers) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    es_run_close(fixture->run);
    es_servers_close(fixture->servers);
    assert_int_equal(kill(fixture->server, SIGKILL), 0);
    assert_int_equal(waitpid(fixture->server, NULL, 0), fixture->server);
    assert_int_equal(setenv("EVENTSPACE_DIR", fixture->made_servers.directory, 1), 0);
    assert_int_equal(esi_run_directory_remove(fixture->made.name, NULL), 0);
    made_servers_end(&fixture->made_servers);
    made_run_end(&fixture->made);
    free(fixture);
    return 0;
}

static void expect_sockets(struct fixture *fixture)
{
    struct esi_pathmap *map;
    int ranks[2] = {0};

    assert_int_equal(esi_run_map_load(es_servers_run(fixture->servers),
                                      fixture->servers, NULL, &map),
                     0);
    for (int rank = 0; rank < RANKS; rank++) {
        int socket = esi_run_map_socket(map, rank);

        assert_in_range(socket, 0, 1);
        ranks[socket]++;
    }
    assert_int_equal(ranks[0], 2);
    assert_int_equal(ranks[1], 2);
    assert_int_equal(esi_run_map_socket(map, RANKS), -1);
    assert_int_equal(esi_run_map_socket(map, -1), -1);
    esi_pathmap_destroy(map);
}

static void the_map_is_read_here(void **state)
{
    struct fixture *fixture = *state;

    save_map(fixture);
    assert_int_equal(kill(fixture->server, SIGSTOP), 0);
    expect_sockets(fixture);
}

static void or_from_the_home_server(void **state)
{
    struct fixture *fixture = *state;

    save_map(fixture);
    assert_int_equal(setenv("EVENTSPACE_DIR", "/nonexistent", 1), 0);
    expect_sockets(fixture);
}

static void without_a_map_none_is_known(void **state)
{
    struct fixture *fixture = *state;
    struct esi_pathmap *map;

    assert_true(esi_run_map_load(es_servers_run(fixture->servers), fixture->servers,
                                 NULL, &map) < 0);
}

static void count_sockets(const struct es_stage *stage, int depth, void *data)
{
    size_t *count = data;

    (void)depth;
    *count += strncmp(stage->label, "socket", strlen("socket")) == 0;
}

static size_t joints_of(struct fixture *fixture, const char *levels)
{
    struct es_error error = {.text = ""};
    struct es_scope_config config;
    struct es_scope *scope;
    const struct es_batch *batch;
    size_t count = 0;

    es_scope_config_init(&config);
    config.servers = fixture->servers;
    config.tree.shape = ES_SHAPE_LEVELS;
    assert_int_equal(es_scope_config_set(&config, "levels", levels, NULL), 0);
    if (es_scope_open(fixture->run, &config, &error, &scope) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(es_scope_pull(scope, 0, &batch), 0);
    assert_int_equal(es_scope_origin_count(scope), RANKS);
    es_scope_foreach_stage(scope, count_sockets, &count);
    es_scope_close(scope);
    return count;
}

static void sockets_get_joints_where_they_are_asked_for(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(joints_of(fixture, "host,socket"), 0);
    save_map(fixture);
    assert_int_equal(joints_of(fixture, "host,socket"), 2);
    assert_int_equal(joints_of(fixture, "host,thread"), 0);
}

SUITE(test_sockets)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_is_read_here),
        cmocka_unit_test(or_from_the_home_server),
        cmocka_unit_test(without_a_map_none_is_known),
        cmocka_unit_test(sockets_get_joints_where_they_are_asked_for),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
