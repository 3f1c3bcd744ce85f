/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The stage tree-node gives each operation's results once, whatever happens to the
 * replies. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/suites.h"
#include "tests/wrappers/made_edges.h"
#include "tests/wrappers/source.h"
#include "wrappers/stages/stage.h"
#include "wrappers/stages/tree_node.h"

static struct es_clock clock_record = {.kind = ES_CLOCK_MONOTONIC,
                                       .frequency_hz = 1000000000};
static struct es_origin origin_items[MADE_KINDS] = {
    {.name = "c", .clock = &clock_record, .classes = 1u << ES_CLASS_CONTRIBUTE},
    {.name = "a", .clock = &clock_record, .classes = 1u << ES_CLASS_ARRIVAL},
    {.name = "d", .clock = &clock_record, .classes = 1u << ES_CLASS_DEPARTURE},
    {.name = "o", .clock = &clock_record, .classes = 1u << ES_CLASS_COLLECTIVE},
};
static struct es_origins origins = {.items = origin_items, .count = MADE_KINDS};
static const struct es_stage_context context = {.origins = &origins};

static struct made_edges made;

struct fixture {
    struct source sources[MADE_KINDS];
    struct es_stage *stage;
    struct consumer consumer;
    size_t published;
    size_t kinds; /* elements that are there */
    const char *batch;
    uint64_t random;
};

static void open_stage(struct fixture *fixture)
{
    struct es_stage *children[MADE_KINDS];
    struct es_stage *gather;

    for (size_t i = 0; i < fixture->kinds; i++)
        children[i] = source_open(&fixture->sources[i]);
    gather = stage_over("gather", children, fixture->kinds, &context, NULL);
    fixture->stage = stage_over("tree-node", &gather, 1, &context, "batch",
                                fixture->batch, "wait", "10us", NULL);
}

static void set_up(struct fixture *fixture, uint64_t seed, size_t overlap)
{
    *fixture =
        (struct fixture){.kinds = MADE_KINDS, .batch = "0", .random = seed * 7919 + 17};
    made_edges_make(&made, MADE_INSTANCES, overlap, &fixture->random);
    for (uint32_t i = 0; i < MADE_KINDS; i++)
        fixture->sources[i] =
            (struct source){.tuples = made.tuples[i], .origin = i, .asks = true};
    consumer_init(&fixture->consumer, 1000);
    fixture->consumer.pull.realtime_ns = 1000;
}

static void tear_down(struct fixture *fixture)
{
    for (size_t i = 0; i < fixture->kinds; i++)
        assert_int_equal(fixture->sources[i].broken_promises, 0);
    es_stage_close(fixture->stage);
    consumer_fini(&fixture->consumer);
}

/* Some more is recorded. */
static void publish(struct fixture *fixture, size_t most)
{
    size_t count = next_random(&fixture->random) % (most + 1);

    while (count-- > 0 && fixture->published < made.published)
        fixture->sources[made.order[fixture->published++]].count++;
    fixture->consumer.pull.realtime_ns += next_random(&fixture->random) % 2000;
}

/* --- What has come ---------------------------------------------------------------- */

static unsigned seen[MADE_INSTANCES][2];

static void note(const struct es_tuple *tuple, const struct es_mark *mark)
{
    struct made_instance *instance = made_edges_find(&made, tuple);
    size_t number = (size_t)(instance - made.instances);

    assert_non_null(instance);
    assert_true(esi_tree_node_is_result(tuple));
    assert_int_equal(mark->flags, ES_MARK_DERIVED);
    for (size_t i = 0; i < instance->result_count; i++)
        if (instance->results[i].operation == tuple->operation) {
            assert_memory_equal(&instance->results[i], tuple, sizeof *tuple);
            seen[number][i]++;
            return;
        }
    fail_msg("a result that is not to be expected");
}

static void note_batch(const struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    for (size_t i = 0; i < batch->count; i++)
        note(&batch->tuples[i], &batch->marks[i]);
}

