/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Pools of records that are allocated and freed. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "tests/suites.h"

enum { RECORDS = 3 * ESI_POOL_CHUNK + 1 };

struct record {
    uint32_t number;
    uint64_t value;
};

static struct record *take_record(struct esi_pool *pool, uint32_t *ret_number)
{
    struct record *record = esi_pool_take(pool, ret_number);

    assert_non_null(record);
    assert_ptr_equal(record, esi_pool_at(pool, *ret_number));
    assert_int_equal(record->number, 0);
    assert_int_equal(record->value, 0);
    *record = (struct record){.number = *ret_number, .value = UINT64_MAX};
    return record;
}

static void records_keep_their_places(void **state)
{
    struct record *records[RECORDS];
    struct esi_pool pool;
    uint32_t number;

    (void)state;
    esi_pool_init(&pool, sizeof(struct record));
    for (uint32_t i = 0; i < RECORDS; i++) {
        records[i] = take_record(&pool, &number);
        assert_int_equal(number, i);
    }
    for (uint32_t i = 0; i < RECORDS; i++) {
        assert_ptr_equal(esi_pool_at(&pool, i), records[i]);
        assert_int_equal(records[i]->number, i);
    }
    esi_pool_fini(&pool);
}

static void what_is_given_back_is_taken_again_as_zeros(void **state)
{
    struct esi_pool pool;
    uint32_t number;

    (void)state;
    esi_pool_init(&pool, sizeof(struct record));
    for (uint32_t i = 0; i < RECORDS; i++)
        take_record(&pool, &number);
    for (uint32_t i = 0; i < RECORDS; i += 2)
        esi_pool_give(&pool, i);
    for (uint32_t i = 0; i < RECORDS; i += 2) {
        take_record(&pool, &number);
        assert_int_equal(number % 2, 0);
    }
    assert_int_equal(pool.made, RECORDS);
    take_record(&pool, &number);
    assert_int_equal(number, RECORDS);
    esi_pool_fini(&pool);
}

SUITE(test_pool)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_keep_their_places),
        cmocka_unit_test(what_is_given_back_is_taken_again_as_zeros),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
