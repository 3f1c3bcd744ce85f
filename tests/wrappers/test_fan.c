/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Children that need announcements get them before any pull waits, and
 * get what was announced. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "tests/wrappers/source.h"
#include "wrappers/stages/gather.h"
#include "wrappers/stages/stage.h"

enum { CHILDREN = 4, TUPLES = 100 };

static struct es_tuple tuples[TUPLES];
static struct es_clock clock_record = {.kind = ES_CLOCK_MONOTONIC,
                                       .frequency_hz = 1000000000};
static struct es_origin origin_items[CHILDREN];
static struct es_origins origins = {.items = origin_items, .count = CHILDREN};
static const struct es_stage_context context = {.origins = &origins};

struct family {
    struct source sources[CHILDREN];
    struct es_stage *children[CHILDREN];
    unsigned order;
};

static void make_family(struct family *family, const char *asking)
{
    *family = (struct family){0};
    for (size_t i = 0; i < CHILDREN; i++) {
        family->sources[i] = (struct source){.tuples = tuples,
                                             .count = TUPLES,
                                             .origin = (uint32_t)i,
                                             .asks = asking[i] == 'a',
                                             .order = &family->order};
        family->children[i] = source_open(&family->sources[i]);
    }
}

static void nobody_was_deceived(const struct family *family)
{
    for (size_t i = 0; i < CHILDREN; i++)
        assert_int_equal(family->sources[i].broken_promises, 0);
}

static void parts_make_the_limit(void **state)
{
    (void)state;
    for (size_t count = 1; count < 9; count++)
        for (size_t max = 0; max < 40; max++) {
            size_t sum = 0;

            for (size_t turn = 0; turn < count; turn++) {
                size_t share = esi_fan_share(max, count, turn);

                assert_true(share <= max / count + max % count + 1);
                assert_true(max < count || share > 0);
                sum += share;
            }
            assert_int_equal(sum, max);
        }
}

static void all_are_asked_before_the_first_is_pulled(void **state)
{
    static const char *const types[] = {"gather", "reduce", "sort"};

    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct family family;
        struct consumer consumer;
        struct es_stage *stage;

        make_family(&family, "aaaa");
        stage = stage_over(types[t], family.children, CHILDREN, &context, NULL);
        consumer_init(&consumer, 1000);
        assert_true(stage->asks);
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        for (size_t i = 0; i < CHILDREN; i++) {
            assert_int_equal(family.sources[i].announced, 1);
            assert_true(family.sources[i].asked_at <= CHILDREN);
            assert_true(family.sources[i].pulled_at > CHILDREN);
        }
        nobody_was_deceived(&family);
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
}

static void one_announcement_goes_through_all_levels(void **state)
{
    struct family family;
    struct consumer consumer;
    struct es_stage *level[2];
    struct es_stage *filter;
    struct es_stage *root;

    (void)state;
    make_family(&family, "aaaa");
    level[0] = stage_over("gather", family.children, 2, &context, NULL);
    filter = stage_over("gather", family.children + 2, 2, &context, NULL);
    level[1] = stage_over("filter", &filter, 1, &context, "where", "bytes >= 0", NULL);
    root = stage_over("gather", level, 2, &context, NULL);
    consumer_init(&consumer, 101);
    assert_int_equal(consumer_pull(&consumer, root), 0);
    assert_int_equal(consumer.batch.count, 101);
    assert_int_equal(family.sources[0].given, 26);
    assert_int_equal(family.sources[3].given, 25);
    for (size_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(family.sources[i].announced, 1);
        assert_true(family.sources[i].asked_at <= CHILDREN);
    }
    nobody_was_deceived(&family);
    es_stage_close(root);
    consumer_fini(&consumer);
}

static void one_after_the_other_nothing_is_announced(void **state)
{
    static const char *const types[] = {"gather", "reduce", "sort"};

    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct family family;
        struct consumer consumer;
        struct es_stage *stage;

        make_family(&family, "aaaa");
        stage = stage_over(types[t], family.children, CHILDREN, &context, "mode",
                           "sequential", NULL);
        consumer_init(&consumer, 50);
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        for (size_t i = 0; i < CHILDREN; i++)
            assert_int_equal(family.sources[i].announced, 0);
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
}

