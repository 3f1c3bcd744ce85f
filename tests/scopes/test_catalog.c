/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the catalog: processes, elements and communicators reported by
 * servers of other hosts. */
#include "config.h"

#include "scopes/remote/catalog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/now.h"
#include "eventspace/scope.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/servers.h"
#include "tests/await.h"
#include "tests/scopes/made_server.h"
#include "tests/suites.h"

#define LIMIT_NS UINT64_C(10000000000)

/* Two hosts with a rank each; the server of the first one is the home server. */
struct fixture {
    struct made_run run;
    struct es_segment *segments[2];
    struct made_servers made;
    struct es_servers *servers;
    struct esi_catalog *catalog;
};

static void register_host(struct made_servers *made, const struct made_server *server)
{
    struct esi_host_entry entry = {.pid = 1, .ranks = 1, .state = ES_SERVER_UP};

    memcpy(entry.host, server->host, sizeof entry.host);
    snprintf(entry.cluster, sizeof entry.cluster, "blue");
    snprintf(entry.gateway, sizeof entry.gateway, "alpha");
    memcpy(entry.address, server->address, sizeof entry.address);
    assert_int_equal(
        esi_host_registry_register(made->items[0].registry, &entry, server), 0);
}

/* Registers itself and the other host at the home server. */
static void tell_hosts(struct made_servers *made)
{
    esi_host_registry_set_address(made->items[0].registry, made->items[0].address,
                                  true);
    register_host(made, &made->items[1]);
}

