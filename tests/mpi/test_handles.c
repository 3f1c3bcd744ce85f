/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the map from handles to objects, with and without concurrent readers. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "wrappers/mpi/handles.h"

enum { HANDLES = 1000, STEPS = 200000, READERS = 3 };

static void the_map_agrees_with_a_plain_array(void **state)
{
    static struct esi_handles handles;
    static void *plain[HANDLES];
    static char objects[HANDLES];
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < STEPS; i++) {
        uint32_t which = random_below(&random, HANDLES);
        uint64_t handle = 0x84000000 + which;

        switch (random_below(&random, 3)) {
        case 0:
            plain[which] = &objects[random_below(&random, HANDLES)];
            assert_true(esi_handles_set(&handles, handle, plain[which]));
            break;
        case 1:
            assert_ptr_equal(esi_handles_remove(&handles, handle), plain[which]);
            plain[which] = NULL;
            break;
        default:
            assert_ptr_equal(esi_handles_find(&handles, handle), plain[which]);
            break;
        }
    }
    for (uint32_t i = 0; i < HANDLES; i++)
        assert_ptr_equal(esi_handles_find(&handles, 0x84000000 + i), plain[i]);
}

static void what_was_never_there_is_not_found(void **state)
{
    static struct esi_handles handles;
    char object;

    (void)state;
    assert_null(esi_handles_find(&handles, 5));
    assert_null(esi_handles_remove(&handles, 5));
    assert_true(esi_handles_set(&handles, 5, &object));
    assert_null(esi_handles_find(&handles, 6));
    assert_null(esi_handles_remove(&handles, 6));
    assert_ptr_equal(esi_handles_find(&handles, 5), &object);
}

/* --- Readers while the map grows ------------------------------------------------- */

struct reading {
    pthread_t thread;
    struct esi_handles *handles;
    _Atomic bool *over;
    uint64_t wrong;
};

/* The object of a handle is the address of its place; any other one is an error.  Even
 * handles are never removed. */
static uint64_t places[HANDLES];
static _Atomic uint32_t lasting; /* even handles below it exist */

static void *read_on(void *argument)
{
    struct reading *reading = argument;
    uint64_t random = (uintptr_t)argument;

    while (!atomic_load(reading->over)) {
        uint32_t there = atomic_load(&lasting);
        uint32_t which = random_below(&random, HANDLES);
        void *found = esi_handles_find(reading->handles, which);

        if (found != NULL && found != &places[which])
            reading->wrong++;
        if (found == NULL && which < there && which % 2 == 0)
            reading->wrong++;
    }
    return NULL;
}

static void readers_see_right_objects_while_the_map_grows(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        static struct esi_handles maps[20];
        struct reading readings[READERS];
        _Atomic bool over = false;

        atomic_store(&lasting, 0);
        for (int i = 0; i < READERS; i++) {
            readings[i] = (struct reading){.handles = &maps[round], .over = &over};
            assert_int_equal(
                pthread_create(&readings[i].thread, NULL, read_on, &readings[i]), 0);
        }
        for (uint32_t i = 0; i < HANDLES; i++) {
            assert_true(esi_handles_set(&maps[round], i, &places[i]));
            atomic_store(&lasting, i + 1);
            if (i % 2 == 1)
                assert_ptr_equal(esi_handles_remove(&maps[round], i), &places[i]);
        }
        atomic_store(&over, true);
        for (int i = 0; i < READERS; i++) {
            pthread_join(readings[i].thread, NULL);
            assert_int_equal(readings[i].wrong, 0);
        }
    }
}

SUITE(test_handles)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_agrees_with_a_plain_array),
        cmocka_unit_test(what_was_never_there_is_not_found),
        cmocka_unit_test(readers_see_right_objects_while_the_map_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
