/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Scopes deliver what was written: everything once and in order, or only the latest. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/scope.h"
#include "scopes/stage_node.h"
#include "tests/random.h"
#include "tests/scopes/made_scope.h"
#include "tests/suites.h"
#include "tuplespace/layout.h"
#include "tuplespace/segment.h"

#define POINT_TO_POINT                                                                 \
    (1u << ES_CLASS_SEND | 1u << ES_CLASS_RECEIVE | 1u << ES_CLASS_COMPLETION)
#define COLLECTIVE (1u << ES_CLASS_COLLECTIVE | 1u << ES_CLASS_COMMUNICATOR)

/* Writes one completed operation with this tag. */
static void write_numbered(struct esi_writer *writer, int number)
{
    struct es_tuple tuple =
        made_tuple("MPI_Send", (uint64_t)number * 10 + 1, (uint64_t)number * 10 + 5);

    tuple.tag = number;
    esi_writer_write(writer, &tuple);
}

/* Adds an element of a single rank. */
static struct esi_writer *add_writer(struct made_scope *fixture, uint32_t threshold)
{
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);

    return made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT,
                                threshold);
}

/* Opens a scope of all elements. */
static void open_all(struct made_scope *fixture)
{
    struct es_scope_config config;

    es_scope_config_init(&config);
    made_scope_open(fixture, &config);
}

static void every_tuple_comes_once_and_in_order(void **state)
{
    struct made_scope *fixture = *state;
    struct esi_writer *writer = add_writer(fixture, 100);
    const struct es_batch *batch;

    for (int i = 0; i < 10; i++)
        write_numbered(writer, i);
    open_all(fixture);
    batch = made_scope_pull(fixture, 0);
    assert_int_equal(batch->count, 10);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(batch->tuples[i].tag, i);
        assert_int_equal(batch->marks[i].position, i);
    }
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
    write_numbered(writer, 10);
    batch = made_scope_pull(fixture, 0);
    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->tuples[0].tag, 10);
}

static void a_pull_that_was_not_used_is_given_again(void **state)
{
    struct made_scope *fixture = *state;
    struct esi_writer *writer = add_writer(fixture, 100);
    const struct es_batch *batch;

    write_numbered(writer, 0);
    open_all(fixture);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 1);
    write_numbered(writer, 1);
    batch = made_scope_pull(fixture, ES_PULL_REPEAT);
    assert_int_equal(batch->count, 2);
    assert_int_equal(batch->tuples[0].tag, 0);
    assert_int_equal(batch->tuples[1].tag, 1);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
}

/* The repetition may reach other elements than the pull before did: tuples that were
 * not used must be delivered again, and used ones must not. */
static void repetition_under_a_limit_loses_and_repeats_nothing(void **state)
{
    enum { ELEMENTS = 3, ROUNDS = 2000 };
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    static const char *const names[ELEMENTS] = {"a", "b", "c"};
    struct esi_writer *writers[ELEMENTS];
    struct es_scope_config config;
    int written[ELEMENTS] = {0};
    int used[ELEMENTS] = {0};
    uint64_t random = 12345;
    bool repeat = false;

    for (int i = 0; i < ELEMENTS; i++)
        writers[i] = made_run_add_element(&fixture->made, segment, 0, 0, names[i],
                                          POINT_TO_POINT, 100000);
    es_scope_config_init(&config);
    config.max = 7;
    made_scope_open(fixture, &config);
    for (int round = 0; round < ROUNDS || used[0] + used[1] + used[2] <
                                              written[0] + written[1] + written[2];
         round++) {
        const struct es_batch *batch;

        for (int i = 0; i < ELEMENTS && round < ROUNDS; i++)
            for (unsigned more = random_below(&random, 6); more > 0; more--)
                write_numbered(writers[i], written[i]++);
        batch = made_scope_pull(fixture, repeat ? ES_PULL_REPEAT : 0);
        assert_true(batch->count <= 7);
        repeat = random_below(&random, 3) == 0;
        for (size_t i = 0; i < batch->count && !repeat; i++)
            assert_int_equal(batch->tuples[i].tag, used[batch->marks[i].origin]++);
        assert_true(round < 100 * ROUNDS);
    }
    for (int i = 0; i < ELEMENTS; i++)
        assert_int_equal(used[i], written[i]);
}

