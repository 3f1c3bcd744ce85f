/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Elements with many writers: processes and threads append, and some die
 * while they hold the lock. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/element_view.h"
#include "tuplespace/view_private.h"

#define WRITERS 4
#define TUPLES 5000

/* A consumer's data.  Its size differs from a trace tuple's. */
struct note {
    uint32_t writer;
    uint32_t number;
    uint32_t check[10];
};

struct scene {
    char id[64];
    struct es_segment *segment;
    struct es_run *run;
    struct es_element_view *element;
};

static int set_up(void **state)
{
    static struct scene scene;
    struct esi_element_config config = fixture_config("0.0/notes", 30000);

    config.kind = ES_ELEMENT_SHARED;
    config.tuple_bytes = sizeof(struct note);
    scene.segment = fixture_segment(fixture_run("shared", scene.id), 0);
    assert_int_equal(esi_segment_add_element(scene.segment, &config, NULL), 0);
    scene.run = fixture_open(scene.id);
    scene.element = fixture_find(scene.run, "0.0/notes");
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

static struct note make_note(uint32_t writer, uint32_t number)
{
    struct note note = {.writer = writer, .number = number};

    for (size_t i = 0; i < 10; i++)
        note.check[i] = writer * 1000003u + number * 31u + (uint32_t)i;
    return note;
}

/* Forks a writer with a mapping of its own. */
static pid_t fork_writer(struct scene *scene, uint32_t writer, uint32_t count)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct es_run *run = fixture_open(scene->id);
        struct es_element_view *element = fixture_find(run, "0.0/notes");

        for (uint32_t i = 0; i < count; i++) {
            struct note note = make_note(writer, i);

            if (es_element_append(element, &note, sizeof note) != 0)
                _exit(1);
        }
        _exit(0);
    }
    return pid;
}

/* Checks that all notes are whole and that each writer's are in order.  `ret_counts`
 * gets the number of notes of each writer. */
static void check_notes(const struct scene *scene, uint32_t ret_counts[WRITERS])
{
    struct es_cursor cursor;
    struct note note;

    es_cursor_init(&cursor, scene->element, false);
    memset(ret_counts, 0, WRITERS * sizeof *ret_counts);
    while (es_element_read_raw(scene->element, &cursor, &note, 1) == 1) {
        struct note expected;

        assert_in_range(note.writer, 0, WRITERS - 1);
        expected = make_note(note.writer, ret_counts[note.writer]++);
        assert_memory_equal(&note, &expected, sizeof note);
    }
    assert_int_equal(cursor.lost, 0);
}

static void all_writers_tuples_arrive_whole(void **state)
{
    struct scene *scene = *state;
    uint32_t counts[WRITERS];
    pid_t pids[WRITERS];

    for (uint32_t i = 0; i < WRITERS; i++)
        pids[i] = fork_writer(scene, i, TUPLES);
    for (int i = 0; i < WRITERS; i++) {
        int status;

        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    check_notes(scene, counts);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(counts[i], TUPLES);
}

/* Returns the lock's word while this thread holds it. */
static uint64_t own_word(void)
{
    uint64_t start;

    assert_int_equal(esi_process_start_time(gettid(), &start), 0);
    return (uint64_t)gettid() | start << ES_READER_PID_BITS;
}

/* Dies as the holder of the lock, with a tuple half written. */
static void die_inside(const struct scene *scene)
{
    struct esi_element_layout *layout = scene->element->layout;
    uint64_t nobody, head;

    do
        nobody = 0;
    while (!atomic_compare_exchange_weak(&layout->writers.holder, &nobody, own_word()));
    head = atomic_load_explicit(&layout->head, memory_order_relaxed);
    for (size_t i = 0; i < 5; i++)
        atomic_store_explicit(
            scene->element->ring +
                (size_t)(head & scene->element->mask) * scene->element->words + i,
            UINT32_MAX, memory_order_relaxed);
    raise(SIGKILL);
}

static void a_writer_killed_inside_stops_nobody(void **state)
{
    struct scene *scene = *state;
    uint32_t counts[WRITERS];
    pid_t pids[WRITERS];
    int status;

    for (uint32_t i = 0; i < WRITERS - 1; i++)
        pids[i] = fork_writer(scene, i, TUPLES);
    fflush(stdout);
    pids[WRITERS - 1] = fork();
    if (pids[WRITERS - 1] == 0)
        die_inside(scene);
    waitpid(pids[WRITERS - 1], &status, 0);
    assert_true(WIFSIGNALED(status));
    for (int i = 0; i < WRITERS - 1; i++) {
        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    check_notes(scene, counts);
    for (int i = 0; i < WRITERS - 1; i++)
        assert_int_equal(counts[i], TUPLES);
    assert_int_equal(counts[WRITERS - 1], 0);
}

static void writers_killed_anywhere_leave_whole_tuples(void **state)
{
    struct scene *scene = *state;
    uint64_t random = random_seed();

    for (int i = 0; i < 20; i++) {
        uint32_t counts[WRITERS];
        pid_t first = fork_writer(scene, 0, 1000000000);
        pid_t second;

        es_element_discard(scene->element, UINT64_MAX);
        kill(first, SIGSTOP);
        waitpid(first, NULL, WUNTRACED);
        kill(first, SIGCONT);
        fixture_sleep_ns(random_next(&random) % 3000000);
        kill(first, SIGKILL);
        waitpid(first, NULL, 0);
        es_element_discard(scene->element, UINT64_MAX);
        second = fork_writer(scene, 1, 10);
        waitpid(second, NULL, 0);
        check_notes(scene, counts);
        assert_int_equal(counts[0], 0);
        assert_int_equal(counts[1], 10);
    }
}

/* Appending succeeds whatever the words of the lock contain. */
static void a_broken_lock_stops_nobody(void **state)
{
    struct scene *scene = *state;
    struct esi_writers_lock *lock = &scene->element->layout->writers;
    const uint64_t broken[] = {UINT64_MAX,         1,
                               own_word(),         UINT64_C(1) << 21,
                               1u << 22,           0x5555555555,
                               (uint64_t)getpid(), UINT64_C(1) << 63};
    uint64_t random = random_seed();
    struct note note = make_note(0, 0);
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++, count++) {
        memset(lock, 0xa5, sizeof *lock);
        atomic_store(&lock->holder, broken[i]);
        note = make_note(0, count);
        assert_int_equal(es_element_append(scene->element, &note, sizeof note), 0);
    }
    for (int i = 0; i < 1000; i++, count++) {
        for (size_t w = 0; w < sizeof *lock / 8; w++)
            ((uint64_t *)(void *)lock)[w] = random_next(&random);
        note = make_note(0, count);
        assert_int_equal(es_element_append(scene->element, &note, sizeof note), 0);
    }
    uint32_t counts[WRITERS];
    check_notes(scene, counts);
    assert_int_equal(counts[0], count);
}

static void a_writer_that_is_stopped_inside_is_not_waited_for_for_ever(void **state)
{
    struct scene *scene = *state;
    struct note note = make_note(0, 0);
    int status;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        atomic_store(&scene->element->layout->writers.holder, own_word());
        raise(SIGSTOP);
        _exit(0);
    }
    waitpid(pid, &status, WUNTRACED);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(es_element_append(scene->element, &note, sizeof note), -EBUSY);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(es_element_append(scene->element, &note, sizeof note), 0);
}

