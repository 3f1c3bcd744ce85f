/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The canonical order of event sets, compared with a brute-force computation. */
#include "config.h"

#include "monitors/eventset/delivery.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/eventset/made_set.h"
#include "tests/suites.h"

/* The expected events. */
struct expected {
    const struct made_computation *made;
    const uint32_t *canonical;
    uint32_t given;
    uint32_t traces;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct expected *expected = data;

    (void)name;
    assert_int_equal(trace, expected->traces);
    expected->traces++;
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct expected *expected = data;
    const struct made_computation *made = expected->made;
    uint32_t number = made_number(made, event->id);

    if (number != expected->canonical[expected->given])
        fail_msg("%s: event %u at place %u, expected %u", made_computation_name(made),
                 number, expected->given, expected->canonical[expected->given]);
    if (!made_set_is(made, number, event))
        fail_msg("%s: event %u came out changed", made_computation_name(made), number);
    expected->given++;
    return 0;
}

/* Passes a computation in `order` to a delivery, and compares its output. Returns how
 * many events waited at most. */
static void deliver(const struct made_computation *made,
                    const uint32_t *order,
                    uint64_t memory_bytes,
                    uint32_t *ret_waited)
{
    uint32_t *canonical = made_set_canonical(made, order);
    struct expected expected = {.made = made, .canonical = canonical};
    struct esi_delivery_config config;
    struct esi_delivery *delivery;
    struct es_set_sink in;

    esi_delivery_config_init(&config,
                             (struct es_set_sink){take_trace, take_event, &expected});
    config.memory_bytes = memory_bytes;
    assert_int_equal(esi_delivery_create(&config, &delivery), 0);
    in = esi_delivery_sink(delivery);
    assert_int_equal(made_set_traces(made, &in), 0);
    *ret_waited = 0;
    for (uint32_t at = 0; at < made->count; at++) {
        assert_int_equal(made_set_event(made, order[at], &in), 0);
        if (at + 1 - expected.given > *ret_waited)
            *ret_waited = at + 1 - expected.given;
    }
    assert_int_equal(esi_delivery_finish(delivery, NULL), 0);
    assert_int_equal(expected.given, made->count);
    esi_delivery_destroy(delivery);
    free(canonical);
}

static void any_order_of_a_file_becomes_the_canonical_one(void **state)
{
    enum { ROUNDS = 60 };
    uint64_t seed = random_seed();
    uint32_t waited;
    uint64_t draw;

    (void)state;
    draw = seed;
    for (unsigned round = 0; round < ROUNDS * MADE_SHAPES; round++) {
        struct made_computation *made = made_set_computation(seed, round, 120, &draw);

        for (unsigned i = 0; i < 3 * MADE_ORDERS; i++) {
            uint32_t *order =
                made_set_order(made, (enum made_order)(i % MADE_ORDERS), &draw);
            deliver(made, order, i % 2 ? 0 : UINT64_C(1) << 20, &waited);
            free(order);
        }
        made_computation_destroy(made);
    }
}

/* The same for a new computation in an order of this kind. */
static uint32_t deliver_once(const struct made_config *config,
                             enum made_order kind,
                             uint64_t memory)
{
    struct made_computation *made = made_computation_create(config);
    uint32_t waited;
    uint64_t draw;
    uint32_t *order;

    draw = config->seed;
    order = made_set_order(made, kind, &draw);
    deliver(made, order, memory, &waited);
    free(order);
    made_computation_destroy(made);
    return waited;
}

static void what_waits_long_waits_in_a_file(void **state)
{
    struct made_config config = {
        .shape = MADE_RING, .seed = random_seed(), .traces = 3, .events = 3000};

    (void)state;
    /* An event takes more than 64 bytes: far more events wait than fit into the
     * memory. */
    assert_true(deliver_once(&config, MADE_ORDER_TRACES, 4096) > 16 * 4096 / 64);
}