static void overwritten_tuples_are_counted_as_lost(void **state)
{
    struct made_scope *fixture = *state;
    struct esi_writer *writer = add_writer(fixture, 15);
    struct es_scope_cost cost;
    const struct es_batch *batch;

    write_numbered(writer, 0);
    open_all(fixture);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 1);
    for (int i = 1; i <= 100; i++)
        write_numbered(writer, i);
    batch = made_scope_pull(fixture, 0);
    assert_int_equal(batch->report_count, 1);
    assert_int_equal(batch->count + batch->reports[0].lost, 100);
    assert_int_equal(batch->reports[0].head, 101);
    for (size_t i = 0; i < batch->count; i++)
        assert_int_equal(batch->marks[i].position, batch->tuples[i].tag);
    assert_int_equal(batch->tuples[batch->count - 1].tag, 100);
    es_scope_cost(fixture->scope, &cost);
    assert_int_equal(cost.lost, batch->reports[0].lost);
    /* A repetition reports the loss again, since the batch was not used. */
    batch = made_scope_pull(fixture, ES_PULL_REPEAT);
    assert_int_equal(batch->count + batch->reports[0].lost, 100);
    assert_int_equal(made_scope_pull(fixture, 0)->report_count, 0);
}

static void the_latest_of_each_thread_and_its_open_operation_are_given(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *first =
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100);
    struct esi_writer *second = made_run_add_element(&fixture->made, segment, 0, 0,
                                                     "collective", COLLECTIVE, 100);
    struct esi_writer *other =
        made_run_add_element(&fixture->made, segment, 0, 1, "p2p", POINT_TO_POINT, 100);
    struct es_tuple barrier = made_tuple("MPI_Barrier", 100, 110);
    struct es_tuple open = made_tuple("MPI_Recv", 120, 0);
    struct es_scope_config config;
    const struct es_batch *batch;

    write_numbered(first, 1);
    esi_writer_write(second, &barrier);
    esi_writer_open(first, &open);
    write_numbered(other, 3);
    esi_writer_count_poll(other);
    es_scope_config_init(&config);
    config.take = ES_TAKE_LATEST_OF_THREAD;
    config.open = true;
    config.counters = true;
    made_scope_open(fixture, &config);
    batch = made_scope_pull(fixture, 0);
    assert_int_equal(batch->count, 3);
    assert_int_equal(batch->tuples[0].operation, barrier.operation);
    assert_true(es_batch_is_open(batch, 1));
    assert_int_equal(batch->tuples[1].start, 120);
    assert_int_equal(batch->tuples[2].tag, 3);
    assert_int_equal(batch->report_count, 3);
    assert_int_equal(batch->reports[2].polls, 1);
    /* The latest tuples are delivered again if there are no newer ones. */
    assert_int_equal(made_scope_pull(fixture, 0)->count, 3);
}

static void add_tuples_of_element(const struct es_stage *stage, int depth, void *data)
{
    uint64_t *sum = data;
    struct es_stage_cost cost;

    (void)depth;
    es_stage_cost(stage, &cost);
    *sum += stage->child_count == 0 ? cost.tuples : 0;
}

