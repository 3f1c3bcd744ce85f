/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Event sets in memory: what went in is found again. */
#include "config.h"

#include "monitors/order/event_set.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/order/set_number.h"
#include "tests/order/made_set.h"
#include "tests/suites.h"

static struct es_event_set *make_set(void)
{
    struct es_event_set *set;

    assert_int_equal(es_event_set_create(&set), 0);
    return set;
}

static void finish(struct es_event_set *set)
{
    struct es_error error = {.text = ""};

    if (es_event_set_finish(set, &error) < 0)
        fail_msg("%s", error.text);
}

/* --- Random sets ------------------------------------------------------------------ */

/* The event as it was told; `attributes` is room for what it has. */
static struct es_set_event read_event(const struct es_event_set *set,
                                      struct es_event_id id,
                                      struct es_event_attribute attributes[8])
{
    struct es_set_event event = {.id = id, .attributes = attributes};
    const uint32_t *names;
    size_t count = es_event_set_attribute_names(set, &names);

    event.kind = es_event_set_kind(set, id);
    event.type = es_event_set_text(set, es_event_set_type(set, id));
    event.text = es_event_set_text(set, es_event_set_text_of(set, id));
    if (event.kind != ES_EVENT_SEND)
        event.partner_count = (uint32_t)es_event_set_partners(set, id, &event.partners);
    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) {
        struct es_event_value value = es_event_set_attribute(set, id, names[i]);
        if (value.kind == ES_VALUE_ABSENT)
            continue;
        attributes[event.attribute_count++] = (struct es_event_attribute){
            .name = es_event_set_text(set, names[i]),
            .text = value.kind == ES_VALUE_TEXT
                        ? es_event_set_text(set, (uint32_t)value.number)
                        : NULL,
            .number = value.number,
        };
    }
    return event;
}

/* The receives of a send, each once. */
static void check_receives(const struct made_computation *made,
                           const struct es_event_set *set,
                           uint32_t send)
{
    const struct es_event_id *receives;
    size_t count = es_event_set_partners(set, made->events[send].id, &receives);
    size_t expected = 0;

    for (uint32_t number = 0; number < made->count; number++) {
        const struct made_event *event = &made->events[number];
        for (uint32_t i = 0;
             event->kind == ES_EVENT_RECEIVE && i < event->partner_count; i++) {
            size_t found = 0;
            if (made_number(made, event->partners[i]) != send)
                continue;
            expected++;
            for (size_t k = 0; k < count; k++)
                found += made_number(made, receives[k]) == number ? 1u : 0u;
            assert_int_equal(found, 1);
        }
    }
    assert_int_equal(count, expected);
}

static void check_set(const struct made_computation *made,
                      const struct es_event_set *set)
{
    assert_int_equal(es_event_set_traces(set), made->traces);
    assert_int_equal(es_event_set_events(set), made->count);
    for (uint32_t trace = 0; trace < made->traces; trace++)
        assert_int_equal(es_event_set_count(set, trace), made->counts[trace]);
    for (uint32_t number = 0; number < made->count; number++) {
        struct es_event_attribute attributes[8];
        struct es_set_event event =
            read_event(set, made->events[number].id, attributes);
        if (!made_set_is(made, number, &event))
            fail_msg("%s: event %u is not what it was", made_computation_name(made),
                     number);
        if (event.kind == ES_EVENT_SEND)
            check_receives(made, set, number);
    }
}

