/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Times in archives never decrease, and a converted time does not change with later
 * estimates. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/host_clock.h"
#include "monitors/archive/recorder_clock.h"
#include "tests/random.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

#define SECOND UINT64_C(1000000000)
#define BASE (100 * SECOND)

/* A clock whose ticks are nanoseconds of the host's monotonic clock. */
static const struct es_clock ticks = {.kind = ES_CLOCK_MONOTONIC,
                                      .frequency_hz = SECOND,
                                      .base_ticks = BASE,
                                      .base_realtime_ns = 5000 * SECOND,
                                      .base_monotonic_ns = BASE};

static struct es_origin origin_of(const char *host, const struct es_host_clock *clock)
{
    return (struct es_origin){.host = host, .clock = &ticks, .host_clock = clock};
}

static uint64_t convert(struct esi_recorder_clock *clock,
                        const struct es_origin *origin,
                        uint64_t tick)
{
    uint64_t run_ns = 0;

    assert_int_equal(esi_recorder_clock_convert(clock, origin, tick, &run_ns), 0);
    return run_ns;
}

static void a_host_without_servers_has_its_own_real_time(void **state)
{
    struct es_origin origin = origin_of("a", NULL);
    struct esi_recorder_clock *clock;

    (void)state;
    assert_int_equal(esi_recorder_clock_create(&origin, &clock), 0);
    assert_int_equal(convert(clock, &origin, BASE), 5000 * SECOND);
    assert_int_equal(convert(clock, &origin, BASE + 7 * SECOND / 2),
                     5003 * SECOND + SECOND / 2);
    assert_int_equal(convert(clock, &origin, BASE - SECOND), 4999 * SECOND);
    esi_recorder_clock_destroy(clock);
    esi_recorder_clock_destroy(NULL);
}

static void processes_of_a_host_share_a_clock(void **state)
{
    struct es_origin origin = origin_of("a", NULL);
    struct es_origin other = origin_of("b", NULL);
    struct es_clock of_another_kind = ticks;
    struct esi_recorder_clock *clock;

    (void)state;
    of_another_kind.kind = ES_CLOCK_TSC;
    assert_int_equal(esi_recorder_clock_create(&origin, &clock), 0);
    assert_true(esi_recorder_clock_is_of(clock, &origin));
    assert_false(esi_recorder_clock_is_of(clock, &other));
    origin.clock = &of_another_kind;
    assert_false(esi_recorder_clock_is_of(clock, &origin));
    esi_recorder_clock_destroy(clock);
}

/* The ticks of two elements of one thread, one of which is read late, are converted
 * while the estimate changes at random.  Times keep their order, and a tick that was
 * converted before is converted to the same time. */
static void a_better_estimate_changes_nothing_of_what_was_converted(void **state)
{
    enum { STEPS = 4000, KEPT = 64 };
    uint64_t seed = random_seed();
    struct esi_clock_estimate estimate = {.run_base_ns = 1000 * SECOND, .count = 1};
    struct es_host_clock *host;
    struct esi_recorder_clock *clock;
    uint64_t kept[KEPT][2];
    uint64_t tick = BASE;
    uint64_t last = 0;

    (void)state;
    assert_int_equal(esi_host_clock_create(&host), 0);
    estimate.knots[0] = (struct esi_clock_knot){.local_ns = BASE};
    esi_host_clock_set(host, &estimate);
    struct es_origin origin = origin_of("a", host);
    assert_int_equal(esi_recorder_clock_create(&origin, &clock), 0);
    assert_int_equal(convert(clock, &origin, BASE), BASE + 1000 * SECOND);
    for (int i = 0; i < STEPS; i++) {
        tick += (uint64_t)random_int(&seed, 1000) * 100000;
        uint64_t run_ns = convert(clock, &origin, tick);

        assert_true(run_ns >= last);
        last = run_ns;
        if (i % (STEPS / KEPT) == 0 && i / (STEPS / KEPT) < KEPT) {
            kept[i / (STEPS / KEPT)][0] = tick;
            kept[i / (STEPS / KEPT)][1] = run_ns;
        }
        estimate.knots[0].offset_ns = (int64_t)random_int(&seed, 2000000) - 1000000;
        esi_host_clock_set(host, &estimate);
    }
    for (int i = 0; i < KEPT; i++)
        assert_int_equal(convert(clock, &origin, kept[i][0]), kept[i][1]);
    /* Each tick was converted by the estimate of its time: the error is bounded. */
    assert_true(last > tick + 1000 * SECOND - 2000000);
    assert_true(last < tick + 1000 * SECOND + 2000000);
    esi_recorder_clock_destroy(clock);
    esi_host_clock_destroy(host);
}

/* Ticks of a damaged segment. */
static void ticks_may_be_anything(void **state)
{
    static const uint64_t odd[] = {0,         1, BASE, UINT64_MAX / 2, UINT64_MAX - 1,
                                   UINT64_MAX};
    struct es_origin origin = origin_of("a", NULL);
    struct esi_recorder_clock *clock;
    uint64_t last = 0;

    (void)state;
    assert_int_equal(esi_recorder_clock_create(&origin, &clock), 0);
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        uint64_t run_ns = convert(clock, &origin, odd[i]);

        assert_true(run_ns >= last);
        last = run_ns;
    }
    assert_int_equal(convert(clock, &origin, BASE), 5000 * SECOND);
    esi_recorder_clock_destroy(clock);
}

SUITE(test_recorder_clock)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_without_servers_has_its_own_real_time),
        cmocka_unit_test(processes_of_a_host_share_a_clock),
        cmocka_unit_test(a_better_estimate_changes_nothing_of_what_was_converted),
        cmocka_unit_test(ticks_may_be_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
