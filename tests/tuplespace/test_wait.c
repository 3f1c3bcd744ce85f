/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Blocking reads wake when a tuple is written, and end when none can come. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/suites.h"
#include "tuplespace/new_elements.h"

#define SECOND UINT64_C(1000000000)
#define ROUNDS 2000

struct echo {
    struct esi_writer writer;
    struct es_element_view *asked; /* the other side's element */
};

/* Answers each tuple of the other element with one of its own. */
static void *answer(void *argument)
{
    struct echo *echo = argument;

    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct es_tuple tuple = fixture_tuple(i);

        if (es_element_wait(echo->asked, i, 10 * SECOND) != 0)
            return echo;
        esi_writer_write(&echo->writer, &tuple);
    }
    return NULL;
}

/* Both sides sleep in turns.  A lost wake-up would cost a time slice of 100 ms. */
static void a_tuple_wakes_the_reader_that_waits_for_it(void **state)
{
    struct es_segment *segment;
    struct esi_writer writer;
    struct echo echo;
    struct es_run *run;
    pthread_t thread;
    uint64_t begin, slow = 0;
    char id[64];
    void *failed;

    (void)state;
    segment = fixture_segment(fixture_run("wait", id), 0);
    fixture_element(segment, "0.0/question", 15, &writer);
    fixture_element(segment, "0.1/answer", 15, &echo.writer);
    run = fixture_open(id);
    echo.asked = fixture_find(run, "0.0/question");
    assert_int_equal(pthread_create(&thread, NULL, answer, &echo), 0);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct es_tuple tuple = fixture_tuple(i);

        begin = fixture_now_ns();
        esi_writer_write(&writer, &tuple);
        assert_int_equal(
            es_element_wait(fixture_find(run, "0.1/answer"), i, 10 * SECOND), 0);
        slow += fixture_now_ns() - begin > 90000000;
    }
    pthread_join(thread, &failed);
    assert_null(failed);
    printf("# %llu of %d rounds took over 90 ms\n", (unsigned long long)slow, ROUNDS);
    /* The machine may be busy, but lost wake-ups would show in most rounds. */
    assert_true(slow < ROUNDS / 20);
    es_run_close(run);
    esi_segment_destroy(segment);
}

struct maker {
    struct es_segment *segment;
    int count;
    _Atomic int wanted; /* elements that the reader waits for */
};

/* Adds an element each time the reader wants one. */
static void *add_wanted(void *argument)
{
    struct maker *maker = argument;

    for (int i = 0; i < maker->count; i++) {
        struct esi_writer writer;
        char name[32];

        while (atomic_load(&maker->wanted) <= i)
            sched_yield();
        snprintf(name, sizeof name, "0.%d/test", i);
        fixture_element(maker->segment, name, 15, &writer);
    }
    return NULL;
}

static void a_new_element_announces_itself(void **state)
{
    struct maker maker = {.count = 50};
    struct es_run *run;
    pthread_t thread;
    uint64_t slow = 0;
    char id[64];

    (void)state;
    maker.segment = fixture_segment(fixture_run("announced", id), 0);
    run = fixture_open(id);
    assert_false(esi_run_has_new_elements(run));
    assert_int_equal(pthread_create(&thread, NULL, add_wanted, &maker), 0);
    for (int i = 0; i < maker.count; i++) {
        uint64_t begin = fixture_now_ns();

        atomic_store(&maker.wanted, i + 1);
        while (!esi_run_has_new_elements(run))
            esi_run_wait_for_elements(run, SECOND);
        slow += fixture_now_ns() - begin > SECOND / 2;
        assert_int_equal(es_run_refresh(run), 1);
        assert_false(esi_run_has_new_elements(run));
    }
    pthread_join(thread, NULL);
    printf("# %llu of %d took over 500 ms\n", (unsigned long long)slow, maker.count);
#ifdef SYS_futex_waitv
    assert_true(slow < (uint64_t)maker.count / 5);
#endif
    es_run_close(run);
    esi_segment_destroy(maker.segment);
}

static void what_is_there_already_is_not_waited_for(void **state)
{
    struct es_tuple tuple = fixture_tuple(0);
    struct es_segment *segment;
    struct esi_writer writer;
    struct es_run *run;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("wait", id), 0);
    fixture_element(segment, "0.0/test", 15, &writer);
    run = fixture_open(id);
    esi_writer_write(&writer, &tuple);
    assert_int_equal(es_element_wait(fixture_find(run, "0.0/test"), 0, 0), 0);
    es_run_close(run);
    esi_segment_destroy(segment);
}

static void a_wait_ends_at_its_timeout(void **state)
{
    struct es_segment *segment;
    struct esi_writer writer;
    struct es_run *run;
    uint64_t begin;
    char id[64];

    (void)state;
    segment = fixture_segment(fixture_run("wait", id), 0);
    fixture_element(segment, "0.0/test", 15, &writer);
    run = fixture_open(id);
    begin = fixture_now_ns();
    assert_int_equal(es_element_wait(fixture_find(run, "0.0/test"), 0, 150000000),
                     -ETIMEDOUT);
    assert_true(fixture_now_ns() - begin >= 150000000);
    es_run_close(run);
    esi_segment_destroy(segment);
}

static pid_t fork_idle_writer(const char *id)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct es_tuple tuple = fixture_tuple(0);
        struct es_segment *segment = fixture_segment(id, 0);
        struct esi_writer writer;

        fixture_element(segment, "0.0/test", 15, &writer);
        esi_writer_write(&writer, &tuple);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void a_wait_ends_when_the_writer_dies(void **state)
{
    struct es_element_view *element;
    struct es_run *run;
    uint64_t begin;
    pid_t pid;
    char id[64];

    (void)state;
    pid = fork_idle_writer(fixture_run("wait-dead", id));
    run = fixture_open(id);
    element = fixture_find(run, "0.0/test");
    assert_int_equal(es_element_wait(element, 1, 1000000), -ETIMEDOUT);
    kill(pid, SIGKILL);
    begin = fixture_now_ns();
    /* The process is a zombie, which counts as dead. */
    assert_int_equal(es_element_wait(element, 1, 20 * SECOND), -EPIPE);
    assert_true(fixture_now_ns() - begin < 10 * SECOND);
    waitpid(pid, NULL, 0);
    assert_int_equal(es_element_wait(element, 0, 0), 0);
    es_run_close(run);
    assert_int_equal(es_run_remove(id, false), 1);
}

SUITE(test_wait)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tuple_wakes_the_reader_that_waits_for_it),
        cmocka_unit_test(a_new_element_announces_itself),
        cmocka_unit_test(what_is_there_already_is_not_waited_for),
        cmocka_unit_test(a_wait_ends_at_its_timeout),
        cmocka_unit_test(a_wait_ends_when_the_writer_dies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
