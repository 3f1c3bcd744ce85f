/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Open operations tell who waits for whom. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/heartbeat/wait_for.h"
#include "tests/suites.h"

enum { RANKS = 3 };

static const int everybody[RANKS] = {0, 1, 2};
static const uint64_t world[2] = {1, 2};

/* Threads 0.0, 1.0 and 2.0, all computing. */
struct fixture {
    struct esi_thread_state threads[RANKS];
    struct esi_collectives_seen seen;
    struct esi_wait *waits;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    assert_non_null(fixture);
    for (int i = 0; i < RANKS; i++)
        fixture->threads[i] = (struct esi_thread_state){
            .rank = i, .process = ES_PROCESS_RUNNING, .verdict = ES_VERDICT_COMPUTING};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    esi_waits_free(fixture->waits, RANKS);
    esi_collectives_seen_fini(&fixture->seen);
    free(fixture);
    return 0;
}

/* Lets a rank hang in an operation on the world communicator. */
static struct esi_activity *hang(struct fixture *fixture,
                                 int rank,
                                 const char *name,
                                 int peer)
{
    const struct es_operation *operation = es_operation_by_name(name);
    struct esi_thread_state *thread = &fixture->threads[rank];

    assert_non_null(operation);
    thread->verdict = ES_VERDICT_STALLED;
    thread->members = everybody;
    thread->member_count = RANKS;
    thread->open = (struct esi_activity){.present = true,
                                         .operation = operation->code,
                                         .peer = peer,
                                         .tag = 7,
                                         .bytes = 1,
                                         .has_communicator = true,
                                         .key = {world[0], world[1]}};
    return &thread->open;
}

static const struct esi_wait *derive(struct fixture *fixture, int rank)
{
    esi_waits_free(fixture->waits, RANKS);
    fixture->waits = NULL;
    assert_int_equal(
        esi_waits_derive(fixture->threads, RANKS, &fixture->seen, &fixture->waits), 0);
    return &fixture->waits[rank];
}

static void note(struct fixture *fixture, int rank, uint32_t sequence)
{
    struct esi_collective_seen instance = {
        .key = {world[0], world[1]}, .rank = rank, .sequence = sequence};

    assert_int_equal(esi_collectives_seen_note(&fixture->seen, &instance), 0);
}

static void who_computes_waits_for_nobody_and_who_has_finished_is_gone(void **state)
{
    struct fixture *fixture = *state;

    fixture->threads[1].verdict = ES_VERDICT_FINISHED;
    fixture->threads[2].verdict = ES_VERDICT_DEAD;
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_NOT);
    assert_int_equal(derive(fixture, 1)->state, ES_WAIT_GONE);
    assert_int_equal(derive(fixture, 2)->state, ES_WAIT_GONE);
}

static void messages_wait_for_their_peer(void **state)
{
    static const struct {
        const char *operation;
        enum esi_wait_reason reason;
    } cases[] = {
        {"MPI_Recv", ES_REASON_RECEIVE},    {"MPI_Probe", ES_REASON_RECEIVE},
        {"MPI_Send", ES_REASON_SEND},       {"MPI_Ssend", ES_REASON_SEND},
        {"MPI_Wait", ES_REASON_COMPLETION},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct esi_wait *wait;

        hang(fixture, 0, cases[i].operation, 2);
        wait = derive(fixture, 0);
        assert_int_equal(wait->reason, cases[i].reason);
        assert_int_equal(wait->state, ES_WAIT_ALL);
        assert_int_equal(wait->target_count, 1);
        assert_int_equal(wait->targets[0], 2);
        assert_true(wait->certain);
    }
}

static void a_receive_from_any_source_waits_for_any_of_the_others(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_wait *wait;

    hang(fixture, 1, "MPI_Recv", ES_PEER_ANY);
    wait = derive(fixture, 1);
    assert_int_equal(wait->state, ES_WAIT_ANY);
    assert_int_equal(wait->target_count, 2);
    assert_int_equal(wait->targets[0], 0);
    assert_int_equal(wait->targets[1], 2);
    fixture->threads[1].members = NULL;
    fixture->threads[1].member_count = 0;
    assert_int_equal(derive(fixture, 1)->state, ES_WAIT_UNKNOWN);
}

static void an_unknown_peer_proves_nothing(void **state)
{
    struct fixture *fixture = *state;

    hang(fixture, 0, "MPI_Recv", ES_PEER_UNKNOWN);
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_UNKNOWN);
}

static void a_message_with_both_ends_is_under_way(void **state)
{
    struct fixture *fixture = *state;

    hang(fixture, 0, "MPI_Send", 1);
    hang(fixture, 1, "MPI_Recv", 0);
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_TRANSFER);
    assert_int_equal(derive(fixture, 1)->reason, ES_REASON_TRANSFER);
    /* Another tag, another communicator, another partner: no match. */
    fixture->threads[1].open.tag = 8;
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_SEND);
    fixture->threads[1].open.tag = ES_TAG_ANY;
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_TRANSFER);
    fixture->threads[1].open.key[1]++;
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_SEND);
    fixture->threads[1].open.key[1]--;
    fixture->threads[1].open.peer = 2;
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_SEND);
    fixture->threads[1].open.peer = ES_PEER_ANY;
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_TRANSFER);
}