static int set_up(void **state)
{
    static const char *const hosts[] = {"alpha", "beta"};
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct es_error error = {.text = ""};

    assert_non_null(fixture);
    made_run_begin(&fixture->run);
    made_servers_begin(&fixture->made, fixture->run.name);
    for (int i = 0; i < 2; i++) {
        fixture->segments[i] = made_run_add_rank_on(&fixture->run, hosts[i], i, 2);
        made_run_add_element(&fixture->run, fixture->segments[i], i, 0, "p2p", 3, 100);
        made_server_add(&fixture->made, hosts[i]);
    }
    tell_hosts(&fixture->made);
    if (es_servers_open(fixture->run.name, fixture->made.items[0].address, &error,
                        &fixture->servers) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(esi_catalog_create(fixture->servers, &fixture->catalog), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_catalog_destroy(fixture->catalog);
    es_servers_close(fixture->servers);
    made_servers_end(&fixture->made);
    made_run_end(&fixture->run);
    free(fixture);
    return 0;
}

static int refresh(struct fixture *fixture)
{
    return esi_catalog_refresh(fixture->catalog, LIMIT_NS);
}

/* Refreshes until there is something new; a silent host is asked
 * again after a while. */
static int refresh_until_new(struct fixture *fixture)
{
    int result;

    AWAIT((result = refresh(fixture)) != 0);
    return result;
}

static const struct esi_catalog_element *find(const struct fixture *fixture,
                                              const char *host,
                                              const char *name)
{
    for (size_t i = 0; i < esi_catalog_element_count(fixture->catalog); i++) {
        const struct esi_catalog_element *element =
            esi_catalog_element_at(fixture->catalog, i);

        if (strcmp(element->info.host, host) == 0 &&
            strcmp(element->info.name, name) == 0)
            return element;
    }
    return NULL;
}

static void hosts_are_told_by_the_home_server(void **state)
{
    struct fixture *fixture = *state;
    struct es_server_info info;
    char address[ES_ADDRESS_BYTES];

    assert_int_equal(es_servers_refresh(fixture->servers), 2);
    assert_int_equal(es_servers_at(fixture->servers, 0, &info), 0);
    assert_string_equal(info.host, "alpha");
    assert_true(info.home);
    assert_int_equal(es_servers_at(fixture->servers, 1, &info), 0);
    assert_string_equal(info.host, "beta");
    assert_string_equal(info.cluster, "blue");
    assert_string_equal(info.gateway, "alpha");
    assert_int_equal(info.state, ES_SERVER_UP);
    assert_false(info.here);
    assert_int_equal(es_servers_at(fixture->servers, 2, &info), -ENOENT);
    assert_int_equal(
        esi_servers_address(fixture->servers, "beta", address, sizeof address), 0);
    assert_string_equal(address, fixture->made.items[1].address);
    assert_int_equal(esi_servers_address(fixture->servers, "beta", address, 3),
                     -ENOSPC);
    assert_int_equal(
        esi_servers_address(fixture->servers, "gamma", address, sizeof address),
        -ENOENT);
}

/* This process stands for both hosts; the estimates are set as if
 * their clocks differed. */
static void clocks_are_told_by_the_home_server(void **state)
{
    struct fixture *fixture = *state;
    struct esi_clock_registry *registry = fixture->made.items[0].service.clocks;
    struct esi_clock_estimate home,
        beta = {.run_base_ns = 1000000000,
                .drift = {.ppb = 2500},
                .count = 1,
                .knots = {{.local_ns = 500, .offset_ns = 77, .error_ns = 9}}};
    const struct es_host_clock *clock = esi_servers_clock(fixture->servers, "beta");
    struct es_server_info info;
    uint64_t run_ns, error_ns;

    /* A server that does not know its own clock reports no estimates. */
    assert_int_equal(es_servers_refresh(fixture->servers), 2);
    assert_false(esi_host_clock_run_ns(clock, 500, &run_ns, &error_ns));
    esi_clock_estimate_be_home(&home, 1000000000);
    assert_int_equal(esi_clock_registry_set(registry, "alpha", &home), 0);
    assert_int_equal(esi_clock_registry_set(registry, "beta", &beta), 0);
    assert_int_equal(es_servers_refresh(fixture->servers), 2);
    assert_true(esi_host_clock_run_ns(clock, 500, &run_ns, &error_ns));
    assert_int_equal(run_ns, 1000000577);
    assert_in_range(error_ns, 9, 10);
    assert_int_equal(es_servers_at(fixture->servers, 0, &info), 0);
    assert_true(info.clock_known);
    assert_int_equal(info.clock_error_ns, 0);
    assert_int_equal(es_servers_at(fixture->servers, 1, &info), 0);
    assert_true(info.clock_known);
    assert_int_equal(info.clock_offset_ns, 77);
    assert_true(info.clock_drift_ppb == 2500);
    /* Only new knots are reported. */
    beta.knots[beta.count++] = (struct esi_clock_knot){
        .local_ns = 1500, .offset_ns = 177, .error_ns = 9, .bow_ns = 1};
    assert_int_equal(esi_clock_registry_set(registry, "beta", &beta), 0);
    assert_int_equal(es_servers_refresh(fixture->servers), 2);
    assert_true(esi_host_clock_run_ns(clock, 1000, &run_ns, NULL));
    assert_int_equal(run_ns, 1000001127);
    /* These replies were also time exchanges: this clock is that of the home server. */
    uint64_t before_ns = esi_now_ns(CLOCK_MONOTONIC) + 1000000000;
    uint64_t now_ns = es_servers_run_now_ns(fixture->servers);
    uint64_t after_ns = esi_now_ns(CLOCK_MONOTONIC) + 1000000000;
    assert_in_range(now_ns, before_ns - 2000000000, after_ns + 2000000000);
}

static void elements_are_found_once(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_catalog_element *element;

    assert_int_equal(refresh(fixture), 2);
    assert_int_equal(esi_catalog_silent_count(fixture->catalog), 0);
    element = find(fixture, "beta", "1.0/p2p");
    assert_non_null(element);
    assert_string_equal(element->info.collector, "p2p");
    assert_int_equal(element->info.rank, 1);
    assert_int_equal(element->info.classes, 3);
    assert_int_equal(element->info.tuple_bytes, 36);
    assert_int_equal(element->process->info.rank, 1);
    assert_int_equal(element->process->info.size, 2);
    assert_string_equal(element->process->info.program, "made");
    assert_string_equal(element->process->info.job, "4711");
    assert_string_equal(element->process->info.launcher, "made by hand");
    assert_true(element->process->info.alive);
    assert_int_equal(element->process->clock.kind, fixture->run.clock);
    assert_int_equal(refresh(fixture), 0);
    made_run_add_element(&fixture->run, fixture->segments[1], 1, 1, "coll", 8, 100);
    assert_int_equal(refresh(fixture), 1);
    assert_int_equal(esi_catalog_element_count(fixture->catalog), 3);
    assert_ptr_equal(find(fixture, "beta", "1.1/coll")->process, element->process);
    assert_ptr_equal(find(fixture, "beta", "1.0/p2p"), element);
    assert_ptr_not_equal(find(fixture, "alpha", "0.0/p2p")->process, element->process);
}

static void a_host_that_is_silent_is_told_and_others_are_served(void **state)
{
    struct fixture *fixture = *state;

    made_server_stop(&fixture->made.items[1]);
    assert_int_equal(refresh(fixture), 1);
    assert_int_equal(esi_catalog_silent_count(fixture->catalog), 1);
    assert_string_equal(esi_catalog_silent(fixture->catalog, 0)->part, "host beta");
    assert_true(esi_catalog_silent(fixture->catalog, 0)->code < 0);
    assert_null(esi_catalog_silent(fixture->catalog, 1));
    made_server_start(&fixture->made, &fixture->made.items[1]);
    assert_int_equal(refresh_until_new(fixture), 1);
    assert_int_equal(esi_catalog_silent_count(fixture->catalog), 0);
}

/* A socket that accepts connections and never answers. */
static int listen_silently(const struct made_server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(descriptor >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             server->address + strlen("unix:"));
    unlink(address.sun_path);
    assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(descriptor, 8), 0);
    return descriptor;
}

/* The first refresh waits for its limit; of many later ones only a few do. */
static void a_host_that_does_not_answer_holds_nobody_up_for_long(void **state)
{
    enum { LIMIT_MS = 400, TIMES = 50 };
    struct fixture *fixture = *state;
    int descriptor, slow = 0;

    made_server_stop(&fixture->made.items[1]);
    descriptor = listen_silently(&fixture->made.items[1]);
    assert_int_equal(esi_catalog_refresh(fixture->catalog, LIMIT_MS * 1000000ull), 1);
    assert_int_equal(esi_catalog_silent_count(fixture->catalog), 1);
    for (int i = 0; i < TIMES; i++) {
        uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);

        assert_int_equal(esi_catalog_refresh(fixture->catalog, LIMIT_MS * 1000000ull),
                         0);
        assert_int_equal(esi_catalog_silent_count(fixture->catalog), 1);
        assert_true(esi_catalog_silent(fixture->catalog, 0)->silent_ns > 0);
        slow += esi_now_ns(CLOCK_MONOTONIC) - begun_ns >= LIMIT_MS * 1000000ull;
    }
    assert_true(slow < TIMES / 5);
    close(descriptor);
}

