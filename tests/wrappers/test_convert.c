/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tuples in the other byte order, tuples with global times, and samples of tuples. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "tests/wrappers/source.h"

enum { TUPLES = 1000 };

static struct es_tuple tuples[TUPLES];
static struct es_clock clock_record = {.kind = ES_CLOCK_TSC,
                                       .frequency_hz = 2000000000,
                                       .base_ticks = 100,
                                       .base_realtime_ns = 5000};
static struct es_origin origin_items[2] = {{.name = "", .clock = &clock_record},
                                           {.name = "", .clock = &clock_record}};
static struct es_origins origins = {.items = origin_items, .count = 2};
static const struct es_stage_context context = {.origins = &origins};

static const struct es_tuple one = {.stop = 0x0102030405060708,
                                    .operation = 0x1112,
                                    .communicator = 0x2122,
                                    .start = 0x3132333435363738,
                                    .sequence = 0x41424344,
                                    .peer = 0x51525354,
                                    .tag = 0x61626364,
                                    .bytes = 0x71727374};
/* The same as bytes of a big-endian machine. */
static const uint8_t big[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x11,
                              0x12, 0x21, 0x22, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36,
                              0x37, 0x38, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53,
                              0x54, 0x61, 0x62, 0x63, 0x64, 0x71, 0x72, 0x73, 0x74};

static void reverse(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint8_t byte = bytes[i];

        bytes[i] = bytes[count - 1 - i];
        bytes[count - 1 - i] = byte;
    }
}

