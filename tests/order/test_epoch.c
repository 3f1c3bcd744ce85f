/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_epoch.c - tests of the store "epoch": its answers and its size. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "monitors/order/epoch/epoch_tuning.h"
#include "monitors/order/order.h"
#include "tests/order/check_store.h"
#include "tests/suites.h"

/* Of the configuration that was made last. */
static struct esi_epoch_tuning tuning;

static struct esi_order_config epoch_config(void)
{
    tuning = (struct esi_epoch_tuning){.seal_entries = 0};
    return (struct esi_order_config){.store = "epoch", .tuning = &tuning};
}

static void all_answers_are_true(void **state)
{
    struct esi_order_config config = epoch_config();

    (void)state;
    check_store_widely(&config, 300, 160, NULL);
}

/* With small parts, logs are sealed in small computations, too. */
static void packed_logs_give_true_answers(void **state)
{
    static const uint32_t sizes[] = {1, 3, 8, 30};
    struct esi_order_config config = epoch_config();

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tuning.seal_entries = sizes[i];
        check_store_widely(&config, 100, 160, NULL);
    }
}

/* --- Cuts ------------------------------------------------------------------------- */

enum { ROUNDS = 20, MOST_TRACES = 1024 };

static struct es_order *order_with_traces(uint32_t traces)
{
    struct esi_order_config config = epoch_config();
    struct es_order *order;

    assert_int_equal(esi_order_create(&config, NULL, &order), 0);
    for (uint32_t i = 0; i < traces; i++)
        assert_int_equal(es_order_add_trace(order), 0);
    return order;
}

/* Appends an event and returns its id. */
static struct es_event_id add(struct es_order *order,
                              uint32_t trace,
                              enum es_event_kind kind,
                              const struct es_event_id *partners,
                              size_t count)
{
    assert_int_equal(es_order_append(order, trace, kind, partners, count), 0);
    return (struct es_event_id){trace, es_order_count(order, trace)};
}

/* Each of the first `traces` traces sends to the next one, all at once. */
static void tell_neighbours(struct es_order *order, uint32_t traces)
{
    struct es_event_id sends[MOST_TRACES] = {{0}};

    for (uint32_t i = 0; i < traces; i++)
        sends[i] = add(order, i, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = 0; i < traces; i++)
        add(order, (i + 1) % traces, ES_EVENT_RECEIVE, &sends[i], 1);
}

/* All traces from `first` to `end` send to `at`, which then sends to all of them. */
static void gather_and_tell(struct es_order *order,
                            uint32_t first,
                            uint32_t end,
                            uint32_t at)
{
    struct es_event_id enters[MOST_TRACES] = {{0}}, told;

    for (uint32_t i = first; i < end; i++)
        enters[i - first] = add(order, i, ES_EVENT_SEND, NULL, 0);
    add(order, at, ES_EVENT_RECEIVE, enters, end - first);
    told = add(order, at, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = first; i < end; i++)
        add(order, i, ES_EVENT_RECEIVE, &told, 1);
}

static struct esi_order_statistics finish(struct es_order *order)
{
    struct esi_order_statistics statistics;

    esi_order_statistics(order, &statistics);
    es_order_destroy(order);
    return statistics;
}

static void a_join_of_all_traces_is_a_cut(void **state)
{
    struct es_order *order = order_with_traces(9);
    struct esi_order_statistics statistics;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        tell_neighbours(order, 8);
        gather_and_tell(order, 0, 8, 8);
    }
    statistics = finish(order);
    assert_int_equal(statistics.cuts, ROUNDS);
    assert_int_equal(statistics.derived_cuts, 0);
}

static void a_reduce_and_bcast_is_a_derived_cut(void **state)
{
    struct es_order *order = order_with_traces(8);
    struct esi_order_statistics statistics;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        tell_neighbours(order, 8);
        gather_and_tell(order, 1, 8, 0);
    }
    statistics = finish(order);
    assert_int_equal(statistics.cuts, 0);
    assert_int_equal(statistics.derived_cuts, ROUNDS);
}

