/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of remote stages whose servers are separate processes that
 * are stopped and killed. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/scopes/made_server.h"
#include "tests/suites.h"

enum { HOSTS = 2, ROUNDS = 40 };

static const char *const hosts[HOSTS] = {"alpha", "beta"};

struct fixture {
    struct made_run run;
    struct esi_writer *writers[HOSTS];
    uint32_t written[HOSTS];
    struct made_servers servers; /* none runs in this process */
    pid_t pids[HOSTS];
    struct made_consumer consumer;
    uint64_t next[HOSTS]; /* next position of each host */
};

/* --- Servers ------------------------------------------------------------------ */

/* Runs a server until it is killed. */
static void serve(struct made_servers *servers, struct made_server *server, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    made_server_start(servers, server);
    if (write(ready, "r", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static void start_server(struct fixture *fixture, int host)
{
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    fixture->pids[host] = fork();
    assert_true(fixture->pids[host] >= 0);
    if (fixture->pids[host] == 0)
        serve(&fixture->servers, &fixture->servers.items[host], ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
}

static void kill_server(struct fixture *fixture, int host)
{
    assert_int_equal(kill(fixture->pids[host], SIGKILL), 0);
    assert_int_equal(waitpid(fixture->pids[host], NULL, 0), fixture->pids[host]);
    fixture->pids[host] = 0;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    made_run_begin(&fixture->run);
    made_servers_begin(&fixture->servers, fixture->run.name);
    for (int host = 0; host < HOSTS; host++) {
        fixture->writers[host] = made_run_add_element(
            &fixture->run,
            made_run_add_rank_on(&fixture->run, hosts[host], host, HOSTS), host, 0,
            "p2p", 1, 8191);
        made_server_name(&fixture->servers, hosts[host]);
        start_server(fixture, host);
    }
    made_consumer_begin(&fixture->consumer, &fixture->servers);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    for (int host = 0; host < HOSTS; host++)
        if (fixture->pids[host])
            kill_server(fixture, host);
    made_consumer_end(&fixture->consumer);
    made_servers_end(&fixture->servers);
    made_run_end(&fixture->run);
    free(fixture);
    return 0;
}

/* --- Tuples ------------------------------------------------------------------- */

static void write_some(struct fixture *fixture, int count)
{
    for (int i = 0; i < count; i++)
        for (int host = 0; host < HOSTS; host++) {
            struct es_tuple tuple = made_tuple("MPI_Send", 1, 2);

            tuple.sequence = fixture->written[host]++;
            esi_writer_write(fixture->writers[host], &tuple);
        }
}

/* Each tuple is delivered once and in order. */
static void pull(struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    assert_int_equal(made_consumer_pull(&fixture->consumer, 10000, false, false), 0);
    for (size_t i = 0; i < batch->count; i++) {
        const struct es_mark *mark = &batch->marks[i];
        int host = fixture->consumer.origins.items[mark->origin].rank;

        assert_int_equal(mark->position, fixture->next[host]);
        assert_int_equal(batch->tuples[i].sequence, mark->position);
        fixture->next[host]++;
    }
    for (size_t i = 0; i < batch->report_count; i++)
        assert_int_equal(batch->reports[i].lost, 0);
}

static void pull_all(struct fixture *fixture)
{
    time_t begun = time(NULL);

    for (int host = 0; host < HOSTS; host++)
        while (fixture->next[host] < fixture->written[host]) {
            assert_true(time(NULL) - begun < 60);
            pull(fixture);
        }
}

static void open_both(struct fixture *fixture, uint64_t limit_ns)
{
    struct esi_stage_node *root =
        made_consumer_node(&fixture->consumer, "gather", NULL, "nobody", "every");

    for (int host = 0; host < HOSTS; host++) {
        struct esi_stage_node *node = made_consumer_node(
            &fixture->consumer, "gather", hosts[host], hosts[host], "every");

        node->limit_ns = limit_ns;
        assert_int_equal(esi_stage_node_add(root, node), 0);
    }
    made_consumer_open(&fixture->consumer, root);
}

/* --- Faults ------------------------------------------------------------------- */

static void killed_servers_lose_and_repeat_nothing(void **state)
{
    struct fixture *fixture = *state;

    open_both(fixture, UINT64_C(5000000000));
    for (int i = 0; i < ROUNDS; i++) {
        int host = i % HOSTS;

        write_some(fixture, 5);
        pull(fixture);
        kill_server(fixture, host);
        write_some(fixture, 5);
        if (i % 3 == 0)
            pull(fixture);
        start_server(fixture, host);
        pull(fixture);
    }
    pull_all(fixture);
}

static void a_stopped_server_is_told_and_its_reply_used_later(void **state)
{
    struct fixture *fixture = *state;
    const struct es_batch *batch = &fixture->consumer.batch;
    uint64_t silent_ns;

    open_both(fixture, UINT64_C(50000000));
    write_some(fixture, 10);
    pull_all(fixture);
    assert_int_equal(kill(fixture->pids[0], SIGSTOP), 0);
    /* The process has stopped when all its threads have. */
    assert_int_equal(waitpid(fixture->pids[0], NULL, WUNTRACED), fixture->pids[0]);
    write_some(fixture, 10);
    pull(fixture);
    assert_int_equal(fixture->next[0], 10);
    assert_int_equal(fixture->next[1], 20);
    assert_int_equal(batch->notice_count, 1);
    assert_string_equal(batch->notices[0].part, "host alpha");
    assert_int_equal(batch->notices[0].code, -ETIMEDOUT);
    silent_ns = batch->notices[0].silent_ns;
    /* A host that is known to be silent does not delay the others again. */
    for (int i = 0; i < 20; i++) {
        write_some(fixture, 1);
        pull(fixture);
        assert_int_equal(fixture->next[1], 21 + i);
    }
    assert_int_equal(batch->notice_count, 1);
    assert_true(batch->notices[0].silent_ns > silent_ns);
    assert_int_equal(kill(fixture->pids[0], SIGCONT), 0);
    pull_all(fixture);
    pull(fixture);
    assert_int_equal(batch->notice_count, 0);
}

static void a_server_that_comes_late_is_used_from_then_on(void **state)
{
    struct fixture *fixture = *state;
    const struct es_batch *batch = &fixture->consumer.batch;

    kill_server(fixture, 0);
    open_both(fixture, UINT64_C(5000000000));
    write_some(fixture, 10);
    pull(fixture);
    assert_int_equal(batch->notice_count, 1);
    assert_int_equal(fixture->next[0], 0);
    start_server(fixture, 0);
    pull_all(fixture);
}

/* --- Blocking writers ----------------------------------------------------------- */

/* Writes in a separate process, as fast as the element allows. */
static pid_t start_writer(struct fixture *fixture, int host, uint32_t count)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint32_t i = 0; i < count; i++) {
        struct es_tuple tuple = made_tuple("MPI_Send", 1, 2);

        tuple.sequence = i;
        esi_writer_write(fixture->writers[host], &tuple);
    }
    _exit(0);
}

/* The ring holds a small part of the tuples, and the tree is replaced meanwhile. */
static void a_lossless_scope_is_waited_for(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = 200000 };
    pid_t writer;

    for (size_t i = 0; i < fixture->consumer.places.count; i++)
        fixture->consumer.places.items[i].registered = true;
    for (int host = 0; host < HOSTS; host++) {
        struct es_selection selection;
        struct es_element_view **elements;

        es_selection_init(&selection);
        selection.host = hosts[host];
        assert_int_equal(es_run_select(fixture->consumer.run, &selection, &elements),
                         1);
        es_element_set_block(elements[0], true);
        free(elements);
    }
    open_both(fixture, UINT64_C(5000000000));
    writer = start_writer(fixture, 0, COUNT);
    fixture->written[0] = COUNT;
    for (int i = 0; fixture->next[0] < COUNT; i++) {
        pull(fixture);
        if (i % 10 == 9)
            open_both(fixture, UINT64_C(5000000000));
    }
    assert_int_equal(waitpid(writer, NULL, 0), writer);
}

SUITE(test_remote_faults)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_servers_lose_and_repeat_nothing),
        cmocka_unit_test(a_stopped_server_is_told_and_its_reply_used_later),
        cmocka_unit_test(a_server_that_comes_late_is_used_from_then_on),
        cmocka_unit_test(a_lossless_scope_is_waited_for),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