/* More elements than are read at once; some have no tuple for a long time. */
static void the_latest_of_a_thread_is_found_among_many_elements(void **state)
{
    enum { ELEMENTS = 100, ROUNDS = 200 };
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writers[ELEMENTS];
    int written[ELEMENTS] = {0};
    struct es_scope_config config;
    uint64_t read = 0, wanted = 0;
    uint64_t random = 4321;
    char name[16];

    for (int i = 0; i < ELEMENTS; i++) {
        snprintf(name, sizeof name, "e%d", i);
        writers[i] = made_run_add_element(&fixture->made, segment, 0, 0, name,
                                          POINT_TO_POINT, 15);
    }
    es_scope_config_init(&config);
    config.take = ES_TAKE_LATEST_OF_THREAD;
    made_scope_open(fixture, &config);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
    for (int round = 1; round <= ROUNDS; round++) {
        unsigned last = random_below(&random, ELEMENTS);
        const struct es_batch *batch;

        write_numbered(writers[last], round);
        written[last]++;
        batch = made_scope_pull(fixture, 0);
        assert_int_equal(batch->count, 1);
        assert_int_equal(batch->tuples[0].tag, round);
        assert_int_equal(batch->marks[0].position, written[last] - 1);
        for (int i = 0; i < ELEMENTS; i++)
            wanted += written[i] > 0;
    }
    es_scope_foreach_stage(fixture->scope, add_tuples_of_element, &read);
    assert_int_equal(read, wanted);
}

static void elements_that_appear_join_at_refresh(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 2);
    struct esi_writer *writer =
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100);
    const struct es_batch *batch;

    write_numbered(writer, 0);
    open_all(fixture);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 1);
    assert_int_equal(es_scope_refresh(fixture->scope), 0);
    segment = made_run_add_rank(&fixture->made, 1, 2);
    write_numbered(
        made_run_add_element(&fixture->made, segment, 1, 0, "p2p", POINT_TO_POINT, 100),
        7);
    write_numbered(writer, 1);
    assert_int_equal(es_scope_refresh(fixture->scope), 1);
    assert_int_equal(es_scope_origin_count(fixture->scope), 2);
    batch = made_scope_pull(fixture, 0);
    assert_int_equal(batch->count, 2);
    assert_int_equal(batch->tuples[0].tag, 1);
    assert_int_equal(batch->tuples[1].tag, 7);
}

static void a_view_selects_classes_operations_and_communicators(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer =
        made_run_add_element(&fixture->made, segment, 0, 0, "all", ES_CLASSES_ALL, 100);
    static const struct {
        uint32_t classes;
        const char *operation;
        const char *communicator;
        const char *filter;
        size_t count;
    } cases[] = {
        {0, NULL, NULL, NULL, 4},
        {1u << ES_CLASS_SEND, NULL, NULL, NULL, 2},
        {1u << ES_CLASS_SEND | 1u << ES_CLASS_COLLECTIVE, NULL, NULL, NULL, 3},
        {0, "MPI_Recv", NULL, NULL, 1},
        {0, NULL, "MPI_COMM_WORLD", NULL, 3},
        {0, NULL, "elsewhere", NULL, 0},
        {0, NULL, NULL, "tag >= 5", 2},
        {1u << ES_CLASS_SEND, NULL, "MPI_COMM_WORLD", "tag == 5", 1},
    };
    struct es_tuple tuple = made_tuple("MPI_Send", 1, 2);

    esi_writer_write(writer, &tuple);
    tuple.tag = 5;
    esi_writer_write(writer, &tuple);
    tuple = made_tuple("MPI_Barrier", 3, 4);
    esi_writer_write(writer, &tuple);
    tuple = made_tuple("MPI_Recv", 5, 6);
    tuple.tag = 9;
    tuple.communicator = ES_COMMUNICATOR_NONE;
    esi_writer_write(writer, &tuple);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct es_scope_config config;

        es_scope_config_init(&config);
        config.view.selection.classes = cases[i].classes;
        config.view.operation = cases[i].operation;
        config.view.communicator = cases[i].communicator;
        config.view.filter = cases[i].filter;
        made_scope_open(fixture, &config);
        assert_int_equal(made_scope_pull(fixture, 0)->count, cases[i].count);
        es_scope_close(fixture->scope);
        fixture->scope = NULL;
        es_run_close(fixture->run);
        fixture->run = NULL;
    }
}