static void a_collective_waits_for_those_who_have_not_entered(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_wait *wait;

    hang(fixture, 0, "MPI_Barrier", ES_PEER_NONE)->sequence = 5;
    note(fixture, 1, 4);
    note(fixture, 2, 5);
    note(fixture, 2, 3); /* an older one changes nothing */
    wait = derive(fixture, 0);
    assert_int_equal(wait->reason, ES_REASON_COLLECTIVE);
    assert_int_equal(wait->state, ES_WAIT_ALL);
    assert_int_equal(wait->target_count, 1);
    assert_int_equal(wait->targets[0], 1);
    /* In the same instance now, under way. */
    hang(fixture, 1, "MPI_Barrier", ES_PEER_NONE)->sequence = 5;
    wait = derive(fixture, 0);
    assert_int_equal(wait->reason, ES_REASON_ENTERED);
    assert_int_equal(wait->state, ES_WAIT_UNKNOWN);
    /* In one on another communicator. */
    fixture->threads[1].open.key[0]++;
    assert_int_equal(derive(fixture, 0)->target_count, 1);
}

static void instance_numbers_wrap_around(void **state)
{
    struct fixture *fixture = *state;

    hang(fixture, 0, "MPI_Allreduce", ES_PEER_NONE)->sequence = 2;
    note(fixture, 1, UINT32_MAX - 3);
    note(fixture, 2, 3);
    assert_int_equal(derive(fixture, 0)->target_count, 1);
    assert_int_equal(fixture->waits[0].targets[0], 1);
}

static void of_several_requests_only_the_first_is_known(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_wait *wait;

    hang(fixture, 0, "MPI_Waitall", 1)->bytes = 4;
    wait = derive(fixture, 0);
    assert_int_equal(wait->state, ES_WAIT_ALL);
    assert_false(wait->certain);
    hang(fixture, 0, "MPI_Waitany", 1)->bytes = 4;
    wait = derive(fixture, 0);
    assert_int_equal(wait->state, ES_WAIT_UNKNOWN);
    hang(fixture, 0, "MPI_Waitany", 1)->bytes = 1;
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_ALL);
}

/* Lets a rank hang in a call that completes `count` requests, and tells the operation
 * of one of them. */
static struct esi_activity *hang_for(struct fixture *fixture,
                                     int rank,
                                     const char *call,
                                     const char *awaited,
                                     int peer,
                                     uint32_t count)
{
    const struct es_operation *operation = es_operation_by_name(awaited);
    struct esi_activity *open = hang(fixture, rank, call, peer);

    assert_non_null(operation);
    open->awaited = operation->code;
    open->sequence = ES_SEQUENCE_UNKNOWN;
    open->bytes = count;
    return open;
}

static void awaited_messages_wait_as_blocking_ones_do(void **state)
{
    static const struct {
        const char *awaited;
        enum esi_wait_reason reason;
    } cases[] = {
        {"MPI_Irecv", ES_REASON_RECEIVE},
        {"MPI_Start receive", ES_REASON_RECEIVE},
        {"MPI_Isend", ES_REASON_SEND},
        {"MPI_Issend", ES_REASON_SEND},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct esi_wait *wait;

        hang_for(fixture, 0, "MPI_Wait", cases[i].awaited, 2, 1);
        wait = derive(fixture, 0);
        assert_int_equal(wait->reason, cases[i].reason);
        assert_int_equal(wait->state, ES_WAIT_ALL);
        assert_int_equal(wait->target_count, 1);
        assert_int_equal(wait->targets[0], 2);
        assert_true(wait->certain);
    }
    hang_for(fixture, 0, "MPI_Wait", "MPI_Irecv", ES_PEER_ANY, 1);
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_ANY);
    assert_int_equal(fixture->waits[0].target_count, 2);
}

static void an_awaited_message_with_both_ends_is_under_way(void **state)
{
    struct fixture *fixture = *state;

    hang_for(fixture, 0, "MPI_Wait", "MPI_Irecv", 1, 1);
    hang(fixture, 1, "MPI_Send", 0);
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_TRANSFER);
    assert_int_equal(derive(fixture, 1)->reason, ES_REASON_TRANSFER);
    /* Two receives that wait for each other are no message. */
    hang_for(fixture, 1, "MPI_Wait", "MPI_Irecv", 0, 1);
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_RECEIVE);
    assert_int_equal(derive(fixture, 1)->reason, ES_REASON_RECEIVE);
}

