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

/* Children, a stage over them, and what pulls from it. */
struct family {
    struct source sources[CHILDREN];
    struct es_stage *children[CHILDREN];
    struct es_stage *stage;
    struct consumer consumer;
    unsigned order;
};

/* Child I asks for announcements if asking[I] is 'a'.  Pulls have the limit `max`. */
static void make_family(struct family *family, const char *asking, size_t max)
{
    *family = (struct family){0};
    consumer_init(&family->consumer, max);
    for (size_t i = 0; i < CHILDREN; i++) {
        family->sources[i] = (struct source){.tuples = tuples,
                                             .count = TUPLES,
                                             .origin = (uint32_t)i,
                                             .asks = asking[i] == 'a',
                                             .order = &family->order};
        family->children[i] = source_open(&family->sources[i]);
    }
}

/* Each child got what was announced to it. */
static void end_family(struct family *family)
{
    for (size_t i = 0; i < CHILDREN; i++)
        assert_int_equal(family->sources[i].broken_promises, 0);
    es_stage_close(family->stage);
    consumer_fini(&family->consumer);
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

        print_message("# %s\n", types[t]);
        make_family(&family, "aaaa", 1000);
        family.stage = stage_over(types[t], family.children, CHILDREN, &context, NULL);
        assert_true(family.stage->asks);
        assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
        for (size_t i = 0; i < CHILDREN; i++) {
            assert_int_equal(family.sources[i].announced, 1);
            assert_true(family.sources[i].asked_at <= CHILDREN);
            assert_true(family.sources[i].pulled_at > CHILDREN);
        }
        end_family(&family);
    }
}

static void one_announcement_goes_through_all_levels(void **state)
{
    struct family family;
    struct es_stage *level[2];
    struct es_stage *filter;

    (void)state;
    make_family(&family, "aaaa", 101);
    level[0] = stage_over("gather", family.children, 2, &context, NULL);
    filter = stage_over("gather", family.children + 2, 2, &context, NULL);
    level[1] = stage_over("filter", &filter, 1, &context, "where", "bytes >= 0", NULL);
    family.stage = stage_over("gather", level, 2, &context, NULL);
    assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
    assert_int_equal(family.consumer.batch.count, 101);
    assert_int_equal(family.sources[0].given, 26);
    assert_int_equal(family.sources[3].given, 25);
    for (size_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(family.sources[i].announced, 1);
        assert_true(family.sources[i].asked_at <= CHILDREN);
    }
    end_family(&family);
}

static void one_after_the_other_nothing_is_announced(void **state)
{
    static const char *const types[] = {"gather", "reduce", "sort"};

    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct family family;

        print_message("# %s\n", types[t]);
        make_family(&family, "aaaa", 50);
        family.stage = stage_over(types[t], family.children, CHILDREN, &context, "mode",
                                  "sequential", NULL);
        assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
        for (size_t i = 0; i < CHILDREN; i++)
            assert_int_equal(family.sources[i].announced, 0);
        end_family(&family);
    }
}

static void who_does_not_ask_gets_what_is_left(void **state)
{
    struct family family;

    (void)state;
    make_family(&family, "a.a.", 40);
    family.sources[0].count = 3;
    family.stage = stage_over("gather", family.children, CHILDREN, &context, NULL);
    assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
    assert_int_equal(family.sources[0].given, 3);
    assert_int_equal(family.sources[1].given, 27);
    assert_int_equal(family.sources[2].given, 10);
    assert_int_equal(family.sources[3].given, 0);
    assert_true(family.consumer.batch.more);
    /* The next pull begins with the child that got too little. */
    assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
    assert_true(family.sources[3].given >= 10);
    end_family(&family);
}

/* The limit is lower than the number of children.  The pull must report when no
 * more tuples are left. */
static void a_limit_below_the_children_ends(void **state)
{
    static const struct {
        const char *type, *asking;
    } cases[] = {{"gather", "aaaa"},
                 {"gather", "a.a."},
                 {"threads", "aaaa"},
                 {"threads", "...."}};

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct family family;
        size_t total = 0, pulls = 0;

        print_message("# %s over %s\n", cases[c].type, cases[c].asking);
        make_family(&family, cases[c].asking, 2);
        for (size_t i = 0; i < CHILDREN; i++)
            family.sources[i].count = i == 2 ? 7 : 0;
        family.stage =
            stage_over(cases[c].type, family.children, CHILDREN, &context, NULL);
        do {
            assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
            assert_true(family.consumer.batch.count <= 2);
            total += family.consumer.batch.count;
            assert_true(++pulls < 20);
        } while (family.consumer.batch.more);
        assert_int_equal(total, 7);
        end_family(&family);
    }
}

