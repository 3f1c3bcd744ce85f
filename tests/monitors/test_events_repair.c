/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Events of one message, one collective operation or one edge are recognised as
 * related, and the times delivered by the events monitor are consistent. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/events/events_repair.h"
#include "tests/scopes/made_run.h"
#include "tests/suites.h"

/* --- Related events -------------------------------------------------------------- */

static struct esi_time_link link_of(const char *operation,
                                    int rank,
                                    int peer,
                                    int bytes)
{
    const struct es_operation *found = es_operation_by_name(operation);
    const struct es_operation *barrier = es_operation_by_name("MPI_Barrier");
    struct esi_activity activity = {.communicator_index = 0};
    struct esi_run_model run = {.process_count = 0};
    struct esi_run_process known = {.rank = rank};
    struct esi_run_reported reported = {.key = {7, 8}, .rank = rank, .size = 4};
    struct esi_run_process *process;
    struct esi_time_link link;

    assert_non_null(found);
    assert_int_equal(esi_run_model_add_process(&run, &known, &process), 0);
    assert_int_equal(esi_run_model_set_communicator(&run, process, 0, &reported), 0);
    activity.operation = found->code;
    activity.argument = peer;
    activity.bytes = (uint32_t)bytes;
    activity.sequence = 5;
    activity.tag = bytes < 0 ? barrier->code + 65536 : 3;
    if (bytes < 0)
        activity.bytes = 0;
    esi_time_link_read(process, &activity, &link);
    esi_run_model_fini(&run);
    return link;
}

static void assert_meet(const struct esi_time_link *x, const struct esi_time_link *y)
{
    assert_int_not_equal(x->key.kind, 0);
    assert_memory_equal(&x->key, &y->key, sizeof x->key);
    assert_int_equal(x->members, y->members);
    assert_int_equal(x->befores, y->befores);
}

static void both_ends_of_a_message_meet(void **state)
{
    struct esi_time_link sent = link_of("MPI_Isend", 1, 2, 8);
    struct esi_time_link received = link_of("MPI_Sendrecv receive", 2, 1, 8);
    struct esi_time_link other = link_of("MPI_Recv", 1, 2, 8);

    (void)state;
    assert_meet(&sent, &received);
    assert_int_equal(sent.ends, ES_TIME_BEFORE);
    assert_int_equal(received.ends, ES_TIME_AFTER);
    assert_memory_not_equal(&sent.key, &other.key, sizeof sent.key);
}

static void ends_of_an_edge_meet_by_direction(void **state)
{
    struct esi_time_link left = link_of("tree departure up", 1, 0, 8);
    struct esi_time_link reached = link_of("tree arrival up", 0, 1, 8);
    struct esi_time_link down = link_of("tree arrival down", 0, 1, 8);

    (void)state;
    assert_meet(&left, &reached);
    assert_int_not_equal(left.key.kind, down.key.kind);
    /* Without payload only a barrier has messages. */
    assert_int_equal(link_of("tree departure up", 1, 0, 0).key.kind, 0);
    assert_int_not_equal(link_of("tree departure up", 1, 0, -1).key.kind, 0);
}

