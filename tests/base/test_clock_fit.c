/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Estimates of clocks of simulated hosts: the true time is always within the bound. */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock_estimate.h"
#include "base/host_clock.h"
#include "tests/random.h"
#include "tests/suites.h"

#define S UINT64_C(1000000000)
#define RUN_BASE (1700000000 * S)

/* --- Made clocks ---------------------------------------------------------------- */

/* Returns a random number between -1 and 1. */
static double draw_both(uint64_t *seed)
{
    return 2 * random_unit(seed) - 1;
}

enum { SECONDS_MOST = 4000 };

/* A simulated host. Its drift changes linearly within each second. */
struct world {
    uint64_t seed;
    uint64_t begin_ns; /* local */
    int64_t offset_ns; /* at begin_ns */
    double drift[SECONDS_MOST + 2];
    double gained[SECONDS_MOST + 2]; /* since the beginning, nanoseconds */
    double base_there_ns;            /* smallest delay */
    double base_back_ns;
    double tail_ns; /* typical delay beyond the smallest */
    double lost;    /* share of the exchanges without an answer */
};

static void make_world(struct world *world, uint64_t seed)
{
    *world = (struct world){.seed = seed};
    world->begin_ns = (uint64_t)(random_unit(&world->seed) * 1e7) * S;
    world->offset_ns = (int64_t)(draw_both(&world->seed) * 5e9);
    if (world->offset_ns < 0 && world->begin_ns < 10 * S)
        world->begin_ns += 10 * S;
    world->drift[0] = draw_both(&world->seed) * 200e-6;
    double wander = random_unit(&world->seed) * 49e-9;
    for (int i = 1; i < SECONDS_MOST + 2; i++) {
        double next = world->drift[i - 1] + draw_both(&world->seed) * wander;
        world->drift[i] = fmin(fmax(next, -200e-6), 200e-6);
        world->gained[i] =
            world->gained[i - 1] + (world->drift[i - 1] + world->drift[i]) / 2 * 1e9;
    }
    world->base_there_ns =
        2e3 + random_unit(&world->seed) * random_unit(&world->seed) * 1e6;
    world->base_back_ns =
        2e3 + random_unit(&world->seed) * random_unit(&world->seed) * 1e6;
    world->tail_ns = random_unit(&world->seed) * 300e3;
    world->lost = random_unit(&world->seed) * 0.5;
}

/* Returns the time of the home server, in whole nanoseconds. */
static uint64_t home_at(const struct world *world, uint64_t local_ns)
{
    uint64_t age = local_ns - world->begin_ns;
    uint64_t second = age / S;
    double part = (double)(age % S) / 1e9;
    double gained = world->gained[second] +
                    1e9 * part *
                        (world->drift[second] +
                         part * (world->drift[second + 1] - world->drift[second]) / 2);

    return local_ns + (uint64_t)world->offset_ns + (uint64_t)(int64_t)floor(gained);
}

/* Draws from a heavy-tailed distribution: one delay in a hundred has ten times the
 * typical tail, one in 10,000 has a hundred times. */
static uint64_t draw_delay(struct world *world, double base_ns)
{
    double chance = random_unit(&world->seed) + 1e-9;

    return (uint64_t)(base_ns + world->tail_ns * fmin(1 / sqrt(chance) - 1, 1e3));
}

/* Makes an exchange that begins at this time. Returns false if its answer is lost. */
static bool make_exchange(struct world *world,
                          uint64_t local_ns,
                          struct esi_clock_exchange *ret_exchange)
{
    uint64_t arrived = local_ns + draw_delay(world, world->base_there_ns);
    uint64_t answered = arrived + (uint64_t)(random_unit(&world->seed) * 30e3);
    uint64_t received = answered + draw_delay(world, world->base_back_ns);

