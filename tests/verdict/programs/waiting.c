/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* waiting.c - right programs in which ranks wait long for one that sleeps, computes, is
 * stopped or gets no processor.  None of them is ever in a deadlock. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cases.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

static void slow_sender(void)
{
    case_reached();
    if (case_rank == 1) {
        case_await_go();
        case_send(0, TAG_DATA);
    } else {
        case_receive(1, TAG_DATA);
    }
}

static double compute(double value)
{
    for (int i = 0; i < 1000000; i++)
        value = value * 0.999999 + 1e-6;
    return value;
}

static void compute_until_go(void)
{
    double value = 0.5;

    while (!case_may_go())
        value = compute(value);
    if (value < 0)
        printf("%g\n", value);
}

static void busy_sender(void)
{
    case_reached();
    if (case_rank == 1) {
        compute_until_go();
        case_send(0, TAG_DATA);
    } else {
        case_receive(1, TAG_DATA);
    }
}

/* The sender computes only while nobody else needs the processor. */
static void descheduled_sender(void)
{
    if (case_rank == 1)
        sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){.sched_priority = 0});
    busy_sender();
}

/* Each rank waits for the previous one, and the first one sleeps. */
static void slow_behind(void)
{
    case_reached();
    if (case_rank == 0)
        case_await_go();
    else
        case_receive(case_rank - 1, TAG_DATA);
    if (case_rank + 1 < case_size)
        case_send(case_rank + 1, TAG_DATA);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void slow_barrier(void)
{
    case_reached();
    if (case_rank == 1)
        case_await_go();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void slow_root(void)
{
    int value = case_rank;

    case_reached();
    if (case_rank == 0)
        case_await_go();
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void slow_wildcard(void)
{
    case_reached();
    if (case_rank == 0) {
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        case_send(2, TAG_REPLY);
    } else if (case_rank == 1) {
        case_await_go();
        case_send(0, TAG_DATA);
    } else {
        case_receive(0, TAG_REPLY);
    }
}

static void slow_ssend_receiver(void)
{
    case_reached();
    if (case_rank == 0) {
        MPI_Ssend(&case_rank, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD);
    } else {
        case_await_go();
        case_receive(0, TAG_DATA);
    }
}

static void slow_waitall(void)
{
    int values[2];
    MPI_Request requests[2];

    if (case_rank > 0) {
        case_reached();
        if (case_rank == 2)
            case_await_go();
        case_send(0, TAG_DATA);
    } else {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, i + 1, TAG_DATA, MPI_COMM_WORLD,
                      &requests[i]);
        case_reached();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 polls for a message that does not come and gives up.  Then
 * both ranks continue. */
static void polling_gives_up(void)
{
    int found = 0;

    case_reached();
    if (case_rank == 0) {
        while (!found && !case_may_go())
            MPI_Iprobe(1, TAG_NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        case_send(1, TAG_DATA);
    } else {
        case_receive(0, TAG_DATA);
    }
}

/* Rank 0 cancels a receive that is never matched. */
static void waiting_is_cancelled(void)
{
    int value, done = 0;
    MPI_Request request;

    if (case_rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, TAG_NEVER, MPI_COMM_WORLD, &request);
        case_reached();
        while (!done && !case_may_go())
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        case_send(1, TAG_DATA);
    } else {
        case_reached();
        case_receive(0, TAG_DATA);
    }
}

/* One rank is in MPI_Finalize(), the other one sleeps and does not need it. */
static void slow_finalize(void)
{
    case_reached();
    if (case_rank == 0)
        case_await_go();
}

static void slow_lock_holder(void)
{
    static int memory;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    if (case_rank == 1) {
        case_receive(0, TAG_DATA);
        case_reached();
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&case_rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    if (case_rank == 0) {
        case_send(1, TAG_DATA);
        case_reached();
        case_await_go();
    }
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
}

/* --- Stopped ranks ---------------------------------------------------------------- */

static int pids[8];

/* Runs in the rank that has stopped others, and continues them
 * even if its MPI waits. */
static void *continue_late(void *unused)
{
    (void)unused;
    case_await_go();
    for (int i = 0; i < case_size; i++)
        kill(pids[i], SIGCONT);
    return NULL;
}

static pthread_t stop_rank(int rank)
{
    pthread_t thread;

    case_await_reached(rank); /* when stopped, it could not */
    for (int i = 0; i < 20; i++)
        case_nap(); /* until it most probably waits */
    kill(pids[rank], SIGSTOP);
    if (pthread_create(&thread, NULL, continue_late, NULL))
        MPI_Abort(MPI_COMM_WORLD, 2);
    return thread;
}

/* Rank 0 is stopped in a receive although its message has arrived.  Rank 1
 * waits for the answer. */
static void stopped_receiver(void)
{
    case_exchange_pids(pids);
    if (case_rank == 0) {
        case_reached();
        case_receive(1, TAG_DATA);
        case_send(1, TAG_REPLY);
        return;
    }
    pthread_t thread = stop_rank(0);
    case_send(0, TAG_DATA);
    case_reached();
    case_receive(0, TAG_REPLY);
    pthread_join(thread, NULL);
}

/* Rank 0 is stopped in a wait for two receives whose messages have arrived. */
static void stopped_waitall(void)
{
    int values[2];
    MPI_Request requests[2];

    case_exchange_pids(pids);
    if (case_rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD,
                      &requests[i]);
        case_reached();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        case_send(1, TAG_REPLY);
        return;
    }
    pthread_t thread = stop_rank(0);
    case_send(0, TAG_DATA);
    case_send(0, TAG_DATA);
    case_reached();
    case_receive(0, TAG_REPLY);
    pthread_join(thread, NULL);
}

/* Rank 0 is stopped in a receive from MPI_ANY_SOURCE. */
static void stopped_wildcard(void)
{
    case_exchange_pids(pids);
    if (case_rank == 0) {
        case_reached();
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        case_send(1, TAG_REPLY);
        return;
    }
    pthread_t thread = stop_rank(0);
    case_send(0, TAG_DATA);
    case_reached();
    case_receive(0, TAG_REPLY);
    pthread_join(thread, NULL);
}

/* Rank 0 is stopped in a probe although its message has arrived. */
static void stopped_probe(void)
{
    case_exchange_pids(pids);
    if (case_rank == 0) {
        case_reached();
        MPI_Probe(1, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        case_receive(1, TAG_DATA);
        case_send(1, TAG_REPLY);
        return;
    }
    pthread_t thread = stop_rank(0);
    case_send(0, TAG_DATA);
    case_reached();
    case_receive(0, TAG_REPLY);
    pthread_join(thread, NULL);
}

/* Rank 0 is stopped in a long send.  Rank 1 posts the receive afterwards. */
static void stopped_sender(void)
{
    case_exchange_pids(pids);
    if (case_rank == 0) {
        case_reached();
        MPI_Send(case_large, LARGE_BYTES, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD);
        return;
    }
    pthread_t thread = stop_rank(0);
    case_reached();
    MPI_Recv(case_large_in, LARGE_BYTES, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

/* Rank 0 is stopped in a barrier that all ranks have entered. */
static void stopped_barrier(void)
{
    case_exchange_pids(pids);
    if (case_rank == 0) {
        case_reached();
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    pthread_t thread = stop_rank(0);
    case_reached();
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

/* Ranks 0 and 1 are stopped while they exchange messages.  Rank 2 waits for them. */
static void stopped_exchange(void)
{
    pthread_t threads[2];

    case_exchange_pids(pids);
    if (case_rank == 2) {
        for (int i = 0; i < 2; i++)
            threads[i] = stop_rank(i);
        for (int i = 0; i < 2; i++)
            case_send(i, TAG_REPLY);
    }
    case_reached();
    for (int i = 0; i < 2; i++) {
        if (case_rank != 2) {
            case_receive(2, TAG_REPLY);
            case_send(1 - case_rank, TAG_OTHER);
            case_receive(1 - case_rank, TAG_OTHER);
            case_send(2, TAG_DATA);
            return;
        }
        case_receive(i, TAG_DATA);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

const struct verdict_case waiting_cases[] = {
    {"slow_sender", 2, CASE_GOES, "none", slow_sender, false},
    {"busy_sender", 2, CASE_GOES, "none", busy_sender, false},
    {"descheduled_sender", 2, CASE_GOES, "none", descheduled_sender, false},
    {"slow_behind", 4, CASE_GOES, "none", slow_behind, false},
    {"slow_barrier", 3, CASE_GOES, "none", slow_barrier, false},
    {"slow_root", 3, CASE_GOES, "none", slow_root, false},
    {"slow_wildcard", 3, CASE_GOES, "none", slow_wildcard, false},
    {"slow_ssend_receiver", 2, CASE_GOES, "none", slow_ssend_receiver, false},
    {"slow_waitall", 3, CASE_GOES, "none", slow_waitall, false},
    {"polling_gives_up", 2, CASE_GOES, "none", polling_gives_up, false},
    {"waiting_is_cancelled", 2, CASE_GOES, "none", waiting_is_cancelled, false},
    {"slow_finalize", 2, CASE_GOES, "none", slow_finalize, false},
    {"slow_lock_holder", 2, CASE_GOES, "none", slow_lock_holder, false},
    {"stopped_receiver", 2, CASE_GOES, "none", stopped_receiver, false},
    {"stopped_waitall", 2, CASE_GOES, "none", stopped_waitall, false},
    {"stopped_wildcard", 2, CASE_GOES, "none", stopped_wildcard, false},
    {"stopped_probe", 2, CASE_GOES, "none", stopped_probe, false},
    {"stopped_sender", 2, CASE_GOES, "none", stopped_sender, false},
    {"stopped_barrier", 2, CASE_GOES, "none", stopped_barrier, false},
    {"stopped_exchange", 3, CASE_GOES, "none", stopped_exchange, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
