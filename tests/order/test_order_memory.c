/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Each allocation of every store fails in turn: the event is refused, the store stays
 * unchanged, and appending the same event again succeeds. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/order/cluster/cluster_tuning.h"
#include "monitors/order/epoch/epoch_tuning.h"
#include "tests/failing.h"
#include "tests/order/check_store.h"
#include "tests/suites.h"

/* --- Stores ----------------------------------------------------------------------- */

static int add_trace(struct es_set_sink *sink, uint32_t trace)
{
    int code;

    failing_resume();
    code = sink->trace(sink->data, trace, "P");
    failing_pause();
    return code;
}

static int give(struct es_set_sink *sink,
                const struct made_computation *made,
                uint32_t number)
{
    int code;

    failing_resume();
    code = made_computation_give(made, number, sink);
    failing_pause();
    return code;
}

/* Appends all events; an event refused for lack of memory is appended again. */
static void append_all(struct es_order *order, const struct made_computation *made)
{
    struct es_set_sink sink = es_order_sink(order);

    for (uint32_t trace = 0; trace < made->traces; trace++) {
        int code = add_trace(&sink, trace);

        if (code < 0) {
            assert_int_equal(code, -ENOMEM);
            assert_int_equal(es_order_traces(order), trace);
            assert_int_equal(add_trace(&sink, trace), 0);
        }
    }
    for (uint32_t i = 0; i < made->count; i++) {
        int code = give(&sink, made, i);
        struct es_event_id id = made->events[i].id;

        if (code < 0) {
            assert_int_equal(code, -ENOMEM);
            assert_int_equal(es_order_count(order, id.trace), id.index - 1);
            assert_int_equal(give(&sink, made, i), 0);
        }
    }
}

static void check_pairs(const struct es_order *order,
                        const struct made_computation *made,
                        unsigned failed)
{
    for (uint32_t i = 0; i < made->count; i++)
        for (uint32_t j = 0; j < made->count; j++) {
            struct es_event_id a = made->events[i].id, b = made->events[j].id;

            if (es_order_precedes(order, a, b) != made_precedes(made, a, b))
                fail_msg("%u:%u and %u:%u after allocation %u failed (%s)", a.trace,
                         a.index, b.trace, b.index, failed,
                         made_computation_name(made));
        }
}

/* Returns whether the allocation with this number was reached. */
static bool fill_with_failure(const struct esi_order_config *config,
                              const struct made_computation *made,
                              unsigned failed)
{
    struct es_order *order;
    int code;

    failing_begin(failed);
    code = esi_order_create(config, NULL, &order);
    failing_pause();
    if (code < 0) {
        assert_int_equal(code, -ENOMEM);
        return true;
    }
    append_all(order, made);
    check_pairs(order, made, failed);
    es_order_destroy(order);
    return failing_end();
}

static void fail_each_in_turn(const struct esi_order_config *config)
{
    static const enum made_shape shapes[] = {MADE_SYNCS, MADE_COMMUNICATORS};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct made_config how = {
            .shape = shapes[i], .seed = 3, .traces = 9, .events = 90};
        struct made_computation *made = made_computation_create(&how);
        unsigned failed = 1;

        while (fill_with_failure(config, made, failed))
            failed++;
        assert_true(failed > 2);
        made_computation_destroy(made);
    }
}

static void every_store_stays_as_it_was(void **state)
{
    static const char *const stores[] = {"dense", "cluster", "epoch"};

    (void)state;
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        static const struct esi_epoch_tuning tight = {.is_tight = true};
        struct esi_order_config config = {.store = stores[i]};

        fail_each_in_turn(&config);
        if (strcmp(stores[i], "epoch") != 0)
            continue;
        config.tuning = &tight;
        fail_each_in_turn(&config);
    }
}

static void clusters_stay_as_they_were(void **state)
{
    static const char *const strategies[] = {"merge-first", "collect", "migrate"};

    (void)state;
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
        struct esi_cluster_tuning tuning = esi_cluster_defaults;
        const struct esi_order_config config = {.store = "cluster", .tuning = &tuning};

        tuning.strategy = strategies[i];
        tuning.levels = 2;
        tuning.max_sizes[0] = 3;
        tuning.max_sizes[1] = 6;
        tuning.threshold = 0.2;
        tuning.prefix = 30;
        fail_each_in_turn(&config);
    }
}

SUITE(test_order_memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_store_stays_as_it_was),
        cmocka_unit_test(clusters_stay_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