static void a_view_that_cannot_be_understood_is_refused_with_words(void **state)
{
    struct made_scope *fixture = *state;
    struct es_scope_config config;
    struct es_error error = {.text = ""};

    made_run_add_rank(&fixture->made, 0, 1);
    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    es_scope_config_init(&config);
    config.view.filter = "tag == 1 && byts > 3";
    assert_int_equal(es_scope_open(fixture->run, &config, &error, &fixture->scope),
                     -EINVAL);
    assert_int_equal(error.column, 13);
    assert_non_null(strstr(error.text, "bytes"));
    es_error_clear(&error);
    config.view.filter = NULL;
    config.view.operation = "MPI_Sent";
    assert_int_equal(es_scope_open(fixture->run, &config, &error, &fixture->scope),
                     -EINVAL);
    assert_non_null(strstr(error.text, "MPI_Send"));
    es_error_clear(&error);
    config.view.operation = NULL;
    config.view.selection.ranks = "3-x";
    assert_int_equal(es_scope_open(fixture->run, &config, &error, &fixture->scope),
                     -EINVAL);
    assert_true(error.text[0] != '\0');
}

static void a_scope_goes_on_when_its_elements_are_removed(void **state)
{
    struct made_scope *fixture = *state;
    struct esi_writer *writer = add_writer(fixture, 100);

    open_all(fixture);
    write_numbered(writer, 1);
    assert_false(es_scope_has_vanished(fixture->scope));
    assert_int_equal(es_run_remove(fixture->made.name, true), 1);
    assert_true(es_scope_has_vanished(fixture->scope));
    assert_true(es_scope_refresh(fixture->scope) >= 0);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 1);
}

/* --- Sorting ----------------------------------------------------------------- */

static void sorting_merges_elements_of_several_hosts_by_time(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *first = made_run_add_rank_on(&fixture->made, "a", 0, 2);
    struct es_segment *second = made_run_add_rank_on(&fixture->made, "b", 1, 2);
    struct esi_writer *writers[4];
    struct es_scope_config config;
    const struct es_batch *batch;
    uint64_t base;

    /* On a busy machine the clocks of two segments may differ by
     * more than the events do. */
    esi_segment_layout(second)->clock = esi_segment_layout(first)->clock;
    writers[0] =
        made_run_add_element(&fixture->made, first, 0, 0, "p2p", POINT_TO_POINT, 5000);
    writers[1] = made_run_add_element(&fixture->made, first, 0, 0, "collective",
                                      POINT_TO_POINT, 5000);
    writers[2] =
        made_run_add_element(&fixture->made, second, 1, 0, "p2p", POINT_TO_POINT, 5000);
    writers[3] =
        made_run_add_element(&fixture->made, second, 1, 1, "p2p", POINT_TO_POINT, 5000);
    base = made_ticks(&fixture->made, UINT64_C(2000000000));
    /* Far more than fits into one pull or one lane, with at least a
     * microsecond in between. */
    for (int i = 0; i < 12000; i++) {
        uint64_t at = base + (uint64_t)i * 10000;
        struct es_tuple tuple = made_tuple("MPI_Send", at, at + 5000);

        tuple.tag = i;
        esi_writer_write(writers[i % 7 % 4], &tuple);
    }
    es_scope_config_init(&config);
    config.sorting = ES_SORTING_STOP;
    config.window_ns = 1000000;
    config.max = 1000;
    made_scope_open(fixture, &config);
    for (int next = 0; next < 12000;) {
        batch = made_scope_pull(fixture, next % 3 == 0 && next ? ES_PULL_REPEAT : 0);
        if (next % 3 == 0 && next) {
            /* The last thousand are repeated, then follow new ones or none. */
            assert_true(batch->count >= 1000);
            assert_int_equal(batch->tuples[0].tag, next - 1000);
            batch = made_scope_pull(fixture, 0);
        }
        assert_true(batch->count > 0);
        for (size_t i = 0; i < batch->count; i++, next++)
            assert_int_equal(batch->tuples[i].tag, next);
    }
    assert_int_equal(made_scope_pull(fixture, ES_PULL_DRAIN)->count, 0);
}