    *ret_exchange = (struct esi_clock_exchange){
        .sent_ns = local_ns,
        .arrived_ns = home_at(world, arrived),
        .answered_ns = home_at(world, answered),
        .received_ns = received,
    };
    return random_unit(&world->seed) >= world->lost;
}

/* Adds a burst of exchanges. Returns the time of its end. */
static uint64_t add_burst(struct world *world,
                          struct esi_clock_fit *fit,
                          uint64_t local_ns,
                          int count)
{
    struct esi_clock_exchange exchange;

    for (int i = 0; i < count; i++) {
        if (make_exchange(world, local_ns, &exchange))
            assert_true(esi_clock_fit_add(fit, &exchange));
        local_ns = exchange.received_ns + 1000;
    }
    return local_ns;
}

/* --- The bound ------------------------------------------------------------------ */

struct check {
    uint64_t error_ns; /* true */
    uint64_t bound_ns;
};

static struct check check_time(const struct world *world,
                               const struct es_host_clock *clock,
                               uint64_t local_ns)
{
    uint64_t truth = home_at(world, local_ns) + RUN_BASE;
    struct check check;
    uint64_t run_ns;

    assert_true(esi_host_clock_run_ns(clock, local_ns, &run_ns, &check.bound_ns));
    check.error_ns = run_ns > truth ? run_ns - truth : truth - run_ns;
    if (check.error_ns > check.bound_ns + 2)
        fail_msg("at %.6f s: %llu ns off, bound %llu ns",
                 (double)(local_ns - world->begin_ns) / 1e9,
                 (unsigned long long)check.error_ns,
                 (unsigned long long)check.bound_ns);
    return check;
}

static void check_many(struct world *world,
                       const struct es_host_clock *clock,
                       uint64_t until_ns)
{
    uint64_t before_local = 0, before_run = 0, run_ns;

    for (int i = 0; i < 200; i++)
        check_time(world, clock,
                   world->begin_ns + (uint64_t)(random_unit(&world->seed) *
                                                (double)(until_ns - world->begin_ns)));
    /* The converted time never runs backward. */
    for (uint64_t local = world->begin_ns; local < until_ns;
         local += 1 + (until_ns - world->begin_ns) / 997) {
        assert_true(esi_host_clock_run_ns(clock, local, &run_ns, NULL));
        assert_true(before_local == 0 || run_ns >= before_run);
        before_local = local;
        before_run = run_ns;
    }
}

/* Simulates a host for this time, with bursts of exchanges like those of a tuple
 * server. */
static void live_through(uint64_t seed, uint64_t seconds)
{
    static struct world world;
    struct esi_clock_estimate estimate = {.run_base_ns = RUN_BASE};
    struct esi_clock_fit fit = {.count = 0};
    struct es_host_clock *clock;
    uint64_t pause_ns = S / 4;

    make_world(&world, seed);
    assert_int_equal(esi_host_clock_create(&clock), 0);
    uint64_t end_ns = world.begin_ns + seconds * S;
    uint64_t now_ns = add_burst(&world, &fit, world.begin_ns + S, 16);
    while (now_ns + 2 * S < end_ns) {
        if (esi_clock_fit_update(&fit, &estimate)) {
            esi_host_clock_set(clock, &estimate);
            assert_true(esi_clock_estimate_is_valid(&estimate));
        }
        if (estimate.count > 0) {
            check_time(&world, clock, now_ns);
            check_time(&world, clock,
                       now_ns + (uint64_t)(random_unit(&world.seed) * 1e9));
            check_time(&world, clock,
                       world.begin_ns + (uint64_t)(random_unit(&world.seed) *
                                                   (double)(now_ns - world.begin_ns)));
        }
        now_ns = add_burst(&world, &fit, now_ns + pause_ns, 4);
        pause_ns = pause_ns * 5 / 4 < 4 * S ? pause_ns * 5 / 4 : 4 * S;
    }
    assert_int_equal(estimate.breaks, 0);
    assert_true(estimate.count > 0 && estimate.count <= ES_CLOCK_KNOTS_MAX);
    check_many(&world, clock, now_ns);
    esi_host_clock_destroy(clock);
}