static void random_sets_are_kept_as_they_are(void **state)
{
    enum { ROUNDS = 8 };
    uint64_t seed = made_seed();
    struct made_draw draw;

    (void)state;
    made_draw_init(&draw, seed);
    for (unsigned round = 0; round < ROUNDS * MADE_SHAPES; round++) {
        struct made_computation *made =
            made_set_computation(seed, round, round % 5 ? 100 : 600, &draw);

        for (unsigned i = 0; i < MADE_ORDERS; i++) {
            struct es_event_set *set = make_set();
            struct es_set_sink sink = es_event_set_sink(set);
            uint32_t *order = made_set_order(made, (enum made_order)i, &draw);
            uint32_t stop = made_draw_below(&draw, made->count);

            assert_int_equal(made_set_traces(made, &sink), 0);
            for (uint32_t at = 0; at < made->count; at++) {
                assert_int_equal(made_set_event(made, order[at], &sink), 0);
                if (at == stop) /* what is open may come later */
                    es_event_set_finish(set, NULL);
            }
            finish(set);
            check_set(made, set);
            free(order);
            es_event_set_destroy(set);
        }
        made_computation_destroy(made);
    }
}

/* --- By hand ---------------------------------------------------------------------- */

static int give(struct es_event_set *set,
                enum es_event_kind kind,
                struct es_event_id id,
                const struct es_event_id *partners,
                uint32_t partner_count)
{
    struct es_set_sink sink = es_event_set_sink(set);
    struct es_set_event event = {.id = id,
                                 .kind = kind,
                                 .partners = partners,
                                 .partner_count = partner_count,
                                 .type = "",
                                 .text = ""};

    return sink.event(sink.data, &event);
}

static struct es_event_set *make_traces(uint32_t count)
{
    struct es_event_set *set = make_set();
    struct es_set_sink sink = es_event_set_sink(set);

    for (uint32_t trace = 0; trace < count; trace++)
        assert_int_equal(sink.trace(sink.data, trace, "same name"), 0);
    return set;
}