static void sorting_keeps_the_order_of_each_element(void **state)
{
    static const struct {
        size_t element;
        uint64_t stop;
    } rows[] = {{0, 3000}, {1, 2000}, {0, 1000}, {0, 4000}, {1, 3500}};
    static const int order[] = {1, 0, 2, 4, 3};
    enum { COUNT = sizeof rows / sizeof *rows };
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writers[] = {
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100),
        made_run_add_element(&fixture->made, segment, 0, 1, "p2p", POINT_TO_POINT,
                             100)};
    uint64_t base = made_ticks(&fixture->made, UINT64_C(2000000000));
    struct es_scope_config config;
    const struct es_batch *batch;

    for (int i = 0; i < COUNT; i++) {
        struct es_tuple tuple =
            made_tuple("MPI_Send", base, base + rows[i].stop * 1000);

        tuple.tag = i;
        esi_writer_write(writers[rows[i].element], &tuple);
    }
    es_scope_config_init(&config);
    config.sorting = ES_SORTING_STOP;
    made_scope_open(fixture, &config);
    batch = made_scope_pull(fixture, ES_PULL_DRAIN);
    assert_int_equal(batch->count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(batch->tuples[i].tag, order[i]);
}

static void sorting_keeps_back_what_may_still_be_preceded(void **state)
{
    struct made_scope *fixture = *state;
    struct esi_writer *writer = add_writer(fixture, 100);
    struct es_scope_config config;
    struct es_tuple tuple;

    es_scope_config_init(&config);
    config.sorting = ES_SORTING_STOP;
    config.window_ns = UINT64_C(60000000000);
    made_scope_open(fixture, &config);
    tuple = made_tuple("MPI_Send", made_ticks(&fixture->made, 2000),
                       made_ticks(&fixture->made, 1000));
    esi_writer_write(writer, &tuple);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
    assert_int_equal(made_scope_pull(fixture, ES_PULL_DRAIN)->count, 1);
}

static void what_is_kept_back_survives_a_refresh(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct esi_writer *writer =
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 100);
    struct es_scope_config config;
    struct es_tuple tuple;
    const struct es_batch *batch;

    es_scope_config_init(&config);
    config.sorting = ES_SORTING_STOP;
    config.window_ns = UINT64_C(1000000000);
    made_scope_open(fixture, &config);
    for (int i = 0; i < 10; i++) {
        /* The first five are outside the window and are delivered. */
        uint64_t at = made_ticks(&fixture->made, i < 5 ? UINT64_C(3000000000) : 1000);

        tuple = made_tuple("MPI_Send", at, at + (uint64_t)i + 1);
        tuple.tag = i;
        esi_writer_write(writer, &tuple);
    }
    batch = made_scope_pull(fixture, 0);
    assert_int_equal(batch->count, 5);
    made_run_add_element(&fixture->made, segment, 0, 1, "p2p", POINT_TO_POINT, 100);
    assert_int_equal(es_scope_refresh(fixture->scope), 1);
    /* A repetition delivers them again; the others are still held. */
    batch = made_scope_pull(fixture, ES_PULL_REPEAT);
    assert_int_equal(batch->count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(batch->tuples[i].tag, i);
    batch = made_scope_pull(fixture, ES_PULL_DRAIN);
    assert_int_equal(batch->count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(batch->tuples[i].tag, 5 + i);
    assert_int_equal(made_scope_pull(fixture, ES_PULL_DRAIN)->count, 0);
}

/* --- Under load -------------------------------------------------------------- */

struct load {
    struct esi_writer *writer;
    int count;
};

static void *write_load(void *data)
{
    const struct load *load = data;

    for (int i = 0; i < load->count; i++)
        write_numbered(load->writer, i);
    return NULL;
}

/* Positions and losses account for every tuple written while writers lap the reader. */
static void the_stream_is_complete_while_writers_lap_the_reader(void **state)
{
    enum { WRITERS = 2, TUPLES = 400000 };
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct load loads[WRITERS];
    pthread_t threads[WRITERS];
    uint64_t next[WRITERS] = {0};
    uint64_t lost[WRITERS] = {0};
    uint64_t accounted = 0;
    struct es_scope_config config;

    for (int i = 0; i < WRITERS; i++)
        loads[i] = (struct load){made_run_add_element(&fixture->made, segment, 0, i,
                                                      "p2p", POINT_TO_POINT, 200),
                                 TUPLES};
    es_scope_config_init(&config);
    config.max = 333;
    made_scope_open(fixture, &config);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_load, &loads[i]), 0);
    while (accounted < (uint64_t)WRITERS * TUPLES) {
        const struct es_batch *batch = made_scope_pull(fixture, 0);

        for (size_t i = 0; i < batch->report_count; i++)
            lost[batch->reports[i].origin] += batch->reports[i].lost;
        for (size_t i = 0; i < batch->count; i++) {
            uint32_t origin = batch->marks[i].origin;

            assert_int_equal(batch->marks[i].position, batch->tuples[i].tag);
            assert_true(batch->marks[i].position >= next[origin]);
            next[origin] = batch->marks[i].position + 1;
            accounted++;
        }
        for (size_t i = 0; i < batch->report_count; i++)
            accounted += batch->reports[i].lost;
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(accounted, (uint64_t)WRITERS * TUPLES);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(next[i], TUPLES);
    assert_int_equal(made_scope_pull(fixture, 0)->count, 0);
}