static void collectives_order_as_their_kind_says(void **state)
{
    static const struct {
        const char *operation;
        int root; /* the test uses rank 1 */
        int bytes;
        unsigned ends;
        uint32_t befores;
    } cases[] = {
        {"MPI_Barrier", ES_PEER_NONE, 0, ES_TIME_BEFORE | ES_TIME_AFTER, 4},
        {"MPI_Allreduce", ES_PEER_NONE, 8, ES_TIME_BEFORE | ES_TIME_AFTER, 4},
        {"MPI_Iallgather", ES_PEER_NONE, 8, ES_TIME_BEFORE | ES_TIME_AFTER, 4},
        {"MPI_Allreduce", ES_PEER_NONE, 0, 0, 0},
        {"MPI_Bcast", 1, 8, ES_TIME_BEFORE, 1},
        {"MPI_Bcast", 0, 8, ES_TIME_AFTER, 1},
        {"MPI_Scatter", 0, 8, ES_TIME_AFTER, 1},
        {"MPI_Bcast", 0, 0, 0, 0},
        {"MPI_Reduce", 1, 8, ES_TIME_BEFORE | ES_TIME_AFTER, 4},
        {"MPI_Gather", 0, 8, ES_TIME_BEFORE, 4},
        {"MPI_Alltoallv", ES_PEER_NONE, 8, 0, 0},
        {"MPI_Wait", 0, 1, 0, 0},
        {"MPI_Send", 1, 8, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct esi_time_link link =
            link_of(cases[i].operation, 1, cases[i].root, cases[i].bytes);

        assert_int_equal(link.ends, cases[i].ends);
        assert_int_equal(link.befores, cases[i].befores);
        assert_int_equal(link.key.kind != 0, cases[i].ends != 0);
    }
}

/* --- Events of a run ------------------------------------------------------------- */

struct seen {
    uint64_t sent_ns;
    uint64_t received_ns;
    size_t count;
};

static int see(void *data, const struct esi_event *event)
{
    struct seen *seen = data;

    if (event->origin->rank == 0)
        seen->sent_ns = event->activity.start_ns;
    else
        seen->received_ns = event->activity.stop_ns;
    seen->count++;
    return 0;
}

/* Reads a message whose receive ends `early_ns` before its send begins, by clocks with
 * an error of up to 1000 ns. */
static struct seen read_message(uint64_t early_ns,
                                enum esi_repair_mode mode,
                                struct esi_time_repair_totals *ret_totals)
{
    struct made_run made;
    struct esi_writer *writers[2];
    struct es_run *run;
    struct esi_events *events;
    struct esi_events_config config = {.repair = mode};
    struct seen seen = {.count = 0};
    struct esi_event_sink sink = {.event = see, .data = &seen};
    struct es_clock clock;
    struct es_tuple tuple;

    made_run_begin(&made);
    for (int i = 0; i < 2; i++)
        writers[i] = made_run_add_element(&made, made_run_add_rank(&made, i, 2), i, 0,
                                          "all", ES_CLASSES_ALL, 15);
    clock = esi_segment_layout(made.segments[0])->clock;
    clock.base_error_ns = 1000;
    clock.frequency_error_ppb = 0;
    for (int i = 0; i < 2; i++) {
        esi_segment_layout(made.segments[i])->clock = clock;
        tuple = made_tuple(i ? "MPI_Recv" : "MPI_Send",
                           clock.base_ticks + clock.frequency_hz / 1000,
                           clock.base_ticks + clock.frequency_hz / 500);
        if (i)
            tuple.stop = tuple.start - early_ns * (clock.frequency_hz / 1000000) / 1000;
        if (i)
            tuple.start = tuple.stop;
        tuple.peer = 1 - i;
        tuple.sequence = 0;
        esi_writer_write(writers[i], &tuple);
    }
    assert_int_equal(es_run_open(made.name, NULL, &run), 0);
    es_scope_config_init(&config.scope);
    config.scope.sorting = ES_SORTING_STOP;
    assert_int_equal(esi_events_create(run, &config, NULL, &events), 0);
    assert_int_equal(esi_events_read_backlog(events, true, &sink), 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(esi_events_repairs(events, ret_totals), mode != ES_REPAIR_NONE);
    esi_events_destroy(events);
    es_run_close(run);
    made_run_end(&made);
    return seen;
}

static void an_early_receive_is_moved_behind_its_send(void **state)
{
    struct esi_time_repair_totals totals;
    struct seen seen = read_message(500, ES_REPAIR_BOUND, &totals);

    (void)state;
    assert_int_equal(seen.received_ns, seen.sent_ns + 1);
    assert_int_equal(totals.checked, 1);
    assert_int_equal(totals.repaired, 1);
    assert_in_range(totals.largest_ns, 490, 512);
}

static void what_no_clock_explains_is_left(void **state)
{
    struct esi_time_repair_totals totals;
    struct seen seen = read_message(50000, ES_REPAIR_BOUND, &totals);

    (void)state;
    assert_true(seen.received_ns < seen.sent_ns);
    assert_int_equal(totals.repaired, 0);
    assert_int_equal(totals.beyond, 1);
}

static void nothing_is_repaired_unasked(void **state)
{
    struct esi_time_repair_totals totals;
    struct seen seen = read_message(500, ES_REPAIR_NONE, &totals);

    (void)state;
    assert_true(seen.received_ns < seen.sent_ns);
}

SUITE(test_events_repair)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_of_a_message_meet),
        cmocka_unit_test(ends_of_an_edge_meet_by_direction),
        cmocka_unit_test(collectives_order_as_their_kind_says),
        cmocka_unit_test(an_early_receive_is_moved_behind_its_send),
        cmocka_unit_test(what_no_clock_explains_is_left),
        cmocka_unit_test(nothing_is_repaired_unasked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
