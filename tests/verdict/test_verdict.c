/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Verdicts follow from facts, and only what cannot change any more is certain. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/tuple.h"
#include "monitors/follow/activity.h"
#include "monitors/verdict/verdict_print.h"
#include "tests/monitors/draw.h"
#include "tests/suites.h"
#include "tests/verdict/made_facts.h"

enum { CASES = 3000 };

/* --- Messages --------------------------------------------------------------------- */

static void a_receive_cycle_is_a_deadlock_and_others_wait_behind(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    assert_int_equal(made->diagnosis.items[0].behind.count, 1);
    assert_int_equal(made->diagnosis.items[0].behind.items[0], 2);
    made_shows(made, "DEADLOCK (certain): 0 -> 1 -> 0, for 10.0 s\n"
                     "  rank 0 waits in MPI_Recv for rank 1 (tag 7, 10.0 s)\n");
    made_shows(made, "hint: rank 1 has never sent to rank 0 with tag 7\n");
    made_shows(made, "  rank 2 waits behind\n");
}

/* The wait ends with the process, however long ago that was. */
static void a_wait_ends_with_its_process(void **state)
{
    struct made_facts *made = *state;

    made->facts.over = true;
    for (int i = 0; i < 2; i++) {
        made_open(made, i, "MPI_Recv", 1 - i, 7, 0);
        made->facts.processes[i].state = ES_PROCESS_KILLED;
        made->facts.processes[i].signal = SIGTERM;
        made->facts.processes[i].as_it_was = true;
        made->threads[i].process = ES_PROCESS_KILLED;
        made->threads[i].verdict = ES_VERDICT_DEAD;
        made->threads[i].ended_ns = UINT64_C(13000000000);
    }
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made_shows(made, "0 -> 1 -> 0, for 3.00 s, until it was killed 7.00 s ago\n"
                     "  rank 0 waits in MPI_Recv for rank 1 (tag 7, 3.00 s)\n");
    made->facts.recorded = true;
    made_shows(made, "for 3.00 s, until it was killed\n");
}

static void collectors_that_are_off_are_no_all_clear(void **state)
{
    struct made_facts *made = *state;

    made_verdicts_are(made, "");
    assert_int_equal(esi_diagnosis_outcome(&made->diagnosis), ESI_OUTCOME_NOTHING);
    made_shows(made, "nothing is wrong: 4 threads, 0 finished\n");
    made->threads[2].verdict = ES_VERDICT_UNKNOWN;
    made_verdicts_are(made, "");
    assert_int_equal(esi_diagnosis_outcome(&made->diagnosis), ESI_OUTCOME_POSSIBLE);
    made_shows(made, "1 of 4 threads may wait or not: their collectors are off");
}

static void who_has_moved_may_act(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made->facts.processes[1].still = false;
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made->threads[1].verdict = ES_VERDICT_PROGRESSING;
    made_verdicts_are(made, "");
}

static void threads_that_have_never_called_mpi_may_act(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made->facts.processes[1].others = 2;
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made_shows(made,
               "hint: not certain: rank 1 has threads that have never called MPI");
    made->facts.processes[1].others = -1;
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made_shows(made, "hint: not certain: it is not known whether rank 1 has threads");
    made->facts.processes[1].others = 0;
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    /* Whoever waits behind them is not part of it. */
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made->facts.processes[2].others = 1;
    made_verdicts_are(made, "DEADLOCK certain 0,1");
}

/* A count says nothing about threads that were created after it. */
static void other_threads_matter_if_several_may_be_in_mpi(void **state)
{
    struct made_facts *made = *state;
    struct esi_fact_process *process = &made->facts.processes[0];
    uint64_t begun_ns = made_open(made, 0, "MPI_Recv", 1, 7, 0)->start_ns;

    made->ledgers[0].others = 3;
    esi_fact_set_others(&made->facts, process, begun_ns);
    assert_int_equal(process->others, 0);
    made->ledgers[0].concurrent = true;
    esi_fact_set_others(&made->facts, process, begun_ns - 1);
    assert_int_equal(process->others, 3);
    process->state = ES_PROCESS_KILLED;
    esi_fact_set_others(&made->facts, process, begun_ns - 1);
    assert_int_equal(process->others, -1);
    esi_fact_set_others(&made->facts, process, begun_ns);
    assert_int_equal(process->others, 3);
}

