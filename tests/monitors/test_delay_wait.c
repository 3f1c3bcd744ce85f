/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the greatest cause of a single call's wait. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "monitors/delay/delay.h"
#include "tests/monitors/made_timeline.h"
#include "tests/suites.h"

#define MS UINT64_C(1000000)

enum { RANKS = 3, LATE = 1 };

/* The times at which the ranks entered their collective operation. */
struct seen_enters {
    struct esi_causal_listener to;
    uint32_t traces[RANKS];
    uint64_t ns[RANKS];
};

static int see_enter(void *data,
                     const struct es_set_event *event,
                     const struct esi_causal_call *call)
{
    struct seen_enters *seen = data;

    if (call && call->role == ESI_ROLE_ENTER) {
        seen->traces[call->thread->process->rank] = event->id.trace;
        seen->ns[call->thread->process->rank] = call->told->start_ns;
    }
    return seen->to.told(seen->to.data, event, call);
}

/* One rank computes for longer than the others before a barrier. */
static void tell_late_barrier(struct esi_delay *delay, struct seen_enters *seen)
{
    const struct esi_causal_listener listener = {.told = see_enter, .data = seen};
    struct made_timeline timeline;

    *seen = (struct seen_enters){.to = esi_delay_listener(delay)};
    made_timeline_init(&timeline, RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        made_timeline_step(&timeline, rank,
                           (struct made_step){.kind = MADE_COMPUTE,
                                              .ns = rank == LATE ? 10 * MS : MS});
        made_timeline_step(&timeline, rank,
                           (struct made_step){.kind = MADE_STEP_BARRIER, .line = 5});
    }
    made_timeline_run(&timeline);
    made_timeline_tell(&timeline, &listener);
    made_timeline_fini(&timeline);
}

static void a_wait_names_its_greatest_cause(void **state)
{
    const struct esi_delay_config config = {.window = 0};
    struct esi_delay *delay;
    struct seen_enters seen;
    struct esi_delay_wait wait;

    (void)state;
    assert_int_equal(esi_delay_create(&config, &delay), 0);
    tell_late_barrier(delay, &seen);
    assert_false(esi_delay_find_wait(delay, seen.traces[0], seen.ns[0], &wait));
    assert_int_equal(esi_delay_settle(delay), 0); /* costs are charged only here */
    for (int rank = 0; rank < RANKS; rank++) {
        bool has_waited =
            esi_delay_find_wait(delay, seen.traces[rank], seen.ns[rank], &wait);

        assert_int_equal(has_waited, rank != LATE);
        if (!has_waited)
            continue;
        assert_int_equal(wait.causing, LATE);
        assert_string_equal(wait.line, "made.c:5");
        assert_string_equal(wait.operation, "MPI_Barrier");
        assert_true(wait.computing);
        assert_true(wait.waited == (double)(seen.ns[LATE] - seen.ns[rank]));
        assert_true(wait.caused > .999 * wait.waited && wait.caused <= wait.waited);
    }
    assert_false(esi_delay_find_wait(delay, seen.traces[0], 1, &wait));
    assert_false(esi_delay_find_wait(delay, 1000, seen.ns[0], &wait));
    esi_delay_destroy(delay);
}

static double waited_of_rank(const struct esi_delay *delay, int rank)
{
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].rank == rank)
            return rows[i].times.waited;
    return -1;
}

/* A wait that goes on counts until the next look, and then as long as it is. */
static void a_wait_under_way_counts_up_to_the_last_look(void **state)
{
    const struct esi_delay_config config = {.window = 0};
    struct esi_run_process process = {.host = "made"};
    const struct esi_run_thread thread = {.process = &process};
    struct esi_causal_tuple told = {.tuple = {.peer = 1}};
    const struct esi_causal_call call = {.operation = es_operation_by_name("MPI_Recv"),
                                         .thread = &thread,
                                         .told = &told};
    struct esi_delay_totals before, during, after;
    struct esi_delay *delay;
    struct seen_enters seen;

    (void)state;
    assert_int_equal(esi_delay_create(&config, &delay), 0);
    tell_late_barrier(delay, &seen);
    assert_int_equal(esi_delay_settle(delay), 0);
    esi_delay_totals(delay, &before);
    double waited = waited_of_rank(delay, 0);

    told.start_ns = before.end_ns + MS;
    for (uint64_t looks = 1; looks <= 3; looks++) {
        told.until_ns = told.start_ns + looks * 100 * MS;
        assert_int_equal(seen.to.open(delay, 0, NULL), 0);
        assert_int_equal(seen.to.open(delay, seen.traces[0], &call), 0);
        esi_delay_totals(delay, &during);
        assert_int_equal(during.open, 1);
        assert_int_equal(during.open_ns, looks * 100 * MS);
        assert_int_equal(during.end_ns, told.until_ns);
        assert_true(during.waited == before.waited + (double)(looks * 100 * MS));
        assert_true(waited_of_rank(delay, 0) == waited + (double)(looks * 100 * MS));
    }
    assert_int_equal(seen.to.open(delay, 0, NULL), 0);
    esi_delay_totals(delay, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_true(waited_of_rank(delay, 0) == waited);
    esi_delay_destroy(delay);
}

SUITE(test_delay_wait)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_names_its_greatest_cause),
        cmocka_unit_test(a_wait_under_way_counts_up_to_the_last_look),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