static void a_reader_that_takes_nothing_holds_a_writer_no_longer_than_asked(
    void **state)
{
    struct scene *scene = *state;
    struct note note = make_note(0, 0);
    int code = 0;

    assert_int_equal(es_element_register_reader(scene->element, 0), 0);
    es_element_set_block(scene->element, true);
    for (int i = 0; i < 40000 && code == 0; i++)
        code = esi_element_append_within(scene->element, &note, sizeof note, 1000000);
    assert_int_equal(code, -EAGAIN);
    /* Nobody holds the lock. */
    assert_int_equal(atomic_load(&scene->element->layout->writers.holder), 0);
    es_element_acknowledge(scene->element, 1);
    assert_int_equal(
        esi_element_append_within(scene->element, &note, sizeof note, 1000000), 0);
}

/* The values that were checked when the element was found stay in use. */
static void places_that_change_afterwards_are_not_believed(void **state)
{
    struct scene *scene = *state;
    struct esi_element_layout *layout = scene->element->layout;
    struct note note = make_note(0, 0);
    uint32_t counts[WRITERS];

    layout->ring_offset = UINT64_MAX / 2;
    layout->capacity = UINT32_MAX;
    layout->tuple_bytes = 65532;
    layout->kind = ES_ELEMENT_TRACE;
    assert_int_equal(es_element_append(scene->element, &note, sizeof note), 0);
    check_notes(scene, counts);
    assert_int_equal(counts[0], 1);
}

static void a_tuple_of_another_size_is_refused(void **state)
{
    struct scene *scene = *state;
    struct note note = make_note(0, 0);

    assert_int_equal(es_element_append(scene->element, &note, sizeof note - 4),
                     -EINVAL);
}

static void a_trace_element_takes_no_appended_tuples(void **state)
{
    struct scene *scene = *state;
    struct es_tuple tuple = fixture_tuple(0);
    struct esi_writer writer;

    fixture_element(scene->segment, "0.0/trace", 15, &writer);
    assert_int_equal(es_run_refresh(scene->run), 1);
    assert_int_equal(
        es_element_append(fixture_find(scene->run, "0.0/trace"), &tuple, sizeof tuple),
        -EINVAL);
}

static void readers_of_trace_tuples_leave_other_sizes_alone(void **state)
{
    struct scene *scene = *state;
    struct note note = make_note(0, 0);
    struct es_cursor cursor = {0};
    struct es_tuple tuple;
    uint64_t position;

    assert_int_equal(es_element_append(scene->element, &note, sizeof note), 0);
    assert_int_equal(es_element_read(scene->element, &cursor, &tuple, 1), 0);
    assert_int_equal(es_element_latest(scene->element, &tuple, &position), 0);
    assert_int_equal(es_element_open(scene->element, &tuple), 0);
}

SUITE(test_shared)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(all_writers_tuples_arrive_whole),
        cmocka_unit_test(a_writer_killed_inside_stops_nobody),
        cmocka_unit_test(writers_killed_anywhere_leave_whole_tuples),
        cmocka_unit_test(a_broken_lock_stops_nobody),
        cmocka_unit_test(a_writer_that_is_stopped_inside_is_not_waited_for_for_ever),
        cmocka_unit_test(
            a_reader_that_takes_nothing_holds_a_writer_no_longer_than_asked),
        cmocka_unit_test(places_that_change_afterwards_are_not_believed),
        cmocka_unit_test(a_tuple_of_another_size_is_refused),
        cmocka_unit_test(a_trace_element_takes_no_appended_tuples),
        cmocka_unit_test(readers_of_trace_tuples_leave_other_sizes_alone),
    };

    /* A lock that is never released must not hang the whole suite. */
    alarm(120);
    test_suite_fixture(tests, sizeof tests / sizeof *tests, set_up, tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
