/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Clocks: conversions are exact, and the error bounds hold against the kernel's
 * clock. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock_each.h"
#include "eventspace/clock.h"
#include "tests/random.h"
#include "tests/suites.h"

#define S UINT64_C(1000000000)

/* Set in the environment of the process that checks the monotonic clock. */
#define CHECK_MONOTONIC "TEST_CLOCK_CHECK_MONOTONIC"

static uint64_t realtime_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

static void spans_are_rounded_and_saturate(void **state)
{
    static const struct {
        uint64_t hz;
        uint64_t ticks;
        uint64_t ns;
    } rows[] = {
        {S, 12345, 12345},
        {S, UINT64_MAX, UINT64_MAX},
        {2600000000, 0, 0},
        {2600000000, 1, 0},
        {2600000000, 2, 1},
        {2600000000, 26, 10},
        {3, 1, 333333333},
        {3, 2, 666666667},
        {2, 1, 500000000},
        {2600000000, UINT64_MAX, UINT64_C(7094901566811366006)},
        {1, UINT64_MAX, UINT64_MAX},
        {1, UINT64_C(18446744073), UINT64_C(18446744073000000000)},
        {1, UINT64_C(18446744074), UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct es_clock clock = {.kind = ES_CLOCK_TSC, .frequency_hz = rows[i].hz};

        assert_int_equal(es_clock_span_ns(&clock, rows[i].ticks), rows[i].ns);
    }
}

static void spans_are_those_of_wide_numbers(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct es_clock clock = {.kind = ES_CLOCK_TSC,
                                 .frequency_hz = random_number(&seed) | 1};
        uint64_t ticks = random_number(&seed);
        unsigned __int128 ns = ((unsigned __int128)ticks * S + clock.frequency_hz / 2) /
                               clock.frequency_hz;

        assert_int_equal(es_clock_span_ns(&clock, ticks),
                         ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns);
    }
}

/* In every second array all times are after the base of the clock, some near it. */
static void many_times_are_those_of_each(void **state)
{
    enum { COUNT = 3 };
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct es_clock clock = {.kind = ES_CLOCK_TSC,
                                 .frequency_hz = random_number(&seed) | 1,
                                 .base_ticks = random_number(&seed),
                                 .base_realtime_ns = random_number(&seed)};
        uint64_t ticks[COUNT], times[COUNT];

        for (int j = 0; j < COUNT; j++) {
            ticks[j] = random_number(&seed) + (i % 2 ? clock.base_ticks : 0);
            times[j] = ticks[j];
        }
        esi_clock_realtime_each(&clock, times, COUNT);
        for (int j = 0; j < COUNT; j++)
            assert_int_equal(times[j], es_clock_realtime_ns(&clock, ticks[j], NULL));
    }
}

/* The base of a damaged record, from which small times are near modulo 2^64. */
static void a_base_at_the_end_of_the_numbers_is_after_all_times(void **state)
{
    struct es_clock clock = {.kind = ES_CLOCK_TSC,
                             .frequency_hz = S,
                             .base_ticks = UINT64_MAX - 5,
                             .base_realtime_ns = 10 * S};
    uint64_t time = 3;

    (void)state;
    esi_clock_realtime_each(&clock, &time, 1);
    assert_int_equal(time, es_clock_realtime_ns(&clock, 3, NULL));
    assert_int_equal(time, 0);
}

static void times_count_both_ways_from_the_pairing(void **state)
{
    struct es_clock clock = {
        .kind = ES_CLOCK_TSC,
        .frequency_hz = 2 * S,
        .frequency_error_ppb = 1000,
        .base_ticks = 1000000,
        .base_realtime_ns = 5 * S,
        .base_error_ns = 50,
    };
    uint64_t error;

    (void)state;
    assert_int_equal(es_clock_realtime_ns(&clock, 1000000, &error), 5 * S);
    assert_int_equal(error, 51);
    assert_int_equal(es_clock_realtime_ns(&clock, 1000000 + 2 * S, &error), 6 * S);
    assert_int_equal(error, 51 + 1000);
    assert_int_equal(es_clock_realtime_ns(&clock, 0, NULL), 5 * S - 500000);
    /* Times before 1970 and beyond 64 bits are clamped. */
    clock.base_ticks = UINT64_MAX;
    assert_int_equal(es_clock_realtime_ns(&clock, 0, NULL), 0);
    clock.base_ticks = 0;
    clock.base_realtime_ns = UINT64_MAX - 5;
    assert_int_equal(es_clock_realtime_ns(&clock, 100, NULL), UINT64_MAX);
}

/* Whether the converted time of a tick is between the kernel's times read before and
 * after it, within the stated error. */
