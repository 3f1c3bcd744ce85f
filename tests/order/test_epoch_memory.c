/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_epoch_memory.c - the store "epoch" with so little memory that it forgets or
 * spills. All answers must be true, and every answer that follows from the kept events
 * must be given. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "monitors/order/epoch/epoch_tuning.h"
#include "monitors/order/order.h"
#include "tests/order/check_store.h"
#include "tests/suites.h"

static const char *folder(void)
{
    const char *given = getenv("TMPDIR");

    return given ? given : "/tmp";
}

/* Of the configuration that was made last. */
static struct esi_epoch_tuning tuning;

static struct esi_order_config tiny_config(const char *spill_folder)
{
    tuning = (struct esi_epoch_tuning){.seal_entries = 0};
    return (struct esi_order_config){.store = "epoch",
                                     .tuning = &tuning,
                                     .memory_bytes = 1,
                                     .spill_folder = spill_folder};
}

static struct made_computation *make(unsigned round, uint64_t seed, uint32_t events)
{
    struct made_config how = {.shape = (enum made_shape)(round % MADE_SHAPES),
                              .seed = seed + round,
                              .traces = 3 + round % 10,
                              .events = events,
                              .is_sparse = round % 3 == 0,
                              .is_lossy = round % 5 == 0};

    return made_computation_create(&how);
}

/* --- Retention -------------------------------------------------------------------- */

static bool is_kept(const struct es_order *order, struct es_event_id id)
{
    return !es_order_is_forgotten(order, id);
}