/* 8 of 64 traces have a join while all of them send. */
static void a_join_of_few_traces_is_no_cut(void **state)
{
    struct es_order *order = order_with_traces(65);
    struct esi_order_statistics statistics;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        tell_neighbours(order, 64);
        gather_and_tell(order, 0, 8, 64);
    }
    statistics = finish(order);
    assert_int_equal(statistics.cuts + statistics.derived_cuts, 0);
}

/* Returns the entries stored per event if `traces` traces have a
 * join after each step. */
static double elements_per_event(uint32_t traces)
{
    struct es_order *order = order_with_traces(traces + 1);
    struct esi_order_statistics statistics;

    for (int round = 0; round < ROUNDS; round++) {
        tell_neighbours(order, traces);
        gather_and_tell(order, 0, traces, traces);
    }
    statistics = finish(order);
    return (double)statistics.actual_elements / (double)statistics.events;
}

static void what_is_stored_does_not_grow_with_the_traces(void **state)
{
    (void)state;
    assert_true(elements_per_event(1024) < 1.1 * elements_per_event(32));
}

/* --- Regular steps ---------------------------------------------------------------- */

/* Creates an order as configured, and a dense one. */
static void make_both(struct es_order **orders,
                      const struct esi_order_config *config,
                      uint32_t traces)
{
    struct esi_order_config dense = *config;

    dense.store = "dense";
    dense.memory_bytes = 0;
    assert_int_equal(esi_order_create(config, NULL, &orders[0]), 0);
    assert_int_equal(esi_order_create(&dense, NULL, &orders[1]), 0);
    for (uint32_t i = 0; i < 2 * traces; i++)
        assert_int_equal(es_order_add_trace(orders[i % 2]), 0);
}

static void destroy_both(struct es_order *const *orders)
{
    es_order_destroy(orders[0]);
    es_order_destroy(orders[1]);
}

/* Adds the event to both orders. */
static void add_to_both(struct es_order *const *orders,
                        uint32_t trace,
                        enum es_event_kind kind,
                        const struct es_event_id *partners,
                        size_t count)
{
    for (int i = 0; i < 2; i++)
        add(orders[i], trace, kind, partners, count);
}

/* Each trace sends to its neighbours; `busy` has `extra` more events. */
static void exchange(struct es_order *const *orders,
                     uint32_t traces,
                     uint32_t busy,
                     uint32_t extra)
{
    struct es_event_id sends[MOST_TRACES] = {{0}};

    for (uint32_t i = 0; i < traces; i++) {
        for (uint32_t j = 0; i == busy && j < extra; j++)
            add_to_both(orders, i, ES_EVENT_UNARY, NULL, 0);
        add_to_both(orders, i, ES_EVENT_SEND, NULL, 0);
        sends[i] = (struct es_event_id){i, es_order_count(orders[0], i)};
    }
    for (uint32_t i = 0; i < traces; i++) {
        if (i > 0)
            add_to_both(orders, i, ES_EVENT_RECEIVE, &sends[i - 1], 1);
        if (i + 1 < traces)
            add_to_both(orders, i, ES_EVENT_RECEIVE, &sends[i + 1], 1);
    }
}

/* Both have the same answers, except those that the first one has forgotten. */
static void assert_alike(struct es_order *const *orders, uint32_t traces)
{
    for (uint32_t i = 0; i < traces; i++)
        for (uint32_t j = 1; j <= es_order_count(orders[0], i); j++)
            for (uint32_t of = 0; of < traces; of++) {
                struct es_event_id event = {i, j};
                int64_t answer = es_order_greatest_predecessor(orders[0], event, of);

                if (answer != -ESTALE)
                    assert_int_equal(
                        answer, es_order_greatest_predecessor(orders[1], event, of));
            }
}

