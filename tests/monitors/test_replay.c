/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of strict replays: each rule by hand, and random programs against their strict
 * execution. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/monitors/made_program.h"
#include "tests/random.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"

enum { PROGRAMS = 3000, STEPS_MAX = 60 };

static struct made_program program;

static int message_between(int from, int to)
{
    return made_program_message(&program, from, to, 0);
}

/* Checks by replay and by execution whether the program hangs without buffering. */
static struct esi_replay *check_hang(bool hangs)
{
    struct esi_replay *replay = made_program_replay(&program);

    assert_int_equal(made_program_ends(&program), !hangs);
    assert_int_equal(esi_replay_finding_count(replay) > 0, hangs);
    return replay;
}

/* Two ranks and a message in each direction. */
static void begin_crossing(int *there, int *back)
{
    made_program_begin(&program, 2);
    *there = message_between(0, 1);
    *back = message_between(1, 0);
}

/* Both ranks send first and receive afterwards: the classic latent deadlock. */
static void two_sends_that_cross_are_latent(void **state)
{
    struct esi_replay *replay;
    const struct esi_replay_finding *finding;
    struct esi_replay_totals totals;
    int there, back;

    (void)state;
    begin_crossing(&there, &back);
    made_program_call(&program, 0, MADE_SEND, there);
    made_program_call(&program, 1, MADE_SEND, back);
    made_program_call(&program, 0, MADE_RECEIVE, back);
    made_program_call(&program, 1, MADE_RECEIVE, there);
    replay = check_hang(true);
    finding = esi_replay_finding(replay, 0);
    assert_int_equal(finding->step_count, 2);
    assert_int_equal(finding->times, 1);
    assert_int_equal(finding->steps[0].call.rank, 0);
    assert_int_equal(finding->steps[0].call.operation, ES_OP_MPI_Send);
    assert_int_equal(finding->steps[0].call.number, 1);
    assert_int_equal(finding->steps[0].call.start, 1010);
    assert_int_equal(finding->steps[0].awaited.rank, 1);
    assert_int_equal(finding->steps[0].awaited.operation, ES_OP_MPI_Recv);
    assert_int_equal(finding->steps[0].awaited.number, 2);
    assert_int_equal(finding->steps[0].reason, ESI_REPLAY_POST);
    assert_true(finding->steps[0].hidden);
    assert_string_equal(finding->steps[0].call.communicator, "MPI_COMM_WORLD");
    assert_int_equal(finding->steps[1].call.rank, 1);
    assert_int_equal(finding->steps[1].awaited.rank, 0);
    esi_replay_totals(replay, &totals);
    assert_int_equal(totals.messages, 2);
    assert_false(esi_replay_is_incomplete(replay));
    made_program_release(&program);
}

static void its_right_twins_are_not(void **state)
{
    int there, back;

    (void)state;
    begin_crossing(&there, &back);
    made_program_call(&program, 0, MADE_SEND, there);
    made_program_call(&program, 1, MADE_RECEIVE, there);
    made_program_call(&program, 1, MADE_SEND, back);
    made_program_call(&program, 0, MADE_RECEIVE, back);
    check_hang(false);
    made_program_release(&program);
    begin_crossing(&there, &back);
    made_program_call(&program, 0, MADE_IRECEIVE, back);
    made_program_call(&program, 0, MADE_SEND, there);
    made_program_call(&program, 1, MADE_SEND, back);
    made_program_call(&program, 1, MADE_RECEIVE, there);
    made_program_call(&program, 0, MADE_WAITALL, -1);
    check_hang(false);
    made_program_release(&program);
    begin_crossing(&there, &back);
    made_program_call(&program, 0, MADE_BUFFERED, there);
    made_program_call(&program, 1, MADE_SEND, back);
    made_program_call(&program, 0, MADE_RECEIVE, back);
    made_program_call(&program, 1, MADE_RECEIVE, there);
    check_hang(false);
    made_program_release(&program);
}