/* A rank may be stopped in a receive although its message has arrived. */
static void a_message_that_was_sent_is_no_wait(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 2);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_count(made, 1, false, 0, 7, 2);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made->ledgers[1].channels[0].count = 3;
    made_verdicts_are(made, "");
    made->ledgers[1].channels[0].count = 2;
    made->ledgers[1].channels[0].doubtful = true;
    made_verdicts_are(made, "DEADLOCK possible 0,1");
}

static void without_ledgers_nothing_about_messages_is_certain(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    for (int i = 0; i < 2; i++) {
        made->facts.processes[!i].ledger = NULL;
        made_verdicts_are(made, "DEADLOCK possible 0,1");
    }
    /* Both ends are ready. */
    made_open(made, 1, "MPI_Send", 0, 7, 0);
    made_verdicts_are(made, "");
    /* The tags differ. */
    made_open(made, 1, "MPI_Send", 0, 8, 0);
    made_verdicts_are(made, "DEADLOCK possible 0,1");
}

static void collectors_that_are_off_leave_a_rank_unknown(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made->threads[1].elements_off = 1;
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made->threads[1].open.present = false;
    made->threads[1].verdict = ES_VERDICT_UNKNOWN;
    made_verdicts_are(made, "");
    made_shows(made, "rank 1 holds up 1 thread; it is unknown: its collectors are off");
}

