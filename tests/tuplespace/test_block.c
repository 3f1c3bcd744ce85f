/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Elements set to block.  No tuple is lost, and no writer waits for a
 * reader that is gone. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/await.h"
#include "tests/random.h"
#include "tests/suites.h"

#define TUPLES 20000

struct scene {
    char id[64];
    struct es_segment *segment;
    struct esi_writer writer;
    struct es_run *run;
    struct es_element_view *element;
    uint64_t count; /* to write */
};

static int set_up(void **state)
{
    static struct scene scene;
    struct esi_element_config config = fixture_config("0.0/test", 100);

    config.on_full = ES_ON_FULL_BLOCK;
    scene.segment = fixture_segment(fixture_run("block", scene.id), 0);
    assert_int_equal(esi_segment_add_element(scene.segment, &config, &scene.writer), 0);
    scene.run = fixture_open(scene.id);
    scene.element = fixture_find(scene.run, "0.0/test");
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    es_run_close(scene->run);
    esi_segment_destroy(scene->segment);
    return 0;
}

static void *write_all(void *argument)
{
    struct scene *scene = argument;

    for (uint64_t i = 0; i < scene->count; i++) {
        struct es_tuple tuple = fixture_tuple(i);
        uint64_t stop = tuple.stop;

        tuple.stop = 0;
        esi_writer_open(&scene->writer, &tuple);
        esi_writer_close(&scene->writer, stop);
    }
    return NULL;
}

static uint64_t blocked(const struct scene *scene)
{
    struct es_element_info info;

    es_element_view_info(scene->element, &info);
    return info.blocked;
}

static uint64_t head_of(const struct scene *scene)
{
    struct es_element_info info;

    es_element_view_info(scene->element, &info);
    return info.head;
}

/* Waits until the writer blocks.  Returns the element's head at that time. */
static uint64_t wait_until_blocked(const struct scene *scene)
{
    AWAIT(blocked(scene) != 0);
    return head_of(scene);
}

static void a_slow_reader_loses_nothing(void **state)
{
    struct scene *scene = *state;
    uint64_t random = random_seed();
    struct es_tuple tuples[64];
    struct es_cursor cursor = {0};
    pthread_t thread;

    scene->count = TUPLES;
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    while (cursor.position < TUPLES) {
        uint64_t before = cursor.position;
        size_t count;

        assert_int_equal(es_element_wait(scene->element, before, 10000000000), 0);
        count = es_element_read(scene->element, &cursor, tuples,
                                1 + random_next(&random) % 64);
        for (size_t i = 0; i < count; i++) {
            assert_true(fixture_is_whole(&tuples[i], false));
            assert_int_equal(fixture_position(&tuples[i]), before + i);
        }
        if (random_next(&random) % 64 == 0)
            fixture_sleep_ns(200000);
        es_element_acknowledge(scene->element, cursor.position);
    }
    pthread_join(thread, NULL);
    assert_int_equal(cursor.lost, 0);
    assert_int_equal(head_of(scene), TUPLES);
    assert_true(blocked(scene) > 0);
}

static void the_writer_waits_at_the_threshold(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;

    scene->count = 1000;
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    assert_int_equal(wait_until_blocked(scene), 100);
    es_element_unregister_reader(scene->element);
    pthread_join(thread, NULL);
    assert_int_equal(head_of(scene), 1000);
}

static void the_run_time_threshold_is_the_wall_too(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;

    scene->count = 1000;
    assert_int_equal(es_element_set_threshold(scene->element, 10), 0);
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    assert_int_equal(wait_until_blocked(scene), 10);
    es_element_acknowledge(scene->element, 1000);
    pthread_join(thread, NULL);
}

static void without_a_registered_reader_nobody_waits(void **state)
{
    struct scene *scene = *state;

    scene->count = 1000;
    write_all(scene);
    assert_int_equal(head_of(scene), 1000);
    assert_int_equal(blocked(scene), 0);
}

static void switching_to_discard_lets_the_writer_go(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;

    scene->count = 1000;
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    assert_int_equal(wait_until_blocked(scene), 100);
    es_element_set_block(scene->element, false);
    pthread_join(thread, NULL);
    assert_int_equal(head_of(scene), 1000);
}