/* Regular steps, interrupted by an irregular one from time to time. */
static void regular_steps_give_true_answers(void **state)
{
    static const uint32_t sizes[] = {0, 20, 33, 64, 150};

    (void)state;
    for (uint32_t round = 0; round < 20; round++) {
        struct esi_order_config config = epoch_config();
        uint32_t traces = 3 + round % 7, every = 15 + round * 3;
        struct es_order *orders[2];

        tuning.seal_entries = sizes[round % 5];
        make_both(orders, &config, traces);
        for (uint32_t step = 0; step < 120; step++)
            exchange(orders, traces, step % traces, step % every == 0 ? 1 : 0);
        assert_alike(orders, traces);
        destroy_both(orders);
    }
}

static uint64_t bytes_of_steps(uint32_t traces, uint32_t steps)
{
    struct es_order *order = order_with_traces(traces);

    for (uint32_t step = 0; step < steps; step++)
        tell_neighbours(order, traces);
    return finish(order).stored_bytes;
}

/* 400 steps of 200 traces have 80,000 receives, each with news of all traces. */
static void regular_steps_take_hardly_any_bytes(void **state)
{
    (void)state;
    assert_true(bytes_of_steps(200, 600) - bytes_of_steps(200, 200) < 80000 * 40);
}

/* --- Communicators of some traces ------------------------------------------------- */

static uint32_t traces_of_grid(uint32_t side)
{
    return side * side + 2 * side;
}

/* All traces of a line of the grid have a join; lines are rows, then columns. */
static void meet_in_line(struct es_order *order, uint32_t side, uint32_t line)
{
    uint32_t first = line < side ? line * side : line - side;
    uint32_t stride = line < side ? 1 : side, hub = side * side + line;
    struct es_event_id enters[MOST_TRACES] = {{0}}, told;

    for (uint32_t i = 0; i < side; i++)
        enters[i] = add(order, first + i * stride, ES_EVENT_SEND, NULL, 0);
    add(order, hub, ES_EVENT_RECEIVE, enters, side);
    told = add(order, hub, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = 0; i < side; i++)
        add(order, first + i * stride, ES_EVENT_RECEIVE, &told, 1);
}

/* After a join each exit knows all members.  Without hubs every second event would have
 * news of all traces. */
static void a_join_of_few_traces_is_stored_once(void **state)
{
    enum { SIDE = 20 };
    struct es_order *order = order_with_traces(traces_of_grid(SIDE));
    struct esi_order_statistics statistics;

    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t line = 0; line < 2 * SIDE; line++)
            meet_in_line(order, SIDE, line);
    statistics = finish(order);
    assert_true(statistics.actual_elements < statistics.events * (2 * SIDE));
}

enum { HUBS = 7, MEMBERS = 9 };

static struct es_event_id send_of_both(struct es_order *const *orders, uint32_t trace)
{
    add_to_both(orders, trace, ES_EVENT_SEND, NULL, 0);
    return (struct es_event_id){trace, es_order_count(orders[0], trace)};
}

/* The members in `set` have a join at `hub`, which is a separate trace or a member. */
static void meet_of_both(struct es_order *const *orders, uint32_t set, uint32_t hub)
{
    struct es_event_id enters[MEMBERS] = {{0}}, told;
    size_t count = 0;

    for (uint32_t i = 0; i < MEMBERS; i++)
        if (set & 1u << i)
            enters[count++] = send_of_both(orders, i);
    if (count == 0)
        return;
    add_to_both(orders, hub, ES_EVENT_RECEIVE, enters, count);
    told = send_of_both(orders, hub);
    for (size_t i = 0; i < count; i++)
        add_to_both(orders, enters[i].trace, ES_EVENT_RECEIVE, &told, 1);
}

static void sync_of_both(struct es_order *const *orders, uint32_t a, uint32_t b)
{
    for (int i = 0; i < 2; i++)
        assert_int_equal(es_order_append_sync(orders[i], a, b), 0);
}