static void a_send_waits_until_its_receive_is_posted(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Send", 1, 7, 4);
    made_open(made, 1, "MPI_Send", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made_count(made, 1, true, 0, 7, 4);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made->ledgers[1].channels[0].count = 5;
    made_verdicts_are(made, "");
    made->ledgers[1].channels[0].count = 4;
    /* A receive from any source could take the message. */
    made_request(made, 1, ESI_LEDGER_RECEIVE, "MPI_Irecv", ES_PEER_ANY, ES_TAG_ANY,
                 ES_SEQUENCE_UNKNOWN);
    made_verdicts_are(made, "");
}

/* The message could have been buffered, and the send be about to return. */
static void a_standard_send_without_processor_is_not_certain(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < 2; i++) {
        made_open(made, i, "MPI_Send", !i, 7, 0);
        made->facts.processes[i].schedule = ESI_SCHEDULE_HELD;
    }
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made_open(made, 0, "MPI_Ssend", 1, 7, 0);
    made_open(made, 1, "MPI_Ssend", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made_open(made, 0, "MPI_Bsend", 1, 7, 0);
    made_verdicts_are(made, "");
}

static void any_source_waits_for_all_who_could_send(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", ES_PEER_ANY, 7, ES_SEQUENCE_UNKNOWN);
    for (int i = 1; i < MADE_RANKS; i++)
        made_open(made, i, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1,2,3");
    assert_int_equal(made->diagnosis.items[0].cycle.count, 2);
    /* All sent messages were received, with the same tag or another. */
    made_count(made, 2, false, 0, 7, 3);
    made_count(made, 0, true, 2, 7, 3);
    made_count(made, 2, false, 0, 8, 1);
    made_verdicts_are(made, "DEADLOCK certain 0,1,2,3");
    made_shows(
        made,
        "hint: rank 2 has sent to rank 0 with tag 8, but the receive expects tag 7");
    made->ledgers[2].channels[0].count = 4;
    made_verdicts_are(made, "");
    made->ledgers[2].channels[0].count = 3;
    made->threads[3].open.present = false;
    made->threads[3].verdict = ES_VERDICT_COMPUTING;
    made_verdicts_are(made, "");
}

/* The message of rank 1 goes to the receive from any source,
 * which was posted before. */
static void a_message_goes_to_the_receive_that_was_posted_first(void **state)
{
    struct made_facts *made = *state;
    struct esi_ledger_request *first = made_request(
        made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", ES_PEER_ANY, 7, ES_SEQUENCE_UNKNOWN);

    first->start = 5;
    made_count(made, 1, false, 0, 7, 1);
    made_open(made, 0, "MPI_Recv", 1, 7, ES_SEQUENCE_UNKNOWN);
    for (int i = 1; i < MADE_RANKS; i++)
        made_open(made, i, "MPI_Recv", 0, 9, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1,2,3");
    made_shows(made, "rank 0 waits in MPI_Recv for rank 1 (tag 7, 10.0 s)\n");
    made_shows(made, "hint: the message goes to an earlier receive of rank 0 from "
                     "any rank with tag 7, which is not complete\n");
    /* Rank 3 may still send to the first receive. */
    made->threads[3].open.present = false;
    made->threads[3].verdict = ES_VERDICT_COMPUTING;
    made_verdicts_are(made, "");
    made_open(made, 3, "MPI_Recv", 0, 9, 0);
    /* The first receive may have got this message, or that of rank 1. */
    made_count(made, 2, false, 0, 7, 1);
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    /* A receive that is complete has got one of them. */
    made_count(made, 0, true, ES_PEER_ANY, ES_TAG_ANY, 1);
    made_verdicts_are(made, "DEADLOCK certain 0,1,2,3");
    /* A receive that is not earlier does not take the message. */
    first->start = UINT64_MAX;
    assert_true(made_verdicts(made)->count == 0 || !made->diagnosis.items[0].certain);
}

static void of_requests_the_first_posted_gets_the_message(void **state)
{
    struct made_facts *made = *state;
    struct esi_ledger_request *requests[2];

    for (int i = 0; i < 2; i++) {
        made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", i == 0 ? ES_PEER_ANY : 1,
                     7, ES_SEQUENCE_UNKNOWN);
        requests[0] = &made->ledgers[0].requests[0];
        requests[i] = &made->ledgers[0].requests[i];
        requests[i]->start = (uint64_t)(5 + i);
    }
    made_count(made, 1, false, 0, 7, 1);
    made_wait(made, 0, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    for (int i = 1; i < MADE_RANKS; i++)
        made_open(made, i, "MPI_Recv", 0, 9, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1,2,3");
    made_shows(made, "hint: the message goes to an earlier receive of rank 0");
    /* Whichever request gets the message, the other one waits.  But no number shows
     * that the second one was posted first. */
    requests[1]->start = 4;
    assert_true(made_verdicts(made)->count > 0);
}

static void a_message_of_any_tag_is_taken_by_a_probe(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Probe", 1, ES_TAG_ANY, ES_SEQUENCE_UNKNOWN);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made_count(made, 1, false, 0, 9, 1);
    made_verdicts_are(made, "");
}

static void who_receives_from_itself_is_stuck_alone(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 2, "MPI_Recv", 2, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 2");
    made_shows(made, "DEADLOCK (certain): 2 -> 2");
}

static void nobody_waits_for_a_process_that_is_none(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", ES_PEER_NONE, 7, ES_SEQUENCE_UNKNOWN);
    made_open(made, 1, "MPI_Recv", ES_PEER_UNKNOWN, 7, ES_SEQUENCE_UNKNOWN);
    made_verdicts_are(made, "");
}

/* --- Requests --------------------------------------------------------------------- */

static void a_waitall_waits_for_all_its_requests(void **state)
{
    struct made_facts *made = *state;

    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 1, 1, 0);
    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 2, 2, 0);
    made_wait(made, 0, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,2");
    made_shows(made, "rank 0 waits in MPI_Waitall for ranks 1-2 (2 of 2 requests "
                     "outstanding, 10.0 s)");
    made_count(made, 2, false, 0, 2, 1);
    made_verdicts_are(made, "");
}

static void a_waitany_waits_for_one_of_them(void **state)
{
    struct made_facts *made = *state;

    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 1, 1, 0);
    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 2, 2, 0);
    made_wait(made, 0, "MPI_Waitany", ESI_LEDGER_WAIT_ANY);
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "");
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1,2");
    /* Nothing is certain if the call has more requests than are known. */
    made->ledgers[0].waits[0].count = 100;
    made_verdicts_are(made, "DEADLOCK possible 0,1,2");
    made_count(made, 1, false, 0, 1, 1);
    made_verdicts_are(made, "");
}

/* A pending send may be complete by now.  The receive beside it is not. */
static void sends_in_a_waitall_count_when_nothing_else_is_missing(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < 2; i++) {
        made_request(made, i, ESI_LEDGER_SEND, "MPI_Isend", !i, 1, 0);
        made_request(made, i, ESI_LEDGER_RECEIVE, "MPI_Irecv", 3, 2, 0);
        made_wait(made, i, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    }
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made_count(made, 3, false, 0, 2, 1);
    made_count(made, 3, false, 1, 2, 1);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made->facts.processes[0].schedule = ESI_SCHEDULE_UNKNOWN;
    made_verdicts_are(made, "DEADLOCK possible 0,1");
}

static void who_polls_may_give_up(void **state)
{
    struct made_facts *made = *state;

    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 1, 1, 0);
    made_wait(made, 0, "MPI_Test", ESI_LEDGER_WAIT_POLL);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK possible 0,1");
    made_shows(made, "rank 0 polls in vain for rank 1 (10.0 s)");
    made_count(made, 1, false, 0, 1, 1);
    made_verdicts_are(made, "");
}

