/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Stages that keep tuples between pulls neither lose nor repeat any. */
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
#include "wrappers/stages/stage.h"

enum { TUPLES = 500 };

static struct es_tuple tuples[TUPLES];
static struct es_clock clock_record = {.kind = ES_CLOCK_MONOTONIC,
                                       .frequency_hz = 1000000000};
static struct es_origin origin_item = {.name = "", .clock = &clock_record};
static struct es_origins origins = {.items = &origin_item, .count = 1};
static struct esi_read_state place_item;
static struct es_places places = {.items = &place_item, .count = 1};
static const struct es_stage_context context = {.origins = &origins, .places = &places};

struct fixture {
    struct source source;
    struct es_stage *stage;
    struct consumer consumer;
};

static void set_up(struct fixture *fixture,
                   size_t max,
                   const char *type,
                   const char *property,
                   const char *value,
                   const char *wait)
{
    struct es_stage *child;

    place_item = (struct esi_read_state){.kept = 0};
    fixture->source =
        (struct source){.tuples = tuples, .asks = true, .place = &place_item};
    child = source_open(&fixture->source);
    fixture->stage = stage_over(type, &child, 1, &context, property, value,
                                wait ? "wait" : NULL, wait, NULL);
    consumer_init(&fixture->consumer, max);
    fixture->consumer.pull.realtime_ns = 1000;
}

static void tear_down(struct fixture *fixture)
{
    assert_int_equal(fixture->source.broken_promises, 0);
    es_stage_close(fixture->stage);
    consumer_fini(&fixture->consumer);
}

static size_t pull(struct fixture *fixture)
{
    assert_int_equal(consumer_pull(&fixture->consumer, fixture->stage), 0);
    return fixture->consumer.batch.count;
}

/* Checks that the kept tuples begin at `position` and end at the child's position. */
static void kept_from(const struct fixture *fixture, uint64_t position)
{
    assert_int_equal(esi_read_state_position(&place_item), position);
    assert_int_equal(place_item.kept, fixture->source.given - position);
}

static void a_buffer_takes_more_than_it_gives(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 10, "buffer", "capacity", "100", NULL);
    fixture.source.count = 130;
    assert_int_equal(pull(&fixture), 10);
    assert_true(fixture.consumer.batch.more);
    assert_int_equal(fixture.source.given, 100);
    kept_from(&fixture, 10);
    /* Ten tuples have left, so ten more fit. */
    assert_int_equal(pull(&fixture), 10);
    assert_int_equal(fixture.consumer.batch.marks[0].position, 10);
    assert_int_equal(fixture.source.given, 110);
    kept_from(&fixture, 20);
    tear_down(&fixture);
}

static void a_batch_waits_no_longer_than_it_may(void **state)
{
    struct fixture fixture;

    (void)state;
    /* The stage cannot see the tuples that wait in this source. */
    set_up(&fixture, 1000, "batch", "tuples", "50", "1us");
    fixture.source.count = 3;
    fixture.consumer.pull.realtime_ns = 5000;
    assert_int_equal(pull(&fixture), 0);
    fixture.consumer.pull.realtime_ns = 5999;
    assert_int_equal(pull(&fixture), 0);
    fixture.consumer.pull.realtime_ns = 6000;
    assert_int_equal(pull(&fixture), 3);
    tear_down(&fixture);
}

static void draining_opens_a_batch(void **state)
{
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1000, "batch", "tuples", "50", "1s");
    fixture.source.count = 3;
    assert_int_equal(pull(&fixture), 0);
    fixture.consumer.pull.drain = true;
    assert_int_equal(pull(&fixture), 3);
    kept_from(&fixture, 3);
    tear_down(&fixture);
}

static void operations_under_way_are_not_kept(void **state)
{
    static struct es_tuple open[2] = {{.start = 5, .operation = 1},
                                      {.start = 5, .stop = 7, .operation = 1}};
    struct fixture fixture;

    (void)state;
    set_up(&fixture, 1000, "buffer", "capacity", "50", NULL);
    fixture.source.tuples = open;
    fixture.source.count = 2;
    fixture.consumer.pull.max = 1;
    assert_int_equal(pull(&fixture), 1);
    assert_int_equal(fixture.consumer.batch.tuples[0].stop, 0);
    assert_int_equal(place_item.kept, 1);
    tear_down(&fixture);
}

/* Pulls with random limits.  Trees that fail are lost with the
 * tuples that they keep. */
static void stream(const char *type, const char *property, uint64_t seed)
{
    struct fixture fixture;
    uint64_t seen = 0;

    set_up(&fixture, 1, type, property, "40", NULL);
    for (int i = 0; i < 20000 && seen < TUPLES; i++) {
        fixture.source.count += random_next(&seed) % 12;
        if (fixture.source.count > TUPLES)
            fixture.source.count = TUPLES;
        fixture.source.failures = random_next(&seed) % 8 == 0;
        fixture.consumer.pull.max = random_next(&seed) % 60;
        fixture.consumer.pull.realtime_ns += random_next(&seed) % 100000000;
        if (random_next(&seed) % 2)
            es_stage_ask(fixture.stage,
                         &(struct es_pull){.serial = fixture.consumer.pull.serial + 1,
                                           .max = fixture.consumer.pull.max});
        if (consumer_pull(&fixture.consumer, fixture.stage) != 0) {
            struct es_stage *child;

            es_stage_close(fixture.stage);
            esi_places_rewind(&places);
            fixture.source.given = place_item.delivered;
            fixture.source.announcement.max = 0;
            child = source_open(&fixture.source);
            fixture.stage = stage_over(type, &child, 1, &context, property, "40", NULL);
            continue;
        }
        assert_true(fixture.consumer.batch.count <= fixture.consumer.pull.max);
        for (size_t j = 0; j < fixture.consumer.batch.count; j++)
            assert_int_equal(fixture.consumer.batch.marks[j].position, seen++);
        kept_from(&fixture, seen);
        esi_places_commit(&places);
    }
    assert_int_equal(seen, TUPLES);
    tear_down(&fixture);
}

static void nothing_is_lost_or_repeated(void **state)
{
    uint64_t seed = 815;

    (void)state;
    for (int i = 0; i < 50; i++) {
        printf("# seed %llu\n", (unsigned long long)seed);
        stream("buffer", "capacity", seed);
        stream("batch", "tuples", seed);
        random_next(&seed);
    }
}

SUITE(test_keeping)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_takes_more_than_it_gives),
        cmocka_unit_test(a_batch_waits_no_longer_than_it_may),
        cmocka_unit_test(draining_opens_a_batch),
        cmocka_unit_test(operations_under_way_are_not_kept),
        cmocka_unit_test(nothing_is_lost_or_repeated),
    };

    for (size_t i = 0; i < TUPLES; i++)
        tuples[i] = (struct es_tuple){.stop = i + 1, .start = i + 1, .operation = 1};
    source_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