static void an_awaited_collective_waits_for_who_may_not_have_entered(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_wait *wait;

    hang_for(fixture, 0, "MPI_Wait", "MPI_Iallreduce", ES_PEER_NONE, 1)->sequence = 5;
    note(fixture, 1, 4);
    note(fixture, 2, 5);
    wait = derive(fixture, 0);
    assert_int_equal(wait->reason, ES_REASON_COLLECTIVE);
    assert_int_equal(wait->state, ES_WAIT_ALL);
    assert_int_equal(wait->target_count, 1);
    assert_int_equal(wait->targets[0], 1);
    assert_false(wait->certain);
    /* Rank 1 waits for the instance before: not in this one, as far as one can see. */
    hang_for(fixture, 1, "MPI_Wait", "MPI_Iallreduce", ES_PEER_NONE, 1)->sequence = 4;
    assert_int_equal(derive(fixture, 0)->reason, ES_REASON_COLLECTIVE);
    /* Who waits for it has entered it. */
    fixture->threads[1].open.sequence = 5;
    wait = derive(fixture, 0);
    assert_int_equal(wait->reason, ES_REASON_ENTERED);
    assert_int_equal(wait->state, ES_WAIT_UNKNOWN);
    /* The root of one whose instance is not known says nothing of who is missing. */
    hang_for(fixture, 0, "MPI_Wait", "MPI_Ibcast", 1, 1);
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_UNKNOWN);
    assert_int_equal(fixture->waits[0].target_count, 0);
}

static void of_several_awaited_only_one_is_known(void **state)
{
    struct fixture *fixture = *state;
    const struct esi_wait *wait;

    hang_for(fixture, 0, "MPI_Waitall", "MPI_Irecv", 1, 4);
    wait = derive(fixture, 0);
    assert_int_equal(wait->reason, ES_REASON_RECEIVE);
    assert_int_equal(wait->state, ES_WAIT_ALL);
    assert_false(wait->certain);
    hang_for(fixture, 0, "MPI_Waitsome", "MPI_Irecv", 1, 4);
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_UNKNOWN);
    hang_for(fixture, 0, "MPI_Waitany", "MPI_Ibarrier", ES_PEER_NONE, 4)->sequence = 3;
    wait = derive(fixture, 0);
    assert_int_equal(wait->reason, ES_REASON_COMPLETION);
    assert_int_equal(wait->state, ES_WAIT_UNKNOWN);
}

static void starting_and_cancelling_wait_for_nobody(void **state)
{
    static const char *const calls[] = {"MPI_Start", "MPI_Startall", "MPI_Cancel"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        hang_for(fixture, 0, calls[i], "MPI_Start receive", 1, 1);
        assert_int_equal(derive(fixture, 0)->state, ES_WAIT_UNKNOWN);
        assert_int_equal(fixture->waits[0].target_count, 0);
    }
}

static void who_polls_waits_for_what_is_not_known(void **state)
{
    struct fixture *fixture = *state;

    fixture->threads[0].verdict = ES_VERDICT_STALLED;
    fixture->threads[0].polls_rise = true;
    assert_int_equal(derive(fixture, 0)->state, ES_WAIT_UNKNOWN);
}

static void many_instances_are_found_again(void **state)
{
    struct fixture *fixture = *state;
    struct esi_collective_seen instance = {.key = {0, 0}};

    for (uint64_t key = 100; key > 0; key--) {
        for (int rank = 9; rank >= 0; rank--) {
            instance.key[0] = key % 10;
            instance.key[1] = key;
            instance.rank = rank;
            instance.sequence = (uint32_t)(key + (uint64_t)rank);
            assert_int_equal(esi_collectives_seen_note(&fixture->seen, &instance), 0);
        }
    }
    assert_int_equal(fixture->seen.count, 1000);
    for (uint64_t key = 1; key <= 100; key++) {
        uint64_t wanted[2] = {key % 10, key};
        const struct esi_collective_seen *found =
            esi_collectives_seen_find(&fixture->seen, wanted, 4);

        assert_non_null(found);
        assert_int_equal(found->sequence, key + 4);
        assert_null(esi_collectives_seen_find(&fixture->seen, wanted, 10));
    }
}

SUITE(test_wait_for)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            who_computes_waits_for_nobody_and_who_has_finished_is_gone, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(messages_wait_for_their_peer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_receive_from_any_source_waits_for_any_of_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_peer_proves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_message_with_both_ends_is_under_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_collective_waits_for_those_who_have_not_entered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(instance_numbers_wrap_around, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(of_several_requests_only_the_first_is_known,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(awaited_messages_wait_as_blocking_ones_do,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_awaited_message_with_both_ends_is_under_way,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_awaited_collective_waits_for_who_may_not_have_entered, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(of_several_awaited_only_one_is_known, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(starting_and_cancelling_wait_for_nobody, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_polls_waits_for_what_is_not_known, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_instances_are_found_again, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