static void persistent_requests_count_when_they_are_started(void **state)
{
    struct made_facts *made = *state;
    struct esi_ledger_request *request =
        made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Recv_init", 1, 1, 0);

    request->persistent = request->active = true;
    made_wait(made, 0, "MPI_Wait", ESI_LEDGER_WAIT_ALL);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    request->active = false;
    made_verdicts_are(made, "");
}

/* --- Source lines ----------------------------------------------------------------- */

static const char *name_line(void *data,
                             const struct esi_fact_process *process,
                             uint64_t address)
{
    static char texts[4][32];
    char *text = texts[address % 4];

    snprintf(text, sizeof texts[0], "%s.c:%d in f%d()", (const char *)data,
             (int)address, process->rank);
    return text;
}

/* Returns the JSON form of the verdicts; caller frees. */
static char *shown_as_json(struct made_facts *made)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(esi_diagnosis_print_json(&made->diagnosis, out), 0);
    fclose(out);
    return text;
}

static void calls_and_requests_are_told_with_their_lines(void **state)
{
    struct made_facts *made = *state;
    char program[] = "heat";
    char *json;

    made->facts.name_site = name_line;
    made->facts.site_data = program;
    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 1, 1, 0)->site = 21;
    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 1, 2, 0)->site = 22;
    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 2, 3, 0);
    made_wait(made, 0, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    made->threads[0].open.site = "heat.c:30 in f0()";
    made_open(made, 2, "MPI_Recv", 0, 7, 0)->site = "heat.c:40 in f2()";
    made_count(made, 1, false, 0, 1, 1);
    made_verdicts_are(made, "DEADLOCK certain 0,2");
    /* The message for the first of the three requests has arrived. */
    made_shows(made, "outstanding, 10.0 s), at heat.c:30 in f0()\n"
                     "    MPI_Irecv from 1, tag 2, at heat.c:22 in f0()\n"
                     "    MPI_Irecv from 2, tag 3\n"
                     "  rank 2 waits in MPI_Recv for rank 0 (tag 7, 10.0 s), at "
                     "heat.c:40 in f2()\n");
    json = shown_as_json(made);
    assert_non_null(strstr(json, "\"operation\":\"MPI_Waitall\","
                                 "\"site\":\"heat.c:30 in f0()\""));
    assert_non_null(strstr(json, "\"tag\":2,\"bytes\":0,\"sequence\":0,"
                                 "\"site\":\"heat.c:22 in f0()\"},"));
    assert_non_null(strstr(json, "\"tag\":3,\"bytes\":0,\"sequence\":0,"
                                 "\"site\":null}]}"));
    assert_null(strstr(json, "\"tag\":1,"));
    free(json);
}

static void of_many_requests_the_first_are_told(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < 10; i++)
        made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 2, i, 0);
    made_wait(made, 0, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,2");
    made_shows(made, "    MPI_Irecv from 2, tag 3\n    and 6 more; -v shows all\n");
}

/* --- Collective operations -------------------------------------------------------- */

static void a_barrier_waits_for_who_is_missing(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < MADE_RANKS; i++)
        made_enter(made, i, "MPI_Barrier", 4);
    made_open(made, 0, "MPI_Barrier", ES_PEER_NONE, 0, 5);
    made_open(made, 1, "MPI_Barrier", ES_PEER_NONE, 0, 5);
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made_enter(made, 3, "MPI_Barrier", 5);
    made_verdicts_are(made, "DEADLOCK certain 0,2");
    assert_int_equal(made->diagnosis.items[0].behind.count, 1);
    made_shows(made, "rank 0 waits in MPI_Barrier on MPI_COMM_WORLD, instance 5 for "
                     "rank 2 to enter (10.0 s)");
    made_enter(made, 2, "MPI_Barrier", 5);
    made_verdicts_are(made, "");
}