/* Pulls until no tuples are left, with trees that fail, and checks the order. */
static void stream(const char *type, const char *asking, uint64_t seed)
{
    struct family family;
    size_t seen[CHILDREN] = {0};
    size_t total = 0;

    make_family(&family, asking, 1);
    family.stage = stage_over(type, family.children, CHILDREN, &context, NULL);
    for (int i = 0; i < 10000 && total < CHILDREN * TUPLES; i++) {
        family.consumer.pull.max = random_next(&seed) % 20;
        family.consumer.pull.drain = true;
        family.sources[random_next(&seed) % CHILDREN].failures =
            random_next(&seed) % 8 == 0;
        if (consumer_pull(&family.consumer, family.stage) != 0) {
            es_stage_close(family.stage);
            source_rewind(family.sources, CHILDREN);
            for (size_t j = 0; j < CHILDREN; j++)
                family.children[j] = source_open(&family.sources[j]);
            family.stage = stage_over(type, family.children, CHILDREN, &context, NULL);
            continue;
        }
        assert_true(family.consumer.batch.count <= family.consumer.pull.max);
        source_commit(family.sources, CHILDREN);
        for (size_t j = 0; j < family.consumer.batch.count; j++) {
            const struct es_mark *mark = &family.consumer.batch.marks[j];

            assert_int_equal(mark->position, seen[mark->origin]);
            seen[mark->origin]++;
            total++;
        }
    }
    assert_int_equal(total, CHILDREN * TUPLES);
    end_family(&family);
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
    size_t given[CHILDREN] = {0};
    size_t kept = 0;

    (void)state;
    make_family(&family, "a.a.", 30);
    for (size_t i = 0; i < CHILDREN; i++)
        family.sources[i].place = &items[i];
    family.stage =
        stage_over("sort", family.children, CHILDREN, &here, "window", "1us", NULL);
    family.consumer.pull.realtime_ns = 1000000;
    assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
    assert_int_equal(family.consumer.batch.count, 30);
    for (size_t i = 0; i < 30; i++)
        given[family.consumer.batch.marks[i].origin]++;
    for (size_t i = 0; i < CHILDREN; i++) {
        assert_int_equal(esi_read_state_position(&items[i]), given[i]);
        assert_int_equal(items[i].kept, family.sources[i].given - given[i]);
        kept += items[i].kept;
    }
    assert_true(kept > 0);
    end_family(&family);
}

/* A sort over another one: the tuples that leave the lower one
 * are still in the tree. */
static void sorts_keep_a_suffix_together(void **state)
{
    struct esi_read_state items[CHILDREN] = {0};
    struct es_places places = {.items = items, .count = CHILDREN};
    const struct es_stage_context here = {.origins = &origins, .places = &places};
    struct family family;
    struct es_stage *lower;
    size_t given[CHILDREN] = {0};

    (void)state;
    make_family(&family, "....", 7);
    for (size_t i = 0; i < CHILDREN; i++)
        family.sources[i].place = &items[i];
    lower = stage_over("sort", family.children, CHILDREN, &here, "window", "1us", NULL);
    family.stage = stage_over("sort", &lower, 1, &here, "window", "4us", NULL);
    for (uint64_t now = 0; now < 20000; now += 100) {
        family.consumer.pull.realtime_ns = now;
        family.consumer.pull.drain = now > 18000;
        assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
        for (size_t i = 0; i < family.consumer.batch.count; i++) {
            const struct es_mark *mark = &family.consumer.batch.marks[i];

            assert_int_equal(mark->position, given[mark->origin]++);
        }
        for (size_t i = 0; i < CHILDREN; i++)
            assert_int_equal(esi_read_state_position(&items[i]), given[i]);
    }
    end_family(&family);
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

    (void)state;
    make_family(&family, "....", 1000);
    family.stage = stage_over("sort", family.children, CHILDREN, &context, NULL);
    family.consumer.pull.drain = true;
    assert_int_equal(consumer_pull(&family.consumer, family.stage), 0);
    assert_int_equal(family.consumer.batch.count, CHILDREN * TUPLES);
    for (size_t i = 0; i < family.consumer.batch.count; i++) {
        assert_int_equal(family.consumer.batch.marks[i].origin, i % CHILDREN);
        assert_int_equal(family.consumer.batch.marks[i].position, i / CHILDREN);
    }
    end_family(&family);
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
