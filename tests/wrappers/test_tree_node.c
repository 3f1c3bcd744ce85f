/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The stage tree-node delivers the results of each operation once, also
 * if the stage is lost. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"
#include "tests/wrappers/made_edges.h"
#include "tests/wrappers/source.h"
#include "wrappers/stages/stage.h"
#include "wrappers/stages/node_edges.h"

static struct es_clock clock_record = {.kind = ES_CLOCK_MONOTONIC,
                                       .frequency_hz = 1000000000};
static struct es_origin origin_items[MADE_KINDS] = {
    {.name = "c", .clock = &clock_record, .classes = 1u << ES_CLASS_CONTRIBUTE},
    {.name = "a", .clock = &clock_record, .classes = 1u << ES_CLASS_ARRIVAL},
    {.name = "d", .clock = &clock_record, .classes = 1u << ES_CLASS_DEPARTURE},
    {.name = "o", .clock = &clock_record, .classes = 1u << ES_CLASS_COLLECTIVE},
};
static struct es_origins origins = {.items = origin_items, .count = MADE_KINDS};
static struct esi_read_state place_items[MADE_KINDS];
static struct es_places places = {.items = place_items, .count = MADE_KINDS};
static const struct es_stage_context context = {.origins = &origins, .places = &places};

static struct made_edges made;

struct fixture {
    struct source sources[MADE_KINDS];
    struct es_stage *stage;
    struct consumer consumer;
    size_t published;
    size_t kinds; /* number of elements that exist */
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
    for (uint32_t i = 0; i < MADE_KINDS; i++) {
        place_items[i] = (struct esi_read_state){.kept = 0};
        fixture->sources[i] = (struct source){.tuples = made.tuples[i],
                                              .origin = i,
                                              .asks = true,
                                              .place = &place_items[i]};
    }
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

/* Makes up to `most` more tuples available. */
static void publish(struct fixture *fixture, size_t most)
{
    size_t count = random_next(&fixture->random) % (most + 1);

    while (count-- > 0 && fixture->published < made.published)
        fixture->sources[made.order[fixture->published++]].count++;
    fixture->consumer.pull.realtime_ns += random_next(&fixture->random) % 2000;
}

/* --- Received results ------------------------------------------------------------- */

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

static void reopen(struct fixture *fixture)
{
    es_stage_close(fixture->stage);
    esi_places_rewind(&places);
    for (size_t i = 0; i < MADE_KINDS; i++) {
        fixture->sources[i].given = place_items[i].delivered;
        fixture->sources[i].announcement.max = 0;
    }
    open_stage(fixture);
    fixture->consumer.pull.serial = 0;
}

/* Pulls with limits of at least `least` until nothing more arrives. */
static void pull_all(struct fixture *fixture, size_t least)
{
    unsigned quiet = 0;

    memset(seen, 0, sizeof seen);
    while (quiet < 3) {
        bool ended = fixture->published == made.published;

        publish(fixture, 40);
        fixture->consumer.pull.max = least + random_next(&fixture->random) % 30;
        if (ended)
            fixture->consumer.pull.realtime_ns += UINT64_C(20000000);
        assert_int_equal(consumer_pull(&fixture->consumer, fixture->stage), 0);
        assert_true(fixture->consumer.batch.count <= fixture->consumer.pull.max);
        note_batch(fixture);
        quiet = ended && fixture->consumer.batch.count == 0 ? quiet + 1 : 0;
    }
}

static void results_are_those_of_a_simple_reference(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct fixture fixture;

        printf("# seed %llu\n", (unsigned long long)seed);
        set_up(&fixture, seed, seed % 2 ? 1 : 2 + seed % 12);
        if (seed % 3 == 0)
            fixture.batch = "25";
        open_stage(&fixture);
        /* Overlapping operations are delivered together, or as individual tuples. */
        pull_all(&fixture, seed % 2 ? 2 : 1000);
        each_came_once();
        tear_down(&fixture);
    }
}

static unsigned taken[MADE_KINDS][MADE_EDGES];

/* With a limit too small for overlapping operations no tuple is lost, and individual
 * tuples of an element keep their order. */
static void a_small_limit_lets_pieces_go_up_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t next[MADE_KINDS] = {0};
        struct fixture fixture;
        unsigned quiet = 0;

        set_up(&fixture, seed + 5000, 2 + seed % 12);
        open_stage(&fixture);
        memset(taken, 0, sizeof taken);
        while (quiet < 5) {
            bool ended = fixture.published == made.published;

            publish(&fixture, 40);
            fixture.consumer.pull.max = 1 + random_next(&fixture.random) % 3;
            if (ended)
                fixture.consumer.pull.realtime_ns += UINT64_C(20000000);
            assert_int_equal(consumer_pull(&fixture.consumer, fixture.stage), 0);
            assert_true(fixture.consumer.batch.count <= fixture.consumer.pull.max);
            for (size_t i = 0; i < fixture.consumer.batch.count; i++) {
                const struct es_mark *mark = &fixture.consumer.batch.marks[i];

                if (mark->flags != 0)
                    continue;
                assert_true(mark->position >= next[mark->origin]);
                assert_int_equal(taken[mark->origin][mark->position]++, 0);
                next[mark->origin] = mark->position + 1;
            }
            esi_places_commit(&places);
            quiet = ended && fixture.consumer.batch.count == 0 ? quiet + 1 : 0;
            if (!ended && random_next(&fixture.random) % 6 == 0)
                reopen(&fixture);
        }
        for (size_t i = 0; i < MADE_KINDS; i++)
            assert_int_equal(place_items[i].delivered, made.counts[i]);
        tear_down(&fixture);
    }
}

