/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Heaps, compared with an array that is searched for its minimum. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/heap.h"
#include "tests/failing.h"
#include "tests/random.h"
#include "tests/suites.h"

enum { ENTRIES = 200 };

struct model {
    struct esi_heap_entry entries[ENTRIES];
    size_t count;
};

static size_t least_of(const struct model *model)
{
    size_t least = 0;

    for (size_t i = 1; i < model->count; i++) {
        const struct esi_heap_entry *a = &model->entries[i];
        const struct esi_heap_entry *b = &model->entries[least];

        if (a->key < b->key || (a->key == b->key && a->item < b->item))
            least = i;
    }
    return least;
}

static void change_at_random(uint64_t seed, uint64_t keys)
{
    struct esi_heap heap = {.entries = NULL};
    struct model model = {.count = 0};

    for (int step = 0; step < 20000; step++) {
        uint64_t kind = random_below(&seed, 3);
        struct esi_heap_entry entry = {random_next(&seed) % keys,
                                       random_below(&seed, ENTRIES)};
        size_t least = least_of(&model);

        if (model.count > 0) {
            assert_int_equal(esi_heap_top(&heap).key, model.entries[least].key);
            assert_int_equal(esi_heap_top(&heap).item, model.entries[least].item);
        }
        if (model.count > 0 && kind == 0) {
            esi_heap_pop(&heap);
            model.entries[least] = model.entries[--model.count];
        } else if (model.count > 0 && kind == 1) {
            esi_heap_replace_top(&heap, entry.key, entry.item);
            model.entries[least] = entry;
        } else if (model.count < ENTRIES) {
            assert_int_equal(esi_heap_reserve(&heap, heap.count + 1), 0);
            esi_heap_push(&heap, entry.key, entry.item);
            model.entries[model.count++] = entry;
        }
        assert_int_equal(heap.count, model.count);
    }
    esi_heap_fini(&heap);
}

static void the_least_comes_first(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        change_at_random(seed, UINT32_MAX);
        change_at_random(seed, 10);
        change_at_random(seed, 1);
    }
}

static void equal_keys_come_by_item(void **state)
{
    struct esi_heap heap = {.entries = NULL};

    (void)state;
    assert_int_equal(esi_heap_reserve(&heap, 100), 0);
    for (uint64_t i = 0; i < 100; i++)
        esi_heap_push(&heap, UINT64_MAX, i * 37 % 100);
    for (uint64_t i = 0; i < 100; i++, esi_heap_pop(&heap))
        assert_int_equal(esi_heap_top(&heap).item, i);
    assert_int_equal(heap.count, 0);
    esi_heap_fini(&heap);
}

static int fill(void)
{
    struct esi_heap heap = {.entries = NULL};
    int result = 0;

    for (uint64_t i = 50; result == 0 && i > 0; i--) {
        result = esi_heap_reserve(&heap, heap.count + 1);
        if (result == 0)
            esi_heap_push(&heap, i, i);
        if (heap.count > 0)
            assert_int_equal(esi_heap_top(&heap).key, result < 0 ? i + 1 : i);
    }
    esi_heap_fini(&heap);
    return result;
}

static void a_heap_stays_when_memory_runs_out(void **state)
{
    (void)state;
    failing_each(fill, 3);
}

SUITE(test_heap)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_comes_first),
        cmocka_unit_test(equal_keys_come_by_item),
        cmocka_unit_test(a_heap_stays_when_memory_runs_out),
    };

    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