static void the_truth_is_within_the_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        live_through(seed, 30 + seed % 90);
}

static void it_stays_so_for_long(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1006; seed++)
        live_through(seed, 3900);
}

/* --- Accuracy --------------------------------------------------------------------- */

/* A fast connection with equal delays in both directions: the bound is half a round
 * trip, and the error is smaller. */
static void small_round_trips_give_small_errors(void **state)
{
    static struct world world;
    struct esi_clock_estimate estimate = {.run_base_ns = RUN_BASE};
    struct esi_clock_fit fit = {.count = 0};
    struct es_host_clock *clock;
    struct check first = {.bound_ns = 0}, check = {.bound_ns = 0};

    (void)state;
    make_world(&world, 7);
    world.base_there_ns = world.base_back_ns = 20e3;
    world.tail_ns = 5e3;
    world.lost = 0;
    assert_int_equal(esi_host_clock_create(&clock), 0);
    uint64_t now_ns = add_burst(&world, &fit, world.begin_ns + S, 16);
    for (int i = 0; i < 30; i++) {
        assert_true(esi_clock_fit_update(&fit, &estimate));
        esi_host_clock_set(clock, &estimate);
        check = check_time(&world, clock, now_ns + S / 2);
        if (i == 0)
            first = check;
        now_ns = add_burst(&world, &fit, now_ns + S, 4);
    }
    assert_true(check.bound_ns < 60000);
    assert_true(check.error_ns < 5000);
    /* At first the drift is unknown. */
    assert_true(first.bound_ns > 4 * check.bound_ns);
    assert_true(fabs(estimate.drift.ppb - world.drift[31] * 1e9) < 5000);
    esi_host_clock_destroy(clock);
}

/* --- The corridor ----------------------------------------------------------------- */

/* Whether a line with this offset and drift fits all exchanges: a slow check of the
 * corridor. */
static bool has_line(const struct esi_clock_fit *fit, double offset, double drift)
{
    const struct esi_clock_exchange *last = &fit->window[fit->count - 1];
    int64_t reference = (int64_t)(last->arrived_ns - last->sent_ns);

    for (size_t i = 0; i < fit->count; i++) {
        const struct esi_clock_exchange *one = &fit->window[i];
        double most = (double)((int64_t)(one->arrived_ns - one->sent_ns) - reference);
        double least =
            (double)((int64_t)(one->answered_ns - one->received_ns) - reference);
        double sent = (double)(last->received_ns - one->sent_ns);
        double received = (double)(last->received_ns - one->received_ns);

        if (offset - drift * sent > most + 25e-18 * sent * sent + 1 ||
            offset - drift * received < least - 25e-18 * received * received - 1)
            return false;
    }
    return true;
}

static void the_corridor_is_what_trying_finds(void **state)
{
    static struct world world;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct esi_clock_fit fit = {.count = 0};
        struct esi_clock_corridor corridor;
        double least = INFINITY, most = -INFINITY;
        double drift_least = INFINITY, drift_most = -INFINITY;

        make_world(&world, seed);
        uint64_t now_ns = world.begin_ns + S;
        for (int i = 0; i < 5; i++)
            now_ns = add_burst(&world, &fit, now_ns + S, 4);
        assert_true(esi_clock_fit_corridor(&fit, 0, &corridor));
        double width = corridor.offset_most - corridor.offset_least;
        double span = corridor.drift_most - corridor.drift_least;
        for (int i = -20; i <= 420; i++)
            for (int j = -20; j <= 420; j++) {
                double offset = corridor.offset_least + width * i / 400;
                double drift = corridor.drift_least + span * j / 400;
                if (fabs(drift) > ES_CLOCK_DRIFT_MOST_PPB / 1e9 ||
                    !has_line(&fit, offset, drift))
                    continue;
                least = fmin(least, offset);
                most = fmax(most, offset);
                drift_least = fmin(drift_least, drift);
                drift_most = fmax(drift_most, drift);
            }
        /* No line is outside the corridor, and its ends are reached within the
         * resolution of the grid. */
        assert_true(least >= corridor.offset_least - 1e-3);
        assert_true(most <= corridor.offset_most + 1e-3);
        assert_true(drift_least >= corridor.drift_least - 1e-12);
        assert_true(drift_most <= corridor.drift_most + 1e-12);
        assert_true(most - least > width * 0.9);
        assert_true(drift_most - drift_least > span * 0.9);
    }
}