static void who_computes_holds_up_the_others(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < MADE_RANKS - 1; i++)
        made_open(made, i, "MPI_Allreduce", ES_PEER_NONE, 0, 5);
    made->threads[3].quiet_since_ns = UINT64_C(12000000000);
    made_verdicts_are(made, "");
    assert_int_equal(made->diagnosis.holder_count, 1);
    assert_int_equal(made->diagnosis.holders[0].waiting, MADE_RANKS - 1);
    made_shows(
        made,
        "no deadlock: rank 3 holds up 3 threads; it has been computing for 8.00 s");
}

static void a_thread_is_held_up_once_by_a_rank(void **state)
{
    struct made_facts *made = *state;

    for (int tag = 1; tag <= 3; tag++)
        made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", 1, tag, 0);
    made_wait(made, 0, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    made_verdicts_are(made, "");
    assert_int_equal(made->diagnosis.holder_count, 1);
    assert_int_equal(made->diagnosis.holders[0].waiting, 1);
}

static void a_broadcast_waits_for_its_root(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 1, "MPI_Bcast", 0, 0, 5);
    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    /* The root has left the operation, so the other ranks may hold up rank 1. */
    made_enter(made, 0, "MPI_Bcast", 5)->root = 0;
    made_enter(made, 2, "MPI_Bcast", 5)->root = 0;
    made_enter(made, 3, "MPI_Bcast", 5)->root = 0;
    made_verdicts_are(made, "");
}

static void instances_wrap_around(void **state)
{
    struct made_facts *made = *state;

    for (int i = 1; i < MADE_RANKS; i++)
        made_enter(made, i, "MPI_Barrier", i == 3 ? UINT32_MAX - 1 : 1);
    made_open(made, 0, "MPI_Barrier", ES_PEER_NONE, 0, 1);
    made_open(made, 3, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,3");
}

static void different_operations_at_one_instance_are_a_mismatch(void **state)
{
    struct made_facts *made = *state;

    made_enter(made, 0, "MPI_Bcast", 5)->root = 0;
    made_enter(made, 1, "MPI_Reduce", 5)->root = 0;
    /* A reader may misread a ledger that is being written, so a mismatch counts
     * when it is seen again. */
    made_verdicts_are(made, "");
    made_verdicts_are(made, "MISMATCH certain 0,1");
    made_shows(made,
               "rank 0 in MPI_Bcast with root 0, rank 1 in MPI_Reduce with root 0");
    made->facts.over = true;
    esi_verdict_memory_fini(&made->memory);
    made_verdicts_are(made, "MISMATCH certain 0,1");
}

static void roots_and_hashes_have_to_be_alike(void **state)
{
    struct made_facts *made = *state;
    struct esi_ledger_instance *entries[2];

    made->facts.over = true;
    for (int i = 0; i < 2; i++)
        entries[i] = made_enter(made, i, "MPI_Reduce", 5);
    entries[0]->root = entries[1]->root = 1;
    made_verdicts_are(made, "");
    entries[0]->root = 0;
    made_verdicts_are(made, "MISMATCH certain 0,1");
    entries[0]->root = 1;
    entries[0]->hash = 1;
    made_verdicts_are(made, "");
    entries[1]->hash = 2;
    made_verdicts_are(made, "MISMATCH certain 0,1");
    entries[1]->hash = 1;
    made_verdicts_are(made, "");
}

/* --- Ends ------------------------------------------------------------------------- */

static void the_first_that_died_is_named(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < 2; i++) {
        made->facts.processes[i].state = ES_PROCESS_KILLED;
        made->facts.processes[i].signal = SIGKILL;
        made->facts.processes[i].ended_ns = UINT64_C(2000000000) * (3 - (uint64_t)i);
        made->threads[i].process = ES_PROCESS_KILLED;
        made->threads[i].verdict = ES_VERDICT_DEAD;
        made->threads[i].signal = SIGKILL;
    }
    made_verdicts_are(made, "DIED certain 1");
    /* The ends may be recorded in either order when all ranks are killed at once. */
    made->facts.processes[0].ended_ns = made->facts.processes[1].ended_ns + 1;
    made_verdicts_are(made, "DIED certain 0,1");
    made_shows(made,
               "ranks 0-1 ended at the same time, and which was first is not known");
    /* A rank that failed by itself died first, whatever the clocks say. */
    made->facts.processes[0].signal = SIGSEGV;
    made->threads[0].signal = SIGSEGV;
    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made->ledgers[0].error_class = 15;
    made->ledgers[0].error_operation = made->threads[0].open.operation;
    snprintf(made->ledgers[0].error_text, sizeof made->ledgers[0].error_text,
             "message truncated");
    made_verdicts_are(made, "DIED certain 0");
    made_shows(made, "DIED (certain): rank 0 killed by signal 11 (SIGSEGV)");
    made_shows(made, "MPI_Recv had failed: message truncated (MPI_ERR_TRUNCATE)");
}