/* The last forgotten event of a trace; all events before it are forgotten, too. */
static uint32_t forgotten(const struct es_order *order, uint32_t trace)
{
    uint32_t low = 0, high = es_order_count(order, trace);

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (is_kept(order, (struct es_event_id){trace, middle}))
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

/* Totals of all rounds. */
struct tally {
    uint64_t forgotten; /* events */
    uint64_t kept;
    uint64_t told;   /* pairs of a forgotten event and a known successor */
    uint64_t partly; /* intervals whose first event is forgotten */
};

static void check_pair(const struct es_order *order,
                       const struct made_computation *made,
                       struct es_event_id a,
                       struct es_event_id b,
                       struct tally *tally)
{
    int answer = es_order_precedes(order, a, b);
    int truth = made_precedes(made, a, b);

    if (answer == -ESTALE && a.trace != b.trace &&
        !(is_kept(order, a) && is_kept(order, b)))
        return;
    if (answer != truth)
        fail_msg("%s: precedes of %u:%u and %u:%u is %d, said to be %d",
                 made_computation_name(made), a.trace, a.index, b.trace, b.index, truth,
                 answer);
    tally->told += answer == 1 && a.trace != b.trace && !is_kept(order, a);
}

/* Every answer that is given must be exact. */
static void check_found(const struct es_order *order,
                        const struct made_computation *made,
                        struct es_event_id a,
                        uint32_t trace)
{
    uint32_t gone = forgotten(order, trace), count = es_order_count(order, trace);
    int64_t before = made_greatest_predecessor(made, a, trace);
    int64_t after = made_least_successor(made, a, trace, count);
    int64_t beside = made_greatest_concurrent(made, a, trace, count), answer;

    if (a.trace != trace && !is_kept(order, a)) {
        assert_int_equal(es_order_greatest_predecessor(order, a, trace), -ESTALE);
        assert_int_equal(es_order_least_successor(order, a, trace), -ESTALE);
        return;
    }
    answer = es_order_greatest_predecessor(order, a, trace);
    assert_int_equal(answer,
                     a.trace != trace && gone > 0 && before <= gone ? -ESTALE : before);
    assert_int_equal(es_order_least_successor(order, a, trace), after);
    answer = es_order_greatest_concurrent(order, a, trace);
    if (answer != -ESTALE || beside > gone)
        assert_int_equal(answer, beside);
}

/* The last event is known, the first if it is kept; a forgotten interval is not. */
static void check_concurrent(const struct es_order *order,
                             const struct made_computation *made,
                             struct es_event_id a,
                             uint32_t trace,
                             struct tally *tally)
{
    uint32_t gone = forgotten(order, trace), count = es_order_count(order, trace);
    uint32_t before = made_greatest_predecessor(made, a, trace);
    uint32_t beside = made_greatest_concurrent(made, a, trace, count);
    uint32_t first = UINT32_MAX, last = UINT32_MAX;
    int answer = es_order_concurrent(order, a, trace, &first, &last);

    assert_int_equal(es_order_is_forgotten(order, a),
                     a.index <= forgotten(order, a.trace));
    if (a.trace != trace &&
        (!is_kept(order, a) || (gone > 0 && before <= gone && beside <= gone))) {
        assert_int_equal(answer, -ESTALE);
        return;
    }
    assert_int_equal(answer, beside > 0);
    if (answer == 0)
        return;
    assert_int_equal(last, beside);
    assert_int_equal(first, gone > 0 && before <= gone ? 0 : before + 1);
    tally->partly += first == 0;
}

static void check_kept(const struct es_order *order,
                       const struct made_computation *made,
                       struct tally *tally)
{
    for (uint32_t i = 0; i < made->count; i++) {
        struct es_event_id a = made->events[i].id;

        tally->kept += is_kept(order, a);
        tally->forgotten += !is_kept(order, a);
        for (uint32_t j = 0; j < made->count; j++)
            check_pair(order, made, a, made->events[j].id, tally);
        for (uint32_t trace = 0; trace < made->traces; trace++) {
            check_found(order, made, a, trace);
            check_concurrent(order, made, a, trace, tally);
        }
    }
}

static void what_is_kept_is_known_exactly(void **state)
{
    struct esi_order_config config = tiny_config(NULL);
    uint64_t seed = random_seed();
    struct tally tally = {0};

    (void)state;
    for (unsigned round = 0; round < 10 * MADE_SHAPES; round++) {
        struct made_computation *made = make(round, seed, round % 7 ? 200 : 500);
        struct esi_order_statistics statistics;
        struct es_order *order;
        uint64_t before = tally.forgotten;

        /* Either no sealed events are kept, or those of some eras. */
        config.memory_bytes = 1 + round % 4 * (16 << 10);
        tuning.seal_entries = round % 5 * 3;
        tuning.is_tight = round % 3 == 1;
        order = check_store_fill(&config, made);
        check_kept(order, made, &tally);
        esi_order_statistics(order, &statistics);
        assert_int_equal(statistics.forgotten_events, tally.forgotten - before);
        es_order_destroy(order);
        made_computation_destroy(made);
    }
    assert_true(tally.forgotten > 0);
    assert_true(tally.kept > 0);
    assert_true(tally.told > 0);
    assert_true(tally.partly > 0);
}

static void answers_are_true_while_events_are_forgotten(void **state)
{
    struct check_options options = {.may_forget = true};
    struct esi_order_config config = tiny_config(NULL);

    (void)state;
    for (tuning.seal_entries = 0; tuning.seal_entries < 9; tuning.seal_entries += 4)
        check_store_widely(&config, 100, 160, &options);
}

static void check_with_readers(struct esi_order_config *config, bool may_forget)
{
    uint64_t seed = random_seed();

    for (unsigned round = 0; round < MADE_SHAPES; round++) {
        struct made_computation *made = make(round, seed, 250);
        struct check_options options = {.seed = seed + round, .may_forget = may_forget};

        tuning.seal_entries = round % 3 * 4;
        tuning.is_tight = round % 4 == 1;
        check_store_threads(config, made, &options);
        made_computation_destroy(made);
    }
}

static void readers_stay_while_events_are_forgotten(void **state)
{
    struct esi_order_config config = tiny_config(NULL);

    (void)state;
    check_with_readers(&config, true);
}

/* --- Spilling --------------------------------------------------------------------- */

static void what_is_spilled_is_known(void **state)
{
    struct esi_order_config config = tiny_config(folder());

    (void)state;
    for (tuning.seal_entries = 0; tuning.seal_entries < 9; tuning.seal_entries += 4)
        check_store_widely(&config, 100, 160, NULL);
}

static void readers_stay_while_events_are_spilled(void **state)
{
    struct esi_order_config config = tiny_config(folder());

    (void)state;
    check_with_readers(&config, false);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct esi_order_config config = tiny_config("/nowhere/at/all");
    struct es_error error = {{0}, 0, 0, {0}};
    struct es_order *order = NULL;

    (void)state;
    assert_int_equal(esi_order_create(&config, &error, &order), -ENOENT);
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
    assert_null(order);
}

/* --- Long runs -------------------------------------------------------------------- */

enum { TRACES = 16, ROUNDS = 4000 };

static struct es_event_id add(struct es_order *order,
                              uint32_t trace,
                              enum es_event_kind kind,
                              const struct es_event_id *partners,
                              size_t count)
{
    assert_int_equal(es_order_append(order, trace, kind, partners, count), 0);
    return (struct es_event_id){trace, es_order_count(order, trace)};
}

/* All traces send to their neighbours; then the last one has a join with all.  Trace 0
 * has no more events after the first rounds. */
static void run_round(struct es_order *order, uint32_t round)
{
    struct es_event_id sends[TRACES] = {{0}}, told;
    uint32_t first = round > 9;

    for (uint32_t i = first; i < TRACES; i++)
        sends[i] = add(order, i, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = first; i < TRACES; i++)
        add(order, i + 1 < TRACES ? i + 1 : first, ES_EVENT_RECEIVE, &sends[i], 1);
    for (uint32_t i = first; i < TRACES - 1; i++)
        sends[i] = add(order, i, ES_EVENT_SEND, NULL, 0);
    add(order, TRACES - 1, ES_EVENT_RECEIVE, &sends[first], TRACES - 1 - first);
    told = add(order, TRACES - 1, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = first; i < TRACES - 1; i++)
        add(order, i, ES_EVENT_RECEIVE, &told, 1);
}

static struct es_order *long_run(const struct esi_order_config *config,
                                 uint64_t *ret_most_bytes)
{
    struct es_order *order;

    assert_int_equal(esi_order_create(config, NULL, &order), 0);
    for (uint32_t i = 0; i < TRACES; i++)
        assert_int_equal(es_order_add_trace(order), 0);
    *ret_most_bytes = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct esi_order_statistics is;

        run_round(order, round);
        esi_order_statistics(order, &is);
        if (is.stored_bytes + is.writer_bytes > *ret_most_bytes)
            *ret_most_bytes = is.stored_bytes + is.writer_bytes;
    }
    return order;
}

