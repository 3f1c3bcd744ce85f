/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the part of the order that all stores share, with the dense store. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/order/check_store.h"
#include "tests/suites.h"

static struct es_order *dense_order(uint32_t traces)
{
    struct esi_order_config config = {.store = "dense"};
    struct es_order *order;

    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    for (uint32_t i = 0; i < traces; i++)
        assert_int_equal(es_order_add_trace(order), 0);
    return order;
}

static struct es_event_id at(uint32_t trace, uint32_t index)
{
    return (struct es_event_id){.trace = trace, .index = index};
}

/* --- The truth -------------------------------------------------------------------- */

static void dense_vectors_tell_the_order(void **state)
{
    struct esi_order_config config = {.store = "dense"};

    (void)state;
    check_store_widely(&config, 650, 120, NULL);
}

static void larger_computations_are_in_order(void **state)
{
    struct esi_order_config config = {.store = "dense"};

    (void)state;
    check_store_widely(&config, 2 * MADE_SHAPES, 400, NULL);
}

/* A message, its answer, and an unrelated trace. */
static void small_example_is_as_drawn(void **state)
{
    struct es_order *order = dense_order(3);
    struct es_event_id send = at(0, 1), answer = at(1, 2);

    (void)state;
    assert_int_equal(es_order_append(order, 0, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_UNARY, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_RECEIVE, &send, 1), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_RECEIVE, &answer, 1), 0);
    assert_int_equal(es_order_append(order, 2, ES_EVENT_UNARY, NULL, 0), 0);

    assert_int_equal(es_order_relation(order, at(0, 1), at(1, 1)), ES_RELATION_BEFORE);
    assert_int_equal(es_order_relation(order, at(0, 3), at(1, 1)), ES_RELATION_AFTER);
    assert_int_equal(es_order_relation(order, at(0, 2), at(1, 2)),
                     ES_RELATION_CONCURRENT);
    assert_int_equal(es_order_relation(order, at(0, 2), at(0, 2)), ES_RELATION_EQUAL);
    assert_int_equal(es_order_relation(order, at(2, 1), at(0, 3)),
                     ES_RELATION_CONCURRENT);
    assert_int_equal(es_order_greatest_predecessor(order, at(1, 2), 0), 1);
    assert_int_equal(es_order_greatest_concurrent(order, at(1, 2), 0), 2);
    assert_int_equal(es_order_least_successor(order, at(1, 2), 0), 3);
    assert_int_equal(es_order_least_successor(order, at(1, 2), 2), 0);
    es_order_destroy(order);
}

static void halves_of_a_sync_are_concurrent_and_have_the_same_neighbours(void **state)
{
    struct es_order *order = dense_order(3);
    struct es_event_id before = at(2, 1), after = at(0, 2);

    (void)state;
    assert_int_equal(es_order_append(order, 2, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_RECEIVE, &before, 1), 0);
    assert_int_equal(es_order_append_sync(order, 0, 1), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 2, ES_EVENT_RECEIVE, &after, 1), 0);

    assert_int_equal(es_order_relation(order, at(0, 1), at(1, 2)),
                     ES_RELATION_CONCURRENT);
    assert_int_equal(es_order_relation(order, at(2, 1), at(0, 1)), ES_RELATION_BEFORE);
    assert_int_equal(es_order_relation(order, at(1, 1), at(0, 1)), ES_RELATION_BEFORE);
    assert_int_equal(es_order_relation(order, at(1, 2), at(2, 2)), ES_RELATION_BEFORE);
    assert_int_equal(es_order_greatest_predecessor(order, at(0, 1), 1), 1);
    assert_int_equal(es_order_greatest_concurrent(order, at(0, 1), 1), 2);
    assert_int_equal(es_order_greatest_predecessor(order, at(0, 2), 1), 2);
    es_order_destroy(order);
}

/* --- Refusals --------------------------------------------------------------------- */