/* Without the tuples of the operations themselves, later operations and time show that
 * an operation has ended. */
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
            /* Operations stay in progress for long only at the end. */
            if (i > 1900)
                fixture.consumer.pull.realtime_ns += UINT64_C(1000000000);
            consumer_pull(&fixture.consumer, fixture.stage);
            note_batch(&fixture);
        }
        each_came_once();
        tear_down(&fixture);
    }
}

/* --- A stage that is lost with its connection ------------------------------------- */

/* If the stage is lost, exactly the tuples that it keeps are read again. */
static void what_is_kept_is_a_suffix(void **state)
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
        while (quiet < 5) {
            bool ended = fixture.published == made.published;

            publish(&fixture, 40);
            if (ended)
                fixture.consumer.pull.realtime_ns += UINT64_C(20000000);
            assert_int_equal(consumer_pull(&fixture.consumer, fixture.stage), 0);
            note_batch(&fixture);
            esi_places_commit(&places);
            quiet = ended && fixture.consumer.batch.count == 0 ? quiet + 1 : 0;
            if (!ended && random_next(&fixture.random) % 6 == 0)
                reopen(&fixture);
        }
        each_came_once();
        /* In the end no tuple is kept. */
        for (size_t i = 0; i < MADE_KINDS; i++)
            assert_int_equal(place_items[i].delivered, made.counts[i]);
        tear_down(&fixture);
    }
}

/* --- Individual tuples ------------------------------------------------------------ */

/* After a while the stage delivers the tuples of an operation that does not end
 * unchanged, and with them the tuples that the operation has delayed. */
static void what_is_held_back_for_too_long_goes_up_in_pieces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fixture fixture;
        size_t left = 0;

        set_up(&fixture, seed + 4000, 1 + seed % 14);
        open_stage(&fixture);
        while (fixture.published < made.published / 2)
            publish(&fixture, 10);
        fixture.consumer.pull.max = 100000;
        for (unsigned i = 0; i < 6; i++) {
            assert_int_equal(consumer_pull(&fixture.consumer, fixture.stage), 0);
            fixture.consumer.pull.realtime_ns += UINT64_C(11000000000);
        }
        for (size_t i = 0; i < MADE_KINDS; i++)
            left += place_items[i].kept;
        assert_int_equal(left, 0);
        tear_down(&fixture);
    }
}

/* Adds an edge of an exchange with a partner. */
static void add_edge(struct esi_node_edges *table, uint16_t operation, int peer)
{
    struct es_tuple tuple = {.operation = operation,
                             .sequence = 7,
                             .peer = peer,
                             .tag = ES_OP_MPI_Allreduce,
                             .start = 1,
                             .stop = 2};
    struct es_mark mark = {.position = table->edge_count};

    assert_int_equal(esi_node_edges_reserve(table, 1), 0);
    esi_node_edges_add(table, &tuple, &mark, 0);
}

static enum esi_node_class classify(const struct esi_node_edges *table, bool now)
{
    struct esi_node_conditions conditions = {
        .now_ns = 1000000000, .patience_ns = UINT64_MAX / 2, .all = true, .now = now};

    return esi_node_edges_classify(table, &table->instances[0], &conditions);
}

/* A completed round does not show that it was the last one. */
static void an_exchange_is_complete_when_its_end_is_known(void **state)
{
    struct esi_node_edges table = {.wants_contributions = true};

    (void)state;
    add_edge(&table, ESI_NODE_ARRIVAL_UP, 1);
    add_edge(&table, ESI_NODE_DEPARTURE_UP, 1);
    assert_int_equal(classify(&table, true), ESI_NODE_INCOMPLETE);
    add_edge(&table, ESI_NODE_CONTRIBUTE, ES_PEER_NONE);
    esi_node_edges_read_all(&table);
    assert_int_equal(classify(&table, false), ESI_NODE_WAIT);
    add_edge(&table, ESI_NODE_ARRIVAL_UP, 2);
    add_edge(&table, ESI_NODE_DEPARTURE_UP, 2);
    assert_int_equal(classify(&table, true), ESI_NODE_COMPLETE);
    add_edge(&table, ES_OP_MPI_Allreduce, ES_PEER_NONE);
    esi_node_edges_read_all(&table);
    assert_int_equal(classify(&table, false), ESI_NODE_COMPLETE);
    esi_node_edges_fini(&table);
}

SUITE(test_tree_node)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_a_simple_reference),
        cmocka_unit_test(a_small_limit_lets_pieces_go_up_in_order),
        cmocka_unit_test(results_need_no_tuple_of_mpi_itself),
        cmocka_unit_test(what_is_kept_is_a_suffix),
        cmocka_unit_test(an_exchange_is_complete_when_its_end_is_known),
        cmocka_unit_test(what_is_held_back_for_too_long_goes_up_in_pieces),
    };

    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