static void nothing_waits_of_an_ordered_stream(void **state)
{
    struct made_config config = {
        .shape = MADE_COLLECTIVES, .seed = random_seed(), .traces = 5, .events = 500};

    (void)state;
    assert_int_equal(deliver_once(&config, MADE_ORDER_GIVEN, 0), 0);
}

/* --- Streams written out ---------------------------------------------------------- */

/* The output, such as "A1 B2". */
struct words {
    char text[256];
};

static int skip_trace(void *data, uint32_t trace, const char *name)
{
    (void)data;
    (void)trace;
    (void)name;
    return 0;
}

static int append_word(void *data, const struct es_set_event *event)
{
    struct words *words = data;
    size_t length = strlen(words->text);

    snprintf(words->text + length, sizeof words->text - length, "%s%c%u",
             length ? " " : "", (char)('A' + (int)event->id.trace), event->id.index);
    return 0;
}

/* Passes an event to the sink: "A1" (unary), "A1!" (a send), "A1<B2,C3" (a receive) or
 * "A1=B2" (a sync). Returns the result of the sink. */
static int tell(struct es_set_sink *in, const char *event_word)
{
    struct es_event_id partners[8];
    struct es_set_event event = {.type = "", .text = "", .partners = partners};
    char copy[64], *rest = copy, *part;
    char *list;

    snprintf(copy, sizeof copy, "%s", event_word);
    event.id.trace = (uint32_t)(copy[0] - 'A');
    event.id.index = (uint32_t)strtoul(copy + 1, &list, 10);
    event.kind = *list == '!'   ? ES_EVENT_SEND
                 : *list == '<' ? ES_EVENT_RECEIVE
                 : *list == '=' ? ES_EVENT_SYNC
                                : ES_EVENT_UNARY;
    rest = *list ? list + 1 : list;
    while (*rest && (part = strsep(&rest, ","))) {
        partners[event.partner_count++] = (struct es_event_id){
            (uint32_t)(part[0] - 'A'), (uint32_t)strtoul(part + 1, NULL, 10)};
        if (!rest)
            break;
    }
    return in->event(in->data, &event);
}

static struct esi_delivery *start(struct words *words, struct es_set_sink *ret_in)
{
    struct esi_delivery_config config;
    struct esi_delivery *delivery;

    words->text[0] = '\0';
    esi_delivery_config_init(&config,
                             (struct es_set_sink){skip_trace, append_word, words});
    assert_int_equal(esi_delivery_create(&config, &delivery), 0);
    *ret_in = esi_delivery_sink(delivery);
    for (uint32_t trace = 0; trace < 3; trace++)
        assert_int_equal(ret_in->trace(ret_in->data, trace, "name"), 0);
    return delivery;
}