static void nothing_of_blocking_elements_is_lost(void **state)
{
    enum { TUPLES = 20000 };
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct load load = {
        made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 15),
        TUPLES};
    struct es_scope_config config;
    struct es_scope_cost cost;
    pthread_t thread;

    assert_int_equal(es_run_open(fixture->made.name, NULL, &fixture->run), 0);
    es_element_set_block(es_segment_view_element(es_run_segment(fixture->run, 0), 0),
                         true);
    es_run_close(fixture->run);
    es_scope_config_init(&config);
    config.lossless = true;
    made_scope_open(fixture, &config);
    assert_int_equal(pthread_create(&thread, NULL, write_load, &load), 0);
    for (int next = 0; next < TUPLES;) {
        const struct es_batch *batch = made_scope_pull(fixture, 0);

        for (size_t i = 0; i < batch->count; i++, next++)
            assert_int_equal(batch->tuples[i].tag, next);
    }
    pthread_join(thread, NULL);
    es_scope_cost(fixture->scope, &cost);
    assert_int_equal(cost.lost, 0);
}

static bool no_tree_opens;
int __real_esi_stage_node_open(const struct esi_stage_node *,
                               const char *,
                               const struct es_stage_context *,
                               struct es_error *,
                               struct es_stage **);
int __wrap_esi_stage_node_open(const struct esi_stage_node *,
                               const char *,
                               const struct es_stage_context *,
                               struct es_error *,
                               struct es_stage **);

int __wrap_esi_stage_node_open(const struct esi_stage_node *node,
                               const char *here,
                               const struct es_stage_context *context,
                               struct es_error *error,
                               struct es_stage **ret_stage)
{
    return no_tree_opens
               ? -ENOMEM
               : __real_esi_stage_node_open(node, here, context, error, ret_stage);
}

static void no_writer_waits_for_a_scope_that_could_not_take_it(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 2);
    struct es_scope_config config;
    struct es_element_view *late;

    made_run_add_element(&fixture->made, segment, 0, 0, "p2p", POINT_TO_POINT, 15);
    es_scope_config_init(&config);
    config.lossless = true;
    made_scope_open(fixture, &config);
    segment = made_run_add_rank(&fixture->made, 1, 2);
    made_run_add_element(&fixture->made, segment, 1, 0, "p2p", POINT_TO_POINT, 15);
    assert_true(es_run_refresh(fixture->run) >= 0);
    late = es_segment_view_element(es_run_segment(fixture->run, 1), 0);
    es_element_set_block(late, true);
    no_tree_opens = true;
    assert_int_equal(es_scope_refresh(fixture->scope), -ENOMEM);
    no_tree_opens = false;
    assert_int_equal(es_scope_origin_count(fixture->scope), 1);
    /* No reader is registered, so this one can be. */
    assert_int_equal(es_element_register_reader(late, 0), 0);
    es_element_unregister_reader(late);
    assert_int_equal(es_scope_refresh(fixture->scope), 1);
    assert_int_equal(es_element_register_reader(late, 0), -EBUSY);
}

