/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The order that tuples define; each test checks one rule. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "tests/causality/made_tuples.h"
#include "tests/suites.h"

#define CALL(...) (&(struct made_call){__VA_ARGS__})
#define SECOND UINT64_C(1000000000)

static const struct made_event *find(const struct made_tuples *made,
                                     const char *trace,
                                     const char *type)
{
    const struct made_event *event = made_stream_find(&made->stream, trace, type);

    if (!event)
        fail_msg("no %s on trace %s", type, trace);
    return event;
}

static void assert_names(const struct made_tuples *made,
                         const struct made_event *event,
                         const struct made_event *partner)
{
    assert_true(made_event_names(&made->stream, event, partner));
}

/* --- Messages --------------------------------------------------------------------- */

static void a_receive_names_its_send(void **state)
{
    struct made_tuples made;
    struct esi_causality_totals totals;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 1, CALL("MPI_Recv", 5, 30, .peer = 0, .tag = 7));
    made_add(&made, 0, CALL("MPI_Send", 10, 20, .peer = 1, .tag = 7));
    totals = made_finish(&made);
    assert_names(&made, find(&made, "1.0", "MPI_Recv"), find(&made, "0.0", "MPI_Send"));
    assert_int_equal(totals.messages, 1);
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

static void another_channel_is_another_message(void **state)
{
    static const struct made_call others[] = {
        {"MPI_Recv", 5, 30, .peer = 0, .tag = 8},
        {"MPI_Recv", 5, 30, .peer = 0, .tag = 7, .sequence = 1},
        {"MPI_Recv", 5, 30, .peer = 2, .tag = 7},
        {"MPI_Recv", 5, 30, .peer = 0, .tag = 7, .communicator = 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct esi_run_reported other = {
            .key = {3, 4}, .name = "other", .rank = 1, .size = 3};
        struct made_tuples made;
        struct esi_causality_totals totals;

        made_tuples_begin(&made, 3);
        assert_int_equal(
            esi_run_model_set_communicator(esi_causality_run(made.causality),
                                           made.processes[1], 1, &other),
            0);
        made_add(&made, 0, CALL("MPI_Send", 10, 20, .peer = 1, .tag = 7));
        made_add(&made, 1, &others[i]);
        totals = made_finish(&made);
        assert_int_equal(totals.messages, 0);
        assert_int_equal(totals.unmatched_sends, 1);
        assert_int_equal(totals.unmatched_receives, 1);
        assert_true(esi_causality_is_incomplete(made.causality));
        made_tuples_end(&made);
    }
}

/* Adds three sends, of which the first is cancelled, and two receives. */
static void add_with_cancelled(struct made_tuples *made, bool cancel_first)
{
    const struct made_call cancel = {"MPI_Cancel send", 30,      30, .peer = 1,
                                     .sequence = 0,     .tag = 7};

    if (cancel_first)
        made_add(made, 0, &cancel);
    made_add(made, 0, CALL("MPI_Isend", 10, 11, .peer = 1, .tag = 7));
    made_add(made, 0, CALL("MPI_Issend", 20, 21, .peer = 1, .tag = 7, .sequence = 1));
    if (!cancel_first) {
        made_advance(made);
        made_advance(made);
        made_add(made, 0, &cancel);
    }
    /* These receive the second and the third message. */
    made_add(made, 1, CALL("MPI_Recv", 22, 50, .peer = 0, .tag = 7));
    made_add(made, 1, CALL("MPI_Mrecv", 51, 60, .peer = 0, .tag = 7, .sequence = 1));
    made_add(made, 0, CALL("MPI_Send", 40, 41, .peer = 1, .tag = 7, .sequence = 1));
}

static void a_cancelled_send_takes_its_number_and_those_behind_it_back(void **state)
{
    (void)state;
    for (int cancel_first = 0; cancel_first < 2; cancel_first++) {
        struct made_tuples made;
        struct esi_causality_totals totals;

        made_tuples_begin(&made, 2);
        add_with_cancelled(&made, cancel_first != 0);
        totals = made_finish(&made);
        assert_int_equal(totals.messages, 1);
        assert_int_equal(totals.unnumbered, 2);
        assert_int_equal(totals.unmatched_receives, 1);
        assert_int_equal(totals.unmatched_sends, 0);
        assert_int_equal(find(&made, "0.0", "MPI_Isend")->kind, ES_EVENT_SEND);
        assert_int_equal(find(&made, "1.0", "MPI_Recv")->partner_count, 0);
        assert_names(&made, find(&made, "1.0", "MPI_Mrecv"),
                     find(&made, "0.0", "MPI_Send"));
        made_tuples_end(&made);
    }
}

static void to_nobody_goes_no_message(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(
        &made, 0,
        CALL("MPI_Send", 1, 2, .peer = ES_PEER_NONE, .sequence = ES_SEQUENCE_UNKNOWN));
    made_add(
        &made, 0,
        CALL("MPI_Recv", 3, 4, .peer = ES_PEER_NONE, .sequence = ES_SEQUENCE_UNKNOWN));
    made_finish(&made);
    assert_int_equal(find(&made, "0.0", "MPI_Send")->kind, ES_EVENT_UNARY);
    assert_int_equal(find(&made, "0.0", "MPI_Recv")->kind, ES_EVENT_UNARY);
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

static void what_failed_is_in_no_order(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0,
             CALL("MPI_Send", 1, 2, .peer = 99, .sequence = ES_SEQUENCE_UNKNOWN,
                  .error = 6));
    made_add(&made, 0,
             CALL("MPI_Barrier", 3, 4, .peer = ES_PEER_NONE,
                  .sequence = ES_SEQUENCE_UNKNOWN, .error = 5));
    /* A message that is too long is taken. */
    made_add(&made, 0, CALL("MPI_Ssend", 5, 20, .peer = 1));
    made_add(&made, 1, CALL("MPI_Recv", 5, 30, .peer = 0, .error = 15));
    made_finish(&made);
    assert_int_equal(find(&made, "0.0", "MPI_Send")->kind, ES_EVENT_UNARY);
    assert_int_equal(find(&made, "0.0", "MPI_Barrier")->kind, ES_EVENT_UNARY);
    assert_names(&made, find(&made, "1.0", "MPI_Recv"),
                 find(&made, "0.0", "MPI_Ssend"));
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

static void an_end_without_a_number_matches_nothing(void **state)
{
    struct made_tuples made;
    struct esi_causality_totals totals;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0, CALL("MPI_Send", 10, 20, .peer = 1));
    made_add(&made, 1,
             CALL("MPI_Recv", 5, 30, .peer = 0, .sequence = ES_SEQUENCE_UNKNOWN));
    totals = made_finish(&made);
    assert_int_equal(totals.unnumbered, 1);
    assert_int_equal(totals.messages, 0);
    made_tuples_end(&made);
}

static void a_sendrecv_sends_before_it_receives(void **state)
{
    struct made_tuples made;
    struct made_relation relation;

    (void)state;
    made_tuples_begin(&made, 2);
    for (int rank = 0; rank < 2; rank++) {
        made_add(&made, rank, CALL("MPI_Sendrecv", 10, 20, .peer = 1 - rank));
        made_add(&made, rank, CALL("MPI_Sendrecv receive", 10, 20, .peer = 1 - rank));
    }
    assert_int_equal(made_finish(&made).messages, 2);
    made_stream_relate(&made.stream, &relation);
    assert_int_equal(find(&made, "0.0", "MPI_Sendrecv")->id.index, 1);
    assert_int_equal(find(&made, "1.0", "MPI_Sendrecv receive")->id.index, 2);
    made_relation_fini(&relation);
    made_tuples_end(&made);
}

static void calls_that_block_on_each_other_are_one_event(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 1, CALL("MPI_Recv", 5, 30, .peer = 0));
    made_add(&made, 0, CALL("MPI_Ssend", 10, 31, .peer = 1));
    assert_int_equal(made_finish(&made).syncs, 1);
    assert_int_equal(find(&made, "0.0", "MPI_Ssend")->kind, ES_EVENT_SYNC);
    assert_int_equal(find(&made, "1.0", "MPI_Recv")->kind, ES_EVENT_SYNC);
    made_tuples_end(&made);
}