/* --- Invalid exchanges and jumps -------------------------------------------------- */

static void impossible_exchanges_are_refused(void **state)
{
    static const struct esi_clock_exchange rows[] = {
        {.sent_ns = 10, .arrived_ns = 50, .answered_ns = 60, .received_ns = 9},
        {.sent_ns = 10, .arrived_ns = 50, .answered_ns = 49, .received_ns = 20},
        {.sent_ns = 10, .arrived_ns = 50, .answered_ns = 61, .received_ns = 20},
        {.sent_ns = 10, .arrived_ns = 50, .answered_ns = 51, .received_ns = UINT64_MAX},
    };
    static const struct esi_clock_exchange good = {
        .sent_ns = 10, .arrived_ns = 50, .answered_ns = 60, .received_ns = 20};
    struct esi_clock_estimate estimate = {.count = 0};
    struct esi_clock_fit fit = {.count = 0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(esi_clock_fit_add(&fit, &rows[i]));
    assert_false(esi_clock_fit_update(&fit, &estimate));
    assert_true(esi_clock_fit_add(&fit, &good));
    assert_false(esi_clock_fit_add(&fit, &good));
    assert_true(esi_clock_fit_update(&fit, &estimate));
    assert_false(esi_clock_fit_update(&fit, &estimate));
    assert_int_equal(estimate.count, 1);
}

/* A clock jumps: older exchanges are discarded, newer ones count at once, and the bound
 * between them includes the jump. */
static void a_jump_is_noticed(void **state)
{
    static struct world world;
    struct esi_clock_estimate estimate = {.run_base_ns = RUN_BASE};
    struct esi_clock_fit fit = {.count = 0};
    struct es_host_clock *clock;
    uint64_t run_ns, error_ns;

    (void)state;
    make_world(&world, 3);
    uint64_t now_ns = world.begin_ns + S;
    for (int i = 0; i < 10; i++) {
        now_ns = add_burst(&world, &fit, now_ns + S, 8);
        esi_clock_fit_update(&fit, &estimate);
    }
    uint64_t jump_ns = now_ns;
    world.offset_ns += (int64_t)S;
    now_ns = add_burst(&world, &fit, now_ns + S, 8);
    assert_true(esi_clock_fit_update(&fit, &estimate));
    assert_int_equal(estimate.breaks, 1);
    assert_int_equal(esi_host_clock_create(&clock), 0);
    esi_host_clock_set(clock, &estimate);
    check_time(&world, clock, now_ns);
    assert_true(esi_host_clock_run_ns(clock, jump_ns, &run_ns, &error_ns));
    assert_true(error_ns > S / 2);
    esi_host_clock_destroy(clock);
}

static void the_home_clock_is_exact(void **state)
{
    struct esi_clock_estimate estimate;
    struct es_host_clock *clock;
    uint64_t run_ns = 1, error_ns = 1;

    (void)state;
    assert_int_equal(esi_host_clock_create(&clock), 0);
    assert_false(esi_host_clock_run_ns(clock, 5, &run_ns, &error_ns));
    esi_clock_estimate_be_home(&estimate, RUN_BASE);
    assert_true(esi_clock_estimate_is_valid(&estimate));
    esi_host_clock_set(clock, &estimate);
    for (uint64_t local = 0; local < UINT64_C(1) << 60; local = local * 3 + 1) {
        assert_true(esi_host_clock_run_ns(clock, local, &run_ns, &error_ns));
        assert_int_equal(run_ns, local + RUN_BASE);
        assert_int_equal(error_ns, 0);
    }
    esi_host_clock_destroy(clock);
}

static void damaged_estimates_are_refused(void **state)
{
    struct esi_clock_estimate good = {.count = 2,
                                      .knots = {{.local_ns = 10}, {.local_ns = 20}}};
    struct esi_clock_estimate bad;

    (void)state;
    assert_true(esi_clock_estimate_is_valid(&good));
    bad = good;
    bad.count = ES_CLOCK_KNOTS_MAX + 1;
    assert_false(esi_clock_estimate_is_valid(&bad));
    bad = good;
    bad.knots[1].local_ns = 10;
    assert_false(esi_clock_estimate_is_valid(&bad));
    bad = good;
    bad.knots[1].offset_ns = -11;
    assert_false(esi_clock_estimate_is_valid(&bad));
    bad = good;
    bad.knots[0].offset_ns = INT64_MIN;
    assert_false(esi_clock_estimate_is_valid(&bad));
    bad = good;
    bad.drift.ppb = NAN;
    assert_false(esi_clock_estimate_is_valid(&bad));
}

/* --- Threads ---------------------------------------------------------------------- */

struct shared {
    struct es_host_clock *clock;
    atomic_bool stop;
    atomic_ulong wrong;
    atomic_ulong looked;
};

/* Estimate n converts time t to t + 1000 n. A reader sees one of the estimates: a
 * mixture of two would not be a multiple of 1000. */
static void *read_clock(void *data)
{
    struct shared *shared = data;
    uint64_t run_ns, error_ns;

    while (!atomic_load(&shared->stop)) {
        for (uint64_t local = 100; local < 3000; local += 700) {
            if (!esi_host_clock_run_ns(shared->clock, local, &run_ns, &error_ns) ||
                (run_ns - local) % 1000 != 0 || error_ns - (run_ns - local) / 1000 > 1)
                atomic_fetch_add(&shared->wrong, 1);
            atomic_fetch_add(&shared->looked, 1);
        }
    }
    return NULL;
}

static void readers_see_whole_estimates(void **state)
{
    struct shared shared = {.wrong = 0};
    struct esi_clock_estimate estimate;
    pthread_t threads[3];

    (void)state;
    assert_int_equal(esi_host_clock_create(&shared.clock), 0);
    for (uint64_t n = 0; n < 20000 || atomic_load(&shared.looked) < 1000; n++) {
        memset(&estimate, 0, sizeof estimate);
        estimate.count = 1 + n % 3;
        for (uint64_t i = 0; i < estimate.count; i++)
            estimate.knots[i] =
                (struct esi_clock_knot){.local_ns = i * (500 + n % 4),
                                        .offset_ns = (int64_t)(1000 * (n % 7777)),
                                        .error_ns = n % 7777};
        esi_host_clock_set(shared.clock, &estimate);
        if (n == 0)
            for (int i = 0; i < 3; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, read_clock, &shared),
                                 0);
    }
    atomic_store(&shared.stop, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(shared.wrong, 0);
    esi_host_clock_destroy(shared.clock);
}

SUITE(test_clock_fit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_truth_is_within_the_bound),
        cmocka_unit_test(it_stays_so_for_long),
        cmocka_unit_test(small_round_trips_give_small_errors),
        cmocka_unit_test(the_corridor_is_what_trying_finds),
        cmocka_unit_test(impossible_exchanges_are_refused),
        cmocka_unit_test(a_jump_is_noticed),
        cmocka_unit_test(the_home_clock_is_exact),
        cmocka_unit_test(damaged_estimates_are_refused),
        cmocka_unit_test(readers_see_whole_estimates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