static void who_does_not_ask_gets_what_is_left(void **state)
{
    struct family family;
    struct consumer consumer;
    struct es_stage *stage;

    (void)state;
    make_family(&family, "a.a.");
    family.sources[0].count = 3;
    stage = stage_over("gather", family.children, CHILDREN, &context, NULL);
    consumer_init(&consumer, 40);
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(family.sources[0].given, 3);
    assert_int_equal(family.sources[1].given, 27);
    assert_int_equal(family.sources[2].given, 10);
    assert_int_equal(family.sources[3].given, 0);
    assert_true(consumer.batch.more);
    /* The next pull begins with the child that got too little. */
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_true(family.sources[3].given >= 10);
    nobody_was_deceived(&family);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

/* The limit is lower than the number of children.  The pull must report when no
 * more tuples are left. */
static void a_limit_below_the_children_ends(void **state)
{
    static const char *const types[] = {"gather", "gather", "threads", "threads"};
    static const char *const asking[] = {"aaaa", "a.a.", "aaaa", "...."};

    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct family family;
        struct consumer consumer;
        struct es_stage *stage;
        size_t total = 0, pulls = 0;

        make_family(&family, asking[t]);
        for (size_t i = 0; i < CHILDREN; i++)
            family.sources[i].count = i == 2 ? 7 : 0;
        stage = stage_over(types[t], family.children, CHILDREN, &context, NULL);
        consumer_init(&consumer, 2);
        do {
            assert_int_equal(consumer_pull(&consumer, stage), 0);
            assert_true(consumer.batch.count <= 2);
            total += consumer.batch.count;
            assert_true(++pulls < 20);
        } while (consumer.batch.more);
        assert_int_equal(total, 7);
        nobody_was_deceived(&family);
        es_stage_close(stage);
        consumer_fini(&consumer);
    }
}

/* Pulls until no tuples are left, with trees that fail, and checks the order. */
static void stream(const char *type, const char *asking, uint64_t seed)
{
    struct family family;
    struct consumer consumer;
    struct es_stage *stage;
    size_t seen[CHILDREN] = {0};
    size_t total = 0;

    make_family(&family, asking);
    stage = stage_over(type, family.children, CHILDREN, &context, NULL);
    consumer_init(&consumer, 1);
    for (int i = 0; i < 10000 && total < CHILDREN * TUPLES; i++) {
        consumer.pull.max = random_next(&seed) % 20;
        consumer.pull.drain = true;
        family.sources[random_next(&seed) % CHILDREN].failures =
            random_next(&seed) % 8 == 0;
        if (consumer_pull(&consumer, stage) != 0) {
            es_stage_close(stage);
            source_rewind(family.sources, CHILDREN);
            for (size_t j = 0; j < CHILDREN; j++)
                family.children[j] = source_open(&family.sources[j]);
            stage = stage_over(type, family.children, CHILDREN, &context, NULL);
            continue;
        }
        assert_true(consumer.batch.count <= consumer.pull.max);
        source_commit(family.sources, CHILDREN);
        for (size_t j = 0; j < consumer.batch.count; j++) {
            const struct es_mark *mark = &consumer.batch.marks[j];

            assert_int_equal(mark->position, seen[mark->origin]);
            seen[mark->origin]++;
            total++;
        }
    }
    assert_int_equal(total, CHILDREN * TUPLES);
    nobody_was_deceived(&family);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

static void nothing_is_lost_or_repeated(void **state)
{
    static const char *const asking[] = {"....", "aaaa", "a.a.", ".aa."};
    uint64_t seed = 20261120;

    (void)state;
    for (size_t i = 0; i < 40; i++) {
        printf("# seed %llu\n", (unsigned long long)seed);
        stream("gather", asking[i % 4], seed);
        random_next(&seed);
    }
}

static void a_sort_tells_what_it_keeps(void **state)
{
    struct esi_read_state items[CHILDREN] = {0};
    struct es_places places = {.items = items, .count = CHILDREN};
    const struct es_stage_context here = {.origins = &origins, .places = &places};
    struct family family;
    struct consumer consumer;
    struct es_stage *stage;
    size_t given[CHILDREN] = {0};
    size_t kept = 0;

    (void)state;
    make_family(&family, "a.a.");
    for (size_t i = 0; i < CHILDREN; i++)
        family.sources[i].place = &items[i];
    stage = stage_over("sort", family.children, CHILDREN, &here, "window", "1us", NULL);
    consumer_init(&consumer, 30);
    consumer.pull.realtime_ns = 1000000;
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, 30);
    for (size_t i = 0; i < 30; i++)
        given[consumer.batch.marks[i].origin]++;
    for (size_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(esi_read_state_position(&items[i]), given[i]);
        assert_int_equal(items[i].kept, family.sources[i].given - given[i]);
        kept += items[i].kept;
    }
    assert_true(kept > 0);
    nobody_was_deceived(&family);
    es_stage_close(stage);
    consumer_fini(&consumer);
}

/* A sort over another one: the tuples that leave the lower one
 * are still in the tree. */
