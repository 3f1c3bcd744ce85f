/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the table of requests against a plain array with linear search. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/random.h"
#include "tests/suites.h"
#include "wrappers/mpi/requests.h"

enum { HANDLES = 300, STEPS = 200000, THREADS = 4 };

struct plain {
    bool present;
    bool persistent;
    bool active;
    uint32_t mark;
};

/* Handles like those of MPI: small differences, common high bits. */
static uint64_t handle_of(uint64_t base, uint32_t i)
{
    return base + (i < HANDLES / 2 ? i : (uint64_t)i << 12);
}

static void put(uint64_t handle, struct plain *plain, uint64_t *random)
{
    struct esi_request request = {.handle = handle, .kind = ESI_REQUEST_RECEIVE};

    *plain = (struct plain){.present = true,
                            .persistent = random_below(random, 2) != 0,
                            .active = random_below(random, 2) != 0,
                            .mark = random_below(random, UINT32_MAX)};
    request.persistent = plain->persistent;
    request.active = plain->active;
    request.tuple.tag = (int32_t)plain->mark;
    assert_true(esi_request_put(&request));
}

static void compare(const struct esi_request *request,
                    uint64_t handle,
                    const struct plain *plain)
{
    assert_true(request->handle == handle);
    assert_int_equal((uint32_t)request->tuple.tag, plain->mark);
    assert_int_equal(request->persistent, plain->persistent);
    assert_int_equal(request->active, plain->active);
}

static void step(struct plain *plain, uint64_t handle, uint64_t *random)
{
    struct esi_request request;

    switch (random_below(random, 5)) {
    case 0:
    case 1:
        if (!plain->present || !esi_multiple) /* with threads it would be added twice */
            put(handle, plain, random);
        break;
    case 2:
        assert_int_equal(esi_request_get(handle, &request), plain->present);
        if (plain->present)
            compare(&request, handle, plain);
        break;
    case 3:
        assert_int_equal(esi_request_take(handle, &request), plain->present);
        if (plain->present)
            compare(&request, handle, plain);
        plain->present = false;
        break;
    default:
        assert_int_equal(esi_request_finish(handle, UINT64_MAX, &request),
                         plain->present);
        if (plain->present)
            compare(&request, handle, plain);
        plain->present = plain->present && plain->persistent;
        plain->active = false;
        break;
    }
}

static void play(uint64_t base, uint64_t seed)
{
    struct plain plain[HANDLES] = {0};
    struct esi_request request;
    uint64_t random = seed;

    for (int i = 0; i < STEPS; i++) {
        uint32_t which = random_below(&random, HANDLES);

        step(&plain[which], handle_of(base, which), &random);
    }
    for (uint32_t i = 0; i < HANDLES; i++) {
        assert_int_equal(esi_request_take(handle_of(base, i), &request),
                         plain[i].present);
        if (plain[i].present)
            compare(&request, handle_of(base, i), &plain[i]);
    }
}

static void the_table_agrees_with_a_plain_array(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        play(0x98000000, seed);
}

/* --- Windows of requests, as used by programs ------------------------------------- */

enum { WINDOW = 500, WINDOWS = 200 };

static bool count_record(struct esi_request *request, void *context)
{
    uint32_t *counts = context;

    counts[request->tuple.tag]++;
    return false;
}

/* The table has exactly the outstanding records, each once. */
static void check_outstanding(const bool *outstanding)
{
    uint32_t counts[WINDOW] = {0};

    esi_request_foreach(count_record, counts);
    for (uint32_t i = 0; i < WINDOW; i++)
        assert_int_equal(counts[i], outstanding[i]);
}

/* Posts `count` requests and completes them, both in the given orders. */
static void post_and_complete(const uint64_t *handles,
                              const uint32_t *posts,
                              const uint32_t *completions,
                              uint32_t count)
{
    bool outstanding[WINDOW] = {0};
    struct esi_request *request;

    for (uint32_t i = 0; i < count; i++) {
        request = esi_request_claim(handles[posts[i]]);
        assert_non_null(request);
        request->kind = ESI_REQUEST_RECEIVE;
        request->flags = 0;
        request->tuple.tag = (int32_t)posts[i];
        outstanding[posts[i]] = true;
    }
    check_outstanding(outstanding);
    for (uint32_t i = 0; i < count; i++) {
        request = esi_request_find(handles[completions[i]], UINT64_MAX);
        assert_non_null(request);
        assert_int_equal(request->tuple.tag, completions[i]);
        esi_request_remove(request);
        outstanding[completions[i]] = false;
        assert_null(esi_request_find(handles[completions[i]], UINT64_MAX));
        if (i == count / 2)
            check_outstanding(outstanding);
    }
    check_outstanding(outstanding);
}

