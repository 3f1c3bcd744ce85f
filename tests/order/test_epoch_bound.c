/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_epoch_bound.c - bounds the memory of the store "epoch" by that of vectors. */
#include "config.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "monitors/order/epoch/epoch_tuning.h"
#include "monitors/order/order.h"
#include "tests/order/check_store.h"
#include "tests/suites.h"

/* --- The bound -------------------------------------------------------------------- */

/* The bound of docs/epochs.md: 1.2 times the memory of vectors, and in addition: */
enum { BESIDES = 128 << 10, BESIDES_OF_TRACE = 3 << 10 };

/* An order that is being filled, and the heap size before it was created. */
struct filled {
    struct es_order *order;
    uint32_t traces;
    uint64_t events;
    uint64_t heap;
};

static uint64_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static struct filled begin(uint32_t traces)
{
    struct filled filled = {.traces = traces, .heap = heap_bytes()};
    struct esi_order_config config = {.store = "epoch"};

    assert_int_equal(esi_order_create(&config, NULL, &filled.order), 0);
    for (uint32_t i = 0; i < traces; i++)
        assert_int_equal(es_order_add_trace(filled.order), 0);
    return filled;
}

static uint64_t bound(const struct filled *filled)
{
    uint64_t dense = 4 * filled->traces * filled->events;

    return dense + dense / 5 + BESIDES + (uint64_t)BESIDES_OF_TRACE * filled->traces;
}

static uint64_t accounted(const struct filled *filled)
{
    struct esi_order_statistics statistics;

    esi_order_statistics(filled->order, &statistics);
    return statistics.stored_bytes + statistics.writer_bytes;
}

/* Called from time to time only, because it takes long. */
static void check_bound(const struct filled *filled, const char *what)
{
    uint64_t heap = heap_bytes() - filled->heap;

    if (accounted(filled) <= bound(filled) && heap <= bound(filled))
        return;
    print_error("%s: %u traces, %llu events: %llu bytes accounted, %llu allocated; "
                "the bound is %llu\n",
                what, filled->traces, (unsigned long long)filled->events,
                (unsigned long long)accounted(filled), (unsigned long long)heap,
                (unsigned long long)bound(filled));
    fail();
}

static void end(struct filled *filled, const char *what)
{
    double events = (double)filled->events;

    check_bound(filled, what);
    print_message("# %s: %u traces, %.0f events: %.1f bytes an event, %.1f allocated, "
                  "vectors %u\n",
                  what, filled->traces, events, (double)accounted(filled) / events,
                  (double)(heap_bytes() - filled->heap) / events, 4 * filled->traces);
    es_order_destroy(filled->order);
}

static struct es_event_id add(struct filled *filled,
                              uint32_t trace,
                              enum es_event_kind kind,
                              const struct es_event_id *partners,
                              size_t count)
{
    assert_int_equal(es_order_append(filled->order, trace, kind, partners, count), 0);
    filled->events++;
    return (struct es_event_id){trace, es_order_count(filled->order, trace)};
}

/* Appends a send and its receive. */
static void message(struct filled *filled, uint32_t from, uint32_t to)
{
    struct es_event_id send = add(filled, from, ES_EVENT_SEND, NULL, 0);

    add(filled, to, ES_EVENT_RECEIVE, &send, 1);
}

/* --- Loads ------------------------------------------------------------------------ */

/* Messages between random traces; the bound is checked `looks` times. */
static void random_partners(uint32_t traces, uint64_t events, unsigned looks)
{
    struct filled filled = begin(traces);
    uint64_t draw;

    draw = 1;
    while (filled.events < events) {
        uint32_t from = random_below(&draw, traces);
        uint32_t to = (from + 1 + random_below(&draw, traces - 1)) % traces;

        message(&filled, from, to);
        if (filled.events % (events / looks) < 2)
            check_bound(&filled, "random partners");
    }
    end(&filled, "random partners");
}

