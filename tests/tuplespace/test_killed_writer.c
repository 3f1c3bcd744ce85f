/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A writer that is killed at any moment leaves a segment that is as readable
 * as a living process's. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"

#define KILLS 60

/* Writes tuples forever.  Writes a byte to `ready` once it has begun. */
static void write_until_killed(const char *id, int ready)
{
    struct es_segment *segment = fixture_segment(id, 2);
    struct esi_writer writer;

    fixture_element(segment, "2.0/test", 1000, &writer);
    for (uint64_t position = 0;; position++) {
        struct es_tuple tuple = fixture_tuple(position);

        tuple.stop = 0;
        esi_writer_open(&writer, &tuple);
        /* Computing the tuple again makes the operation last a little. */
        tuple = fixture_tuple(position);
        esi_writer_close(&writer, tuple.stop);
        if (position == 100 && write(ready, "", 1) != 1)
            _exit(1);
    }
}

static pid_t fork_writer(const char *id)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        write_until_killed(id, ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* Checks that all tuples are whole and in order.  Returns whether a tuple was open. */
static int check_what_is_left(const struct es_run *run)
{
    struct es_element_view *element = fixture_find(run, "2.0/test");
    struct es_element_info info;
    struct es_cursor cursor;
    struct es_tuple tuple;
    uint64_t position;
    int open;

    assert_non_null(element);
    es_element_view_info(element, &info);
    assert_true(info.head > 100);
    es_cursor_init(&cursor, element, false);
    for (position = cursor.position; position < info.head; position++) {
        assert_int_equal(es_element_read(element, &cursor, &tuple, 1), 1);
        assert_true(fixture_is_whole(&tuple, false));
        assert_int_equal(fixture_position(&tuple), position);
    }
    assert_int_equal(es_element_read(element, &cursor, &tuple, 1), 0);
    assert_int_equal(cursor.lost, 0);
    open = es_element_open(element, &tuple);
    if (open == 1) {
        assert_true(fixture_is_whole(&tuple, true));
        assert_int_equal(fixture_position(&tuple), info.head);
    }
    return open;
}

static void a_writer_killed_anywhere_leaves_whole_tuples(void **state)
{
    uint64_t random = random_seed();
    int opened = 0;

    (void)state;
    for (int i = 0; i < KILLS; i++) {
        struct es_segment_info info;
        struct es_run *run;
        char id[64];
        pid_t pid = fork_writer(fixture_run("killed", id));

        fixture_sleep_ns(random_next(&random) % 2000000);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        run = fixture_open(id);
        es_segment_view_info(es_run_segment(run, 0), &info);
        assert_int_equal(info.state, ES_PROCESS_LOST);
        assert_false(info.alive);
        opened += check_what_is_left(run);
        es_run_close(run);
        assert_int_equal(es_run_remove(id, false), 1);
    }
    printf("# %d of %d had a tuple open\n", opened, KILLS);
    assert_in_range(opened, 1, KILLS);
}

static void the_supervisors_note_tells_the_signal(void **state)
{
    struct es_segment_info info;
    struct es_run *run;
    int status;
    char id[64];
    pid_t pid = fork_writer(fixture_run("killed", id));

    (void)state;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    assert_int_equal(es_run_note_exit(id, pid, status, 12345), 1);
    run = fixture_open(id);
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_int_equal(info.state, ES_PROCESS_KILLED);
    assert_int_equal(info.signal, SIGKILL);
    assert_int_equal(info.exit_code, -1);
    assert_int_equal(info.ended_realtime_ns, 12345);
    es_run_close(run);
    assert_int_equal(es_run_remove(id, false), 1);
}

static void a_stopped_writer_is_alive(void **state)
{
    struct es_segment_info info;
    struct es_run *run;
    char id[64];
    pid_t pid = fork_writer(fixture_run("killed", id));

    (void)state;
    kill(pid, SIGSTOP);
    waitpid(pid, NULL, WUNTRACED);
    run = fixture_open(id);
    es_segment_view_info(es_run_segment(run, 0), &info);
    assert_int_equal(info.state, ES_PROCESS_RUNNING);
    assert_true(info.alive);
    check_what_is_left(run);
    es_run_close(run);
    assert_int_equal(es_run_remove(id, false), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(es_run_remove(id, false), 1);
}

SUITE(test_killed_writer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writer_killed_anywhere_leaves_whole_tuples),
        cmocka_unit_test(the_supervisors_note_tells_the_signal),
        cmocka_unit_test(a_stopped_writer_is_alive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