static void unknown_store_is_named(void **state)
{
    struct esi_order_config config = {.store = "dense"};
    struct es_error error = {.text = ""};
    struct es_order *order;

    (void)state;
    config.store = "sparse";
    assert_int_equal(esi_order_create(&config, &error, &order), -EINVAL);
    assert_non_null(strstr(error.text, "'sparse'"));
}

static void events_that_make_no_sense_are_refused(void **state)
{
    struct es_order *order = dense_order(2);
    struct es_event_id missing[] = {at(1, 1), at(2, 1), at(0, 0)};

    (void)state;
    assert_int_equal(es_order_append(order, 0, ES_EVENT_SEND, NULL, 0), 0);
    assert_int_equal(es_order_append(order, 2, ES_EVENT_UNARY, NULL, 0), -EINVAL);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_SYNC, missing, 1), -EINVAL);
    assert_int_equal(es_order_append(order, 1, ES_EVENT_SEND, missing, 1), -EINVAL);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        assert_int_equal(es_order_append(order, 1, ES_EVENT_RECEIVE, &missing[i], 1),
                         -EINVAL);
    assert_int_equal(es_order_append_sync(order, 0, 0), -EINVAL);
    assert_int_equal(es_order_append_sync(order, 0, 2), -EINVAL);
    assert_int_equal(es_order_count(order, 0), 1);
    assert_int_equal(es_order_count(order, 1), 0);
    es_order_destroy(order);
}

static void questions_about_missing_events_are_refused(void **state)
{
    struct es_order *order = dense_order(2);
    struct es_event_id there = at(0, 1);
    struct es_event_id missing[] = {at(0, 0), at(0, 2), at(1, 1), at(2, 1)};

    (void)state;
    assert_int_equal(es_order_append(order, 0, ES_EVENT_SEND, NULL, 0), 0);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        assert_int_equal(es_order_precedes(order, there, missing[i]), -EINVAL);
        assert_int_equal(es_order_precedes(order, missing[i], there), -EINVAL);
        assert_int_equal(es_order_relation(order, missing[i], missing[i]), -EINVAL);
        assert_int_equal(es_order_greatest_predecessor(order, missing[i], 1), -EINVAL);
        assert_int_equal(es_order_least_successor(order, missing[i], 1), -EINVAL);
        assert_int_equal(es_order_greatest_concurrent(order, missing[i], 1), -EINVAL);
    }
    assert_int_equal(es_order_greatest_predecessor(order, there, 2), -EINVAL);
    assert_int_equal(es_order_count(order, 7), 0);
    es_order_destroy(order);
}

static int give(const struct es_set_sink *sink,
                struct es_event_id id,
                enum es_event_kind kind,
                const struct es_event_id *partner)
{
    return sink->event(sink->data,
                       &(struct es_set_event){.id = id,
                                              .kind = kind,
                                              .partner_count = partner != NULL,
                                              .partners = partner,
                                              .type = "",
                                              .text = ""});
}

static void stream_that_is_not_ordered_is_refused(void **state)
{
    struct es_order *order = dense_order(0);
    struct es_set_sink sink = es_order_sink(order);
    struct es_event_id x = at(0, 1), y = at(1, 1), z = at(2, 1);

    (void)state;
    assert_int_equal(sink.trace(sink.data, 1, "P1"), -EINVAL);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(sink.trace(sink.data, i, "P"), 0);
    assert_int_equal(give(&sink, at(0, 2), ES_EVENT_UNARY, NULL), -EINVAL);
    assert_int_equal(give(&sink, at(3, 1), ES_EVENT_UNARY, NULL), -EINVAL);
    assert_int_equal(give(&sink, x, ES_EVENT_RECEIVE, &y), -EINVAL);
    assert_int_equal(give(&sink, x, ES_EVENT_SYNC, NULL), -EINVAL);
    assert_int_equal(give(&sink, x, ES_EVENT_SYNC, &y), 0);
    assert_int_equal(es_order_sink_end(order), -EINVAL);
    assert_int_equal(give(&sink, z, ES_EVENT_UNARY, NULL), -EINVAL);
    assert_int_equal(give(&sink, y, ES_EVENT_SYNC, &z), -EINVAL);
    assert_int_equal(give(&sink, z, ES_EVENT_SYNC, &x), -EINVAL);
    assert_int_equal(give(&sink, y, ES_EVENT_SYNC, &x), 0);
    assert_int_equal(es_order_sink_end(order), 0);
    assert_int_equal(es_order_count(order, 1), 1);
    es_order_destroy(order);
}

