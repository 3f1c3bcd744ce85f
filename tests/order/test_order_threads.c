/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * test_order_threads.c - threads query stores of the order while another one appends;
 * small enough for the thread sanitizer.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitors/order/cluster/cluster_tuning.h"
#include "monitors/order/cluster/communications.h"
#include "monitors/order/epoch/epoch_tuning.h"
#include "monitors/order/order.h"
#include "tests/order/check_store.h"
#include "tests/order/made_computation.h"
#include "tests/suites.h"

static void check_shapes(struct esi_order_config *config,
                         uint32_t traces,
                         uint32_t events)
{
    uint64_t seed = random_seed();

    for (int shape = 0; shape < MADE_SHAPES; shape++) {
        struct made_config how = {.shape = (enum made_shape)shape,
                                  .seed = seed,
                                  .traces = traces,
                                  .events = events,
                                  .is_sparse = shape % 2};
        struct made_computation *made = made_computation_create(&how);
        struct esi_epoch_tuning tuning;

        tuning.seal_entries = (unsigned)shape % 3 * 4;
        tuning.is_tight = shape % 2;
        config->tuning = &tuning;
        check_store_threads(config, made, NULL);
        made_computation_destroy(made);
    }
}

static void dense_vectors_need_no_lock(void **state)
{
    struct esi_order_config config = {.store = "dense"};

    (void)state;
    check_shapes(&config, 20, 300);
}

static void clocks_of_epochs_need_no_lock(void **state)
{
    struct esi_order_config config = {.store = "epoch"};

    (void)state;
    check_shapes(&config, 8, 300);
}

static void clusters_need_no_lock(void **state)
{
    static const char *const strategies[] = {"fixed",  "merge-first", "merge-nth",
                                             "static", "collect",     "migrate"};
    static const enum made_shape shapes[] = {MADE_MIXED, MADE_SYNCS, MADE_NEAR};
    enum { STRATEGIES = sizeof strategies / sizeof strategies[0] };
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned i = 0; i < STRATEGIES; i++) {
        struct made_config how = {
            .shape = shapes[i % 3], .seed = seed + i, .traces = 12, .events = 300};
        struct made_computation *made = made_computation_create(&how);
        struct esi_communications *counts = check_store_communications(made);
        struct esi_cluster_tuning tuning = esi_cluster_defaults;
        const struct esi_order_config config = {.store = "cluster", .tuning = &tuning};

        tuning.strategy = strategies[i];
        tuning.levels = 2;
        tuning.max_sizes[0] = 3;
        tuning.max_sizes[1] = 6;
        tuning.communications = counts;
        tuning.threshold = 0.1;
        tuning.prefix = 100;
        check_store_threads(&config, made, NULL);
        esi_communications_destroy(counts);
        made_computation_destroy(made);
    }
}

SUITE(test_order_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_vectors_need_no_lock),
        cmocka_unit_test(clocks_of_epochs_need_no_lock),
        cmocka_unit_test(clusters_need_no_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
