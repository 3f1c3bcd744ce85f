/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Hash tables, compared with a list that is searched linearly. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "tests/failing.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { ITEMS = 600, STEPS = 60000 };

/* The reference: items by index. The table finds them by hash. */
struct model {
    uint64_t hashes[ITEMS];
    bool present[ITEMS];
    size_t count;
};

static size_t find_item(const struct esi_hash *table, uint64_t hash, size_t index)
{
    size_t found = ESI_HASH_END;

    ESI_HASH_FOREACH(slot, table, hash)
        if (esi_hash_index(table, slot) == index) {
            assert_int_equal(found, ESI_HASH_END);
            found = slot;
        }
    return found;
}

static void compare_all(const struct esi_hash *table, const struct model *model)
{
    assert_int_equal(table->count, model->count);
    for (size_t i = 0; i < ITEMS; i++)
        assert_true((find_item(table, model->hashes[i], i) != ESI_HASH_END) ==
                    model->present[i]);
}

/* Adds and removes random items. They have `kinds` different hashes; few make long
 * chains. */
static void change_at_random(uint64_t seed, uint64_t kinds)
{
    struct esi_hash table = {.slots = NULL};
    struct model model = {.count = 0};

    for (size_t i = 0; i < ITEMS; i++)
        model.hashes[i] = esi_hash_u64(random_next(&seed) % kinds << 8);
    for (int step = 0; step < STEPS; step++) {
        size_t i = random_below(&seed, ITEMS);

        if (model.present[i]) {
            esi_hash_remove(&table, find_item(&table, model.hashes[i], i));
            model.count--;
        } else {
            assert_int_equal(esi_hash_reserve(&table, table.count + 1), 0);
            esi_hash_insert(&table, model.hashes[i], i);
            model.count++;
        }
        model.present[i] = !model.present[i];
        if (step % 1000 == 0)
            compare_all(&table, &model);
    }
    compare_all(&table, &model);
    esi_hash_fini(&table);
}

static void tables_find_what_a_list_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        change_at_random(seed, UINT64_C(1) << 40);
        change_at_random(seed, ITEMS);
        change_at_random(seed, 20);
        change_at_random(seed, 1);
    }
}

static void an_empty_table_has_nothing(void **state)
{
    struct esi_hash table = {.slots = NULL};

    (void)state;
    assert_int_equal(esi_hash_find(&table, 7), ESI_HASH_END);
    esi_hash_clear(&table);
    assert_int_equal(esi_hash_reserve(&table, 1), 0);
    assert_int_equal(esi_hash_find(&table, 7), ESI_HASH_END);
    esi_hash_insert(&table, 7, 0);
    assert_int_not_equal(esi_hash_find(&table, 7), ESI_HASH_END);
    esi_hash_clear(&table);
    assert_int_equal(esi_hash_find(&table, 7), ESI_HASH_END);
    assert_int_equal(table.count, 0);
    esi_hash_fini(&table);
    assert_null(table.slots);
}

static void a_table_is_at_most_half_full(void **state)
{
    struct esi_hash table = {.slots = NULL};

    (void)state;
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(esi_hash_reserve(&table, i + 1), 0);
        esi_hash_insert(&table, esi_hash_u64(i), i);
        assert_true(2 * table.count <= table.mask + 1);
    }
    assert_int_equal(table.mask + 1, 16384);
    assert_int_equal(esi_hash_bytes(&table), 16384 * sizeof *table.slots);
    assert_int_equal(esi_hash_reserve(&table, UINT32_MAX), -ENOMEM);
    assert_int_equal(table.count, 5000);
    esi_hash_fini(&table);
}

/* Keys that differ in few bits, such as MPI handles, do not collide. Keys of
 * communicators are hashes already. */
static void near_numbers_lie_apart(void **state)
{
    static const int shifts[] = {0, 2, 4, 6, 12, 32, 40};

    (void)state;
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++) {
        struct esi_hash table = {.slots = NULL};
        size_t steps = 0;

        assert_int_equal(esi_hash_reserve(&table, 1024), 0);
        for (uint64_t i = 0; i < 1024; i++)
            esi_hash_insert(&table, esi_hash_u64(i << shifts[s]), i);
        for (uint64_t i = 0; i < 1024; i++) {
            uint64_t hash = esi_hash_u64(i << shifts[s]);
            size_t slot = find_item(&table, hash, i);

            steps += (slot - (size_t)(hash >> (32 + table.shift))) & table.mask;
        }
        assert_true(steps < 1024); /* less than one step each */
        esi_hash_fini(&table);
    }
}

static void hashes_of_keys_never_change(void **state)
{
    (void)state;
    assert_int_equal(esi_hash_mix(1, 2), UINT64_C(0xdaa66d2aa8ec1d5c));
    assert_int_equal(esi_hash_mix_text(3, "ab"),
                     esi_hash_mix(esi_hash_mix(3, 'a'), 'b'));
    assert_int_equal(esi_hash_mix_bytes(3, "ab!", 2), esi_hash_mix_text(3, "ab"));
}

static int fill(void)
{
    struct esi_hash table = {.slots = NULL};
    int result = 0;
    size_t i = 0;

    for (; result == 0 && i < 100; i++) {
        result = esi_hash_reserve(&table, i + 1);
        if (result == 0)
            esi_hash_insert(&table, esi_hash_u64(i), i);
    }
    assert_int_equal(table.count, result < 0 ? i - 1 : i);
    for (size_t k = 0; k < table.count; k++)
        assert_int_not_equal(find_item(&table, esi_hash_u64(k), k), ESI_HASH_END);
    esi_hash_fini(&table);
    return result;
}

static void a_table_stays_when_memory_runs_out(void **state)
{
    (void)state;
    failing_each(fill, 3);
}

SUITE(test_hash)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_find_what_a_list_finds),
        cmocka_unit_test(an_empty_table_has_nothing),
        cmocka_unit_test(a_table_is_at_most_half_full),
        cmocka_unit_test(near_numbers_lie_apart),
        cmocka_unit_test(hashes_of_keys_never_change),
        cmocka_unit_test(a_table_stays_when_memory_runs_out),
    };

    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