/* Opens and closes numbered operations until it is stopped. */
struct opener {
    struct esi_writer *writer;
    atomic_bool stop;
};

static void *open_and_close(void *data)
{
    struct opener *opener = data;

    for (int number = 0; !atomic_load(&opener->stop); number++) {
        struct es_tuple tuple = made_tuple("MPI_Send", 1, 0);

        tuple.tag = number;
        esi_writer_open(opener->writer, &tuple);
        esi_writer_close(opener->writer, 2);
    }
    return NULL;
}

/* The position of an operation under way belongs to the tuple that was read. */
static void an_open_tuple_has_the_position_at_which_it_is_published(void **state)
{
    struct made_scope *fixture = *state;
    struct es_segment *segment = made_run_add_rank(&fixture->made, 0, 1);
    struct opener opener = {.writer =
                                made_run_add_element(&fixture->made, segment, 0, 0,
                                                     "p2p", POINT_TO_POINT, 63)};
    struct es_scope_config config;
    pthread_t thread;
    unsigned seen = 0;

    es_scope_config_init(&config);
    config.take = ES_TAKE_LATEST;
    config.open = true;
    made_scope_open(fixture, &config);
    assert_int_equal(pthread_create(&thread, NULL, open_and_close, &opener), 0);
    for (int i = 0; i < 200000; i++) {
        const struct es_batch *batch = made_scope_pull(fixture, 0);

        for (size_t j = 0; j < batch->count; j++) {
            if (!es_batch_is_open(batch, j))
                continue;
            seen++;
            if (batch->marks[j].position != (uint64_t)batch->tuples[j].tag) {
                atomic_store(&opener.stop, true);
                pthread_join(thread, NULL);
                fail_msg("operation %d has position %llu", batch->tuples[j].tag,
                         (unsigned long long)batch->marks[j].position);
            }
        }
    }
    atomic_store(&opener.stop, true);
    pthread_join(thread, NULL);
    printf("# %u operations under way\n", seen);
}

SUITE(test_scope)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_tuple_has_the_position_at_which_it_is_published),
        cmocka_unit_test(every_tuple_comes_once_and_in_order),
        cmocka_unit_test(a_pull_that_was_not_used_is_given_again),
        cmocka_unit_test(repetition_under_a_limit_loses_and_repeats_nothing),
        cmocka_unit_test(overwritten_tuples_are_counted_as_lost),
        cmocka_unit_test(the_latest_of_each_thread_and_its_open_operation_are_given),
        cmocka_unit_test(the_latest_of_a_thread_is_found_among_many_elements),
        cmocka_unit_test(elements_that_appear_join_at_refresh),
        cmocka_unit_test(a_view_selects_classes_operations_and_communicators),
        cmocka_unit_test(a_view_that_cannot_be_understood_is_refused_with_words),
        cmocka_unit_test(a_scope_goes_on_when_its_elements_are_removed),
        cmocka_unit_test(sorting_merges_elements_of_several_hosts_by_time),
        cmocka_unit_test(sorting_keeps_the_order_of_each_element),
        cmocka_unit_test(sorting_keeps_back_what_may_still_be_preceded),
        cmocka_unit_test(what_is_kept_back_survives_a_refresh),
        cmocka_unit_test(the_stream_is_complete_while_writers_lap_the_reader),
        cmocka_unit_test(nothing_of_blocking_elements_is_lost),
        cmocka_unit_test(no_writer_waits_for_a_scope_that_could_not_take_it),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, made_scope_set_up,
                       made_scope_tear_down);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