static void events_are_given_as_soon_as_that_is_sure(void **state)
{
    /* Each input event, and all output up to then. */
    static const char *const steps[][8][2] = {
        {{"A1", "A1"}, {"B1", "A1 B1"}},
        /* A receive delays only its own trace. */
        {{"A1<B2", ""},
         {"A2", ""},
         {"B1", "B1"},
         {"C1", "B1 C1"},
         {"B2!", "B1 C1 B2 A1 A2"}},
        /* A sync waits for the event before its other half, and delays no other
         * trace. */
        {{"A1=B2", ""},
         {"C1", "C1"},
         {"B1", "C1 B1"},
         {"C2", "C1 B1"},
         {"B2=A1", "C1 B1 A1 B2 C2"}},
        /* The half that comes first determines its place. */
        {{"A1=B1", ""}, {"C1", ""}, {"C2!", ""}, {"B1=A1", "A1 B1 C1 C2"}},
        /* Of the events that become ready, the one that came first is next. */
        {{"C1<A1", ""}, {"B1<A1", ""}, {"C2", ""}, {"A1!", "A1 C1 B1 C2"}},
        /* The state of one receive's partners is not used for the next receive. */
        {{"A1!", "A1"},
         {"A2<A1", "A1 A2"},
         {"B1=C1", "A1 A2"},
         {"A3<C2", "A1 A2"},
         {"C1=B1", "A1 A2 B1 C1"},
         {"C2!", "A1 A2 B1 C1 C2 A3"}},
        {{"A1<B1,C1", ""}, {"B1!", "B1"}, {"B2", "B1 B2"}, {"C1!", "B1 B2 C1 A1"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct words words;
        struct es_set_sink in;
        struct esi_delivery *delivery = start(&words, &in);

        for (size_t k = 0; k < 8 && steps[i][k][0]; k++) {
            assert_int_equal(tell(&in, steps[i][k][0]), 0);
            assert_string_equal(words.text, steps[i][k][1]);
        }
        assert_int_equal(esi_delivery_finish(delivery, NULL), 0);
        esi_delivery_destroy(delivery);
    }
}

static void what_cannot_come_is_explained(void **state)
{
    static const struct {
        const char *told[6];
        const char *error;
    } cases[] = {
        {{"A1<B1"},
         "event 1 of trace 0 waits for event 1 of trace 1, which never arrived"},
        {{"A1=B1", "C1"},
         "event 1 of trace 0 waits for event 1 of trace 1, which never arrived"},
        {{"A1<A2", "A2!"},
         "a cycle: event 1 of trace 0 comes after event 2 of trace 0, which comes "
         "after it"},
        {{"C1<A1", "B1<A2", "B2!", "A1<B2", "A2!"},
         "a cycle: event 1 of trace 1 comes after event 2 of trace 0, which comes "
         "after it"},
        {{"A1=B2", "A2!", "B1<A2", "B2=A1"},
         "a cycle: event 1 of trace 0 comes after event 1 of trace 1, which comes "
         "after it"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_error error = {.text = ""};
        struct words words;
        struct es_set_sink in;
        struct esi_delivery *delivery = start(&words, &in);

        for (size_t k = 0; k < 6 && cases[i].told[k]; k++)
            assert_int_equal(tell(&in, cases[i].told[k]), 0);
        assert_int_equal(esi_delivery_finish(delivery, &error), -EINVAL);
        assert_string_equal(error.text, cases[i].error);
        esi_delivery_destroy(delivery);
    }
}

static void events_that_make_no_sense_are_refused(void **state)
{
    static const char *const wrong[] = {"A2",       "D1",    "A1<D1",
                                        "A1=B1,C1", "A1=A2", "A1=B1"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct words words;
        struct es_set_sink in;
        struct esi_delivery *delivery = start(&words, &in);

        assert_int_equal(tell(&in, "B1"), 0);
        assert_int_equal(tell(&in, wrong[i]), -EINVAL);
        esi_delivery_destroy(delivery);
    }
}

static int refuse(void *data, const struct es_set_event *event)
{
    (void)event;
    return *(int *)data;
}

static void the_sinks_refusal_is_passed_on(void **state)
{
    struct esi_delivery_config config;
    struct esi_delivery *delivery;
    struct es_set_sink in;
    int refusal = -ENOSPC;

    (void)state;
    esi_delivery_config_init(&config,
                             (struct es_set_sink){skip_trace, refuse, &refusal});
    assert_int_equal(esi_delivery_create(&config, &delivery), 0);
    in = esi_delivery_sink(delivery);
    assert_int_equal(in.trace(in.data, 0, "A"), 0);
    assert_int_equal(tell(&in, "A1"), -ENOSPC);
    esi_delivery_destroy(delivery);
}

SUITE(test_delivery)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_a_file_becomes_the_canonical_one),
        cmocka_unit_test(what_waits_long_waits_in_a_file),
        cmocka_unit_test(nothing_waits_of_an_ordered_stream),
        cmocka_unit_test(events_are_given_as_soon_as_that_is_sure),
        cmocka_unit_test(what_cannot_come_is_explained),
        cmocka_unit_test(events_that_make_no_sense_are_refused),
        cmocka_unit_test(the_sinks_refusal_is_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
