/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ends.c - ranks that others wait for and that have ended, well or badly. */
#include "cases.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether this is the last rank, which returns and enters MPI_Finalize(). */
static bool is_done(void)
{
    case_reached();
    return case_rank == case_size - 1;
}

static void finalize_receive(void)
{
    if (!is_done())
        case_receive(1, TAG_DATA);
}

static void finalize_ssend(void)
{
    if (!is_done())
        MPI_Ssend(&case_rank, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD);
}

static void finalize_barrier(void)
{
    if (!is_done())
        MPI_Barrier(MPI_COMM_WORLD);
}

static void finalize_wildcard(void)
{
    if (case_rank == 0) {
        case_reached();
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        return;
    }
    case_reached();
}

/* Rank 0 waits for 1, 1 waits for 2, and 2 is in MPI_Finalize(). */
static void finalize_chain(void)
{
    if (!is_done())
        case_receive(case_rank + 1, TAG_DATA);
}

static void finalize_waitall(void)
{
    int values[2];
    MPI_Request requests[2];

    if (case_rank == 1)
        case_send(0, TAG_DATA);
    if (is_done())
        return;
    MPI_Irecv(&values[0], 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 1, TAG_OTHER, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Whether this is rank 1, which is about to end while rank 0 waits for it. */
static bool is_to_end(void)
{
    if (case_rank == 0) {
        case_send(1, TAG_DATA);
        case_receive(1, TAG_NEVER);
        return false;
    }
    case_receive(0, TAG_DATA);
    for (int i = 0; i < 50; i++)
        case_nap();
    return true;
}

static void exit_early(void)
{
    if (is_to_end())
        exit(3);
}

static void exit_at_once(void)
{
    if (is_to_end())
        _exit(5);
}

static void killed(void)
{
    if (is_to_end())
        raise(SIGKILL);
}

static void crashed(void)
{
    if (is_to_end())
        raise(SIGSEGV);
}

static void aborted(void)
{
    if (is_to_end())
        MPI_Abort(MPI_COMM_WORLD, 7);
}

/* The message is longer than the receive.  The error ends the program after rank
 * 0 has left its send. */
static void truncated(void)
{
    static const int values[4];

    if (case_rank == 0) {
        MPI_Send(values, 4, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD);
        case_receive(1, TAG_NEVER);
    }
    for (int i = 0; i < 50; i++)
        case_nap();
    case_receive(0, TAG_DATA);
}

/* Rank 0 is in no call when rank 1 fails, and both may be killed by the launcher. */
static void truncated_elsewhere(void)
{
    static const int values[4];

    if (case_rank == 0) {
        MPI_Send(values, 4, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD);
        for (;;)
            case_nap();
    }
    for (int i = 0; i < 50; i++)
        case_nap();
    case_receive(0, TAG_DATA);
}

/* Rank 0 kills rank 1 in its receive, and the launcher then kills rank 0 at once.
 * Nothing shows which of them died first. */
static void killed_in_receive(void)
{
    int pids[2];

    case_exchange_pids(pids);
    if (case_rank == 0) {
        case_receive(1, TAG_DATA);
        for (int i = 0; i < 50; i++)
            case_nap();
        kill(pids[1], SIGKILL);
        case_receive(1, TAG_NEVER);
    }
    case_send(0, TAG_DATA);
    case_receive(0, TAG_NEVER);
}

/* The others are in a collective operation that rank 1 never
 * enters, since it is dead. */
static void killed_before_barrier(void)
{
    if (case_rank == 1) {
        for (int i = 0; i < 50; i++)
            case_nap();
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

const struct verdict_case end_cases[] = {
    {"finalize_receive", 2, CASE_HANGS, "MISSING certain 1", finalize_receive, false},
    {"finalize_ssend", 2, CASE_HANGS, "MISSING certain 1", finalize_ssend, false},
    {"finalize_barrier", 3, CASE_HANGS, "MISSING certain 2", finalize_barrier, false},
    {"finalize_wildcard", 3, CASE_HANGS, "MISSING certain 1,2", finalize_wildcard,
     false},
    {"finalize_chain", 3, CASE_HANGS, "MISSING certain 2", finalize_chain, false},
    {"finalize_waitall", 2, CASE_HANGS, "MISSING certain 1", finalize_waitall, false},
    {"exit_early", 2, CASE_DIES, "DIED certain 1", exit_early, false},
    {"exit_at_once", 2, CASE_DIES, "DIED certain 1", exit_at_once, false},
    {"killed", 2, CASE_DIES, "DIED certain 1/0,1", killed, false},
    {"crashed", 2, CASE_DIES, "DIED certain 1", crashed, false},
    {"aborted", 2, CASE_DIES, "DIED certain 1", aborted, false},
    {"truncated", 2, CASE_DIES, "DIED certain 1/0,1", truncated, false},
    {"truncated_elsewhere", 2, CASE_DIES, "DIED certain 1/0,1", truncated_elsewhere,
     false},
    {"killed_in_receive", 2, CASE_DIES, "DIED certain 0,1", killed_in_receive, false},
    {"killed_before_barrier", 3, CASE_DIES, "DIED certain 1/0,1,2",
     killed_before_barrier, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
