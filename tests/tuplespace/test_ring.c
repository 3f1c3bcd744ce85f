/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Stress test: one writer at full speed, and readers that try to see a tuple half
 * written.
 *
 * All fields of a tuple are derived from its position, so a mix of two tuples is
 * detected.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"
#include "tests/random.h"
#include "tests/suites.h"

#define READERS 3
#define WRITE_NS UINT64_C(700000000)

struct reader {
    const char *run;
    size_t batch;
    uint64_t read;
    uint64_t lost;
    uint64_t head; /* at the end */
    uint64_t torn;
    uint64_t disordered;
    uint64_t latest;       /* seen */
    _Atomic uint64_t open; /* seen; the writer waits for it */
};

/* --- The writer: all ways to write a tuple ---------------------------------------- */

static void write_one(struct esi_writer *writer, uint64_t position, uint64_t choice)
{
    struct es_tuple tuple = fixture_tuple(position);
    struct es_tuple open = tuple;
    struct es_tuple other = fixture_tuple(position + 1000000007);

    open.stop = other.stop = 0;
    switch (choice % 4) {
    case 0: /* Write a tuple without opening it first. */
        esi_writer_write(writer, &tuple);
        return;
    case 1: /* Open another tuple, then replace it. */
        esi_writer_open(writer, &other);
        esi_writer_write(writer, &tuple);
        return;
    case 2: /* Open a tuple, withdraw it, then open another. */
        esi_writer_open(writer, &other);
        esi_writer_withdraw(writer);
        break;
    default:
        break;
    }
    esi_writer_open(writer, &open);
    /* The operation lasts a little.  Yielding at times lets readers
     * look on a busy machine. */
    if (position % 65536 < 4)
        sched_yield();
    tuple = fixture_tuple(position);
    esi_writer_close(writer, tuple.stop);
}

static bool has_seen_open(const struct reader readers[READERS])
{
    for (int i = 0; i < READERS; i++)
        if (readers[i].open > 0)
            return true;
    return false;
}

/* Writes for WRITE_NS, and on a busy machine until a reader has seen an open tuple. */
static uint64_t write_for_readers(struct esi_writer *writer,
                                  const struct reader readers[READERS],
                                  uint64_t *random)
{
    uint64_t end = fixture_now_ns() + WRITE_NS;
    uint64_t position = 0;

    while (fixture_now_ns() < end || !has_seen_open(readers))
        for (uint64_t bits = random_next(random), i = 0; i < 32; i++, bits >>= 2)
            write_one(writer, position++, bits);
    return position;
}

/* --- Readers ---------------------------------------------------------------------- */

static void check_batch(struct reader *reader,
                        const struct es_tuple *tuples,
                        size_t count)
{
    static _Thread_local uint64_t next;

    if (reader->read == 0)
        next = 0;
    for (size_t i = 0; i < count; i++) {
        reader->torn += !fixture_is_whole(&tuples[i], false);
        reader->disordered += fixture_position(&tuples[i]) < next;
        next = fixture_position(&tuples[i]) + 1;
    }
    reader->read += count;
}

static void peek(struct reader *reader, const struct es_element_view *element)
{
    struct es_tuple tuple;
    uint64_t position;

    if (es_element_latest(element, &tuple, &position) == 1) {
        reader->latest++;
        reader->torn +=
            !fixture_is_whole(&tuple, false) || fixture_position(&tuple) != position;
    }
    if (es_element_open(element, &tuple) == 1) {
        reader->open++;
        reader->torn += !fixture_is_whole(&tuple, true);
    }
}

static bool is_finished(const struct es_element_view *element)
{
    struct es_segment_info info;

    es_segment_view_info(es_element_view_segment(element), &info);
    return info.state == ES_PROCESS_FINALIZED;
}