/* The launcher kills the others because of the code. */
static void a_failure_after_finalize_is_the_first(void **state)
{
    struct made_facts *made = *state;
    struct esi_run_process *stranger;

    made->facts.processes[1].state = made->threads[1].process = ES_PROCESS_FINALIZED;
    made->threads[1].verdict = ES_VERDICT_FINISHED;
    made_verdicts_are(made, "");
    made->facts.processes[1].exit_code = made->threads[1].exit_code = 4;
    made->threads[1].verdict = ES_VERDICT_DEAD;
    made_verdicts_are(made, "DIED certain 1");
    made_shows(made, "DIED (certain): rank 1 exited with 4 after MPI_Finalize");
    made->facts.processes[0].state = made->threads[0].process = ES_PROCESS_KILLED;
    made->facts.processes[0].signal = made->threads[0].signal = SIGTERM;
    made->threads[0].verdict = ES_VERDICT_DEAD;
    made_verdicts_are(made, "DIED certain 1");
    made_shows(made, "exited with 4 after MPI_Finalize; rank 0 ended later");
    made_open(made, 1, "MPI_Barrier", ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN);
    made->threads[1].verdict = ES_VERDICT_DEAD;
    made_verdicts_are(made, "DIED certain 1");
    made_shows(made, "rank 1 called MPI_Barrier after MPI_Finalize, and exited with 4");
    made->facts.processes[1].state = made->threads[1].process = ES_PROCESS_EXITED;
    made_verdicts_are(made, "DIED certain 1");
    made_shows(made, "rank 1 exited with 4 without MPI_Finalize in MPI_Barrier");
    assert_int_equal(esi_run_model_add_process(
                         &made->model, &(struct esi_run_process){.rank = 1}, &stranger),
                     0);
    made->facts.processes[1].participant = stranger;
    made_verdicts_are(made, "DIED certain 1");
    made_shows(made, "rank 1 called MPI_Barrier before MPI_Init, and exited with 4");
}

/* An error in MPI makes the launcher kill all ranks, including that which failed. */
static void a_kill_of_all_ranks_proves_nothing_of_one(void **state)
{
    struct made_facts *made = *state;

    made->facts.over = true;
    for (int i = 0; i < 2; i++) {
        made->facts.processes[i].state = ES_PROCESS_KILLED;
        made->facts.processes[i].signal = SIGKILL;
        made->facts.processes[i].as_it_was = true;
        made->facts.processes[i].ended_ns = UINT64_C(12000000000) + (uint64_t)i;
        made->threads[i].process = ES_PROCESS_KILLED;
        made->threads[i].verdict = ES_VERDICT_DEAD;
        made->threads[i].signal = SIGKILL;
    }
    /* Rank 0 was in no call; rank 1 was in one whose message had arrived. */
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_count(made, 0, false, 1, 7, 1);
    made_verdicts_are(made, "DIED certain 0,1");
    made_shows(made,
               "which was first is not known; rank 1 killed by signal 9 (SIGKILL) "
               "in MPI_Recv from 0, tag 7");
    made->facts.processes[0].signal = made->threads[0].signal = SIGTERM;
    made_verdicts_are(made, "DIED certain 0,1");
    /* MPI refuses a rank that the communicator does not have, however all ended. */
    made_open(made, 1, "MPI_Send", ES_PEER_UNKNOWN, 7, 0)->argument = 77;
    esi_activity_check_peer(&made->threads[1].open, 0);
    made_verdicts_are(made, "DIED certain 0,1");
    esi_activity_check_peer(&made->threads[1].open, MADE_RANKS);
    made_verdicts_are(made, "DIED certain 1");
    made_shows(made, "rank 1 killed by signal 9 (SIGKILL) in MPI_Send to 77 (no such "
                     "rank), tag 7; rank 0 ended later");
    made->facts.processes[1].signal = made->threads[1].signal = SIGTERM;
    made_verdicts_are(made, "DIED certain 1");
}

