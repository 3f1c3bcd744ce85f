/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* threads.c - ranks with several threads, of which one or all wait. */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "listen.h"

static pthread_t start_thread(void *(*run)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL)) {
        fprintf(stderr, "cannot start a thread\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return thread;
}

static void *receive_other(void *unused)
{
    (void)unused;
    case_receive(1 - case_rank, TAG_OTHER);
    return NULL;
}

/* All four threads wait for the other rank. */
static void all_threads_stuck(void)
{
    pthread_t thread = start_thread(receive_other);

    case_receive_in_vain(1 - case_rank);
    pthread_join(thread, NULL);
}

/* All threads of rank 0 wait for rank 1, which is in a barrier. */
static void stuck_beside_barrier(void)
{
    if (case_rank == 0) {
        pthread_t thread = start_thread(receive_other);
        case_receive_in_vain(1);
        pthread_join(thread, NULL);
    }
    case_meet_in_vain();
}

static void *exchange_until_go(void *unused)
{
    int value, stop = 0;

    (void)unused;
    while (!stop) {
        int mine = case_rank == 0 && case_may_go();
        MPI_Sendrecv(&mine, 1, MPI_INT, 1 - case_rank, TAG_DATA, &value, 1, MPI_INT,
                     1 - case_rank, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        stop = mine || value;
    }
    case_send(1 - case_rank, TAG_OTHER);
    return NULL;
}

/* The main threads wait for each other.  Two more threads exchange messages and
 * release them in the end. */
static void one_thread_goes_on(void)
{
    pthread_t thread = start_thread(exchange_until_go);

    case_reached();
    receive_other(NULL);
    pthread_join(thread, NULL);
}

static void *send_late(void *unused)
{
    (void)unused;
    listen_for_go();
    case_send(1 - case_rank, TAG_OTHER);
    return NULL;
}

/* The thread that will release the other rank has not called MPI yet. */
static void unseen_thread(void)
{
    pthread_t thread = start_thread(send_late);

    case_reached();
    receive_other(NULL);
    pthread_join(thread, NULL);
}

/* Only rank 1 has such a thread, which does not call MPI even then. */
static void *sleep_until_go(void *unused)
{
    listen_for_go();
    return unused;
}

static void idle_thread(void)
{
    if (case_rank == 1)
        start_thread(sleep_until_go);
    case_receive_in_vain(1 - case_rank);
}

/* The thread will cancel the receive for which its rank waits. */
static MPI_Request pending;

static void *cancel_late(void *unused)
{
    listen_for_go();
    MPI_Cancel(&pending);
    return unused;
}

static void unseen_cancel(void)
{
    MPI_Request copy;
    pthread_t thread;
    int value;

    if (case_rank == 1) {
        case_reached();
        MPI_Finalize();
        exit(0);
    }
    MPI_Irecv(&value, 1, MPI_INT, 1, TAG_NEVER, MPI_COMM_WORLD, &pending);
    copy = pending;
    thread = start_thread(cancel_late);
    case_reached();
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

/* No thread but those that wait. */
static void stuck_alone(void)
{
    case_receive_in_vain(1 - case_rank);
}

/* Rank 1 is not in MPI: it listens itself. */
static void listening_rank(void)
{
    case_reached();
    if (case_rank == 1) {
        listen_for_go();
        case_send(0, TAG_OTHER);
    } else {
        case_receive(1, TAG_OTHER);
    }
}

/* The thread has called MPI before, and now computes. */
static void *send_early_and_late(void *unused)
{
    case_send(1 - case_rank, TAG_DATA);
    return send_late(unused);
}

static void thread_between_calls(void)
{
    pthread_t thread = start_thread(send_early_and_late);

    case_receive(1 - case_rank, TAG_DATA);
    case_reached();
    receive_other(NULL);
    pthread_join(thread, NULL);
}

/* Such threads come and go while the main threads are in barriers. */
static void *exchange_once(void *unused)
{
    int value;

    (void)unused;
    MPI_Sendrecv(&case_rank, 1, MPI_INT, 1 - case_rank, TAG_DATA, &value, 1, MPI_INT,
                 1 - case_rank, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void short_threads(void)
{
    for (long round = 0; case_goes_on(round); round++) {
        pthread_t thread = start_thread(exchange_once);
        MPI_Barrier(MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    }
}

const struct verdict_case thread_cases[] = {
    {"all_threads_stuck", 2, CASE_HANGS, "DEADLOCK any 0,1", all_threads_stuck, true},
    {"stuck_beside_barrier", 2, CASE_HANGS, "DEADLOCK any 0,1", stuck_beside_barrier,
     true},
    {"one_thread_goes_on", 2, CASE_GOES, "none", one_thread_goes_on, true},
    {"unseen_thread", 2, CASE_GOES, "none", unseen_thread, true},
    {"unseen_cancel", 2, CASE_GOES, "none", unseen_cancel, true},
    {"idle_thread", 2, CASE_HANGS, "DEADLOCK possible 0,1", idle_thread, true},
    {"stuck_alone", 2, CASE_HANGS, "DEADLOCK certain 0,1", stuck_alone, true},
    {"listening_rank", 2, CASE_GOES, "none", listening_rank, true},
    {"thread_between_calls", 2, CASE_GOES, "none", thread_between_calls, true},
    {"short_threads", 2, CASE_GOES, "none", short_threads, true},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
