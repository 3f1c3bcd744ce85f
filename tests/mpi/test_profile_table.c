/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the interposer's side of profiles: readers get the sums of all added calls,
 * for any order of operations and sites, also while calls are being added. */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "eventspace/run.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/profile.h"
#include "tuplespace/segment.h"
#include "wrappers/mpi/ledger.h"
#include "wrappers/mpi/profile.h"

enum { SITES = 400, ADDITIONS = 60000 };

static const uint16_t operations[] = {ES_OP_MPI_Send, ES_OP_MPI_Recv,
                                      ES_OP_MPI_Allreduce, ES_OP_MPI_Waitall};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

/* The sums expected, by operation and site. */
struct wanted_row {
    uint64_t calls;
    uint64_t ticks;
    uint64_t shortest;
    uint64_t longest;
    uint64_t bytes;
    uint64_t sizes[ESI_PROFILE_SIZES];
};

static struct es_segment *segment;
static struct es_run *run;
static char run_name[64];

/* A process has one profile, so the suite shares it. */
static int make_process(void **state)
{
    struct esi_segment_config config;

    (void)state;
    snprintf(run_name, sizeof run_name, "test-profile-%d", (int)getpid());
    esi_segment_config_init(&config);
    config.run = run_name;
    config.host = "here";
    config.rank = 0;
    config.size = 1;
    config.arena_bytes = 16 << 20;
    if (esi_segment_create(&config, NULL, &segment) < 0)
        return -1;
    esi_ledger_start(segment);
    esi_profile_start(segment, true);
    return es_run_open(run_name, NULL, &run);
}

static int remove_process(void **state)
{
    (void)state;
    es_run_close(run);
    es_run_remove(run_name, true);
    return 0;
}

/* The size of a Waitall is a number of requests, not bytes. */
static bool moves_data(size_t operation)
{
    return operations[operation] != ES_OP_MPI_Waitall;
}

static void add_wanted(struct wanted_row *row,
                       size_t operation,
                       uint64_t ticks,
                       uint32_t bytes)
{
    if (row->calls == 0 || ticks < row->shortest)
        row->shortest = ticks;
    if (ticks > row->longest)
        row->longest = ticks;
    row->calls++;
    row->ticks += ticks;
    if (!moves_data(operation))
        return;
    row->bytes += bytes;
    for (int i = ESI_PROFILE_SIZES - 1; i >= 0; i--)
        if (i == 0 || bytes >= UINT64_C(1) << (i - 1)) {
            row->sizes[i]++;
            break;
        }
}

static void compare_row(const struct esi_profile_row *found,
                        const struct wanted_row *wanted)
{
    assert_int_equal(found->calls, wanted->calls);
    assert_int_equal(found->ticks, wanted->ticks);
    assert_int_equal(found->shortest, wanted->shortest);
    assert_int_equal(found->longest, wanted->longest);
    assert_int_equal(found->bytes, wanted->bytes);
    assert_memory_equal(found->sizes, wanted->sizes, sizeof found->sizes);
}

static size_t index_of(uint16_t code)
{
    for (size_t i = 0; i < OPERATIONS; i++)
        if (operations[i] == code)
            return i;
    fail();
    return 0;
}

static void sums_are_those_of_all_calls(void **state)
{
    static struct wanted_row wanted[OPERATIONS][SITES];
    struct esi_thread thread = {.profile = esi_profile_add_thread(3)};
    struct esi_profile profile;
    uint64_t random = random_seed();
    size_t rows = 0;

    (void)state;
    for (int i = 0; i < ADDITIONS; i++) {
        size_t operation = random_below(&random, OPERATIONS);
        size_t site = random_below(&random, SITES);
        uint64_t ticks = random_next(&random) >> (14 + random_below(&random, 50));
        uint32_t bytes =
            (uint32_t)(random_next(&random) >> (32 + random_below(&random, 32)));

        thread.site = UINT64_C(0x7f0000401000) + 17 * site;
        esi_profile_add_call(&thread, operations[operation], ticks, bytes);
        add_wanted(&wanted[operation][site], operation, ticks, bytes);
    }
    assert_int_equal(esi_profile_read(es_run_segment(run, 0), &profile), 0);
    for (size_t i = 0; i < profile.row_count; i++) {
        const struct esi_profile_row *row = &profile.rows[i];

        if (row->thread != 3)
            continue;
        compare_row(row, &wanted[index_of(row->operation)]
                                [(row->site - UINT64_C(0x7f0000401000)) / 17]);
        rows++;
    }
    /* There is room for all sites, so there is no row without a site. */
    assert_in_range(rows, 1, (uintmax_t)OPERATIONS * SITES);
    assert_false(profile.partial);
    esi_profile_fini(&profile);
}

/* Beyond the limit all calls are still counted, in a row without a site. */
static void too_many_places_lose_no_call(void **state)
{
    enum { CALLS = 5000 };
    struct esi_thread thread = {.profile = esi_profile_add_thread(4)};
    struct esi_profile profile;
    uint64_t calls = 0, without = 0;

    (void)state;
    for (uint64_t i = 0; i < CALLS; i++) {
        thread.site = 0x1000 + i;
        esi_profile_add_call(&thread, ES_OP_MPI_Barrier, 1, 0);
    }
    assert_int_equal(esi_profile_read(es_run_segment(run, 0), &profile), 0);
    for (size_t i = 0; i < profile.row_count; i++)
        if (profile.rows[i].thread == 4) {
            calls += profile.rows[i].calls;
            without += profile.rows[i].site == 0 ? profile.rows[i].calls : 0;
        }
    assert_int_equal(calls, CALLS);
    assert_in_range(without, 1, CALLS - 1);
    esi_profile_fini(&profile);
}

/* --- A concurrent reader ---------------------------------------------------------- */

static atomic_bool is_over;

static void *add_calls(void *data)
{
    struct esi_thread *thread = data;

    while (!atomic_load(&is_over))
        esi_profile_add_call(thread, ES_OP_MPI_Send, 10, 8);
    return NULL;
}

static const struct esi_profile_row *row_of_thread(const struct esi_profile *profile,
                                                   int thread)
{
    for (size_t i = 0; i < profile->row_count; i++)
        if (profile->rows[i].thread == thread)
            return &profile->rows[i];
    return NULL;
}

/* A counted call is in all sums, and sums never decrease. */
static void readers_see_sums_that_grow(void **state)
{
    enum { LOOKS = 2000 };
    struct esi_thread thread = {.profile = esi_profile_add_thread(5), .site = 0x5000};
    uint64_t calls = 0;
    pthread_t writer;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, add_calls, &thread), 0);
    for (int i = 0; i < LOOKS; i++) {
        struct esi_profile profile;
        const struct esi_profile_row *row;

        assert_int_equal(esi_profile_read(es_run_segment(run, 0), &profile), 0);
        row = row_of_thread(&profile, 5);
        if (row) {
            assert_true(row->calls >= calls);
            assert_true(row->ticks >= 10 * row->calls);
            assert_true(row->bytes >= 8 * row->calls);
            calls = row->calls;
        }
        esi_profile_fini(&profile);
    }
    atomic_store(&is_over, true);
    pthread_join(writer, NULL);
}

SUITE(test_profile_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_all_calls),
        cmocka_unit_test(too_many_places_lose_no_call),
        cmocka_unit_test(readers_see_sums_that_grow),
    };

    return cmocka_run_group_tests(tests, make_process, remove_process);
}