/* A batch system ended a run that hung. */
static void what_killed_ranks_were_in_counts_as_it_was(void **state)
{
    struct made_facts *made = *state;

    made->facts.over = true;
    for (int i = 0; i < MADE_RANKS; i++) {
        made->facts.processes[i].state = ES_PROCESS_KILLED;
        made->facts.processes[i].signal = SIGTERM;
        made->facts.processes[i].as_it_was = true;
        made->threads[i].verdict = ES_VERDICT_DEAD;
        made->threads[i].process = ES_PROCESS_KILLED;
        made->threads[i].signal = SIGTERM;
    }
    made_verdicts_are(made, "DIED certain 0,1,2,3");
    made_shows(made,
               "ranks 0-3 were killed by signal 15 (SIGTERM), which the whole job "
               "got");
    /* What is only possible comes first all the same. */
    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made->threads[0].verdict = ES_VERDICT_DEAD;
    made->threads[1].quiet_since_ns = UINT64_C(10000000000);
    made->threads[1].ended_ns = UINT64_C(12500000000);
    made_verdicts_are(made, "DIED certain 0,1,2,3");
    made_shows(made, "rank 1 holds up 1 thread; it had been computing for 2.50 s");
    /* One that died earlier is the first. */
    for (int i = 0; i < MADE_RANKS; i++)
        made->facts.processes[i].ended_ns = UINT64_C(1000000000) * (i == 2 ? 1 : 5);
    made_verdicts_are(made, "DIED certain 2");
    for (int i = 0; i < MADE_RANKS; i++)
        made->facts.processes[i].ended_ns = 0;
    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made->threads[0].verdict = made->threads[1].verdict = ES_VERDICT_DEAD;
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made_open(made, 1, "MPI_Finalize", ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN);
    made->threads[1].verdict = ES_VERDICT_DEAD;
    made_verdicts_are(made, "MISSING certain 1");
}

/* --- Windows ---------------------------------------------------------------------- */

static void a_lock_waits_for_its_holder(void **state)
{
    struct made_facts *made = *state;

    made_epoch(made, 0, ESI_LEDGER_LOCK_EXCLUSIVE, 2);
    made_epoch(made, 1, ESI_LEDGER_LOCK_SHARED, 2)->granted = false;
    made_open(made, 1, "MPI_Win_lock", 2, 3, ES_SEQUENCE_UNKNOWN);
    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made->ledgers[0].epochs[0].kind = ESI_LEDGER_LOCK_SHARED;
    made_verdicts_are(made, "");
}

static void epochs_wait_for_their_partners(void **state)
{
    struct made_facts *made = *state;
    struct esi_ledger_epoch_count count = {.window = 3, .peer = 0, .completed = 1};

    made_epoch(made, 0, ESI_LEDGER_POST, 1);
    made_open(made, 0, "MPI_Win_wait", ES_PEER_NONE, 3, 0);
    made_open(made, 1, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "DEADLOCK certain 0,1");
    made->ledgers[1].epoch_counts = calloc(1, sizeof count);
    assert_non_null(made->ledgers[1].epoch_counts);
    made->ledgers[1].epoch_counts[0] = count;
    made->ledgers[1].epoch_count_count = 1;
    made_verdicts_are(made, "");
}

/* --- Comparison with the definition ----------------------------------------------- */

/* Random receives, and waits for all or any of them. */
struct drawn_wait {
    bool waits;
    bool any;
    bool targets[MADE_SIZE_MOST];
};

static void draw_waits(struct made_facts *made, struct drawn_wait *waits)
{
    for (int i = 0; i < (int)made->count; i++) {
        size_t requests = draw_below(4);

        waits[i] = (struct drawn_wait){.waits = requests > 0, .any = draw_below(2)};
        for (size_t j = 0; j < requests; j++) {
            int peer = (int)draw_below(made->count);

            made_request(made, i, ESI_LEDGER_RECEIVE, "MPI_Irecv", peer, 7, 0);
            waits[i].targets[peer] = true;
        }
        if (requests)
            made_wait(made, i, waits[i].any ? "MPI_Waitany" : "MPI_Waitall",
                      waits[i].any ? ESI_LEDGER_WAIT_ANY : ESI_LEDGER_WAIT_ALL);
    }
}

