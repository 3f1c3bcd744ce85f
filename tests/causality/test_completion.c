/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* test_completion.c - which call completes a send (causal_completion.h). */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "eventspace/operation.h"
#include "monitors/causality/causality.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"

enum { RANKS = 4, STEP = 10, LASTS = 5, POSTED_MAX = 64, ERROR_CLASS = 2 };

/* A rank that runs a program of steps such as "s1 s2 A2": a letter of `kinds`, and a
 * peer or a number of requests. */
struct completing_rank {
    struct esi_causality *causality;
    uint32_t element;
    uint64_t now;
    struct es_tuple ends[POSTED_MAX]; /* that the next completing call ends */
    int end_count;
    uint32_t posted[POSTED_MAX]; /* indexes of the events */
    int posted_count;
    char text[256]; /* what was completed: "step:posted,posted step:..." */
};

static const struct completing_kind {
    char letter;
    uint16_t operation;
    uint16_t awaited; /* 0 = it names nothing */
    bool ends_later;
} kinds[] = {
    {'s', ES_OP_MPI_Isend, 0, false},
    {'b', ES_OP_MPI_Ibsend, 0, false},
    {'S', ES_OP_MPI_Start_send, 0, false},
    {'P', ES_OP_MPI_Start_partitioned_send, 0, false},
    {'o', ES_OP_MPI_Buffer_iflush, 0, false},
    {'r', ES_OP_MPI_Irecv, 0, true},
    {'n', ES_OP_MPI_Irecv, 0, false}, /* from nobody */
    {'I', ES_OP_MPI_Isendrecv, 0, false},
    {'i', ES_OP_MPI_Isendrecv_receive, 0, true}, /* its half */
    {'R', ES_OP_MPI_Recv_init, 0, false},
    {'F', ES_OP_MPI_Request_free, 0, false},
    {'C', ES_OP_MPI_Cancel, ES_OP_MPI_Isend, false},
    {'W', ES_OP_MPI_Wait, ES_OP_MPI_Isend, false},
    {'V', ES_OP_MPI_Wait, ES_OP_MPI_Send_init, false},
    {'O', ES_OP_MPI_Wait, ES_OP_MPI_Buffer_iflush, false},
    {'N', ES_OP_MPI_Wait, 0, false},
    {'A', ES_OP_MPI_Waitall, ES_OP_MPI_Isend, false},
    {'E', ES_OP_MPI_Waitall | ES_OPERATION_FAILED, ES_OP_MPI_Isend, false},
    {'Y', ES_OP_MPI_Waitany, ES_OP_MPI_Isend, false},
    {'X', ES_OP_MPI_Waitsome, ES_OP_MPI_Isend, false},
    {'T', ES_OP_MPI_Testall, 0, false},
    {'U', ES_OP_MPI_Testany, 0, false},
};

static void add_text(struct completing_rank *rank, const char *format, int number)
{
    size_t length = strlen(rank->text);

    snprintf(rank->text + length, sizeof rank->text - length, format, number);
}

static int hear(void *data,
                const struct es_set_event *event,
                const struct esi_causal_call *call)
{
    struct completing_rank *rank = data;
    bool is_first = true;

    if (call->operation->posts)
        rank->posted[rank->posted_count++] = event->id.index;
    for (size_t i = 0; i < call->completed_count; i++) {
        const struct esi_completed *completed = &call->completed[i];
        int j = 0;

        assert_false(completed->unsure); /* no receive is seen */
        assert_int_equal(completed->stop_ns, call->told->stop_ns);
        while (j < rank->posted_count && rank->posted[j] != completed->index)
            j++;
        if (j == rank->posted_count)
            continue; /* a receive */
        if (is_first)
            add_text(rank, " %d:", (int)(call->told->start_ns / STEP) - 1);
        add_text(rank, is_first ? "%d" : ",%d", j);
        is_first = false;
    }
    return 0;
}

static void add_tuple(struct completing_rank *rank, const struct es_tuple *tuple)
{
    const struct esi_causal_tuple told = {
        .tuple = *tuple, .start_ns = tuple->start, .stop_ns = tuple->stop};

    assert_int_equal(esi_causality_add(rank->causality, rank->element, &told), 0);
}