static void tell_of_both(struct es_order *const *orders, uint32_t from, uint32_t to)
{
    struct es_event_id sent = send_of_both(orders, from);

    add_to_both(orders, to, ES_EVENT_RECEIVE, &sent, 1);
}

/* There are more communicators than a trace adopts.  Joins of all members take place at
 * a separate trace or at a member.  Members exchange messages, some of them late, and
 * syncs, and send messages to hubs. */
static void step_of_hubs(struct es_order *const *orders,
                         const uint32_t *sets,
                         struct es_event_id *late,
                         uint64_t *draw)
{
    uint32_t a = random_below(draw, MEMBERS), b = random_below(draw, MEMBERS);
    uint32_t hub = random_below(draw, HUBS), what = random_below(draw, 40);

    if (what == 0)
        meet_of_both(orders, (1u << MEMBERS) - 1, MEMBERS + HUBS - 1);
    else if (what == 1)
        meet_of_both(orders, ((1u << MEMBERS) - 1) & ~(1u << a), a);
    else if (what == 2)
        tell_of_both(orders, a, MEMBERS + hub);
    else if (what < 5 && late->index == 0)
        *late = send_of_both(orders, a);
    else if (what < 5) {
        add_to_both(orders, b, ES_EVENT_RECEIVE, late, 1);
        late->index = 0;
    } else if (what < 7 && a != b)
        sync_of_both(orders, a, b);
    else if (what < 15 && a != b)
        tell_of_both(orders, a, b);
    else
        meet_of_both(orders, sets[hub], MEMBERS + hub);
}

static void check_communicators(uint32_t rounds, uint32_t steps, uint64_t memory_bytes)
{
    static const uint32_t sizes[] = {0, 1, 6, 25, 80};
    uint64_t draw;

    draw = random_seed();
    for (uint32_t round = 0; round < rounds; round++) {
        struct esi_order_config config = epoch_config();
        uint32_t sets[HUBS];
        struct es_event_id late = {0, 0};
        struct es_order *orders[2];

        tuning.seal_entries = sizes[round % 5];
        config.memory_bytes = memory_bytes;
        make_both(orders, &config, MEMBERS + HUBS);
        for (uint32_t i = 0; i < HUBS; i++)
            sets[i] = random_below(&draw, 1u << MEMBERS);
        for (uint32_t step = 0; step < steps; step++)
            step_of_hubs(orders, sets, &late, &draw);
        assert_alike(orders, MEMBERS + HUBS);
        destroy_both(orders);
    }
}

static void communicators_give_true_answers(void **state)
{
    (void)state;
    check_communicators(100, 60, 0);
}

/* Entries for hubs stay valid when the events of the hub are forgotten. */
static void hubs_are_forgotten_in_time(void **state)
{
    (void)state;
    for (uint64_t memory_bytes = 1; memory_bytes < 200000; memory_bytes += 65536)
        check_communicators(5, 400, memory_bytes);
}

/* --- Random messages -------------------------------------------------------------- */

/* A trace sends to a near trace or any other, received at once or later; one of eight
 * traces is silent. */
static void step_at_random(struct es_order *const *orders,
                           uint32_t traces,
                           struct es_event_id *late,
                           uint64_t *draw)
{
    uint32_t from = random_below(draw, traces), to = random_below(draw, traces);
    uint32_t works = random_percent(draw, 20) ? random_below(draw, 20) : 0;

    if (random_percent(draw, 80))
        to = (from + 1 + random_below(draw, 3)) % traces;
    if (from % 8 == 3 || to % 8 == 3 || from == to)
        return;
    for (uint32_t i = 0; i < works; i++)
        add_to_both(orders, from, ES_EVENT_UNARY, NULL, 0);
    if (random_percent(draw, 90)) {
        tell_of_both(orders, from, to);
    } else if (late->index == 0) {
        *late = send_of_both(orders, from);
    } else if (late->trace != to) {
        add_to_both(orders, to, ES_EVENT_RECEIVE, late, 1);
        late->index = 0;
    }
}

