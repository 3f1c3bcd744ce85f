/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Children that several threads pull deliver the same tuples as under a gather. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "tests/wrappers/source.h"

enum { CHILDREN = 6, TUPLES = 300 };

static struct es_tuple tuples[TUPLES];
static struct es_clock clock_record = {.kind = ES_CLOCK_MONOTONIC,
                                       .frequency_hz = 1000000000};
static struct es_origin origin_items[CHILDREN];
static struct es_origins origins = {.items = origin_items, .count = CHILDREN};

/* Not thread-safe, like the context's function: one buffer serves all names. */
static const char *name_communicator(void *data, uint32_t origin, uint16_t communicator)
{
    static char name[64];

    (void)data;
    snprintf(name, sizeof name, "communicator %u of %u", communicator, origin);
    return name;
}

static const struct es_stage_context context = {.origins = &origins,
                                                .communicator_name = name_communicator};

struct family {
    struct source sources[CHILDREN];
    struct es_stage *children[CHILDREN];
};

static void make_family(struct family *family, bool asks)
{
    *family = (struct family){0};
    for (size_t i = 0; i < CHILDREN; i++) {
        family->sources[i] = (struct source){
            .tuples = tuples, .count = TUPLES, .origin = (uint32_t)i, .asks = asks};
        family->children[i] = source_open(&family->sources[i]);
    }
}

static int pull_cpu(struct es_stage *stage,
                    const struct es_pull *pull,
                    struct es_batch *batch)
{
    struct timespec now;
    int64_t end_ns;

    (void)stage;
    (void)pull;
    (void)batch;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    end_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 3000000;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < end_ns);
    return 0;
}

static const struct es_stage_ops busy = {.name = "busy",
                                         .help = "uses 3 ms of CPU time a pull",
                                         .pull = pull_cpu};

static void the_same_comes_in_the_same_order(void **state)
{
    (void)state;
    for (int count = 1; count < 9; count++) {
        struct family families[2];
        struct consumer consumers[2];
        struct es_stage *stages[2];
        char text[8];

        snprintf(text, sizeof text, "%d", count);
        for (int i = 0; i < 2; i++) {
            make_family(&families[i], i == 1 && count % 2);
            consumer_init(&consumers[i], 100000);
        }
        stages[0] =
            stage_over("gather", families[0].children, CHILDREN, &context, NULL);
        stages[1] = stage_over("threads", families[1].children, CHILDREN, &context,
                               "count", text, NULL);
        for (int turn = 0; turn < 20; turn++) {
            for (int i = 0; i < 2; i++) {
                for (size_t j = 0; j < CHILDREN; j++)
                    families[i].sources[j].count = (size_t)turn * (j + 1);
                assert_int_equal(consumer_pull(&consumers[i], stages[i]), 0);
            }
            assert_int_equal(consumers[0].batch.count, consumers[1].batch.count);
            for (size_t j = 0; j < consumers[0].batch.count; j++) {
                assert_int_equal(consumers[0].batch.marks[j].origin,
                                 consumers[1].batch.marks[j].origin);
                assert_int_equal(consumers[0].batch.marks[j].position,
                                 consumers[1].batch.marks[j].position);
            }
            assert_int_equal(consumers[0].batch.more, consumers[1].batch.more);
        }
        for (int i = 0; i < 2; i++) {
            es_stage_close(stages[i]);
            consumer_fini(&consumers[i]);
        }
    }
}

static struct es_stage *open_nested(struct family *family)
{
    struct es_stage *inner[2];

    inner[0] = stage_over("threads", family->children, 4, &context, "count", "2", NULL);
    inner[1] = stage_over("gather", family->children + 4, 2, &context, NULL);
    return stage_over("threads", inner, 2, &context, NULL);
}