static void each_came_once(void)
{
    for (size_t i = 0; i < made.instance_count; i++)
        for (size_t k = 0; k < made.instances[i].result_count; k++)
            assert_int_equal(seen[i][k], 1);
}

/* --- Tests ------------------------------------------------------------------------ */

static void pull_all(struct fixture *fixture, bool loses)
{
    bool arrived = true;
    unsigned quiet = 0;

    memset(seen, 0, sizeof seen);
    while (quiet < 3) {
        bool ended = fixture->published == made.published;

        publish(fixture, 40);
        fixture->consumer.pull.max = 1 + next_random(&fixture->random) % 30;
        if (ended)
            fixture->consumer.pull.realtime_ns += UINT64_C(20000000);
        assert_int_equal(consumer_pull(&fixture->consumer, fixture->stage, arrived), 0);
        assert_true(fixture->consumer.batch.count <= fixture->consumer.pull.max);
        arrived = !loses || next_random(&fixture->random) % 3;
        if (arrived)
            note_batch(fixture);
        quiet = ended && arrived && fixture->consumer.batch.count == 0 ? quiet + 1 : 0;
    }
}

static void results_are_those_of_a_simple_reference(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture fixture;

        set_up(&fixture, seed, seed % 2 ? 1 : 2 + seed % 12);
        if (seed % 3 == 0)
            fixture.batch = "25";
        open_stage(&fixture);
        pull_all(&fixture, false);
        each_came_once();
        tear_down(&fixture);
    }
}

static void lost_replies_lose_and_repeat_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture fixture;

        set_up(&fixture, seed + 1000, seed % 2 ? 1 : 2 + seed % 12);
        if (seed % 3 == 0)
            fixture.batch = "25";
        open_stage(&fixture);
        pull_all(&fixture, true);
        each_came_once();
        tear_down(&fixture);
    }
}

/* Without the operations' own tuples later operations are evidence, and time. */
static void results_need_no_tuple_of_mpi_itself(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct fixture fixture;

        set_up(&fixture, seed + 2000, 1);
        fixture.kinds = MADE_COLLECTIVE;
        fixture.sources[MADE_COLLECTIVE].tuples = NULL;
        open_stage(&fixture);
        memset(seen, 0, sizeof seen);
        for (unsigned i = 0; i < 2000; i++) {
            publish(&fixture, 40);
            /* Nothing is under way for long but at the end. */
            if (i > 1900)
                fixture.consumer.pull.realtime_ns += UINT64_C(1000000000);
            consumer_pull(&fixture.consumer, fixture.stage, true);
            note_batch(&fixture);
        }
        each_came_once();
        tear_down(&fixture);
    }
}

/* --- A stage that is lost with its connection ------------------------------------- */

static uint64_t restart[MADE_KINDS];
static bool given[MADE_KINDS][MADE_EDGES];

static void note_kept(void *data, const struct es_mark *mark)
{
    (void)data;
    if (mark->position < restart[mark->origin])
        restart[mark->origin] = mark->position;
}

/* What a remote stage knows of the part that it lost. */
static void find_restart(const struct fixture *fixture)
{
    for (size_t i = 0; i < MADE_KINDS; i++)
        restart[i] = fixture->sources[i].given;
    es_stage_foreach_kept(fixture->stage, note_kept, NULL);
}

static void reopen(struct fixture *fixture)
{
    es_stage_close(fixture->stage);
    for (size_t i = 0; i < MADE_KINDS; i++) {
        struct source *source = &fixture->sources[i];

        *source = (struct source){.tuples = source->tuples,
                                  .count = source->count,
                                  .origin = source->origin,
                                  .asks = true,
                                  .taken = restart[i],
                                  .given = restart[i]};
    }
    open_stage(fixture);
    fixture->consumer.pull.serial = fixture->consumer.pull.acknowledged = 0;
}