static void run_step(struct completing_rank *rank, char letter, int number)
{
    const struct completing_kind *kind = kinds;
    const struct es_operation *operation;
    struct es_tuple tuple = {.start = rank->now, .stop = rank->now + LASTS};

    if (letter == 'L') {
        esi_causality_lose(rank->causality, rank->element, 1, 0);
        return;
    }
    while (kind->letter != letter)
        kind++;
    operation = es_operation_find(kind->operation);
    tuple.operation = kind->operation;
    tuple.sequence =
        kind->awaited || operation->posts ? kind->awaited : ES_SEQUENCE_UNKNOWN;
    tuple.peer = number < RANKS ? number : ES_PEER_NONE;
    tuple.bytes = 1;
    if (operation->completes && letter != 'W' && letter != 'V')
        tuple.bytes = (uint32_t)number;
    if (kind->operation & ES_OPERATION_FAILED)
        tuple.bytes = ERROR_CLASS;
    if (kind->ends_later) {
        if (operation->combined) /* the send half came just before */
            tuple.start -= STEP;
        tuple.peer = ES_PEER_NONE;
        rank->ends[rank->end_count++] = tuple;
        return;
    }
    for (int i = 0; operation->completes && i < rank->end_count; i++) {
        rank->ends[i].stop = tuple.stop;
        add_tuple(rank, &rank->ends[i]);
    }
    if (operation->completes)
        rank->end_count = 0;
    add_tuple(rank, &tuple);
}

/* Returns what the calls of the program complete. */
static const char *run_program(struct completing_rank *rank, const char *program)
{
    const struct esi_causality_config config = {
        .listener = {.told = hear, .data = rank}};
    const struct esi_run_process info = {.host = "made", .identity = 1};
    const struct esi_run_reported world = {
        .key = {1, 2}, .name = "MPI_COMM_WORLD", .size = RANKS};
    struct esi_run_process *process;

    *rank = (struct completing_rank){.now = STEP};
    assert_int_equal(esi_causality_create(&config, &rank->causality), 0);
    assert_int_equal(
        esi_run_model_add_process(esi_causality_run(rank->causality), &info, &process),
        0);
    assert_int_equal(
        esi_causality_add_element(rank->causality, process, 0, &rank->element), 0);
    assert_int_equal(esi_run_model_set_communicator(esi_causality_run(rank->causality),
                                                    process, 0, &world),
                     0);
    for (; *program; program += strcspn(program, " "), program += *program == ' ') {
        run_step(rank, *program, atoi(program + 1));
        rank->now += STEP;
    }
    assert_int_equal(esi_causality_finish(rank->causality), 0);
    esi_causality_destroy(rank->causality);
    return rank->text;
}

static void calls_complete_sends_by_the_rule(void **state)
{
    static const struct {
        const char *program, *completed;
    } cases[] = {
        /* A wait for one names it: the oldest one like it. */
        {"s1 s2 W2 W1", " 2:1 3:0"},
        {"s1 s1 W1 W1", " 2:0 3:1"},
        {"S1 s2 V1 W2", " 2:0 3:1"},
        {"b1 W1", " 1:0"},
        {"P1 V1", " 1:0"},
        {"s1 o O1 W1", " 2:1 3:0"},
        {"r s1 W2 W1", " 3:0"}, /* the first one ends the receive */
        {"W1 s1 W1", " 2:0"},
        /* All that are open. */
        {"s1 s2 A2", " 2:0,1"},
        {"s1 r S2 A3", " 3:0,1"},
        {"s1 T1", " 1:0"},
        {"s1 o A2", " 2:0,1"},
        {"R s1 s2 A2", " 3:0,1"},
        /* One to nobody counts. */
        {"s1 s9 A2", " 2:0"},
        {"s1 n9 A2", " 2:0"},
        {"n9 s1 N1 W1", " 3:0"},
        {"n9 s1 W1 N1 s1 T1", " 2:0 5:1"},
        /* A pair sends until it has received. */
        {"I1 i s2 W1 W2", " 3:0 4:1"},
        {"I1 i s2 A2", " 3:0,1"},
        {"s2 I1 i W1 W2", " 3:1 4:0"},
        /* Fewer than are open: not known until the others are complete. */
        {"s1 s2 s3 Y3 A2", " 4:0,1,2"},
        {"s1 s2 s3 U3 W2 W1 W3", " 4:1 5:0 6:2"},
        {"s1 s2 s3 A2 s1 A2", " 5:0,1,2,3"},
        {"r s1 s2 Y3 A2", " 4:0,1"},
        /* Possibly more than are open: forgotten. */
        {"s1 A3 s2 W2", " 3:1"},
        {"s1 s2 X2 s3 W3", " 4:2"},
        {"s1 N1 s2 W2", " 3:1"},
        {"s1 E1 s2 W2", " 3:1"},
        {"s1 s2 E2 s1 s2 A2", " 5:2,3"},
        /* Who is not waited for. */
        {"s1 F s2 s3 A2", " 4:1,2"},
        {"s1 C1 s2 s3 A2", " 4:1,2"},
        {"s1 L s2 s3 A2", " 4:1,2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct completing_rank rank;

        assert_string_equal(run_program(&rank, cases[i].program), cases[i].completed);
    }
}

SUITE(test_completion)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_complete_sends_by_the_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