static int is_within_bound(const struct es_clock *clock)
{
    uint64_t before = realtime_ns();
    uint64_t ticks = es_clock_ticks_of(clock->kind);
    uint64_t after = realtime_ns();
    uint64_t error;
    uint64_t time = es_clock_realtime_ns(clock, ticks, &error);

    /* The processor may reorder a plain rdtsc with the reads around it. */
    return time + error + 100 >= before && time <= after + error + 100;
}

static void the_error_bound_holds_against_the_kernel(void **state)
{
    struct es_clock clock;
    struct timespec pause = {.tv_nsec = 20000000};

    (void)state;
    es_clock_calibrate(2000000, &clock);
    printf("# kind %u, %llu Hz, error %llu ppb, base error %llu ns\n", clock.kind,
           (unsigned long long)clock.frequency_hz,
           (unsigned long long)clock.frequency_error_ppb,
           (unsigned long long)clock.base_error_ns);
    for (int i = 0; i < 20; i++) {
        assert_true(is_within_bound(&clock));
        nanosleep(&pause, NULL);
    }
}

static void refining_narrows_the_error(void **state)
{
    struct es_clock clock, refined;
    struct timespec pause = {.tv_nsec = 300000000};

    (void)state;
    es_clock_calibrate(1000000, &clock);
    if (clock.kind != ES_CLOCK_TSC) {
        printf("# the clock is CLOCK_MONOTONIC, whose frequency is exact\n");
        skip();
    }
    refined = clock;
    nanosleep(&pause, NULL);
    es_clock_refine(&refined);
    printf("# %llu -> %llu ppb\n", (unsigned long long)clock.frequency_error_ppb,
           (unsigned long long)refined.frequency_error_ppb);
    assert_true(refined.frequency_error_ppb < clock.frequency_error_ppb);
    assert_int_equal(refined.base_ticks, clock.base_ticks);
    assert_true(is_within_bound(&refined));
    /* A second refinement soon afterwards has nothing to gain and leaves the record
     * unchanged. */
    clock = refined;
    clock.frequency_error_ppb = 0;
    es_clock_refine(&clock);
    assert_int_equal(clock.frequency_hz, refined.frequency_hz);
}

/* The machine slept, or the record is of another machine: the counter and the kernel's
 * clock differ by more than their errors. */
static void what_contradicts_a_record_does_not_change_it(void **state)
{
    struct es_clock clock, before;
    struct timespec pause = {.tv_nsec = 20000000};

    (void)state;
    es_clock_calibrate(1000000, &clock);
    if (clock.kind != ES_CLOCK_TSC)
        skip();
    clock.base_monotonic_ns -= S;
    before = clock;
    nanosleep(&pause, NULL);
    es_clock_refine(&clock);
    assert_memory_equal(&clock, &before, sizeof clock);
}

static void the_environment_forces_the_monotonic_clock(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        /* The choice of the clock is cached at the first call, so a new process is
         * needed. */
        if (setenv("EVENTSPACE_CLOCK", "monotonic", 1) == 0 &&
            setenv(CHECK_MONOTONIC, "1", 1) == 0)
            execl("/proc/self/exe", "suites", "test_clock", (char *)NULL);
        _exit(100);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

/* Runs in the process with the variable. Returns 0 if all is correct. */
static int check_monotonic(void)
{
    struct es_clock clock;
    struct timespec now;
    uint64_t ticks;

    es_clock_calibrate(0, &clock);
    if (clock.kind != ES_CLOCK_MONOTONIC || clock.frequency_hz != S ||
        clock.frequency_error_ppb != 0)
        return 1;
    ticks = es_clock_ticks_of(es_clock_kind());
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec - ticks > S)
        return 2;
    return is_within_bound(&clock) ? 0 : 3;
}

static void ticks_never_go_back(void **state)
{
    enum es_clock_kind kind = es_clock_kind();
    uint64_t last = es_clock_ticks_of(kind);

    (void)state;
    for (int i = 0; i < 1000000; i++) {
        uint64_t ticks = es_clock_ticks_of(kind);

        assert_true(ticks >= last);
        last = ticks;
    }
}

SUITE(test_clock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_rounded_and_saturate),
        cmocka_unit_test(spans_are_those_of_wide_numbers),
        cmocka_unit_test(many_times_are_those_of_each),
        cmocka_unit_test(a_base_at_the_end_of_the_numbers_is_after_all_times),
        cmocka_unit_test(times_count_both_ways_from_the_pairing),
        cmocka_unit_test(the_error_bound_holds_against_the_kernel),
        cmocka_unit_test(refining_narrows_the_error),
        cmocka_unit_test(what_contradicts_a_record_does_not_change_it),
        cmocka_unit_test(the_environment_forces_the_monotonic_clock),
        cmocka_unit_test(ticks_never_go_back),
    };

    if (getenv(CHECK_MONOTONIC))
        return check_monotonic();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