static void messages_at_random_give_true_answers(void **state)
{
    static const uint32_t sizes[] = {0, 40, 150, 400, 900};
    uint64_t draw;

    (void)state;
    draw = random_seed();
    for (uint32_t round = 0; round < 10; round++) {
        struct esi_order_config config = epoch_config();
        uint32_t traces = 10 + random_below(&draw, 80);
        struct es_event_id late = {0, 0};
        struct es_order *orders[2];

        tuning.seal_entries = sizes[round % 5];
        make_both(orders, &config, traces);
        for (uint32_t step = 0; step < 1000; step++)
            step_at_random(orders, traces, &late, &draw);
        assert_alike(orders, traces);
        destroy_both(orders);
    }
}

static void assert_precede_alike(struct es_order *const *orders,
                                 struct es_event_id event,
                                 uint32_t traces)
{
    for (uint32_t of = 0; of < traces; of++)
        for (uint32_t i = 1; i <= es_order_count(orders[0], of); i++) {
            struct es_event_id other = {of, i};

            assert_int_equal(es_order_precedes(orders[0], other, event),
                             es_order_precedes(orders[1], other, event));
        }
}

static void traces_may_begin_late(void **state)
{
    enum { FIRST = 4, TRACES = 20, STEPS = 20 };
    uint64_t draw;

    (void)state;
    draw = random_seed();
    for (uint32_t round = 0; round < 10; round++) {
        struct esi_order_config config = epoch_config();
        struct es_event_id late = {0, 0};
        struct es_order *orders[2];

        tuning.seal_entries = 4 + 4 * round;
        make_both(orders, &config, FIRST);
        for (uint32_t step = 0; step < STEPS * TRACES; step++) {
            uint32_t traces = FIRST + step / STEPS;

            step_at_random(orders, traces, &late, &draw);
            for (int i = 0; i < 2 && step % STEPS == STEPS - 1; i++)
                assert_int_equal(es_order_add_trace(orders[i]), 0);
        }
        for (uint32_t i = 0; i < FIRST + TRACES; i++)
            for (uint32_t j = 1; j <= es_order_count(orders[0], i); j++)
                assert_precede_alike(orders, (struct es_event_id){i, j},
                                     FIRST + TRACES);
        destroy_both(orders);
    }
}

static void answers_are_true_while_events_are_appended(void **state)
{
    struct esi_order_config config = epoch_config();
    uint64_t seed = random_seed();

    (void)state;
    for (unsigned round = 0; round < 2 * MADE_SHAPES; round++) {
        struct made_config how = {.shape = (enum made_shape)(round % MADE_SHAPES),
                                  .seed = seed + round,
                                  .traces = 3 + round % 10,
                                  .events = 400};
        struct made_computation *made = made_computation_create(&how);

        tuning.seal_entries = round % 3 * 4;
        check_store_threads(&config, made, NULL);
        made_computation_destroy(made);
    }
}

SUITE(test_epoch)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_answers_are_true),
        cmocka_unit_test(packed_logs_give_true_answers),
        cmocka_unit_test(a_join_of_all_traces_is_a_cut),
        cmocka_unit_test(a_reduce_and_bcast_is_a_derived_cut),
        cmocka_unit_test(a_join_of_few_traces_is_no_cut),
        cmocka_unit_test(what_is_stored_does_not_grow_with_the_traces),
        cmocka_unit_test(regular_steps_give_true_answers),
        cmocka_unit_test(regular_steps_take_hardly_any_bytes),
        cmocka_unit_test(a_join_of_few_traces_is_stored_once),
        cmocka_unit_test(communicators_give_true_answers),
        cmocka_unit_test(hubs_are_forgotten_in_time),
        cmocka_unit_test(messages_at_random_give_true_answers),
        cmocka_unit_test(traces_may_begin_late),
        cmocka_unit_test(answers_are_true_while_events_are_appended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
