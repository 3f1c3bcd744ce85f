/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Parts of random computations: events that are ordered in the part are ordered in the
 * whole. The reverse also holds if no trace is left out. */
#include "config.h"

#include "monitors/eventset/set_part.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eventspace/order.h"
#include "tests/eventset/made_set.h"
#include "tests/suites.h"

/* A part: the selected traces, from one event on. */
struct taken {
    uint32_t traces; /* a mask; bit 31 is for all further traces */
    uint32_t skip;
    uint32_t trace; /* the next one */
    uint32_t skipped;
};

static bool has_trace(void *data, const char *name)
{
    struct taken *taken = data;
    uint32_t trace = taken->trace++;

    (void)name;
    return taken->traces >> (trace < 31 ? trace : 31) & 1;
}

static bool begins_with(void *data, const struct es_set_event *event)
{
    struct taken *taken = data;

    (void)event;
    return taken->skipped++ >= taken->skip;
}

/* Returns the event of the whole that became this event of the part. */
static struct es_event_id whole_of(const struct made_computation *made,
                                   const struct taken *taken,
                                   const struct es_order *part,
                                   uint32_t trace,
                                   uint32_t index)
{
    uint32_t whole = 0;

    for (uint32_t left = trace;; whole++)
        if (taken->traces >> (whole < 31 ? whole : 31) & 1 && left-- == 0)
            break;
    return (struct es_event_id){whole, made->counts[whole] -
                                           es_order_count(part, trace) + index};
}

static void compare(const struct made_computation *made,
                    const struct taken *taken,
                    const struct es_order *part,
                    bool is_exact)
{
    uint32_t traces = es_order_traces(part);

    for (uint32_t s = 0; s < traces; s++)
        for (uint32_t i = 1; i <= es_order_count(part, s); i++)
            for (uint32_t t = 0; t < traces; t++)
                for (uint32_t j = 1; j <= es_order_count(part, t); j++) {
                    struct es_event_id a = {s, i}, b = {t, j};
                    bool in_part = es_order_precedes(part, a, b) == 1;
                    bool in_whole =
                        made_precedes(made, whole_of(made, taken, part, s, i),
                                      whole_of(made, taken, part, t, j));

                    if (in_part != in_whole && (in_part || is_exact))
                        fail_msg("%s, traces %x, skip %u: %u:%u and %u:%u",
                                 made_computation_name(made), taken->traces,
                                 taken->skip, s, i, t, j);
                }
}

/* Whether the part does not begin between the two halves of a sync. */
static bool cuts_no_sync(const struct made_computation *made, uint32_t skip)
{
    const struct made_event *first = &made->events[skip < made->count ? skip : 0];

    return skip >= made->count || first->kind != ES_EVENT_SYNC ||
           made_number(made, first->partners[0]) > skip;
}

static void take_part(const struct made_computation *made, struct taken taken)
{
    struct taken fresh = taken;
    struct esi_set_part_config config = {
        .has_trace = has_trace, .begins_with = begins_with, .data = &fresh};
    struct es_order *order;
    struct esi_set_part *part;
    struct es_set_sink sink;

    assert_int_equal(es_order_open("dense", 0, NULL, NULL, &order), 0);
    config.sink = es_order_sink(order);
    assert_int_equal(esi_set_part_create(&config, &part), 0);
    sink = esi_set_part_sink(part);
    assert_int_equal(made_computation_stream(made, NULL, &sink), 0);
    assert_int_equal(es_order_sink_end(order), 0);
    compare(made, &taken, order,
            taken.traces == UINT32_MAX && cuts_no_sync(made, taken.skip));
    esi_set_part_destroy(part);
    es_order_destroy(order);
}

static void parts_are_ordered_as_the_whole_is(void **state)
{
    enum { ROUNDS = 60, EVENTS = 80 };
    uint64_t draw;
    uint64_t seed = random_seed();

    (void)state;
    draw = seed;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct made_computation *made =
            made_set_computation(seed, round, EVENTS, &draw);

        take_part(made, (struct taken){.traces = UINT32_MAX});
        take_part(made, (struct taken){.traces = UINT32_MAX,
                                       .skip = random_below(&draw, made->count + 1)});
        take_part(made, (struct taken){.traces = random_below(&draw, UINT32_MAX),
                                       .skip = random_below(&draw, made->count)});
        made_computation_destroy(made);
    }
}

static void what_is_not_in_order_is_refused(void **state)
{
    const struct esi_set_part_config config = {.sink = {.trace = NULL}};
    const struct es_set_event event = {.id = {1, 1}, .type = "", .text = ""};
    struct esi_set_part *part;
    struct es_set_sink sink;

    (void)state;
    assert_int_equal(esi_set_part_create(&config, &part), 0);
    sink = esi_set_part_sink(part);
    assert_int_equal(sink.trace(sink.data, 0, "a"), 0);
    assert_int_equal(sink.trace(sink.data, 2, "b"), -EINVAL);
    assert_int_equal(sink.event(sink.data, &event), -EINVAL);
    esi_set_part_destroy(part);
    esi_set_part_destroy(NULL);
}

struct given_events {
    struct es_event_id ids[4];
    struct es_event_id partners[4];
    size_t count;
};

static int give_event(void *data, const struct es_set_event *event)
{
    struct given_events *given = data;

    given->ids[given->count] = event->id;
    if (event->partner_count > 0)
        given->partners[given->count] = event->partners[0];
    given->count++;
    return 0;
}

/* The stream does not have the first events of both traces. */
static void traces_may_begin_late(void **state)
{
    struct given_events given = {.count = 0};
    const struct esi_set_part_config config = {
        .sink = {.event = give_event, .data = &given}};
    struct es_event_id sent[2] = {{0, 4}, {0, 6}}, half = {1, 9}, other = {0, 7};
    const struct es_set_event events[] = {
        {.id = {0, 6}, .kind = ES_EVENT_SEND},
        {.id = {0, 7}, .kind = ES_EVENT_SYNC, .partners = &half, .partner_count = 1},
        {.id = {1, 9}, .kind = ES_EVENT_SYNC, .partners = &other, .partner_count = 1},
        {.id = {1, 10}, .kind = ES_EVENT_RECEIVE, .partners = sent, .partner_count = 2},
    };
    static const struct es_event_id wanted[] = {{0, 1}, {0, 2}, {1, 1}, {1, 2}};
    static const struct es_event_id partners[] = {{0, 0}, {1, 1}, {0, 2}, {0, 1}};
    struct esi_set_part *part;
    struct es_set_sink sink;

    (void)state;
    assert_int_equal(esi_set_part_create(&config, &part), 0);
    sink = esi_set_part_sink(part);
    assert_int_equal(sink.trace(sink.data, 0, "a"), 0);
    assert_int_equal(sink.trace(sink.data, 1, "b"), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sink.event(sink.data, &events[i]), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(given.ids[i].trace, wanted[i].trace);
        assert_int_equal(given.ids[i].index, wanted[i].index);
        assert_int_equal(given.partners[i].trace, partners[i].trace);
        assert_int_equal(given.partners[i].index, partners[i].index);
    }
    esi_set_part_destroy(part);
}

SUITE(test_set_part)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_ordered_as_the_whole_is),
        cmocka_unit_test(what_is_not_in_order_is_refused),
        cmocka_unit_test(traces_may_begin_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