/* --- Memory ----------------------------------------------------------------------- */

static void dense_is_as_large_as_fidge_mattern_vectors(void **state)
{
    struct made_config how = {
        .shape = MADE_SYNCS, .seed = 1, .traces = 10, .events = 300};
    struct made_computation *made = made_computation_create(&how);
    struct esi_order_config config = {.store = "dense"};
    struct es_order *order = check_store_fill(&config, made);
    struct esi_order_statistics statistics;
    struct esi_order_ratios ratios;

    (void)state;
    esi_order_statistics(order, &statistics);
    esi_order_ratios(&statistics, &ratios);
    assert_int_equal(statistics.traces, 10);
    assert_int_equal(statistics.events, made->count);
    assert_true(statistics.communication_events > 0);
    assert_true(statistics.communication_events < statistics.events);
    assert_true(statistics.actual_elements <= (uint64_t)made->count * 10);
    assert_int_equal(statistics.fixed_elements, (uint64_t)made->count * 10);
    assert_true(statistics.stored_bytes > 0);
    assert_true(ratios.fixed > 0.999 && ratios.fixed < 1.001);
    assert_true(ratios.communication_fixed > 0.999 &&
                ratios.communication_fixed < 1.001);
    es_order_destroy(order);
    made_computation_destroy(made);
}

static void fixed_vectors_have_the_length_that_is_set(void **state)
{
    struct esi_order_config config = {.store = "dense"};
    struct esi_order_statistics statistics;
    struct es_order *order;

    (void)state;
    config.fixed_vector = 300;
    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    assert_int_equal(es_order_add_trace(order), 0);
    assert_int_equal(es_order_append(order, 0, ES_EVENT_UNARY, NULL, 0), 0);
    esi_order_statistics(order, &statistics);
    assert_int_equal(statistics.vector_elements, 300);
    assert_int_equal(statistics.fixed_elements, 300);
    assert_int_equal(statistics.actual_elements, 1);
    assert_int_equal(statistics.communication_fixed_elements, 0);
    es_order_destroy(order);
}

static void relations_have_names(void **state)
{
    (void)state;
    assert_string_equal(es_relation_name(ES_RELATION_BEFORE), "before");
    assert_string_equal(es_relation_name(ES_RELATION_AFTER), "after");
    assert_string_equal(es_relation_name(ES_RELATION_CONCURRENT), "concurrent");
    assert_string_equal(es_relation_name(ES_RELATION_EQUAL), "equal");
}

SUITE(test_order)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_vectors_tell_the_order),
        cmocka_unit_test(larger_computations_are_in_order),
        cmocka_unit_test(small_example_is_as_drawn),
        cmocka_unit_test(halves_of_a_sync_are_concurrent_and_have_the_same_neighbours),
        cmocka_unit_test(unknown_store_is_named),
        cmocka_unit_test(events_that_make_no_sense_are_refused),
        cmocka_unit_test(questions_about_missing_events_are_refused),
        cmocka_unit_test(stream_that_is_not_ordered_is_refused),
        cmocka_unit_test(dense_is_as_large_as_fidge_mattern_vectors),
        cmocka_unit_test(fixed_vectors_have_the_length_that_is_set),
        cmocka_unit_test(relations_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