static bool is_over(struct fixture *fixture)
{
    assert_true(refresh(fixture) >= 0);
    return esi_catalog_is_over(fixture->catalog);
}

/* Five seconds are longer than it takes to declare a run over. */
static void stays_up(struct fixture *fixture)
{
    const struct timespec pause = {.tv_nsec = 100000000};

    for (int i = 0; i < 50; i++) {
        assert_false(is_over(fixture));
        nanosleep(&pause, NULL);
    }
}

static bool is_alive(const struct fixture *fixture, const char *host, const char *name)
{
    return find(fixture, host, name)->process->info.alive;
}

static void a_run_whose_servers_are_gone_is_over(void **state)
{
    struct fixture *fixture = *state;
    struct made_server *home = &fixture->made.items[0];
    struct made_server *other = &fixture->made.items[1];

    assert_int_equal(refresh(fixture), 2);
    /* The other host still answers. */
    made_server_stop(home);
    stays_up(fixture);
    assert_false(is_alive(fixture, "alpha", "0.0/p2p"));
    assert_true(is_alive(fixture, "beta", "1.0/p2p"));
    /* The other server alone could be restarted. */
    made_server_start(&fixture->made, home);
    tell_hosts(&fixture->made);
    made_server_stop(other);
    stays_up(fixture);
    assert_true(is_alive(fixture, "alpha", "0.0/p2p"));
    assert_true(is_alive(fixture, "beta", "1.0/p2p"));
    made_server_stop(home);
    AWAIT(is_over(fixture));
    assert_false(is_alive(fixture, "alpha", "0.0/p2p"));
    assert_false(is_alive(fixture, "beta", "1.0/p2p"));
}

