/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A rank is missing if it is in MPI_Finalize and others wait for it. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "tests/suites.h"
#include "tests/verdict/made_facts.h"

static void who_is_in_finalize_is_missing(void **state)
{
    struct made_facts *made = *state;

    made_open(made, 0, "MPI_Recv", 1, 7, 0);
    made_open(made, 1, "MPI_Finalize", ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN);
    made_open(made, 2, "MPI_Recv", 0, 7, 0);
    made_verdicts_are(made, "MISSING certain 1");
    assert_int_equal(made->diagnosis.items[0].behind.count, 2);
    made_count(made, 1, false, 0, 7, 1);
    made_verdicts_are(made, "");
}

static void who_has_entered_is_not_missing(void **state)
{
    struct made_facts *made = *state;

    for (int i = 0; i < MADE_RANKS; i++) {
        made_enter(made, i, "MPI_Reduce", i == 2 ? 2 : 3)->root = 0;
        made_open(made, i, "MPI_Finalize", ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN);
    }
    made_open(made, 0, "MPI_Reduce", 0, 0, 3);
    made_verdicts_are(made, "MISSING certain 2");
}

/* The ledger of such a rank no longer covers the communicator, so the rank may have
 * done what the others wait for. */
static void who_has_freed_the_communicator_may_have_done_all(void **state)
{
    struct made_facts *made = *state;
    const uint64_t *key = made->model.communicators[0]->key;
    char *text;

    made_request(made, 0, ESI_LEDGER_COLLECTIVE, "MPI_Ibarrier", ES_PEER_NONE, 0, 3);
    made_wait(made, 0, "MPI_Wait", ESI_LEDGER_WAIT_ALL);
    for (int i = 0; i < MADE_RANKS - 1; i++)
        made_enter(made, i, "MPI_Ibarrier", 3);
    made_open(made, 3, "MPI_Finalize", ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN);
    made_verdicts_are(made, "MISSING certain 3");
    assert_int_equal(esi_facts_note_freed(&made->facts, key, 3), 0);
    made_verdicts_are(made, "MISSING certain 3"); /* the call is still recorded */
    made->facts.processes[0].schedule = ESI_SCHEDULE_HELD;
    made_open(made, 1, "MPI_Recv", 2, 7, 0);
    made_open(made, 2, "MPI_Recv", 1, 8, 0);
    made_verdicts_are(made, "DEADLOCK certain 1,2; MISSING possible 3");
    made_shows(made, "hint: rank 2 has never sent to rank 1 with tag 7\n");
    for (int i = 1; i < 3; i++) {
        made->facts.processes[3 - i].schedule = ESI_SCHEDULE_HELD;
        assert_int_equal(esi_facts_note_freed(&made->facts, key, i), 0);
        made_verdicts_are(made, "DEADLOCK possible 1,2; MISSING possible 3");
        made->facts.processes[3 - i].schedule = ESI_SCHEDULE_RAN;
    }
    made_verdicts_are(made, "DEADLOCK certain 1,2; MISSING possible 3");
    text = made_text(made);
    assert_null(strstr(text, "never sent"));
    free(text);
    made->facts.processes[2].schedule = ESI_SCHEDULE_HELD;
    made_open(made, 2, "MPI_Ssend", 1, 8, 0);
    made_verdicts_are(made, "DEADLOCK possible 1,2; MISSING possible 3");
}

/* The call shows the peer of its first request, which must not
 * count as another receive. */
static void a_call_that_waits_posts_nothing(void **state)
{
    struct made_facts *made = *state;

    made_request(made, 0, ESI_LEDGER_RECEIVE, "MPI_Irecv", ES_PEER_ANY, 7,
                 ES_SEQUENCE_UNKNOWN);
    made_request(made, 0, ESI_LEDGER_SEND, "MPI_Isend", 1, 8, 0);
    made_wait(made, 0, "MPI_Waitall", ESI_LEDGER_WAIT_ALL);
    made->threads[0].open.awaited = es_operation_by_name("MPI_Irecv")->code;
    made->threads[0].open.peer = ES_PEER_ANY;
    made->threads[0].open.tag = 7;
    made_count(made, 2, false, 0, 7, 1);
    for (int i = 1; i < MADE_RANKS; i++)
        made_open(made, i, "MPI_Finalize", ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN);
    made_verdicts_are(made, "MISSING certain 1");
}

SUITE(test_missing)
{
    const struct CMUnitTest tests[] = {
        MADE_CASE(who_is_in_finalize_is_missing),
        MADE_CASE(who_has_entered_is_not_missing),
        MADE_CASE(who_has_freed_the_communicator_may_have_done_all),
        MADE_CASE(a_call_that_waits_posts_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