static void *read_along(void *argument)
{
    struct reader *reader = argument;
    struct es_run *run = fixture_open(reader->run);
    struct es_element_view *element = fixture_find(run, "0.0/ring");
    struct es_tuple *tuples = calloc(reader->batch, sizeof *tuples);
    struct es_cursor cursor = {0};
    bool finished = false;
    size_t count;

    for (;;) {
        /* If the writer has finished before a read that finds nothing,
         * nothing more can come. */
        finished = finished || is_finished(element);
        for (int i = 0; i < 50; i++) {
            count = es_element_read(element, &cursor, tuples, reader->batch);
            check_batch(reader, tuples, count);
            for (int j = 0; j < 20; j++)
                peek(reader, element);
        }
        if (finished && count == 0)
            break;
    }
    reader->lost = cursor.lost;
    reader->head = cursor.position;
    free(tuples);
    es_run_close(run);
    return NULL;
}

static void check_reader(const struct reader *reader, uint64_t written)
{
    printf("# batch %zu: read %llu lost %llu latest %llu open %llu\n", reader->batch,
           (unsigned long long)reader->read, (unsigned long long)reader->lost,
           (unsigned long long)reader->latest, (unsigned long long)reader->open);
    assert_int_equal(reader->torn, 0);
    assert_int_equal(reader->disordered, 0);
    assert_int_equal(reader->head, written);
    assert_int_equal(reader->read + reader->lost, written);
    assert_true(reader->read > 0);
    assert_true(reader->latest > 0);
}

static void check_readers(const struct reader readers[READERS], uint64_t written)
{
    for (int i = 0; i < READERS; i++)
        check_reader(&readers[i], written);
}

static const size_t batches[READERS] = {1, 50, 1000};

static void with_threads(const char *test, uint32_t threshold)
{
    uint64_t random = random_seed();
    struct reader readers[READERS] = {0};
    pthread_t threads[READERS];
    struct es_segment *segment;
    struct esi_writer writer;
    uint64_t written;
    char run[64];

    segment = fixture_segment(fixture_run(test, run), 0);
    fixture_element(segment, "0.0/ring", threshold, &writer);
    for (int i = 0; i < READERS; i++) {
        readers[i].run = run;
        readers[i].batch = batches[i];
        assert_int_equal(pthread_create(&threads[i], NULL, read_along, &readers[i]), 0);
    }
    written = write_for_readers(&writer, readers, &random);
    esi_segment_set_state(segment, ES_SEGMENT_FINALIZED);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    esi_segment_destroy(segment);
    check_readers(readers, written);
}

static void threads_never_see_a_torn_tuple_in_a_tiny_ring(void **state)
{
    (void)state;
    with_threads("ring-tiny", 3);
}

static void threads_never_see_a_torn_tuple_in_a_usual_ring(void **state)
{
    (void)state;
    with_threads("ring-usual", 4095);
}

static pid_t fork_reader(struct reader *reader)
{
    pid_t pid;

    fflush(stdout);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        read_along(reader);
        _exit(0);
    }
    return pid;
}

static void processes_never_see_a_torn_tuple(void **state)
{
    uint64_t random = random_seed();
    size_t bytes = READERS * sizeof(struct reader);
    struct reader *readers =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[READERS];
    struct es_segment *segment;
    struct esi_writer writer;
    uint64_t written;
    char run[64];

    (void)state;
    assert_true(readers != MAP_FAILED);
    segment = fixture_segment(fixture_run("ring-processes", run), 0);
    fixture_element(segment, "0.0/ring", 255, &writer);
    for (int i = 0; i < READERS; i++) {
        readers[i].run = run;
        readers[i].batch = batches[i];
        pids[i] = fork_reader(&readers[i]);
    }
    written = write_for_readers(&writer, readers, &random);
    esi_segment_set_state(segment, ES_SEGMENT_FINALIZED);
    for (int i = 0; i < READERS; i++) {
        int status;

        waitpid(pids[i], &status, 0);
        assert_int_equal(status, 0);
    }
    esi_segment_destroy(segment);
    check_readers(readers, written);
    munmap(readers, bytes);
}

SUITE(test_ring)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_never_see_a_torn_tuple_in_a_tiny_ring),
        cmocka_unit_test(threads_never_see_a_torn_tuple_in_a_usual_ring),
        cmocka_unit_test(processes_never_see_a_torn_tuple),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
