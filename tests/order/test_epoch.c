/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_epoch.c - the store "epoch": all answers beside the truth, and what it stores.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/order/order.h"
#include "tests/order/check_store.h"

static struct es_order_config epoch_config(void)
{
    struct es_order_config config;

    es_order_config_init(&config);
    config.store = "epoch";
    return config;
}

static void all_answers_are_true(void **state)
{
    struct es_order_config config = epoch_config();

    (void)state;
    check_store_widely(&config, 600, 160, NULL);
}

/* So that parts of logs are sealed also where computations are small. */
static void packed_logs_give_true_answers(void **state)
{
    static const uint32_t sizes[] = {1, 3, 8, 30};
    struct es_order_config config = epoch_config();

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        config.seal_entries = sizes[i];
        check_store_widely(&config, 200, 160, NULL);
    }
}

static void answers_are_true_while_events_are_appended(void **state)
{
    struct es_order_config config = epoch_config();
    uint64_t seed = made_seed();

    (void)state;
    for (unsigned round = 0; round < 2 * MADE_SHAPES; round++) {
        struct made_config how = {.shape = (enum made_shape)(round % MADE_SHAPES),
                                  .seed = seed + round,
                                  .traces = 3 + round % 10,
                                  .events = 400};
        struct made_computation *made = made_computation_create(&how);

        config.seal_entries = round % 3 * 4;
        check_store_threads(&config, made, NULL);
        made_computation_destroy(made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_answers_are_true),
        cmocka_unit_test(packed_logs_give_true_answers),
        cmocka_unit_test(answers_are_true_while_events_are_appended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