/* The event of a round; each trace has four events in a round. */
static struct es_event_id at_round(uint32_t trace, uint32_t round)
{
    return (struct es_event_id){trace, 4 * round + 1};
}

static void memory_stays_as_it_is_configured(void **state)
{
    struct esi_order_config config = tiny_config(NULL);
    struct esi_order_statistics statistics;
    struct es_order *order;
    uint64_t most;

    (void)state;
    config.memory_bytes = 256 << 10;
    order = long_run(&config, &most);
    esi_order_statistics(order, &statistics);
    assert_true(most < config.memory_bytes * 5 / 4);
    assert_true(statistics.forgotten_events > statistics.events / 2);
    assert_int_equal(es_order_relation(order, at_round(3, 1), at_round(2, 2)), -ESTALE);
    /* An event after a cut knows all events before it, even forgotten ones. */
    assert_int_equal(es_order_relation(order, at_round(3, 1), at_round(2, ROUNDS - 1)),
                     ES_RELATION_BEFORE);
    assert_int_equal(es_order_relation(order, at_round(2, ROUNDS - 1), at_round(3, 1)),
                     ES_RELATION_AFTER);
    es_order_destroy(order);
}

static void a_long_run_is_spilled(void **state)
{
    struct esi_order_config config = tiny_config(folder());
    struct esi_order_statistics statistics;
    struct es_order *order;
    uint64_t most;

    (void)state;
    config.memory_bytes = 256 << 10;
    order = long_run(&config, &most);
    esi_order_statistics(order, &statistics);
    assert_int_equal(statistics.spill_error, 0);
    assert_int_equal(statistics.forgotten_events, 0);
    assert_true(statistics.spilled_bytes > config.memory_bytes);
    assert_true(most < config.memory_bytes * 5 / 4);
    for (uint32_t round = 1; round + 1 < ROUNDS; round += 7) {
        assert_int_equal(
            es_order_relation(order, at_round(3, round), at_round(2, round + 1)),
            ES_RELATION_BEFORE);
        assert_int_equal(
            es_order_relation(order, at_round(3, round), at_round(2, round)),
            ES_RELATION_CONCURRENT);
    }
    es_order_destroy(order);
}

/* A limit on the file size has the effect of a full disk. */
static void what_cannot_be_spilled_is_forgotten(void **state)
{
    struct esi_order_config config = tiny_config(folder());
    struct esi_order_statistics statistics;
    struct rlimit before, small;
    struct es_order *order;
    uint64_t most;

    (void)state;
    config.memory_bytes = 256 << 10;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = (512 << 10) + 5000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    order = long_run(&config, &most);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    esi_order_statistics(order, &statistics);
    assert_int_equal(statistics.spill_error, -EFBIG);
    assert_true(statistics.forgotten_events > 0);
    assert_true(most < config.memory_bytes * 5 / 4);
    assert_int_equal(
        es_order_relation(order, at_round(3, ROUNDS - 3), at_round(2, ROUNDS - 1)),
        ES_RELATION_BEFORE);
    es_order_destroy(order);
}

SUITE(test_epoch_memory)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_known_exactly),
        cmocka_unit_test(answers_are_true_while_events_are_forgotten),
        cmocka_unit_test(readers_stay_while_events_are_forgotten),
        cmocka_unit_test(what_is_spilled_is_known),
        cmocka_unit_test(readers_stay_while_events_are_spilled),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
        cmocka_unit_test(memory_stays_as_it_is_configured),
        cmocka_unit_test(a_long_run_is_spilled),
        cmocka_unit_test(what_cannot_be_spilled_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