static void random_partners_stay_below_vectors(void **state)
{
    static const struct {
        uint32_t traces, events;
    } loads[] = {{2, 10000},     {5, 10000},   {16, 10000},  {64, 1000},
                 {64, 10000},    {64, 100000}, {300, 50000}, {1000, 3000},
                 {1000, 100000}, {3000, 30000}};

    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        random_partners(loads[i].traces, loads[i].events, 50);
}

/* Vectors would take 12 GB, so this runs only on request. */
static void ten_thousand_traces_stay_below_vectors(void **state)
{
    (void)state;
    if (!getenv("ES_TEST_LARGE"))
        skip();
    random_partners(10000, 300000, 50);
}

/* Each trace knows all before it and has two events. */
static void a_chain_stays_below_vectors(void **state)
{
    enum { TRACES = 1500 };
    struct filled filled = begin(TRACES);

    (void)state;
    for (uint32_t i = 0; i + 1 < TRACES; i++) {
        message(&filled, i, i + 1);
        check_bound(&filled, "chain");
    }
    end(&filled, "chain");
}

static void a_chain_of_syncs_stays_below_vectors(void **state)
{
    enum { TRACES = 1500 };
    struct filled filled = begin(TRACES);

    (void)state;
    for (uint32_t i = 0; i + 1 < TRACES; i++) {
        assert_int_equal(es_order_append_sync(filled.order, i, i + 1), 0);
        filled.events += 2;
        check_bound(&filled, "chain of syncs");
    }
    end(&filled, "chain of syncs");
}

/* Trace 0 receives from all, then sends one message to all. */
static void what_one_tells_all_stays_below_vectors(void **state)
{
    enum { TRACES = 1000 };
    struct filled filled = begin(TRACES);
    struct es_event_id send;

    (void)state;
    for (uint32_t i = 1; i < TRACES; i++)
        message(&filled, i, 0);
    send = add(&filled, 0, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = 1; i < TRACES; i++) {
        add(&filled, i, ES_EVENT_RECEIVE, &send, 1);
        check_bound(&filled, "one to all");
    }
    end(&filled, "one to all");
}

/* A token circulates: each receive has news of all other traces. */
static void a_token_stays_below_vectors(void **state)
{
    static const uint32_t sizes[] = {2, 10, 64, 500};
    enum { ROUNDS = 40 };

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct filled filled = begin(sizes[i]);

        for (uint32_t step = 0; step < ROUNDS * sizes[i]; step++) {
            message(&filled, step % sizes[i], (step + 1) % sizes[i]);
            check_bound(&filled, "token");
        }
        end(&filled, "token");
    }
}

/* A token takes a random path, with other events in between: its news are irregular. */
static void a_wandering_token_stays_below_vectors(void **state)
{
    enum { TRACES = 400, STEPS = 12000 };
    struct filled filled = begin(TRACES);
    uint64_t draw;
    uint32_t at = 0;

    (void)state;
    draw = 2;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t to = (at + 1 + random_below(&draw, TRACES - 1)) % TRACES;

        message(&filled, at, to);
        at = to;
        if (step % 50 == 0)
            check_bound(&filled, "wandering token");
    }
    end(&filled, "wandering token");
}

/* --- Answers ---------------------------------------------------------------------- */

static void packed_early_answers_are_true(void **state)
{
    struct esi_epoch_tuning tuning = {.is_tight = true};
    const struct esi_order_config config = {.store = "epoch", .tuning = &tuning};

    (void)state;
    check_store_widely(&config, 300, 160, NULL);
    tuning.seal_entries = 8;
    check_store_widely(&config, 100, 160, NULL);
}

SUITE(test_epoch_bound)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_partners_stay_below_vectors),
        cmocka_unit_test(ten_thousand_traces_stay_below_vectors),
        cmocka_unit_test(a_chain_stays_below_vectors),
        cmocka_unit_test(a_chain_of_syncs_stays_below_vectors),
        cmocka_unit_test(what_one_tells_all_stays_below_vectors),
        cmocka_unit_test(a_token_stays_below_vectors),
        cmocka_unit_test(a_wandering_token_stays_below_vectors),
        cmocka_unit_test(packed_early_answers_are_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
