/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A sorted scope gives every tuple once and in order, however the elements' tuples
 * follow each other: one by one, in long runs, or both in turn. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/scopes/made_scope.h"
#include "tests/suites.h"

enum { ELEMENTS = 20, CASES = 40, ROUNDS = 12, RUNS = 30, THRESHOLD = 60000 };

static uint64_t seed;

struct sorted {
    struct made_scope *made;
    struct esi_writer *writers[ELEMENTS];
    unsigned count;
    int written[ELEMENTS];
    uint64_t ticks; /* of the newest tuple */
    uint64_t round; /* of the first tuple of this round */
    /* What has been read. */
    int next[ELEMENTS];
    uint64_t keys_ns[ELEMENTS]; /* as sort.c defines them */
    uint64_t last_ns;
};

static void open_sorted(struct sorted *sorted, struct made_scope *made)
{
    struct es_segment *segment = made_run_add_rank(&made->made, 0, 1);
    struct es_scope_config config;
    char name[16];

    *sorted = (struct sorted){.made = made, .count = 1 + random_below(&seed, ELEMENTS)};
    for (unsigned i = 0; i < sorted->count; i++) {
        snprintf(name, sizeof name, "e%u", i);
        sorted->writers[i] = made_run_add_element(&made->made, segment, 0, 0, name,
                                                  1u << ES_CLASS_SEND, THRESHOLD);
    }
    es_scope_config_init(&config);
    config.sorting = random_below(&seed, 2) ? ES_SORTING_STOP : ES_SORTING_START;
    config.window_ns = random_below(&seed, 2) ? 0 : 2000000;
    config.max = random_below(&seed, 3) ? 1 + random_below(&seed, 500) : 1000000;
    made_scope_open(made, &config);
    /* Some of the tuples are too new for a window. */
    sorted->ticks = made_ticks(&made->made, 1000000 * (uint64_t)random_below(&seed, 4));
}

/* Some are late, and then count as the element's previous one. */
static void write_run(struct sorted *sorted, unsigned index, unsigned length)
{
    for (unsigned i = 0; i < length; i++) {
        uint64_t back = random_below(&seed, 20) ? 0 : random_below(&seed, 200);
        uint64_t span = (sorted->ticks += random_below(&seed, 3)) - sorted->round;
        uint64_t time = sorted->round + (back < span ? span - back : 0);
        struct es_tuple tuple = made_tuple("MPI_Send", time, time);

        tuple.tag = sorted->written[index]++;
        esi_writer_write(sorted->writers[index], &tuple);
    }
}

static void write_round(struct sorted *sorted)
{
    static const unsigned lengths[] = {1, 5, 30, 150};
    unsigned most = lengths[random_below(&seed, 4)];

    sorted->round = ++sorted->ticks;
    for (int run = 0; run < RUNS; run++)
        write_run(sorted, random_below(&seed, sorted->count),
                  1 + random_below(&seed, most));
}

static void check_tuple(struct sorted *sorted,
                        const struct es_tuple *tuple,
                        const struct es_mark *mark)
{
    const struct es_origin *origin = es_scope_origin(sorted->made->scope, mark->origin);
    uint64_t *key_ns = &sorted->keys_ns[mark->origin];
    uint64_t time_ns = es_origin_run_ns(origin, tuple->stop, NULL);

    assert_int_equal(tuple->tag, sorted->next[mark->origin]);
    assert_int_equal(mark->position, sorted->next[mark->origin]);
    sorted->next[mark->origin]++;
    *key_ns = time_ns > *key_ns ? time_ns : *key_ns;
    assert_true(*key_ns >= sorted->last_ns);
    sorted->last_ns = *key_ns;
}

static size_t read_batch(struct sorted *sorted, unsigned flags)
{
    const struct es_batch *batch = made_scope_pull(sorted->made, flags);

    assert_int_equal(batch->report_count, 0);
    assert_true(batch->count <= es_scope_config(sorted->made->scope)->max);
    for (size_t i = 0; i < batch->count; i++)
        check_tuple(sorted, &batch->tuples[i], &batch->marks[i]);
    return batch->count;
}

static void read_sorted(struct made_scope *made)
{
    struct sorted sorted;

    open_sorted(&sorted, made);
    for (int round = 0; round < ROUNDS; round++) {
        write_round(&sorted);
        for (unsigned pulls = random_below(&seed, 4); pulls > 0; pulls--)
            read_batch(&sorted, 0);
    }
    while (read_batch(&sorted, ES_PULL_DRAIN) > 0)
        ;
    for (unsigned i = 0; i < sorted.count; i++)
        assert_int_equal(sorted.next[i], sorted.written[i]);
}

static void all_come_once_and_in_order(void **state)
{
    (void)state;
    seed = random_seed();
    for (int i = 0; i < CASES; i++) {
        void *made;

        made_scope_set_up(&made);
        read_sorted(made);
        made_scope_tear_down(&made);
    }
}

/* Each pull gives them anew, but completed ones come as well. */
static void operations_under_way_are_within_the_limit(void **state)
{
    enum { WRITERS = 4, EACH = 5 };
    struct made_scope *made = *state;
    struct es_segment *segment = made_run_add_rank(&made->made, 0, 1);
    struct es_tuple tuple = made_tuple("MPI_Send", 1, 10);
    struct es_tuple open = made_tuple("MPI_Send", 20, 0);
    struct es_scope_config config;
    size_t completed = 0;
    char name[16];

    for (int i = 0; i < WRITERS; i++) {
        struct esi_writer *writer;

        snprintf(name, sizeof name, "e%d", i);
        writer = made_run_add_element(&made->made, segment, 0, 0, name,
                                      1u << ES_CLASS_SEND, 100);
        for (int j = 0; j < EACH; j++)
            esi_writer_write(writer, &tuple);
        esi_writer_open(writer, &open);
    }
    es_scope_config_init(&config);
    config.sorting = ES_SORTING_STOP;
    config.window_ns = 0;
    config.open = true;
    config.max = WRITERS - 1;
    made_scope_open(made, &config);
    for (int i = 0; i < WRITERS * EACH; i++) {
        const struct es_batch *batch = made_scope_pull(made, 0);

        assert_true(batch->count <= config.max);
        for (size_t j = 0; j < batch->count; j++)
            completed += !es_batch_is_open(batch, j);
    }
    assert_int_equal(completed, WRITERS * EACH);
}

SUITE(test_sorted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_once_and_in_order),
        cmocka_unit_test_setup_teardown(operations_under_way_are_within_the_limit,
                                        made_scope_set_up, made_scope_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