/* A nonblocking send needs its receive in its wait, not in its own call. */
static void a_wait_needs_what_its_send_needs(void **state)
{
    struct esi_replay *replay;
    int there, back;

    (void)state;
    begin_crossing(&there, &back);
    made_program_call(&program, 0, MADE_ISEND, there);
    made_program_call(&program, 1, MADE_ISEND, back);
    made_program_call(&program, 0, MADE_WAITALL, -1);
    made_program_call(&program, 1, MADE_WAIT, 0);
    made_program_call(&program, 0, MADE_RECEIVE, back);
    made_program_call(&program, 1, MADE_RECEIVE, there);
    replay = check_hang(true);
    assert_int_equal(esi_replay_finding(replay, 0)->steps[0].call.operation,
                     ES_OP_MPI_Waitall);
    assert_int_equal(esi_replay_finding(replay, 0)->steps[0].request, ES_OP_MPI_Isend);
    made_program_release(&program);
}

/* A request of another kind that a wait for all completes, too, is counted once: only
 * then is the send known to be complete. */
static void other_requests_are_told_from_the_send(void **state)
{
    static const struct es_tuple others[] = {
        {.operation = ES_OP_MPI_Start_partitioned_receive,
         .start = 12,
         .stop = 30, /* at the end of the wait */
         .peer = 1,
         .sequence = ES_SEQUENCE_UNKNOWN},
        {.operation = ES_OP_MPI_Buffer_iflush,
         .start = 12,
         .stop = 13,
         .peer = ES_PEER_NONE,
         .communicator = ES_COMMUNICATOR_NONE,
         .sequence = ES_SEQUENCE_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct {
            int rank;
            struct es_tuple tuple;
        } calls[] = {
            {0, {.operation = ES_OP_MPI_Isend, .start = 10, .stop = 11, .peer = 1}},
            {0, others[i]},
            {0,
             {.operation = ES_OP_MPI_Waitall,
              .start = 20,
              .stop = 30,
              .peer = ES_PEER_NONE,
              .communicator = ES_COMMUNICATOR_NONE,
              .bytes = 2}},
            {0, {.operation = ES_OP_MPI_Recv, .start = 31, .stop = 32, .peer = 1}},
            {1, {.operation = ES_OP_MPI_Send, .start = 10, .stop = 33, .peer = 0}},
            {1, {.operation = ES_OP_MPI_Recv, .start = 34, .stop = 35, .peer = 0}},
        };
        struct esi_replay *replay;

        made_program_begin(&program, 2);
        made_program_open_replay(&program);
        for (size_t j = 0; j < sizeof calls / sizeof *calls; j++)
            made_program_add(&program, calls[j].rank, &calls[j].tuple);
        replay = made_program_finish_replay(&program);
        assert_int_equal(esi_replay_finding_count(replay), 1);
        assert_int_equal(esi_replay_finding(replay, 0)->step_count, 2);
        assert_int_equal(esi_replay_finding(replay, 0)->steps[0].request,
                         ES_OP_MPI_Isend);
        made_program_release(&program);
    }
}

/* The send half of a nonblocking pair needs its receive in the wait for the pair. */
static void a_pair_needs_what_its_send_needs(void **state)
{
    struct esi_replay *replay;

    (void)state;
    made_program_begin(&program, 2);
    made_program_open_replay(&program);
    for (int rank = 0; rank < 2; rank++) {
        const struct es_tuple calls[] = {
            {.operation = ES_OP_MPI_Isendrecv,
             .start = 10,
             .stop = 11,
             .peer = 1 - rank},
            {.operation = ES_OP_MPI_Isendrecv_receive,
             .start = 10,
             .stop = 20,
             .peer = ES_PEER_NONE,
             .sequence = ES_SEQUENCE_UNKNOWN},
            {.operation = ES_OP_MPI_Wait,
             .start = 15,
             .stop = 20,
             .peer = ES_PEER_NONE,
             .sequence = ES_OP_MPI_Isendrecv,
             .bytes = 1},
            {.operation = ES_OP_MPI_Recv, .start = 22, .stop = 23, .peer = 1 - rank},
        };

        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            made_program_add(&program, rank, &calls[i]);
    }
    replay = made_program_finish_replay(&program);
    assert_int_equal(esi_replay_finding_count(replay), 1);
    assert_int_equal(esi_replay_finding(replay, 0)->steps[0].request,
                     ES_OP_MPI_Isendrecv);
    assert_false(esi_replay_is_incomplete(replay));
    made_program_release(&program);
}

/* The number in a wait that failed is the class of its error: it is not known which of
 * the sends it has completed. */
static void a_wait_that_failed_says_no_number(void **state)
{
    enum { ERROR_CLASS = 2 };
    struct esi_replay_totals totals;
    struct esi_replay *replay;

    (void)state;
    made_program_begin(&program, 2);
    made_program_open_replay(&program);
    for (int rank = 0; rank < 2; rank++) {
        const struct es_tuple calls[] = {
            {.operation = ES_OP_MPI_Isend, .start = 10, .stop = 11, .peer = 1 - rank},
            {.operation = ES_OP_MPI_Isend,
             .start = 12,
             .stop = 13,
             .peer = 1 - rank,
             .sequence = 1},
            {.operation = ES_OP_MPI_Waitall | ES_OPERATION_FAILED,
             .start = 14,
             .stop = 15,
             .peer = 1 - rank,
             .sequence = ES_OP_MPI_Isend,
             .bytes = ERROR_CLASS},
            {.operation = ES_OP_MPI_Recv, .start = 22, .stop = 23, .peer = 1 - rank},
            {.operation = ES_OP_MPI_Recv,
             .start = 24,
             .stop = 25,
             .peer = 1 - rank,
             .sequence = 1},
        };

        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            made_program_add(&program, rank, &calls[i]);
    }
    replay = made_program_finish_replay(&program);
    esi_replay_totals(replay, &totals);
    assert_int_equal(totals.unknown, 4);
    assert_int_equal(esi_replay_finding_count(replay), 0);
    made_program_release(&program);
}

/* A receive and its wait that failed come first in their threads, and are no
 * operations: the sends that cross after them are the first ones. */
static void what_failed_is_no_operation(void **state)
{
    enum { ERROR_CLASS = 15 };
    struct esi_replay_totals totals;
    struct esi_replay *replay;

    (void)state;
    made_program_begin(&program, 2);
    made_program_open_replay(&program);
    for (int rank = 0; rank < 2; rank++) {
        const struct es_tuple calls[] = {
            {.operation = ES_OP_MPI_Irecv | ES_OPERATION_FAILED,
             .start = 1,
             .stop = 9,
             .peer = 1 - rank,
             .bytes = ERROR_CLASS,
             .sequence = ES_SEQUENCE_UNKNOWN},
            {.operation = ES_OP_MPI_Wait | ES_OPERATION_FAILED,
             .start = 5,
             .stop = 9,
             .peer = ES_PEER_NONE,
             .communicator = ES_COMMUNICATOR_NONE,
             .bytes = ERROR_CLASS,
             .sequence = ES_SEQUENCE_UNKNOWN},
            {.operation = ES_OP_MPI_Send, .start = 10, .stop = 11, .peer = 1 - rank},
            {.operation = ES_OP_MPI_Recv, .start = 12, .stop = 13, .peer = 1 - rank},
        };

        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            made_program_add(&program, rank, &calls[i]);
    }
    replay = made_program_finish_replay(&program);
    esi_replay_totals(replay, &totals);
    assert_int_equal(totals.calls, 4);
    assert_int_equal(esi_replay_finding_count(replay), 1);
    assert_int_equal(esi_replay_finding(replay, 0)->steps[0].call.number, 1);
    made_program_release(&program);
}

static void a_send_to_oneself_waits_for_oneself(void **state)
{
    struct esi_replay *replay;
    int own;

    (void)state;
    made_program_begin(&program, 1);
    own = message_between(0, 0);
    made_program_call(&program, 0, MADE_SEND, own);
    made_program_call(&program, 0, MADE_RECEIVE, own);
    replay = check_hang(true);
    assert_int_equal(esi_replay_finding(replay, 0)->step_count, 1);
    made_program_release(&program);
}

/* A message is sent before a barrier and received after it. */
static void a_barrier_between_send_and_receive_is_latent(void **state)
{
    const struct esi_replay_finding *finding;
    struct esi_replay *replay;
    int there;

    (void)state;
    made_program_begin(&program, 3);
    there = message_between(0, 2);
    made_program_call(&program, 0, MADE_SEND, there);
    made_program_collective(&program, MADE_BARRIER);
    made_program_call(&program, 2, MADE_RECEIVE, there);
    replay = check_hang(true);
    finding = esi_replay_finding(replay, 0);
    assert_int_equal(finding->step_count, 2);
    assert_int_equal(finding->steps[1].call.operation, ES_OP_MPI_Barrier);
    assert_int_equal(finding->steps[1].call.rank, 2);
    assert_int_equal(finding->steps[1].awaited.rank, 0);
    assert_int_equal(finding->steps[1].reason, ESI_REPLAY_MEMBER);
    assert_false(finding->steps[1].hidden);
    made_program_release(&program);
}

static void the_same_in_a_loop_is_told_once(void **state)
{
    struct esi_replay *replay;

    (void)state;
    made_program_begin(&program, 2);
    for (int i = 0; i < 20; i++) {
        int there = message_between(0, 1), back = message_between(1, 0);

        made_program_call(&program, 0, MADE_SEND, there);
        made_program_call(&program, 1, MADE_SEND, back);
        made_program_call(&program, 0, MADE_RECEIVE, back);
        made_program_call(&program, 1, MADE_RECEIVE, there);
    }
    replay = check_hang(true);
    assert_int_equal(esi_replay_finding_count(replay), 1);
    assert_int_equal(esi_replay_finding(replay, 0)->times, 20);
    assert_int_equal(esi_replay_finding(replay, 0)->steps[0].call.number, 1);
    made_program_release(&program);
}

/* The call of each step is in the thread for which the step before it waits, and not
 * after the awaited call. */
static void check_steps(const struct esi_replay_finding *finding)
{
    for (size_t i = 0; i < finding->step_count; i++) {
        const struct esi_replay_call *awaited = &finding->steps[i].awaited;
        const struct esi_replay_call *next =
            &finding->steps[(i + 1) % finding->step_count].call;

        assert_int_equal(next->rank, awaited->rank);
        assert_int_equal(next->thread, awaited->thread);
        assert_true(next->number < awaited->number);
    }
}

static void random_programs_hang_where_running_them_does(void **state)
{
    int hung = 0;

    (void)state;
    for (unsigned i = 1; i <= PROGRAMS; i++) {
        uint64_t seed = i;
        struct esi_replay *replay;
        struct esi_replay_totals totals;
        bool ends;

        made_program_begin(&program, 1 + random_int(&seed, MADE_RANKS));
        made_program_draw(&program, &seed, 2 + random_int(&seed, STEPS_MAX));
        ends = made_program_ends(&program);
        replay = made_program_replay(&program);
        esi_replay_totals(replay, &totals);
        hung += !ends;
        if ((totals.cycles == 0) != ends || totals.unmatched || totals.unplaced)
            fail_msg("seed %u: %s, and the replay finds %llu cycles", i,
                     ends ? "it ends" : "it hangs", (unsigned long long)totals.cycles);
        for (size_t k = 0; k < esi_replay_finding_count(replay); k++)
            check_steps(esi_replay_finding(replay, k));
        made_program_release(&program);
    }
    /* Programs that hang and programs that end are both frequent. */
    print_message("%d of %d programs hang\n", hung, PROGRAMS);
    assert_in_range(hung, PROGRAMS / 10, PROGRAMS - PROGRAMS / 10);
}

SUITE(test_replay)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_sends_that_cross_are_latent),
        cmocka_unit_test(its_right_twins_are_not),
        cmocka_unit_test(a_wait_needs_what_its_send_needs),
        cmocka_unit_test(other_requests_are_told_from_the_send),
        cmocka_unit_test(a_pair_needs_what_its_send_needs),
        cmocka_unit_test(a_wait_that_failed_says_no_number),
        cmocka_unit_test(what_failed_is_no_operation),
        cmocka_unit_test(a_send_to_oneself_waits_for_oneself),
        cmocka_unit_test(a_barrier_between_send_and_receive_is_latent),
        cmocka_unit_test(the_same_in_a_loop_is_told_once),
        cmocka_unit_test(random_programs_hang_where_running_them_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