/* Forks a process that registers itself as the reader and then only sleeps. */
static pid_t fork_reader(struct scene *scene)
{
    int ready[2];
    char rc;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        rc = es_element_register_reader(scene->element, 0) == 0 ? 1 : 0;
        if (write(ready[1], &rc, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &rc, 1), 1);
    assert_int_equal(rc, 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void a_killed_reader_lets_the_writer_go(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    pid_t pid = fork_reader(scene);

    scene->count = 1000;
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    assert_int_equal(wait_until_blocked(scene), 100);
    /* The writer waits as long as the reader lives. */
    fixture_sleep_ns(250000000);
    assert_int_equal(head_of(scene), 100);
    kill(pid, SIGKILL);
    pthread_join(thread, NULL);
    assert_int_equal(head_of(scene), 1000);
    waitpid(pid, NULL, 0);
}

/* A process that registers itself as the reader.  For each byte that it receives it
 * reads all tuples, acknowledges them, and answers with how many it got and lost. */
struct obedient {
    pid_t pid;
    int orders;
    int answers;
};

struct answer {
    uint64_t got;
    uint64_t lost;
};

static void obey(struct scene *scene, int orders, int answers)
{
    struct answer answer = {0};
    struct es_cursor cursor = {0};
    struct es_tuple tuples[64];
    char order;

    if (es_element_register_reader(scene->element, 0) != 0 ||
        write(answers, &answer, sizeof answer) != (ssize_t)sizeof answer)
        _exit(1);
    while (read(orders, &order, 1) == 1) {
        size_t count;

        while ((count = es_element_read(scene->element, &cursor, tuples, 64)) > 0)
            answer.got += count;
        answer.lost = cursor.lost;
        es_element_acknowledge(scene->element, cursor.position);
        if (write(answers, &answer, sizeof answer) != (ssize_t)sizeof answer)
            _exit(1);
    }
    _exit(0);
}

static struct answer wait_for_answer(const struct obedient *reader)
{
    struct answer answer;

    assert_int_equal(read(reader->answers, &answer, sizeof answer), sizeof answer);
    return answer;
}

static struct obedient fork_obedient_reader(struct scene *scene)
{
    struct obedient reader;
    int orders[2], answers[2];

    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    fflush(stdout);
    reader.pid = fork();
    if (reader.pid == 0) {
        close(orders[1]);
        obey(scene, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    reader.orders = orders[1];
    reader.answers = answers[0];
    wait_for_answer(&reader);
    return reader;
}

static void end_reader(const struct obedient *reader)
{
    close(reader->orders);
    close(reader->answers);
    waitpid(reader->pid, NULL, 0);
}

static void a_stopped_reader_lets_the_writer_go_and_counts_what_it_missed(void **state)
{
    struct scene *scene = *state;
    struct obedient reader = fork_obedient_reader(scene);
    struct answer answer;
    pthread_t thread;
    int status;

    scene->count = 1000;
    kill(reader.pid, SIGSTOP);
    assert_int_equal(waitpid(reader.pid, &status, WUNTRACED), reader.pid);
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    pthread_join(thread, NULL);
    assert_int_equal(head_of(scene), 1000);
    assert_int_equal(blocked(scene), 1);
    kill(reader.pid, SIGCONT);
    assert_int_equal(write(reader.orders, "r", 1), 1);
    answer = wait_for_answer(&reader);
    assert_int_equal(answer.got, 100);
    assert_int_equal(answer.lost, 900);
    /* The reader has advanced, so the writer waits for it again. */
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    AWAIT(blocked(scene) >= 2);
    assert_int_equal(head_of(scene), 1100);
    while (head_of(scene) < 2000) {
        assert_int_equal(write(reader.orders, "r", 1), 1);
        answer = wait_for_answer(&reader);
    }
    pthread_join(thread, NULL);
    assert_int_equal(answer.lost, 900);
    end_reader(&reader);
}

/* A reader may be held by a debugger, a frozen cgroup or a disk.  The writer
 * gives up after its patience, and does not spend that time again on the
 * reader's second element. */
static void a_reader_that_stands_still_is_passed_after_a_time(void **state)
{
    struct scene *scene = *state;
    struct esi_element_config config = fixture_config("0.1/test", 100);
    struct scene other = *scene;
    uint64_t begun_ns = fixture_now_ns();

    config.on_full = ES_ON_FULL_BLOCK;
    assert_int_equal(esi_segment_add_element(scene->segment, &config, &other.writer),
                     0);
    assert_true(es_run_refresh(scene->run) >= 0);
    other.element = fixture_find(scene->run, "0.1/test");
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    assert_int_equal(es_element_register_reader(other.element, 0), 0);
    scene->count = 1000;
    write_all(scene);
    assert_int_equal(head_of(scene), 1000);
    assert_true(fixture_now_ns() - begun_ns >= ES_WRITER_PATIENCE_NS);
    begun_ns = fixture_now_ns();
    other.count = 1000;
    write_all(&other);
    assert_int_equal(head_of(&other), 1000);
    assert_true(fixture_now_ns() - begun_ns < ES_WRITER_PATIENCE_NS);
    es_element_unregister_reader(scene->element);
    es_element_unregister_reader(other.element);
}

static void only_one_living_reader_can_register(void **state)
{
    struct scene *scene = *state;
    pid_t pid = fork_reader(scene);

    assert_int_equal(es_element_register_reader(scene->element, 0), -EBUSY);
    /* The registration belongs to another process, so this one cannot remove it. */
    es_element_unregister_reader(scene->element);
    assert_int_equal(es_element_register_reader(scene->element, 0), -EBUSY);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    assert_int_equal(es_element_register_reader(scene->element, 0), -EBUSY);
}

/* Makes the element's writer wait for its first reader. */
static void await_readers(struct scene *scene)
{
    atomic_store(&scene->writer.element->on_full, ES_ON_FULL_AWAIT);
}

static void an_awaited_reader_gets_all_from_the_first_tuple_on(void **state)
{
    struct scene *scene = *state;
    struct es_tuple tuples[64];
    struct es_cursor cursor = {0};
    pthread_t thread;

    await_readers(scene);
    scene->count = 1000;
    assert_int_equal(pthread_create(&thread, NULL, write_all, scene), 0);
    assert_int_equal(wait_until_blocked(scene), 100);
    fixture_sleep_ns(250000000);
    assert_int_equal(head_of(scene), 100);
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    /* The reader registered just now, so the writer's patience starts anew. */
    fixture_sleep_ns(400000000);
    while (cursor.position < 1000) {
        assert_int_equal(es_element_wait(scene->element, cursor.position, 10000000000),
                         0);
        es_element_read(scene->element, &cursor, tuples, 64);
        es_element_acknowledge(scene->element, cursor.position);
    }
    pthread_join(thread, NULL);
    assert_int_equal(cursor.lost, 0);
}

/* The writer waits only until a reader has registered, even if it is gone by then. */
static void an_awaited_reader_that_went_is_not_awaited_again(void **state)
{
    struct scene *scene = *state;

    await_readers(scene);
    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    es_element_unregister_reader(scene->element);
    scene->count = 1000;
    write_all(scene);
    assert_int_equal(head_of(scene), 1000);
    assert_int_equal(blocked(scene), 0);
}

/* The second element does not wait: a process waits in vain only once,
 * whichever the element. */
static void a_reader_that_never_comes_is_waited_for_once(void **state)
{
    struct scene *scene = *state;
    uint64_t begun_ns = fixture_now_ns();
    struct es_element_info info;

    await_readers(scene);
    scene->count = 1000;
    write_all(scene);
    assert_int_equal(head_of(scene), 1000);
    assert_int_equal(blocked(scene), 1);
    assert_true(fixture_now_ns() - begun_ns >= ES_WRITER_AWAIT_NS);
    await_readers(scene);
    es_element_view_info(scene->element, &info);
    assert_true(info.block);
    write_all(scene);
    assert_int_equal(head_of(scene), 2000);
    assert_int_equal(blocked(scene), 2); /* and released at once */
    assert_int_equal(atomic_load(&scene->writer.element->on_full), ES_ON_FULL_BLOCK);
}

SUITE(test_block)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_reader_loses_nothing),
        cmocka_unit_test(the_writer_waits_at_the_threshold),
        cmocka_unit_test(the_run_time_threshold_is_the_wall_too),
        cmocka_unit_test(without_a_registered_reader_nobody_waits),
        cmocka_unit_test(switching_to_discard_lets_the_writer_go),
        cmocka_unit_test(a_killed_reader_lets_the_writer_go),
        cmocka_unit_test(a_stopped_reader_lets_the_writer_go_and_counts_what_it_missed),
        cmocka_unit_test(a_reader_that_stands_still_is_passed_after_a_time),
        cmocka_unit_test(only_one_living_reader_can_register),
        cmocka_unit_test(an_awaited_reader_gets_all_from_the_first_tuple_on),
        cmocka_unit_test(an_awaited_reader_that_went_is_not_awaited_again),
        cmocka_unit_test(a_reader_that_never_comes_is_waited_for_once),
    };

    /* A writer that is never released must not hang the whole suite. */
    alarm(120);
    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