static void byte_orders_are_those_of_the_words(void **state)
{
    static const size_t fields[] = {8, 2, 2, 8, 4, 4, 4, 4};
    uint8_t little[sizeof big];
    size_t at = 0;

    (void)state;
    memcpy(little, big, sizeof big);
    for (size_t i = 0; i < 8; at += fields[i++])
        reverse(little + at, fields[i]);
    for (int i = 0; i < 3; i++) {
        static const char *const orders[] = {"native", "little", "big"};
        const void *expected[] = {&one, little, big};
        struct source source = {.tuples = &one, .count = 1, .asks = true};
        struct es_stage *child = source_open(&source);
        struct es_stage *stage =
            stage_over("convert", &child, 1, &context, "order", orders[i], NULL);
        struct consumer consumer;

        consumer_init(&consumer, 10);
        es_stage_ask(stage, &(struct es_pull){.serial = 1, .max = 10});
        assert_int_equal(source.announced, 1);
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        assert_int_equal(source.broken_promises, 0);
        assert_memory_equal(consumer.batch.tuples, expected[i], sizeof one);
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
}

static void global_times_are_those_of_the_clock(void **state)
{
    static struct es_tuple two[] = {{.start = 300, .stop = 700, .operation = 1},
                                    {.start = 500, .operation = 1}};
    struct source source = {.tuples = two, .count = 2};
    struct es_stage *child = source_open(&source);
    struct es_stage *stages[2];
    struct consumer consumer;

    (void)state;
    stages[0] = stage_over("convert", &child, 1, &context, "time", "global", NULL);
    consumer_init(&consumer, 10);
    assert_int_equal(consumer_pull(&consumer, stages[0]), 0);
    assert_int_equal(consumer.batch.tuples[0].start, 5100);
    assert_int_equal(consumer.batch.tuples[0].stop, 5300);
    assert_int_equal(consumer.batch.tuples[1].start, 5200);
    assert_int_equal(consumer.batch.tuples[1].stop, 0);
    es_stage_close(stages[0]);
    consumer_fini(&consumer);
    /* Summaries already have global times. */
    source = (struct source){.tuples = two, .count = 2};
    child = source_open(&source);
    stages[1] = stage_over("reduce", &child, 1, &context, "to", "count", NULL);
    stages[0] = stage_over("convert", stages + 1, 1, &context, "time", "global", NULL);
    consumer_init(&consumer, 10);
    assert_int_equal(consumer_pull(&consumer, stages[0]), 0);
    assert_int_equal(consumer.batch.count, 1);
    assert_int_equal(consumer.batch.tuples[0].stop, 5300);
    es_stage_close(stages[0]);
    consumer_fini(&consumer);
}

/* --- Samples ---------------------------------------------------------------------- */

/* Pulls all tuples with random limits.  Records which tuples arrived, and checks that
 * the others are accounted for. */
static void draw(const char *property,
                 const char *value,
                 uint64_t seed,
                 bool ret_passed[2][TUPLES])
{
    struct source sources[2];
    struct es_stage *children[2];
    struct es_stage *gather;
    struct es_stage *stage;
    struct consumer consumer;
    struct es_stage_cost cost;
    size_t total = 0;

    memset(ret_passed, 0, 2 * TUPLES * sizeof(bool));
    for (uint32_t i = 0; i < 2; i++) {
        sources[i] = (struct source){.tuples = tuples, .count = TUPLES, .origin = i};
        children[i] = source_open(&sources[i]);
    }
    gather = stage_over("gather", children, 2, &context, NULL);
    stage = stage_over("sample", &gather, 1, &context, property, value, NULL);
    consumer_init(&consumer, 1);
    for (int i = 0; i < 5000; i++) {
        consumer.pull.max = random_next(&seed) % 50;
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        for (size_t j = 0; j < consumer.batch.count; j++) {
            const struct es_mark *mark = &consumer.batch.marks[j];

            assert_false(ret_passed[mark->origin][mark->position]);
            ret_passed[mark->origin][mark->position] = true;
            total++;
        }
    }
    assert_int_equal(sources[0].given + sources[1].given, 2 * TUPLES);
    es_stage_cost(stage, &cost);
    assert_int_equal(cost.left_out + total, 2 * TUPLES);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

static bool passed[2][TUPLES];

static void each_nth_tuple_of_an_element_passes(void **state)
{
    (void)state;
    draw("every", "7", 99, passed);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < TUPLES; j++)
            assert_int_equal(passed[i][j], j % 7 == 0);
}

static void a_rate_passes_the_first_of_each_part_of_a_second(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        printf("# seed %llu\n", (unsigned long long)seed);
        draw("rate", "1000", seed, passed);
        for (int i = 0; i < 2; i++) {
            uint64_t last = UINT64_MAX;

            for (int j = 0; j < TUPLES; j++) {
                uint64_t part =
                    es_clock_realtime_ns(&clock_record, tuples[j].stop, NULL) / 1000000;

                assert_int_equal(passed[i][j], part != last);
                last = part;
            }
        }
    }
}

static void a_bound_leaves_tuples_from_the_whole_pull(void **state)
{
    struct source source = {.tuples = tuples, .count = 100};
    struct es_stage *child = source_open(&source);
    struct es_stage *stage =
        stage_over("sample", &child, 1, &context, "most", "4", NULL);
    struct consumer consumer;

    (void)state;
    consumer_init(&consumer, 1000);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, 4);
    for (size_t j = 0; j < 4; j++)
        assert_int_equal(consumer.batch.marks[j].position, 25 * j);
    assert_int_equal(stage->cost.left_out, 96);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

SUITE(test_convert)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_orders_are_those_of_the_words),
        cmocka_unit_test(global_times_are_those_of_the_clock),
        cmocka_unit_test(each_nth_tuple_of_an_element_passes),
        cmocka_unit_test(a_rate_passes_the_first_of_each_part_of_a_second),
        cmocka_unit_test(a_bound_leaves_tuples_from_the_whole_pull),
    };

    /* One or two tuples per millisecond, and after each hundred a gap
     * of nine milliseconds. */
    for (size_t i = 0; i < TUPLES; i++)
        tuples[i] = (struct es_tuple){
            .start = 1, .stop = 100 + i * 700000 + i / 100 * 9000000, .operation = 1};
    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