static void communicators_are_asked_for(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_catalog_process *process;
    struct es_communicator_info info;

    refresh(fixture);
    process = find(fixture, "beta", "1.0/p2p")->process;
    assert_int_equal(esi_catalog_communicator_find(fixture->catalog, process, 0, &info),
                     0);
    assert_string_equal(info.name, "MPI_COMM_WORLD");
    assert_int_equal(info.rank, 1);
    assert_int_equal(info.size, 2);
    assert_true(info.key[0] == 1 && info.key[1] == 2);
    assert_int_equal(esi_catalog_communicator_find(fixture->catalog, process, 9, &info),
                     -ENOENT);
    assert_int_equal(
        esi_catalog_world_rank(fixture->catalog, NULL, process, 0, false, 1), 1);
    assert_int_equal(
        esi_catalog_world_rank(fixture->catalog, NULL, process, 0, false, 2), -ENOENT);
    assert_int_equal(
        esi_catalog_world_rank(fixture->catalog, NULL, process, 0, true, 0), -ENOENT);
    /* Communicators are cached: no server is needed any more. */
    made_server_stop(&fixture->made.items[0]);
    made_server_stop(&fixture->made.items[1]);
    assert_int_equal(esi_catalog_communicator_find(fixture->catalog, process, 0, &info),
                     0);
    assert_int_equal(
        esi_catalog_world_rank(fixture->catalog, NULL, process, 0, false, 0), 0);
}

/* A group whose order no rule describes. */
static void groups_are_found_on_other_hosts(void **state)
{
    static const int32_t ranks[] = {1, 0};
    struct fixture *fixture = *state;
    struct esi_communicator_config config = {.key = {UINT64_MAX, 77},
                                             .parent = 0,
                                             .name = "turned",
                                             .group = ranks,
                                             .group_size = 2};
    struct es_run *run;
    uint16_t index;

    assert_int_equal(
        esi_segment_add_communicator(fixture->segments[0], &config, &index), 0);
    refresh(fixture);
    assert_int_equal(es_run_open(fixture->run.name, NULL, &run), 0);
    assert_int_equal(esi_catalog_world_rank_of(fixture->catalog, es_run_segment(run, 0),
                                               index, false, 0),
                     1);
    assert_int_equal(esi_catalog_world_rank_of(fixture->catalog, es_run_segment(run, 0),
                                               index, false, 1),
                     0);
    es_run_close(run);
}

/* --- Requests ----------------------------------------------------------------- */

static void expect_failure(struct fixture *fixture,
                           const char *text,
                           int code,
                           const char *words)
{
    struct es_error error = {.text = ""};
    struct iovec part = {.iov_base = (char *)(uintptr_t)text, .iov_len = strlen(text)};
    struct es_link *link;
    struct esi_frame frame;

    assert_int_equal(
        esi_servers_connect(fixture->servers, "beta", LIMIT_NS, NULL, &link), 0);
    assert_int_equal(esi_link_send(link, ES_FRAME_REQUEST, 1, &part, 1, LIMIT_NS), 0);
    assert_int_equal(esi_rpc_receive(link, 1, LIMIT_NS, NULL, &frame), 0);
    assert_int_equal(esi_rpc_read(&frame, &error, NULL), code);
    assert_non_null(strstr(error.text, words));
    esi_link_close(link);
}

