/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Maps that are read without a lock: compared with an array, and while a writer fills
 * them. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/shared_map.h"
#include "tests/failing.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { KEYS = 3000, READERS = 3 };

static uint64_t word_in(struct esi_shared_map *map, uint64_t key)
{
    const struct esi_shared_slot *slot = esi_shared_map_find(map, key);

    return slot ? atomic_load_explicit(&slot->word, memory_order_acquire) : 0;
}

/* Replaces the map by a larger copy. Returns NULL without memory, and the map stays. */
static struct esi_shared_map *larger_copy(struct esi_shared_map *map)
{
    struct esi_shared_map *larger = esi_shared_map_create(map);

    if (larger && map)
        esi_shared_map_copy(map, larger);
    if (larger)
        free(map);
    return larger;
}

static void fill_at_random(uint64_t seed, uint64_t stride)
{
    struct esi_shared_map *map = NULL;
    uint64_t words[KEYS] = {0};

    for (int step = 0; step < 4 * KEYS; step++) {
        uint64_t i = random_below(&seed, KEYS);
        uint64_t key = i * stride + 1;
        uint64_t word = random_below(&seed, 1000) + 1;
        struct esi_shared_slot *slot;

        if (!esi_shared_map_has_room(map))
            map = larger_copy(map);
        assert_non_null(map);
        slot = esi_shared_map_find(map, key);
        if (slot)
            atomic_store_explicit(&slot->word, word, memory_order_relaxed);
        else
            esi_shared_map_insert(map, key, word);
        words[i] = word;
    }
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(word_in(map, i * stride + 1), words[i]);
    assert_true((uint64_t)map->used * 2 <= map->mask + 1);
    free(map);
}

static void a_map_agrees_with_an_array(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        fill_at_random(seed, 1);
        fill_at_random(seed, 64);
        fill_at_random(seed, UINT64_C(1) << 32);
    }
}

static void words_of_zero_are_not_copied(void **state)
{
    struct esi_shared_map *map = esi_shared_map_create(NULL);

    (void)state;
    assert_non_null(map);
    assert_int_equal(map->mask, 15);
    esi_shared_map_insert(map, 1, 0);
    esi_shared_map_insert(map, 2, 5);
    map = larger_copy(map);
    assert_non_null(map);
    assert_int_equal(map->mask, 31);
    assert_null(esi_shared_map_find(map, 1));
    assert_int_equal(word_in(map, 2), 5);
    free(map);
}

/* --- Readers at work -------------------------------------------------------------- */

struct reading {
    pthread_t thread;
    struct esi_shared_map *map;
    bool is_wrong;
};

static void *read_all(void *argument)
{
    struct reading *reading = argument;
    uint64_t seen = 0;

    /* Keys are added in order: if a key is present, all smaller ones are. */
    while (seen < KEYS)
        for (uint64_t key = KEYS; key > 0; key--) {
            uint64_t word = word_in(reading->map, key);

            reading->is_wrong |= word != 0 && word != key * 3;
            reading->is_wrong |= word == 0 && key <= seen;
            if (word != 0 && key > seen)
                seen = key;
        }
    return NULL;
}

static void readers_see_a_word_with_its_key(void **state)
{
    struct reading readings[READERS] = {{.is_wrong = false}};
    struct esi_shared_map *map = NULL;

    (void)state;
    while (!map || map->mask < 2 * KEYS)
        map = larger_copy(map);
    for (int i = 0; i < READERS; i++) {
        readings[i].map = map;
        assert_int_equal(
            pthread_create(&readings[i].thread, NULL, read_all, &readings[i]), 0);
    }
    for (uint64_t key = 1; key <= KEYS; key++)
        esi_shared_map_insert(map, key, key * 3);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readings[i].thread, NULL);
        assert_false(readings[i].is_wrong);
    }
    free(map);
}

static void a_map_stays_when_memory_runs_out(void **state)
{
    struct esi_shared_map *map = esi_shared_map_create(NULL);

    (void)state;
    assert_non_null(map);
    esi_shared_map_insert(map, 9, 90);
    failing_begin(1);
    assert_null(larger_copy(map));
    assert_true(failing_end());
    assert_int_equal(word_in(map, 9), 90);
    free(map);
}

SUITE(test_shared_map)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_agrees_with_an_array),
        cmocka_unit_test(words_of_zero_are_not_copied),
        cmocka_unit_test(readers_see_a_word_with_its_key),
        cmocka_unit_test(a_map_stays_when_memory_runs_out),
    };

    return cmocka_run_group_tests_name("shared_map", tests, NULL, NULL);
}
