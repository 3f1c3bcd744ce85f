/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of races between receives from any source: which exist, and which matter. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "monitors/eventset/sinks.h"
#include "monitors/latent/races.h"
#include "tests/suites.h"

enum { TRACES = 3, TAG = 5 };

/* A stream made by hand: rank 0 receives, ranks 1 and 2 send. */
static struct stream {
    struct es_order *order;
    struct esi_races *races;
    struct es_set_sink items[2];
    struct esi_sinks sinks;
    uint32_t counts[TRACES];
} stream;

static int begin_stream(void **state)
{
    static const char *const names[TRACES] = {"0.0", "1.0", "2.0"};
    struct es_set_sink sink;

    (void)state;
    stream = (struct stream){.order = NULL};
    assert_int_equal(es_order_open(NULL, 0, NULL, NULL, &stream.order), 0);
    assert_int_equal(esi_races_create(&stream.races), 0);
    stream.items[0] = es_order_sink(stream.order);
    stream.items[1] = esi_races_sink(stream.races);
    stream.sinks = (struct esi_sinks){.items = stream.items, .count = 2};
    sink = esi_sinks_sink(&stream.sinks);
    for (uint32_t i = 0; i < TRACES; i++)
        assert_int_equal(sink.trace(sink.data, i, names[i]), 0);
    return 0;
}

/* Ends the stream and returns its race, if there is one. */
static const struct esi_race *end_stream(size_t count)
{
    assert_int_equal(esi_races_finish(stream.races, stream.order), 0);
    assert_int_equal(esi_races_count(stream.races), count);
    return count ? esi_races_at(stream.races, 0) : NULL;
}

static int destroy_stream(void **state)
{
    (void)state;
    esi_races_destroy(stream.races);
    es_order_destroy(stream.order);
    return 0;
}

static struct es_event_id add_event(uint32_t trace,
                                    const struct es_event_id *send,
                                    bool any,
                                    int64_t tag,
                                    int64_t bytes)
{
    struct es_set_sink sink = esi_sinks_sink(&stream.sinks);
    struct es_event_attribute attributes[] = {
        {"class", send ? "receive" : "send", 0},
        {"communicator", "MPI_COMM_WORLD", 0},
        {"tag", NULL, tag},
        {"bytes", NULL, bytes},
        {"stop", NULL, 7},
        {"source", any ? "any" : "", 0},
    };
    struct es_set_event event = {
        .id = {trace, ++stream.counts[trace]},
        .kind = send ? ES_EVENT_RECEIVE : ES_EVENT_SEND,
        .partner_count = send ? 1 : 0,
        .partners = send,
        .type = "",
        .text = "",
        .attributes = attributes,
        .attribute_count = sizeof attributes / sizeof attributes[0],
    };

    assert_int_equal(sink.event(sink.data, &event), 0);
    return event.id;
}

static struct es_event_id sent(uint32_t trace)
{
    return add_event(trace, NULL, false, TAG, 8);
}

static void received(struct es_event_id send, bool any)
{
    add_event(0, &send, any, TAG, 8);
}

static void both_orders_alike_are_benign(void **state)
{
    const struct esi_race *race;
    struct es_event_id one = sent(1), two = sent(2);

    (void)state;
    received(one, true);
    received(two, true);
    race = end_stream(1);
    assert_int_equal(race->reason, ESI_RACE_BENIGN);
    assert_int_equal(race->times, 1);
    assert_string_equal(race->receiver, "0.0");
    assert_string_equal(race->sender, "1.0");
    assert_string_equal(race->other_sender, "2.0");
    assert_int_equal(race->receive.index, 1);
    assert_int_equal(race->other.index, 2);
    assert_int_equal(race->tag, TAG);
    assert_int_equal(esi_races_wildcards(stream.races), 2);
}

/* A master answers the sender of each message. */
static void an_answer_in_between_matters(void **state)
{
    struct es_event_id one = sent(1), two = sent(2), answer;

    (void)state;
    received(one, true);
    answer = add_event(0, NULL, false, 1, 8);
    add_event(1, &answer, false, 1, 8);
    received(two, true);
    assert_int_equal(end_stream(1)->reason, ESI_RACE_PEER);
}

/* After both receives the state is the same in either order. */
static void an_answer_behind_both_does_not(void **state)
{
    struct es_event_id one = sent(1), two = sent(2), answer;

    (void)state;
    received(one, true);
    received(two, true);
    answer = add_event(0, NULL, false, 1, 8);
    add_event(1, &answer, false, 1, 8);
    assert_int_equal(end_stream(1)->reason, ESI_RACE_BENIGN);
}

/* In the other order the directed receive would wait forever. */
static void a_directed_receive_matters(void **state)
{
    struct es_event_id one = sent(1), two = sent(2);

    (void)state;
    received(one, true);
    received(two, false);
    assert_int_equal(end_stream(1)->reason, ESI_RACE_DIRECTED);
}

static void other_sizes_matter(void **state)
{
    struct es_event_id one = sent(1), two = sent(2);

    (void)state;
    received(one, true);
    add_event(0, &two, true, TAG, 16);
    assert_int_equal(end_stream(1)->reason, ESI_RACE_SIZES);
}

/* The second sender was released by a message sent after the first receive. */
static void a_send_that_follows_is_no_race(void **state)
{
    struct es_event_id one, two, go;

    (void)state;
    one = sent(1);
    received(one, true);
    go = add_event(0, NULL, false, 1, 8);
    add_event(2, &go, false, 1, 8);
    two = sent(2);
    received(two, true);
    end_stream(0);
}

static void other_tags_and_one_sender_are_none(void **state)
{
    struct es_event_id one, two, again;

    (void)state;
    one = sent(1);
    again = sent(1);
    two = add_event(2, NULL, false, TAG + 1, 8);
    received(one, true);
    add_event(0, &two, true, TAG + 1, 8);
    received(again, true);
    end_stream(0);
}

SUITE(test_races)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(both_orders_alike_are_benign),
        cmocka_unit_test(an_answer_in_between_matters),
        cmocka_unit_test(an_answer_behind_both_does_not),
        cmocka_unit_test(a_directed_receive_matters),
        cmocka_unit_test(other_sizes_matter),
        cmocka_unit_test(a_send_that_follows_is_no_race),
        cmocka_unit_test(other_tags_and_one_sender_are_none),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, begin_stream,
                       destroy_stream);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
