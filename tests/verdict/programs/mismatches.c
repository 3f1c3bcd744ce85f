/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* mismatches.c - collective operations that do not match.  Some hang.  The others end
 * with wrong results, and their ranks wait until they may go. */
#include "cases.h"

#include <stddef.h>

enum { WORDS = 16 };

static int in[WORDS];
static int out[WORDS];

/* Keeps the ranks of a case that does not hang alive. */
static void stay_alive(void)
{
    case_reached();
    case_await_go();
}

static void barrier_and_bcast(void)
{
    case_reached();
    if (case_rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void reduce_and_allreduce(void)
{
    case_reached();
    if (case_rank == 0)
        MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void gather_and_scatter(void)
{
    case_reached();
    if (case_rank == 0)
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank passes itself as the root, which gets the result. */
static void root_of_reduce(void)
{
    case_reached();
    MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, case_rank, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank passes the other one as the root, which has the value. */
static void root_of_bcast(void)
{
    case_reached();
    MPI_Bcast(in, 1, MPI_INT, 1 - case_rank, MPI_COMM_WORLD);
}

static void operator_differs(void)
{
    MPI_Allreduce(in, out, 1, MPI_INT, case_rank == 0 ? MPI_SUM : MPI_MAX,
                  MPI_COMM_WORLD);
    stay_alive();
}

static void type_differs(void)
{
    MPI_Allreduce(in, out, 1, case_rank == 0 ? MPI_INT : MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    stay_alive();
}

static void count_differs(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast(in, case_rank == 0 ? 1 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    stay_alive();
}

/* Several operations are in progress, and the third one differs. */
static void operator_differs_later(void)
{
    MPI_Request requests[4];

    for (int i = 0; i < 4; i++)
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT,
                       i == 2 && case_rank == 1 ? MPI_PROD : MPI_SUM, MPI_COMM_WORLD,
                       &requests[i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    stay_alive();
}

static void blocking_and_not(void)
{
    MPI_Request request;

    case_reached();
    if (case_rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    case_await_go();
}

/* The ranks post two operations in different order. */
static void posted_in_other_order(void)
{
    MPI_Request requests[2];

    case_reached();
    if (case_rank == 0) {
        MPI_Ibcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    } else {
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        MPI_Ibcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* One rank duplicates a communicator while the other one is in a barrier. */
static void dup_and_barrier(void)
{
    MPI_Comm copy;

    case_reached();
    if (case_rank == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

const struct verdict_case mismatch_cases[] = {
    {"barrier_and_bcast", 2, CASE_HANGS, "MISMATCH certain 0,1", barrier_and_bcast,
     false},
    {"reduce_and_allreduce", 2, CASE_HANGS, "MISMATCH certain 0,1",
     reduce_and_allreduce, false},
    {"gather_and_scatter", 2, CASE_HANGS, "MISMATCH certain 0,1", gather_and_scatter,
     false},
    {"root_of_reduce", 2, CASE_HANGS, "MISMATCH certain 0,1", root_of_reduce, false},
    {"root_of_bcast", 2, CASE_HANGS, "MISMATCH certain 0,1", root_of_bcast, false},
    {"operator_differs", 2, CASE_GOES, "MISMATCH certain 0,1", operator_differs, false},
    {"type_differs", 2, CASE_GOES, "MISMATCH certain 0,1", type_differs, false},
    {"count_differs", 2, CASE_GOES, "MISMATCH certain 0,1", count_differs, false},
    {"operator_differs_later", 2, CASE_GOES, "MISMATCH certain 0,1",
     operator_differs_later, false},
    {"blocking_and_not", 2, CASE_HANGS, "MISMATCH certain 0,1", blocking_and_not,
     false},
    {"posted_in_other_order", 2, CASE_HANGS, "MISMATCH certain 0,1",
     posted_in_other_order, false},
    {"dup_and_barrier", 2, CASE_HANGS, "MISMATCH certain 0,1", dup_and_barrier, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