static void note_unless_given(const struct fixture *fixture)
{
    const struct es_batch *batch = &fixture->consumer.batch;

    for (size_t i = 0; i < batch->count; i++) {
        const struct es_mark *mark = &batch->marks[i];

        if (given[mark->origin][mark->position])
            continue;
        given[mark->origin][mark->position] = true;
        note(&batch->tuples[i], mark);
    }
}

static void what_comes_again_is_known_by_its_marks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct fixture fixture;
        unsigned quiet = 0;

        set_up(&fixture, seed + 3000, 1 + seed % 14);
        if (seed % 3 == 0)
            fixture.batch = "25";
        open_stage(&fixture);
        memset(seen, 0, sizeof seen);
        memset(given, 0, sizeof given);
        while (quiet < 5) {
            bool ended = fixture.published == made.published;

            publish(&fixture, 40);
            fixture.consumer.pull.max = 2 + next_random(&fixture.random) % 60;
            if (ended)
                fixture.consumer.pull.realtime_ns += UINT64_C(20000000);
            assert_int_equal(consumer_pull(&fixture.consumer, fixture.stage, true), 0);
            note_unless_given(&fixture);
            find_restart(&fixture);
            quiet = ended && fixture.consumer.batch.count == 0 ? quiet + 1 : 0;
            if (!ended && next_random(&fixture.random) % 6 == 0)
                reopen(&fixture);
        }
        each_came_once();
        /* And nothing is kept for good. */
        for (size_t i = 0; i < MADE_KINDS; i++)
            assert_int_equal(restart[i], made.counts[i]);
        tear_down(&fixture);
    }
}

/* --- Pieces ----------------------------------------------------------------------- */

/* Tuples of edges come as they are when their tree is replaced: each once. */
static void what_is_kept_is_given_up_as_it_is(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fixture fixture;
        size_t edges = 0, pieces = 0, results = 0;
        bool got[MADE_INSTANCES] = {false};

        set_up(&fixture, seed + 4000, 1 + seed % 14);
        open_stage(&fixture);
        while (fixture.published < made.published / 2)
            publish(&fixture, 10);
        fixture.consumer.pull.max = 100000;
        for (unsigned i = 0; i < 3; i++) {
            fixture.consumer.pull.drain = fixture.consumer.pull.kept_only = i == 2;
            consumer_pull(&fixture.consumer, fixture.stage, true);
            if (i == 2) /* sources know nothing of kept_only */
                for (size_t k = 0; k < MADE_KINDS; k++)
                    assert_int_equal(fixture.sources[k].given,
                                     fixture.sources[k].count);
            for (size_t k = 0; k < fixture.consumer.batch.count; k++) {
                const struct es_tuple *tuple = &fixture.consumer.batch.tuples[k];

                if (esi_tree_node_is_result(tuple)) {
                    got[made_edges_find(&made, tuple) - made.instances] = true;
                    results++;
                } else {
                    pieces++;
                    assert_int_equal(i, 2);
                }
            }
        }
        find_restart(&fixture);
        for (size_t i = 0; i < MADE_KINDS; i++)
            assert_int_equal(restart[i], fixture.sources[i].count);
        for (size_t k = 0; k < MADE_KINDS; k++)
            for (size_t i = 0; i < fixture.sources[k].count; i++) {
                const struct made_instance *instance =
                    made_edges_find(&made, &made.tuples[k][i]);

                edges += !got[instance - made.instances] && instance->children > 0;
            }
        assert_true(pieces >= edges);
        assert_true(results > 0);
        tear_down(&fixture);
    }
}

SUITE(test_tree_node)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_a_simple_reference),
        cmocka_unit_test(lost_replies_lose_and_repeat_nothing),
        cmocka_unit_test(results_need_no_tuple_of_mpi_itself),
        cmocka_unit_test(what_comes_again_is_known_by_its_marks),
        cmocka_unit_test(what_is_kept_is_given_up_as_it_is),
    };

    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