static void find_stuck(const struct drawn_wait *waits, size_t count, bool *stuck)
{
    bool changed = true;

    for (size_t i = 0; i < count; i++)
        stuck[i] = waits[i].waits;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            bool all = true, any = false;

            for (size_t j = 0; j < count; j++) {
                all &= !waits[i].targets[j] || !stuck[j];
                any |= waits[i].targets[j] && !stuck[j];
            }
            if (stuck[i] && (waits[i].any ? any : all)) {
                stuck[i] = false;
                changed = true;
            }
        }
    }
}

static void the_stuck_are_those_of_the_definition(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct made_facts made;
        struct drawn_wait waits[MADE_SIZE_MOST];
        bool stuck[MADE_SIZE_MOST], told[MADE_SIZE_MOST] = {false};

        made_facts_begin(&made, 1 + draw_below(8));
        draw_waits(&made, waits);
        find_stuck(waits, made.count, stuck);
        made_verdicts(&made);
        for (size_t j = 0; j < made.count; j++)
            assert_int_equal(made.diagnosis.conditions.waits[j].stuck, stuck[j]);
        for (size_t j = 0; j < made.diagnosis.count; j++) {
            const struct esi_verdict_item *item = &made.diagnosis.items[j];

            assert_true(item->certain);
            for (size_t k = 0; k < item->ranks.count; k++)
                told[item->ranks.items[k]] = true;
            for (size_t k = 0; k < item->behind.count; k++)
                told[item->behind.items[k]] = true;
        }
        assert_memory_equal(told, stuck, made.count * sizeof *told);
        made_facts_end(&made);
    }
}

SUITE(test_verdict)
{
    const struct CMUnitTest tests[] = {
        MADE_CASE(a_receive_cycle_is_a_deadlock_and_others_wait_behind),
        MADE_CASE(a_wait_ends_with_its_process),
        MADE_CASE(collectors_that_are_off_are_no_all_clear),
        MADE_CASE(who_has_moved_may_act),
        MADE_CASE(threads_that_have_never_called_mpi_may_act),
        MADE_CASE(other_threads_matter_if_several_may_be_in_mpi),
        MADE_CASE(a_message_that_was_sent_is_no_wait),
        MADE_CASE(without_ledgers_nothing_about_messages_is_certain),
        MADE_CASE(collectors_that_are_off_leave_a_rank_unknown),
        MADE_CASE(a_send_waits_until_its_receive_is_posted),
        MADE_CASE(a_standard_send_without_processor_is_not_certain),
        MADE_CASE(any_source_waits_for_all_who_could_send),
        MADE_CASE(a_message_goes_to_the_receive_that_was_posted_first),
        MADE_CASE(of_requests_the_first_posted_gets_the_message),
        MADE_CASE(a_message_of_any_tag_is_taken_by_a_probe),
        MADE_CASE(who_receives_from_itself_is_stuck_alone),
        MADE_CASE(nobody_waits_for_a_process_that_is_none),
        MADE_CASE(a_waitall_waits_for_all_its_requests),
        MADE_CASE(a_waitany_waits_for_one_of_them),
        MADE_CASE(sends_in_a_waitall_count_when_nothing_else_is_missing),
        MADE_CASE(who_polls_may_give_up),
        MADE_CASE(persistent_requests_count_when_they_are_started),
        MADE_CASE(calls_and_requests_are_told_with_their_lines),
        MADE_CASE(of_many_requests_the_first_are_told),
        MADE_CASE(a_barrier_waits_for_who_is_missing),
        MADE_CASE(who_computes_holds_up_the_others),
        MADE_CASE(a_thread_is_held_up_once_by_a_rank),
        MADE_CASE(a_broadcast_waits_for_its_root),
        MADE_CASE(instances_wrap_around),
        MADE_CASE(different_operations_at_one_instance_are_a_mismatch),
        MADE_CASE(roots_and_hashes_have_to_be_alike),
        MADE_CASE(the_first_that_died_is_named),
        MADE_CASE(a_failure_after_finalize_is_the_first),
        MADE_CASE(a_kill_of_all_ranks_proves_nothing_of_one),
        MADE_CASE(what_killed_ranks_were_in_counts_as_it_was),
        MADE_CASE(a_lock_waits_for_its_holder),
        MADE_CASE(epochs_wait_for_their_partners),
        cmocka_unit_test_setup(the_stuck_are_those_of_the_definition, draw_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