static void what_is_left_open_is_named(void **state)
{
    static const struct {
        enum es_event_kind kind;  /* of event 1 of trace 0, which names the other */
        enum es_event_kind other; /* of event 1 of trace 1; with `is_there` */
        bool is_there;
    } cases[] = {
        {ES_EVENT_RECEIVE, ES_EVENT_SEND, false},
        {ES_EVENT_RECEIVE, ES_EVENT_UNARY, true},
        {ES_EVENT_SYNC, ES_EVENT_SYNC, false},
        {ES_EVENT_SYNC, ES_EVENT_SEND, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct es_event_set *set = make_traces(2);
        struct es_error error = {.text = ""};
        struct es_event_id a = {0, 1}, b = {1, 1};

        assert_int_equal(give(set, cases[i].kind, a, &b, 1), 0);
        if (cases[i].is_there)
            assert_int_equal(give(set, cases[i].other, b, NULL, 0), 0);
        assert_int_equal(es_event_set_finish(set, &error), -EINVAL);
        assert_string_equal(error.text,
                            "event 1 of trace 0 names event 1 of trace 1, which is not "
                            "there or no partner of it");
        es_event_set_destroy(set);
    }
}

static void events_that_make_no_sense_are_refused(void **state)
{
    struct es_event_set *set = make_traces(2);
    struct es_event_id a = {0, 1}, b = {1, 1};

    (void)state;
    assert_int_equal(give(set, ES_EVENT_UNARY, (struct es_event_id){2, 1}, NULL, 0),
                     -EINVAL);
    assert_int_equal(give(set, ES_EVENT_UNARY, (struct es_event_id){0, 2}, NULL, 0),
                     -EINVAL);
    assert_int_equal(give(set, ES_EVENT_UNARY, a, &b, 1), -EINVAL);
    assert_int_equal(give(set, ES_EVENT_SYNC, a, NULL, 0), -EINVAL);
    assert_int_equal(give(set, ES_EVENT_UNARY, a, NULL, 0), 0);
    assert_int_equal(give(set, ES_EVENT_RECEIVE, b, &a, 1), -EINVAL);
    es_event_set_destroy(set);
}

static void texts_are_numbers(void **state)
{
    struct es_event_set *set = make_traces(3);
    uint32_t name = es_event_set_trace_name(set, 0);

    (void)state;
    assert_int_equal(name, es_event_set_trace_name(set, 2));
    assert_int_equal(name, es_event_set_find_text(set, "same name"));
    assert_int_equal(es_event_set_find_text(set, ""), 0);
    assert_int_equal(es_event_set_find_text(set, "same nam"), ES_TEXT_NONE);
    assert_int_equal(es_event_set_texts(set), 2);
    es_event_set_destroy(set);
}

static void spans_cover_each_trace_once(void **state)
{
    enum { EVENTS = 1000 };
    struct es_event_set *set = make_traces(1);
    struct es_set_sink sink = es_event_set_sink(set);
    struct es_event_id id = {0, 1};

    (void)state;
    for (uint32_t index = 1; index <= EVENTS; index++) {
        char type[16], text[16];
        struct es_set_event event = {.id = {0, index}, .type = type, .text = text};

        snprintf(type, sizeof type, "%u", index % 9);
        snprintf(text, sizeof text, "text %u", index % 11);
        assert_int_equal(sink.event(sink.data, &event), 0);
    }
    while (id.index <= EVENTS) {
        struct es_event_set_span span;

        es_event_set_span(set, id, &span);
        assert_true(span.count > 0 && id.index + span.count - 1 <= EVENTS);
        for (uint32_t i = 0; i < span.count; i++, id.index++) {
            assert_int_equal(span.types[i], es_event_set_type(set, id));
            assert_int_equal(span.texts[i], es_event_set_text_of(set, id));
        }
    }
    es_event_set_destroy(set);
}

/* --- Attributes ------------------------------------------------------------------- */

static int give_attribute(struct es_event_set *set,
                          uint32_t index,
                          const char *name,
                          const char *text,
                          int64_t number)
{
    struct es_event_attribute attribute = {name, text, number};
    struct es_set_sink sink = es_event_set_sink(set);
    struct es_set_event event = {.id = {0, index},
                                 .type = "",
                                 .text = "",
                                 .attributes = &attribute,
                                 .attribute_count = name ? 1 : 0};

    return sink.event(sink.data, &event);
}

/* Values of every width, of either kind, present and absent, in any mixture. */
static struct es_event_value value_at(unsigned mixture, uint32_t index)
{
    struct made_draw draw;
    struct es_event_value value = {ES_VALUE_NUMBER, 0};
    uint64_t number;

    made_draw_init(&draw, index);
    if (mixture & 1 && made_draw_percent(&draw, 20))
        value.kind = ES_VALUE_ABSENT;
    else if (mixture & 2 && made_draw_percent(&draw, 30))
        value.kind = ES_VALUE_TEXT;
    number = (uint64_t)made_draw_below(&draw, UINT32_MAX) << 32 |
             made_draw_below(&draw, UINT32_MAX);
    number >>= mixture / 4 * 8;
    value.number = (int64_t)(mixture % 8 < 4 ? 0 - number : number);
    return value;
}

static void attributes_are_found_again(void **state)
{
    enum { EVENTS = 400, MIXTURES = 32 };

    (void)state;
    for (unsigned mixture = 0; mixture < MIXTURES; mixture++) {
        struct es_event_set *set = make_traces(1);

        for (uint32_t index = 1; index <= EVENTS; index++) {
            struct es_event_value value = value_at(mixture, index);
            char text[32];

            snprintf(text, sizeof text, "x%u", index % 50);
            assert_int_equal(
                give_attribute(set, index, value.kind == ES_VALUE_ABSENT ? NULL : "a",
                               value.kind == ES_VALUE_TEXT ? text : NULL, value.number),
                0);
            if (index % 37 == 0)
                finish(set); /* columns are packed, and opened again */
        }
        for (uint32_t index = 1; index <= EVENTS; index++) {
            struct es_event_value value = value_at(mixture, index);
            struct es_event_value found = es_event_set_attribute(
                set, (struct es_event_id){0, index}, es_event_set_find_text(set, "a"));
            char text[32];

            assert_int_equal(found.kind, value.kind);
            snprintf(text, sizeof text, "x%u", index % 50);
            if (value.kind == ES_VALUE_NUMBER)
                assert_true(found.number == value.number);
            else if (value.kind == ES_VALUE_TEXT)
                assert_string_equal(es_event_set_text(set, (uint32_t)found.number),
                                    text);
        }
        es_event_set_destroy(set);
    }
}

static void texts_that_are_numbers_are_the_same_as_numbers(void **state)
{
    struct es_event_set *set = make_traces(1);
    struct es_event_value text, number;
    uint32_t name;

    (void)state;
    assert_int_equal(give_attribute(set, 1, "a", "-12", 0), 0);
    assert_int_equal(give_attribute(set, 2, "a", NULL, -12), 0);
    assert_int_equal(give_attribute(set, 3, "a", "-012", 0), 0);
    name = es_event_set_find_text(set, "a");
    text = es_event_set_attribute(set, (struct es_event_id){0, 1}, name);
    number = es_event_set_attribute(set, (struct es_event_id){0, 2}, name);
    assert_int_equal(text.kind, ES_VALUE_NUMBER);
    assert_true(text.kind == number.kind && text.number == number.number);
    text = es_event_set_attribute(set, (struct es_event_id){0, 3}, name);
    assert_int_equal(text.kind, ES_VALUE_TEXT);
    text = es_event_set_attribute(set, (struct es_event_id){0, 1}, ES_TEXT_NONE);
    assert_int_equal(text.kind, ES_VALUE_ABSENT);
    es_event_set_destroy(set);
}

static void a_name_does_not_come_twice(void **state)
{
    struct es_event_set *set = make_traces(1);
    struct es_set_sink sink = es_event_set_sink(set);
    const struct es_event_attribute attributes[] = {{"a", NULL, 1}, {"a", NULL, 2}};
    struct es_set_event event = {.id = {0, 1},
                                 .type = "",
                                 .text = "",
                                 .attributes = attributes,
                                 .attribute_count = 2};

    (void)state;
    assert_int_equal(sink.event(sink.data, &event), -EINVAL);
    es_event_set_destroy(set);
}

/* --- Sizes ------------------------------------------------------------------------ */

static void an_event_costs_a_few_bytes(void **state)
{
    enum { EVENTS = 1 << 16 };
    struct es_event_set *set = make_traces(1);

    (void)state;
    for (uint32_t index = 1; index <= EVENTS; index++)
        assert_int_equal(give_attribute(set, index, "a", NULL, 1000000 + index % 200),
                         0);
    finish(set);
    /* 17, as much again where the last chunk is empty; a byte for the attribute, and 24
     * and a pointer for 64 of them. */
    assert_true(es_event_set_bytes(set) < (2 * 17 + 2 + 1) * (uint64_t)EVENTS);
    es_event_set_destroy(set);
}

static void numbers_are_written_in_one_way(void **state)
{
    static const struct {
        const char *text;
        bool is_number;
        int64_t number;
    } cases[] = {
        {"0", true, 0},
        {"-1", true, -1},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"-0", false, 0},
        {"00", false, 0},
        {"01", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length = strlen(cases[i].text);
        char out[ES_SET_NUMBER_LENGTH];
        int64_t number = 0;

        assert_int_equal(es_set_number_parse(cases[i].text, length, &number),
                         cases[i].is_number);
        if (!cases[i].is_number)
            continue;
        assert_true(number == cases[i].number);
        assert_int_equal(es_set_number_format(number, out), length);
        assert_string_equal(out, cases[i].text);
    }
}

SUITE(test_event_set)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sets_are_kept_as_they_are),
        cmocka_unit_test(what_is_left_open_is_named),
        cmocka_unit_test(events_that_make_no_sense_are_refused),
        cmocka_unit_test(texts_are_numbers),
        cmocka_unit_test(spans_cover_each_trace_once),
        cmocka_unit_test(attributes_are_found_again),
        cmocka_unit_test(texts_that_are_numbers_are_the_same_as_numbers),
        cmocka_unit_test(a_name_does_not_come_twice),
        cmocka_unit_test(an_event_costs_a_few_bytes),
        cmocka_unit_test(numbers_are_written_in_one_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