static void sorts_keep_a_suffix_together(void **state)
{
    struct esi_read_state items[CHILDREN] = {0};
    struct es_places places = {.items = items, .count = CHILDREN};
    const struct es_stage_context here = {.origins = &origins, .places = &places};
    struct family family;
    struct consumer consumer;
    struct es_stage *lower, *stage;
    size_t given[CHILDREN] = {0};

    (void)state;
    make_family(&family, "....");
    for (size_t i = 0; i < CHILDREN; i++)
        family.sources[i].place = &items[i];
    lower = stage_over("sort", family.children, CHILDREN, &here, "window", "1us", NULL);
    stage = stage_over("sort", &lower, 1, &here, "window", "4us", NULL);
    consumer_init(&consumer, 7);
    for (uint64_t now = 0; now < 20000; now += 100) {
        consumer.pull.realtime_ns = now;
        consumer.pull.drain = now > 18000;
        assert_int_equal(consumer_pull(&consumer, stage), 0);
        for (size_t i = 0; i < consumer.batch.count; i++) {
            const struct es_mark *mark = &consumer.batch.marks[i];

            assert_int_equal(mark->position, given[mark->origin]++);
        }
        for (size_t i = 0; i < CHILDREN; i++)
            assert_int_equal(esi_read_state_position(&items[i]), given[i]);
    }
    es_stage_close(stage);
    consumer_fini(&consumer);
}

/* Tuples of one element whose times go back are not reordered. */
static void a_sort_keeps_the_order_of_each_element(void **state)
{
    static const uint64_t stops[] = {10, 500, 20, 30, 600};
    struct es_tuple late[5];
    struct source sources[2] = {{.tuples = late, .count = 5},
                                {.tuples = tuples, .count = TUPLES, .origin = 1}};
    struct es_stage *children[2];
    struct es_stage *stage;
    struct consumer consumer;
    uint64_t last = 0, next = 0;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        late[i] = (struct es_tuple){.start = 1, .stop = stops[i], .operation = 1};
    for (size_t i = 0; i < 2; i++)
        children[i] = source_open(&sources[i]);
    stage = stage_over("sort", children, 2, &context, NULL);
    consumer_init(&consumer, 1000);
    consumer.pull.drain = true;
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, 5 + TUPLES);
    for (size_t i = 0; i < consumer.batch.count; i++) {
        const struct es_mark *mark = &consumer.batch.marks[i];
        uint64_t stop = consumer.batch.tuples[i].stop;

        if (mark->origin == 0)
            assert_int_equal(mark->position, next++);
        /* The other element's tuples are in order, and the late ones follow the 500. */
        if (mark->origin == 1) {
            assert_true(stop >= last);
            last = stop;
        } else if (mark->position == 2 || mark->position == 3) {
            assert_true(last <= 500);
        }
    }
    es_stage_close(stage);
    consumer_fini(&consumer);
}

/* All four children have tuples with the same times. */
static void of_equal_times_the_first_child_comes_first(void **state)
{
    struct family family;
    struct es_stage *stage;
    struct consumer consumer;

    (void)state;
    make_family(&family, "....");
    stage = stage_over("sort", family.children, CHILDREN, &context, NULL);
    consumer_init(&consumer, 1000);
    consumer.pull.drain = true;
    assert_int_equal(consumer_pull(&consumer, stage), 0);
    assert_int_equal(consumer.batch.count, CHILDREN * TUPLES);
    for (size_t i = 0; i < consumer.batch.count; i++) {
        assert_int_equal(consumer.batch.marks[i].origin, i % CHILDREN);
        assert_int_equal(consumer.batch.marks[i].position, i / CHILDREN);
    }
    es_stage_close(stage);
    consumer_fini(&consumer);
}

SUITE(test_fan)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_make_the_limit),
        cmocka_unit_test(all_are_asked_before_the_first_is_pulled),
        cmocka_unit_test(one_announcement_goes_through_all_levels),
        cmocka_unit_test(one_after_the_other_nothing_is_announced),
        cmocka_unit_test(who_does_not_ask_gets_what_is_left),
        cmocka_unit_test(a_limit_below_the_children_ends),
        cmocka_unit_test(nothing_is_lost_or_repeated),
        cmocka_unit_test(a_sort_tells_what_it_keeps),
        cmocka_unit_test(sorts_keep_a_suffix_together),
        cmocka_unit_test(a_sort_keeps_the_order_of_each_element),
        cmocka_unit_test(of_equal_times_the_first_child_comes_first),
    };

    for (size_t i = 0; i < TUPLES; i++)
        tuples[i] = (struct es_tuple){
            .stop = i * 50 + 1, .start = i * 50 + 1, .operation = 1, .bytes = 1};
    for (size_t i = 0; i < CHILDREN; i++)
        origin_items[i] = (struct es_origin){.name = "", .clock = &clock_record};
    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