static void wrong_requests_are_refused_with_words(void **state)
{
    struct fixture *fixture = *state;

    expect_failure(fixture, "{}", -EINVAL, "'request' is missing");
    expect_failure(fixture, "{", -EINVAL, "JSON");
    expect_failure(fixture, "{\"request\": \"nonsense\"}", -ENOSYS, "nonsense");
    expect_failure(fixture, "{\"request\": \"communicator\"}", -EINVAL, "'pid'");
    expect_failure(fixture, "{\"request\": \"group\", \"size\": 2, \"first\": -1}",
                   -EINVAL, "'key'");
    expect_failure(fixture,
                   "{\"request\": \"group\", \"key\": [\"5\", \"5\"], \"size\": 2, "
                   "\"first\": -1}",
                   -ENOENT, "that group");
    expect_failure(fixture, "{\"request\": \"costs\"}", -ENOENT, "no subtree");
    expect_failure(fixture, "{\"request\": \"open\"}", -EINVAL, "'type'");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"processes\": [{\"pid\": 1}], "
                   "\"origins\": [], \"tree\": {}}",
                   -EINVAL, "'host'");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"processes\": [], \"origins\": "
                   "[{\"process\": 0, \"name\": \"x\"}], \"tree\": {}}",
                   -EINVAL, "'process'");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"tree\": {\"type\": \"element\", "
                   "\"origin\": 3}}",
                   -EINVAL, "'origin'");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"tree\": {\"type\": \"gather\", "
                   "\"properties\": {\"mode\": \"wild\"}}}",
                   -EINVAL, "wild");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"tree\": {\"type\": \"gather\", "
                   "\"properties\": {\"mode\": 5}}}",
                   -EINVAL, "mode");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"hosts\": {\"gamma\": 7}, "
                   "\"tree\": {\"type\": \"gather\"}}",
                   -EINVAL, "address");
    expect_failure(fixture,
                   "{\"request\": \"open\", \"tree\": {\"type\": \"gather\", "
                   "\"host\": \"beta\", \"children\": [{\"type\": \"gather\", "
                   "\"host\": \"gamma\"}]}}",
                   -ENOENT, "gamma");
}

static void an_unknown_host_is_an_error_with_words(void **state)
{
    struct fixture *fixture = *state;
    struct es_error error = {.text = ""};
    const struct esi_rpc_request request = {.name = "catalog"};
    struct es_link *link;

    assert_int_equal(
        esi_servers_call(fixture->servers, "gamma", &request, LIMIT_NS, &error, NULL),
        -ENOENT);
    assert_non_null(strstr(error.text, "gamma"));
    assert_int_equal(
        esi_servers_connect(fixture->servers, "gamma", LIMIT_NS, NULL, &link), -ENOENT);
}

static void a_run_without_a_server_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    struct es_servers *servers;
    struct es_error error = {.text = ""};
    char address[ES_ADDRESS_BYTES];

    assert_int_equal(es_servers_open(fixture->run.name, NULL, &error, &servers),
                     -ENOENT);
    assert_non_null(strstr(error.text, fixture->run.name));
    snprintf(address, sizeof address, "unix:%s/nobody", fixture->made.directory);
    assert_true(es_servers_open(fixture->run.name, address, NULL, &servers) < 0);
}

/* The hosts share this host's memory, so their elements are also found here. */
static void elements_that_their_servers_tell_are_read_once(void **state)
{
    struct fixture *fixture = *state;
    struct es_scope_config config;
    struct es_scope_cost cost;
    struct es_scope *scope;
    struct es_run *run;

    assert_int_equal(es_run_open(fixture->run.name, NULL, &run), 0);
    es_scope_config_init(&config);
    config.servers = fixture->servers;
    assert_int_equal(es_scope_open(run, &config, NULL, &scope), 0);
    es_scope_cost(scope, &cost);
    assert_int_equal(cost.origins, 2);
    es_scope_close(scope);
    es_run_close(run);
}

SUITE(test_catalog)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_told_by_the_home_server),
        cmocka_unit_test(clocks_are_told_by_the_home_server),
        cmocka_unit_test(elements_are_found_once),
        cmocka_unit_test(elements_that_their_servers_tell_are_read_once),
        cmocka_unit_test(a_host_that_is_silent_is_told_and_others_are_served),
        cmocka_unit_test(a_host_that_does_not_answer_holds_nobody_up_for_long),
        cmocka_unit_test(a_run_whose_servers_are_gone_is_over),
        cmocka_unit_test(communicators_are_asked_for),
        cmocka_unit_test(groups_are_found_on_other_hosts),
        cmocka_unit_test(wrong_requests_are_refused_with_words),
        cmocka_unit_test(an_unknown_host_is_an_error_with_words),
        cmocka_unit_test(a_run_without_a_server_is_not_found),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