static void windows_are_found_in_any_order(void **state)
{
    static const uint64_t strides[] = {1, 64, 192, 448, 4096, UINT64_C(1) << 40};
    uint64_t random = 20;

    (void)state;
    for (uint32_t round = 0; round < WINDOWS; round++) {
        uint64_t handles[WINDOW];
        uint32_t posts[WINDOW], completions[WINDOW];
        uint32_t count = 1 + random_below(&random, WINDOW);
        /* Handles in ascending order: numbers, or addresses of objects. */
        uint64_t stride = strides[random_below(&random, 6)];
        uint64_t base = UINT64_C(0x98000000) + random_below(&random, 1000) * stride;

        for (uint32_t i = 0; i < count; i++) {
            handles[i] = base + i * stride;
            posts[i] = completions[i] = i;
        }
        if (random_below(&random, 2) != 0)
            random_shuffle(&random, posts, count, sizeof *posts);
        if (random_below(&random, 2) != 0)
            random_shuffle(&random, completions, count, sizeof *completions);
        post_and_complete(handles, posts, completions, count);
    }
}

static void handles_may_be_any_bits(void **state)
{
    struct esi_request request = {.kind = ESI_REQUEST_SEND};

    (void)state;
    for (uint64_t bit = 0; bit < 64; bit++) {
        request.handle = UINT64_C(1) << bit;
        assert_true(esi_request_put(&request));
    }
    request.handle = UINT64_MAX;
    assert_true(esi_request_put(&request));
    request.handle = 0;
    assert_true(esi_request_put(&request));
    for (uint64_t bit = 0; bit < 64; bit++)
        assert_true(esi_request_take(UINT64_C(1) << bit, &request));
    assert_true(esi_request_take(UINT64_MAX, &request));
    assert_true(esi_request_take(0, &request));
    assert_false(esi_request_get(0, &request));
}

static uint64_t put_receive(uint64_t handle, int32_t mark)
{
    struct esi_request request = {
        .handle = handle, .kind = ESI_REQUEST_RECEIVE, .tuple.tag = mark};
    uint64_t limit = esi_request_serial();

    assert_true(esi_request_put(&request));
    return limit;
}

static void a_handle_given_out_again_means_the_older_to_who_came_before(void **state)
{
    struct esi_request request;
    uint64_t limit;

    (void)state;
    esi_multiple = true;
    for (int i = 0; i < 200; i++) { /* the table grows */
        put_receive((uint64_t)i, i);
        limit = put_receive((uint64_t)i, 1000 + i);
        if (i % 2 == 0) { /* the first thread completes first */
            assert_true(esi_request_finish((uint64_t)i, limit, &request));
            assert_int_equal(request.tuple.tag, i);
        }
        assert_true(esi_request_get((uint64_t)i, &request));
        assert_int_equal(request.tuple.tag, 1000 + i);
        assert_true(esi_request_finish((uint64_t)i, UINT64_MAX, &request));
        assert_int_equal(request.tuple.tag, 1000 + i);
        if (i % 2 == 1) {
            assert_true(esi_request_finish((uint64_t)i, limit, &request));
            assert_int_equal(request.tuple.tag, i);
        }
        assert_false(esi_request_get((uint64_t)i, &request));
    }
    esi_multiple = false;
}

static void an_update_of_a_record_that_is_gone_changes_nothing(void **state)
{
    struct esi_request request;
    struct esi_request copy;

    (void)state;
    esi_multiple = true;
    put_receive(7, 1);
    assert_true(esi_request_get(7, &copy));
    assert_true(esi_request_take(7, &request));
    esi_request_update(&copy);
    assert_false(esi_request_get(7, &request));
    put_receive(7, 2);
    esi_request_update(&copy);
    assert_true(esi_request_take(7, &request));
    assert_int_equal(request.tuple.tag, 2);
    esi_multiple = false;
}

static void records_from_before_there_were_threads_are_found(void **state)
{
    struct esi_request request;

    (void)state;
    for (int i = 0; i < 100; i++)
        put_receive((uint64_t)i << 20, i);
    esi_request_share();
    assert_true(esi_multiple);
    for (int i = 0; i < 100; i++) {
        assert_true(
            esi_request_finish((uint64_t)i << 20, esi_request_serial(), &request));
        assert_int_equal(request.tuple.tag, i);
    }
    esi_multiple = false;
    assert_false(esi_request_get(0, &request));
}

static void *play_alone(void *argument)
{
    uintptr_t number = (uintptr_t)argument;

    play((uint64_t)(number + 1) << 40, number + 10);
    return NULL;
}

static void threads_do_not_disturb_one_another(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    esi_multiple = true;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, play_alone, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    esi_multiple = false;
}

SUITE(test_requests)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_agrees_with_a_plain_array),
        cmocka_unit_test(windows_are_found_in_any_order),
        cmocka_unit_test(handles_may_be_any_bits),
        cmocka_unit_test(a_handle_given_out_again_means_the_older_to_who_came_before),
        cmocka_unit_test(an_update_of_a_record_that_is_gone_changes_nothing),
        cmocka_unit_test(records_from_before_there_were_threads_are_found),
        cmocka_unit_test(threads_do_not_disturb_one_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