static void a_receive_posted_before_is_only_received_from(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0, CALL("MPI_Ssend", 10, 31, .peer = 1));
    made_add(&made, 1, CALL("MPI_Irecv", 5, 40, .peer = 0));
    assert_int_equal(made_finish(&made).syncs, 0);
    assert_names(&made, find(&made, "1.0", "MPI_Irecv"),
                 find(&made, "0.0", "MPI_Ssend"));
    made_tuples_end(&made);
}

static void a_synchronous_send_does_not_wait_for_ever(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0, CALL("MPI_Ssend", 10, 31, .peer = 1));
    made_add(&made, 0, CALL("MPI_Wait", 40, 41, .peer = ES_PEER_NONE));
    made_add(&made, 1, CALL("MPI_Wait", 40, 41, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    assert_null(made_stream_find(&made.stream, "0.0", "MPI_Ssend"));
    made_add(&made, 1, CALL("MPI_Wait", SECOND, SECOND + 1, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    assert_int_equal(find(&made, "0.0", "MPI_Ssend")->kind, ES_EVENT_SEND);
    made_tuples_end(&made);
}

/* --- A thread's order ------------------------------------------------------------- */

static void elements_of_a_thread_are_merged_by_time(void **state)
{
    struct made_tuples made;
    uint32_t other;

    (void)state;
    made_tuples_begin(&made, 2);
    other = made_element(&made, 0, 0);
    made_add(&made, 0, CALL("MPI_Send", 10, 19, .peer = 1, .sequence = 0));
    made_add(&made, 0, CALL("MPI_Bsend", 50, 60, .peer = 1, .sequence = 1));
    made_add_to(&made, other, CALL("MPI_Wait", 1, 10, .peer = ES_PEER_NONE));
    made_add_to(&made, other, CALL("MPI_Recv", 20, 50, .peer = 1));
    made_finish(&made);
    assert_string_equal(made_stream_at(&made.stream, "0.0", 1)->type, "MPI_Wait");
    assert_string_equal(made_stream_at(&made.stream, "0.0", 2)->type, "MPI_Send");
    assert_string_equal(made_stream_at(&made.stream, "0.0", 3)->type, "MPI_Recv");
    assert_string_equal(made_stream_at(&made.stream, "0.0", 4)->type, "MPI_Bsend");
    made_tuples_end(&made);
}

static void events_are_given_one_reading_later(void **state)
{
    struct made_tuples made;
    uint32_t other;

    (void)state;
    made_tuples_begin(&made, 1);
    other = made_element(&made, 0, 0);
    made_add(&made, 0, CALL("MPI_Wait", 20, 30, .peer = ES_PEER_NONE));
    made_advance(&made);
    assert_int_equal(made.stream.count, 0);
    made_add_to(&made, other, CALL("MPI_Probe", 1, 10, .peer = ES_PEER_NONE));
    made_advance(&made);
    assert_int_equal(made.stream.count, 2);
    assert_string_equal(made.stream.events[0].type, "MPI_Probe");
    made_tuples_end(&made);
}

static void a_receive_that_comes_late_stands_later(void **state)
{
    struct made_tuples made;
    struct esi_causality_totals totals;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0, CALL("MPI_Send", 1, 2, .peer = 1));
    made_add(&made, 1, CALL("MPI_Wait", 20, 30, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    made_add(&made, 1, CALL("MPI_Irecv", 5, 15, .peer = 0));
    totals = made_finish(&made);
    assert_int_equal(totals.late, 1);
    assert_int_equal(totals.messages, 1);
    assert_int_equal(find(&made, "1.0", "MPI_Irecv")->id.index, 2);
    made_tuples_end(&made);
}

static void nobody_depends_on_a_send_that_comes_late(void **state)
{
    struct made_tuples made;
    struct esi_causality_totals totals;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0, CALL("MPI_Wait", 20, 30, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    made_add(&made, 0, CALL("MPI_Send", 5, 8, .peer = 1));
    made_add(&made, 1, CALL("MPI_Recv", 5, 15, .peer = 0));
    totals = made_finish(&made);
    assert_int_equal(totals.late, 1);
    assert_int_equal(totals.messages, 0);
    made_tuples_end(&made);
}

static void processes_of_one_rank_have_traces_of_their_own(void **state)
{
    struct esi_run_process other = {.host = "made", .rank = 0, .identity = 7};
    struct made_tuples made;
    struct esi_run_process *process, *again;
    uint32_t element;

    (void)state;
    made_tuples_begin(&made, 1);
    assert_int_equal(
        esi_run_model_add_process(esi_causality_run(made.causality), &other, &process),
        0);
    assert_int_equal(
        esi_run_model_add_process(esi_causality_run(made.causality), &other, &again),
        0);
    assert_ptr_equal(process, again);
    assert_ptr_not_equal(process, made.processes[0]);
    assert_int_equal(esi_causality_add_element(made.causality, process, 3, &element),
                     0);
    assert_string_equal(made.stream.names[0], "0.0");
    assert_string_equal(made.stream.names[1], "0.3#2");
    made_tuples_end(&made);
}

/* --- Losses ----------------------------------------------------------------------- */

static void who_went_on_has_not_sent_what_is_missing(void **state)
{
    struct made_tuples made;
    struct esi_causality_totals totals;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 1, CALL("MPI_Recv", 5, 30, .peer = 0));
    made_advance(&made);
    made_advance(&made);
    assert_int_equal(made.stream.count, 0);
    esi_causality_lose(made.causality, 0, 1, 0);
    made_add(&made, 0, CALL("MPI_Wait", SECOND, SECOND + 1, .peer = ES_PEER_NONE));
    made_advance(&made);
    assert_int_equal(made.stream.count, 0); /* earlier tuples may still be read */
    made_advance(&made);
    esi_causality_totals(made.causality, &totals);
    assert_int_equal(totals.unmatched_receives, 1);
    assert_int_equal(totals.lost, 1);
    assert_int_equal(find(&made, "1.0", "MPI_Recv")->partner_count, 0);
    made_tuples_end(&made);
}

static void who_ended_sends_no_more(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 1, CALL("MPI_Recv", 5, 30, .peer = 0));
    made.processes[0]->ended = true;
    made_advance(&made);
    made_advance(&made);
    assert_int_equal(find(&made, "1.0", "MPI_Recv")->partner_count, 0);
    made_tuples_end(&made);
}

static void who_is_silent_is_waited_for_with_patience(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin_with(&made, 3,
                           (struct esi_causality_config){.patience_ns = 5 * SECOND});
    made_add(&made, 1, CALL("MPI_Recv", 5, 30, .peer = 0));
    made_add(&made, 2, CALL("MPI_Wait", SECOND, 4 * SECOND, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    assert_null(made_stream_find(&made.stream, "1.0", "MPI_Recv"));
    made_add(&made, 2, CALL("MPI_Wait", 5 * SECOND, 6 * SECOND, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    assert_non_null(made_stream_find(&made.stream, "1.0", "MPI_Recv"));
    made_tuples_end(&made);
}

static void count_channels(void *data, const struct esi_causal_channel *channel)
{
    uint64_t *counts = data;

    counts[0] += channel->sends;
    counts[1] += channel->receives;
    assert_string_equal(channel->communicator, "MPI_COMM_WORLD");
    assert_int_equal(channel->source, 0);
    assert_int_equal(channel->destination, 1);
}

static void unmatched_ends_are_told_by_channel(void **state)
{
    struct made_tuples made;
    uint64_t counts[2] = {0, 0};

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0, CALL("MPI_Send", 1, 2, .peer = 1, .sequence = 4));
    made_add(&made, 0, CALL("MPI_Send", 3, 4, .peer = 1, .sequence = 5));
    made_add(&made, 1, CALL("MPI_Recv", 1, 8, .peer = 0, .sequence = 3));
    made_finish(&made);
    esi_causality_foreach_unmatched(made.causality, count_channels, counts);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    made_tuples_end(&made);
}

static void what_is_held_is_bounded(void **state)
{
    struct esi_causality_totals totals;
    struct made_tuples made;

    (void)state;
    made_tuples_begin_with(&made, 2, (struct esi_causality_config){.held_max = 64});
    for (uint64_t i = 0; i < 1000; i++) {
        made_add(
            &made, 1,
            CALL("MPI_Recv", 10 * i, 10 * i + 5, .peer = 0, .sequence = (uint32_t)i));
        esi_causality_totals(made.causality, &totals);
        assert_true(totals.held <= 64);
    }
    assert_int_equal(made_finish(&made).unmatched_receives, 1000);
    made_tuples_end(&made);
}

/* --- Collective operations -------------------------------------------------------- */

static void all_enter(struct made_tuples *made, const char *operation, int32_t root)
{
    for (int rank = 0; rank < made->ranks; rank++)
        made_add(
            made, rank,
            CALL(operation, 10 + (uint64_t)rank, 50 + (uint64_t)rank, .peer = root));
}

static const char *const traces[] = {"0.0", "1.0", "2.0", "3.0"};

static void all_meet_on_the_communicators_trace(void **state)
{
    struct made_tuples made;
    const struct made_event *join, *release;

    (void)state;
    made_tuples_begin(&made, 4);
    all_enter(&made, "MPI_Allreduce", ES_PEER_NONE);
    assert_int_equal(made_finish(&made).collectives, 1);
    join = find(&made, "comm:MPI_COMM_WORLD", "join");
    release = find(&made, "comm:MPI_COMM_WORLD", "release");
    assert_int_equal(join->partner_count, 4);
    for (int rank = 0; rank < 4; rank++) {
        assert_names(&made, join, find(&made, traces[rank], "MPI_Allreduce enter"));
        assert_names(&made, find(&made, traces[rank], "MPI_Allreduce exit"), release);
    }
    made_tuples_end(&made);
}

/* Whether the exit of `to` names the enter of `from`. */
static bool depends(const struct made_tuples *made,
                    const char *operation,
                    int from,
                    int to)
{
    char enter[64], exit[64];

    snprintf(enter, sizeof enter, "%s enter", operation);
    snprintf(exit, sizeof exit, "%s exit", operation);
    return made_event_names(&made->stream, find(made, traces[to], exit),
                            find(made, traces[from], enter));
}

static bool from_root(int from, int to)
{
    return from == 2 && to != 2;
}

static bool to_root(int from, int to)
{
    return to == 2 && from != 2;
}

static bool from_lower(int from, int to)
{
    return from < to;
}

static void each_kind_orders_whom_it_must(void **state)
{
    static const struct {
        const char *operation;
        bool (*depends)(int from, int to);
    } kinds[] = {
        {"MPI_Bcast", from_root}, {"MPI_Scatter", from_root},
        {"MPI_Reduce", to_root},  {"MPI_Gatherv", to_root},
        {"MPI_Scan", from_lower}, {"MPI_Exscan", from_lower},
    };

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct made_tuples made;

        made_tuples_begin(&made, 4);
        all_enter(&made, kinds[i].operation, 2);
        assert_int_equal(made_finish(&made).collectives, 1);
        assert_false(esi_causality_is_incomplete(made.causality));
        for (int from = 0; from < 4; from++)
            for (int to = 0; to < 4; to++)
                if (depends(&made, kinds[i].operation, from, to) !=
                    kinds[i].depends(from, to))
                    fail_msg("%s: from %d to %d", kinds[i].operation, from, to);
        made_tuples_end(&made);
    }
}

static void neighbours_depend_on_those_they_hear_from(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 4);
    for (int rank = 0; rank < 4; rank++)
        made_add(
            &made, rank,
            CALL("MPI topology neighbour", 1, 2, .peer = (rank + 1) % 4, .tag = 1));
    all_enter(&made, "MPI_Neighbor_alltoall", ES_PEER_NONE);
    assert_int_equal(made_finish(&made).collectives, 1);
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++)
            assert_int_equal(depends(&made, "MPI_Neighbor_alltoall", from, to),
                             from == (to + 1) % 4);
    made_tuples_end(&made);
}

static void without_a_topology_neighbours_are_unordered(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    all_enter(&made, "MPI_Neighbor_alltoall", ES_PEER_NONE);
    assert_int_equal(made_finish(&made).incomplete, 1);
    made_tuples_end(&made);
}

static void a_post_tells_the_enter_before_the_end(void **state)
{
    struct made_tuples made;
    uint16_t code = es_operation_by_name("MPI_Ibarrier")->code;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0,
             CALL("MPI collective post", 10, 12, .peer = ES_PEER_NONE, .tag = code));
    made_add(&made, 1,
             CALL("MPI collective post", 10, 12, .peer = ES_PEER_NONE, .tag = code));
    made_add(&made, 0, CALL("MPI_Ibarrier", 10, 40, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    assert_non_null(made_stream_find(&made.stream, "0.0", "MPI_Ibarrier exit"));
    made_add(&made, 1, CALL("MPI_Ibarrier", 10, 400, .peer = ES_PEER_NONE));
    assert_int_equal(made_finish(&made).collectives, 1);
    assert_int_equal(made.stream.count, 6);
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

static void outstanding_operations_meet_in_order(void **state)
{
    struct made_tuples made;
    uint16_t code = es_operation_by_name("MPI_Ibarrier")->code;

    (void)state;
    made_tuples_begin(&made, 2);
    for (int rank = 0; rank < 2; rank++)
        for (uint32_t i = 0; i < 2; i++)
            made_add(&made, rank,
                     CALL("MPI collective post", 10 + i, 12 + i, .peer = ES_PEER_NONE,
                          .tag = code, .sequence = i));
    for (int rank = 0; rank < 2; rank++)
        for (uint32_t i = 2; i-- > 0;)
            made_add(&made, rank,
                     CALL("MPI_Ibarrier", 10 + i, 40 - i, .peer = ES_PEER_NONE,
                          .sequence = i));
    assert_int_equal(made_finish(&made).collectives, 2);
    assert_false(esi_causality_is_incomplete(made.causality));
    made_tuples_end(&made);
}

static void a_member_that_is_lost_is_left_out(void **state)
{
    struct made_tuples made;
    struct esi_causality_totals totals;

    (void)state;
    made_tuples_begin(&made, 3);
    made_add(&made, 0, CALL("MPI_Barrier", 10, 50, .peer = ES_PEER_NONE));
    made_add(&made, 1, CALL("MPI_Barrier", 10, 50, .peer = ES_PEER_NONE));
    made_add(&made, 2, CALL("MPI_Wait", SECOND, SECOND + 1, .peer = ES_PEER_NONE));
    made_advance(&made);
    made_advance(&made);
    assert_int_equal(find(&made, "comm:MPI_COMM_WORLD", "join")->partner_count, 2);
    totals = made_finish(&made);
    assert_int_equal(totals.incomplete, 1);
    assert_int_equal(totals.collectives, 0);
    made_tuples_end(&made);
}

struct heard_instance {
    const struct made_tuples *made;
    uint32_t number, known;
    size_t events; /* that came before it */
    size_t count;
};

static int hear_instance(void *data, const struct esi_causal_instance *instance)
{
    struct heard_instance *heard = data;

    heard->count++;
    heard->events = heard->made->stream.count;
    heard->number = instance->number;
    heard->known = instance->known;
    for (int rank = 0; rank < heard->made->ranks; rank++) {
        const struct esi_causal_part *part = &instance->parts[rank];

        assert_true(!part->thread || part->thread->process->rank == rank);
        assert_int_equal(part->stop_ns, part->thread ? 50 + rank : 0);
    }
    return 0;
}

/* Complete ones after the events of the exits, others when they are given up. */
static void instances_are_reported_as_a_whole(void **state)
{
    struct made_tuples made;
    struct heard_instance heard = {.made = &made};

    (void)state;
    made_tuples_begin_with(
        &made, 3,
        (struct esi_causality_config){
            .listener = {.instance = hear_instance, .data = &heard}});
    for (int rank = 0; rank < 3; rank++)
        made_add(&made, rank,
                 CALL("MPI_Barrier", 10, 50 + (uint64_t)rank, .peer = ES_PEER_NONE));
    for (int rank = 0; rank < 2; rank++)
        made_add(
            &made, rank,
            CALL("MPI_Bcast", 50 + (uint64_t)rank, 50 + (uint64_t)rank, .sequence = 1));
    for (int rank = 0; rank < 3; rank++)
        made_add(&made, rank, CALL("MPI_Comm_dup", 90, 91, .sequence = 2));
    made_advance(&made);
    assert_int_equal(heard.count, 0);
    made_advance(&made);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.number, 0);
    assert_int_equal(heard.known, 3);
    assert_true(heard.events >= 8); /* with the junction */
    assert_int_equal(made_finish(&made).collectives, 2);
    assert_int_equal(heard.count, 2); /* not that of another class */
    assert_int_equal(heard.number, 1);
    assert_int_equal(heard.known, 2);
    assert_int_equal(heard.events, made.stream.count);
    made_tuples_end(&made);
}

static void what_hangs_has_entered(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 3);
    made_add(&made, 0, CALL("MPI_Barrier", 10, 0, .peer = ES_PEER_NONE));
    made_add(&made, 1, CALL("MPI_Send", 10, 0, .peer = 2));
    made_add(&made, 2, CALL("MPI_Recv", 10, 0, .peer = ES_PEER_ANY));
    made_finish(&made);
    find(&made, "0.0", "MPI_Barrier enter");
    assert_int_equal(find(&made, "1.0", "MPI_Send")->kind, ES_EVENT_SEND);
    assert_int_equal(find(&made, "2.0", "MPI_Recv open")->kind, ES_EVENT_UNARY);
    assert_int_equal(made.stream.count, 3);
    made_tuples_end(&made);
}

static void receives_tell_that_they_were_open_to_any_source(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 3);
    made_add(&made, 0, CALL("MPI_Send", 10, 12, .peer = 2));
    made_add(&made, 1, CALL("MPI_Send", 10, 12, .peer = 2, .tag = 1));
    made_add(&made, 2, CALL("MPI_Recv", 5, 20, .peer = 0, .any_source = true));
    made_add(&made, 2, CALL("MPI_Irecv", 22, 30, .peer = 1, .tag = 1));
    made_finish(&made);
    assert_true(find(&made, "2.0", "MPI_Recv")->any_source);
    assert_int_equal(find(&made, "2.0", "MPI_Recv")->partner_count, 1);
    assert_false(find(&made, "2.0", "MPI_Irecv")->any_source);
    made_tuples_end(&made);
}

static void probes_tell_what_they_found_and_that_they_were_open(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    made_add(&made, 0,
             CALL("MPI_Probe", 5, 20, .peer = 1, .tag = 7, .any_source = true));
    made_add(&made, 0, CALL("MPI_Iprobe", 22, 22, .peer = 1, .tag = 8));
    made_add(&made, 0, CALL("MPI_Wait", 24, 25, .peer = 1, .tag = 9));
    made_finish(&made);
    assert_true(find(&made, "0.0", "MPI_Probe")->any_source);
    assert_int_equal(find(&made, "0.0", "MPI_Probe")->tag, 7);
    assert_int_equal(find(&made, "0.0", "MPI_Probe")->kind, ES_EVENT_UNARY);
    assert_false(find(&made, "0.0", "MPI_Iprobe")->any_source);
    assert_int_equal(find(&made, "0.0", "MPI_Iprobe")->tag, 8);
    assert_int_equal(find(&made, "0.0", "MPI_Wait")->tag, -1);
    made_tuples_end(&made);
}

/* --- One-sided operations --------------------------------------------------------- */

static void windows_count_their_fences_apart(void **state)
{
    struct made_tuples made;

    (void)state;
    made_tuples_begin(&made, 2);
    for (int rank = 0; rank < 2; rank++)
        for (int32_t window = 3; window < 5; window++)
            made_add(&made, rank,
                     CALL("MPI_Win_fence", 10 * (uint64_t)window,
                          10 * (uint64_t)window + 5, .peer = ES_PEER_NONE,
                          .tag = window));
    assert_int_equal(made_finish(&made).collectives, 2);
    find(&made, "comm:MPI_COMM_WORLD window 3", "join");
    find(&made, "comm:MPI_COMM_WORLD window 4", "release");
    made_tuples_end(&made);
}

/* Target 0 exposes a window to the origins 1 and 2.  With `cut`, readings end between
 * the calls. */
static void make_epoch(struct made_tuples *made, bool cut)
{
    made_add(made, 0, CALL("MPI_Win_post", 10, 11, .peer = ES_PEER_NONE, .tag = 9));
    if (cut) {
        made_advance(made);
        made_advance(made);
    }
    for (int origin = 1; origin < 3; origin++) {
        made_add(made, 0,
                 CALL("MPI_Win_post member", 10, 11, .peer = origin, .tag = 9));
        made_add(made, origin,
                 CALL("MPI_Win_start", 5, 6, .peer = ES_PEER_NONE, .tag = 9));
        made_add(made, origin, CALL("MPI_Win_start member", 5, 6, .peer = 0, .tag = 9));
        made_add(made, origin,
                 CALL("MPI_Win_complete", 20, 30, .peer = ES_PEER_NONE, .tag = 9));
    }
    if (cut)
        made_advance(made);
    made_add(made, 0, CALL("MPI_Win_wait", 12, 40, .peer = ES_PEER_NONE, .tag = 9));
}

static void epochs_wait_for_each_other(void **state)
{
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        struct made_tuples made;

        made_tuples_begin(&made, 3);
        make_epoch(&made, cut != 0);
        assert_int_equal(made_finish(&made).epochs, 4);
        assert_false(esi_causality_is_incomplete(made.causality));
        for (int origin = 1; origin < 3; origin++) {
            assert_names(&made, find(&made, traces[origin], "MPI_Win_complete exit"),
                         find(&made, "0.0", "MPI_Win_post"));
            assert_names(&made, find(&made, "0.0", "MPI_Win_wait"),
                         find(&made, traces[origin], "MPI_Win_complete enter"));
        }
        made_tuples_end(&made);
    }
}

SUITE(test_causality)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_names_its_send),
        cmocka_unit_test(a_cancelled_send_takes_its_number_and_those_behind_it_back),
        cmocka_unit_test(another_channel_is_another_message),
        cmocka_unit_test(to_nobody_goes_no_message),
        cmocka_unit_test(what_failed_is_in_no_order),
        cmocka_unit_test(an_end_without_a_number_matches_nothing),
        cmocka_unit_test(a_sendrecv_sends_before_it_receives),
        cmocka_unit_test(calls_that_block_on_each_other_are_one_event),
        cmocka_unit_test(a_receive_posted_before_is_only_received_from),
        cmocka_unit_test(a_synchronous_send_does_not_wait_for_ever),
        cmocka_unit_test(elements_of_a_thread_are_merged_by_time),
        cmocka_unit_test(events_are_given_one_reading_later),
        cmocka_unit_test(a_receive_that_comes_late_stands_later),
        cmocka_unit_test(nobody_depends_on_a_send_that_comes_late),
        cmocka_unit_test(processes_of_one_rank_have_traces_of_their_own),
        cmocka_unit_test(who_went_on_has_not_sent_what_is_missing),
        cmocka_unit_test(who_ended_sends_no_more),
        cmocka_unit_test(who_is_silent_is_waited_for_with_patience),
        cmocka_unit_test(unmatched_ends_are_told_by_channel),
        cmocka_unit_test(what_is_held_is_bounded),
        cmocka_unit_test(all_meet_on_the_communicators_trace),
        cmocka_unit_test(each_kind_orders_whom_it_must),
        cmocka_unit_test(neighbours_depend_on_those_they_hear_from),
        cmocka_unit_test(without_a_topology_neighbours_are_unordered),
        cmocka_unit_test(a_post_tells_the_enter_before_the_end),
        cmocka_unit_test(outstanding_operations_meet_in_order),
        cmocka_unit_test(a_member_that_is_lost_is_left_out),
        cmocka_unit_test(instances_are_reported_as_a_whole),
        cmocka_unit_test(what_hangs_has_entered),
        cmocka_unit_test(receives_tell_that_they_were_open_to_any_source),
        cmocka_unit_test(probes_tell_what_they_found_and_that_they_were_open),
        cmocka_unit_test(windows_count_their_fences_apart),
        cmocka_unit_test(epochs_wait_for_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