static void stream(uint64_t seed, bool asks)
{
    struct family family;
    struct consumer consumer;
    struct es_stage *stage;
    uint64_t seen[CHILDREN] = {0};
    size_t total = 0;

    make_family(&family, asks);
    stage = open_nested(&family);
    consumer_init(&consumer, 1);
    for (int i = 0; i < 10000 && total < CHILDREN * TUPLES; i++) {
        consumer.pull.max = random_next(&seed) % 30;
        consumer.pull.measure = i % 7 == 0;
        family.sources[random_next(&seed) % CHILDREN].failures =
            random_next(&seed) % 8 == 0;
        if (consumer_pull(&consumer, stage) != 0) {
            es_stage_close(stage);
            source_rewind(family.sources, CHILDREN);
            for (size_t j = 0; j < CHILDREN; j++)
                family.children[j] = source_open(&family.sources[j]);
            stage = open_nested(&family);
            continue;
        }
        assert_true(consumer.batch.count <= consumer.pull.max);
        source_commit(family.sources, CHILDREN);
        for (size_t j = 0; j < consumer.batch.count; j++) {
            const struct es_mark *mark = &consumer.batch.marks[j];

            assert_int_equal(mark->position, seen[mark->origin]++);
            total++;
        }
    }
    assert_int_equal(total, CHILDREN * TUPLES);
    for (size_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(family.sources[i].broken_promises, 0);
        assert_int_equal(family.sources[i].announced > 0, asks);
    }
    es_stage_close(stage);
    consumer_fini(&consumer);
}

static void nothing_is_lost_or_repeated(void **state)
{
    uint64_t seed = 4711;

    (void)state;
    for (int i = 0; i < 20; i++) {
        printf("# seed %llu\n", (unsigned long long)seed);
        stream(seed, i % 2);
        random_next(&seed);
    }
}

static void a_child_that_fails_fails_the_pull(void **state)
{
    struct family family;
    struct consumer consumer;
    struct es_stage *stage;

    (void)state;
    make_family(&family, false);
    family.sources[3].failures = 1;
    stage = stage_over("threads", family.children, CHILDREN, &context, NULL);
    consumer_init(&consumer, 6000);
    assert_int_equal(consumer_pull(&consumer, stage), -EIO);
    assert_int_equal(consumer.batch.count, 0);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

static void all_threads_time_is_in_the_account(void **state)
{
    struct es_stage *children[4];
    struct es_stage *inner[2];
    struct es_stage *outer;
    struct es_stage *root;
    struct consumer consumer;
    uint64_t sum_ns = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        children[i] = stage_over("busy", NULL, 0, &context, NULL);
    inner[0] = stage_over("threads", children, 2, &context, NULL);
    inner[1] = stage_over("threads", children + 2, 2, &context, NULL);
    outer = stage_over("threads", inner, 2, &context, NULL);
    root = stage_over("gather", &outer, 1, &context, NULL);
    consumer_init(&consumer, 100);
    consumer.pull.measure = true;
    assert_int_equal(consumer_pull(&consumer, root), 0);
    for (int i = 0; i < 4; i++) {
        assert_true(children[i]->cost.measured_cpu_ns >= 3000000);
        sum_ns += children[i]->cost.measured_cpu_ns;
    }
    /* No time is missing, and none is counted twice. */
    assert_true(inner[0]->cost.measured_cpu_ns + inner[1]->cost.measured_cpu_ns >=
                sum_ns);
    assert_true(outer->cost.measured_cpu_ns >= sum_ns);
    assert_true(root->cost.measured_cpu_ns >= outer->cost.measured_cpu_ns);
    assert_true(root->cost.measured_cpu_ns < 2 * sum_ns);
    assert_int_equal(children[0]->cost.measured_calls, 1);
    es_stage_close(root);
    consumer_fini(&consumer);
}

static void filters_name_communicators_in_several_threads(void **state)
{
    struct family family;
    struct es_stage *filters[CHILDREN];
    struct es_stage *stage;
    struct consumer consumer;

    (void)state;
    make_family(&family, false);
    for (size_t i = 0; i < CHILDREN; i++) {
        char where[64];

        snprintf(where, sizeof where, "communicator == \"communicator 7 of %zu\"", i);
        filters[i] = stage_over("filter", &family.children[i], 1, &context, "where",
                                where, NULL);
    }
    stage = stage_over("threads", filters, CHILDREN, &context, NULL);
    consumer_init(&consumer, 6000);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, CHILDREN * TUPLES);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

SUITE(test_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_comes_in_the_same_order),
        cmocka_unit_test(nothing_is_lost_or_repeated),
        cmocka_unit_test(a_child_that_fails_fails_the_pull),
        cmocka_unit_test(all_threads_time_is_in_the_account),
        cmocka_unit_test(filters_name_communicators_in_several_threads),
    };

    for (size_t i = 0; i < TUPLES; i++)
        tuples[i] = (struct es_tuple){
            .stop = i + 1, .start = i + 1, .operation = 1, .communicator = 7};
    for (size_t i = 0; i < CHILDREN; i++)
        origin_items[i] = (struct es_origin){.name = "", .clock = &clock_record};
    source_register();
    assert_int_equal(es_stage_register(&busy), 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
