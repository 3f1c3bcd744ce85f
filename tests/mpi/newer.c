/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * newer - calls that are new in MPI-4.0, and generalized requests, with known messages;
 * two ranks check what they receive.
 *
 * Exits with 77 if MPI is older.
 */
#include <stdio.h>

#include "mpi4.h"

#if MPI_VERSION >= 4
enum { WORDS = 300, PARTITIONS = 4, ROUNDS = 2 };

static int rank;
static int other;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "newer: rank %d: wrong result of %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(int *words, int count, int seed)
{
    for (int i = 0; i < count; i++)
        words[i] = seed * 1000 + i;
}

static int filled(const int *words, int count, int seed)
{
    for (int i = 0; i < count; i++)
        if (words[i] != seed * 1000 + i)
            return 0;
    return 1;
}

/* Three messages of different lengths from rank 0 to 1 on one channel. */
static void blocking(void)
{
    int words[WORDS];

    for (int i = 1; i <= 3; i++)
        if (rank == 0) {
            fill(words, i * 100, i);
            MPI_Send_c(words, i * 100, MPI_INT, 1, 5, MPI_COMM_WORLD);
        } else {
            MPI_Status status;
            MPI_Count count;

            MPI_Recv_c(words, WORDS, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
            MPI_Get_count_c(&status, MPI_INT, &count);
            check(count == i * 100 && filled(words, i * 100, i), "MPI_Recv_c");
        }
}

static void nonblocking(void)
{
    int in[2][WORDS];
    int out[2][WORDS];
    MPI_Request requests[4];

    for (int i = 0; i < 2; i++) {
        fill(out[i], WORDS, 10 * rank + i);
        MPI_Irecv_c(in[i], WORDS, MPI_INT, other, 6, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Isend_c(out[i], 40 + i, MPI_INT, other, 6, MPI_COMM_WORLD,
                    &requests[2 + i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++)
        check(filled(in[i], 40 + i, 10 * other + i), "MPI_Irecv_c");
}

static void both_ways(void)
{
    int in[WORDS];
    int out[WORDS];

    fill(out, WORDS, 20 + rank);
    MPI_Sendrecv_c(out, 50 + rank, MPI_INT, other, 7, in, WORDS, MPI_INT, other, 7,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(filled(in, 50 + other, 20 + other), "MPI_Sendrecv_c");
}

static void collective(void)
{
    int words[WORDS];
    int sum = 0;

    fill(words, WORDS, 30 + rank);
    MPI_Bcast_c(words, 60, MPI_INT, 1, MPI_COMM_WORLD);
    check(filled(words, 60, 31), "MPI_Bcast_c");
    MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == 1, "MPI_Allreduce_c");
}

static void persistent(void)
{
    int value = 0;
    int sum;
    MPI_Request request;
    MPI_Request both[2];

    MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &request);
    for (int i = 0; i < ROUNDS; i++) {
        value = rank + i;
        sum = -1;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(sum == 1 + 2 * i, "MPI_Allreduce_init");
    }
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    both[0] = request;
    value = rank;
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    check(sum == 1, "MPI_Startall of MPI_Allreduce_init");
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&both[i]);
}

/* Rank 0 makes partitions ready in reverse order; rank 1 polls for each. */
static void partitioned(void)
{
    int words[PARTITIONS * 10] = {0};
    int arrived;
    MPI_Request request;

    if (rank == 0)
        MPI_Psend_init(words, PARTITIONS, 10, MPI_INT, 1, 8, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(words, PARTITIONS, 10, MPI_INT, 0, 8, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    for (int i = 0; i < ROUNDS; i++) {
        fill(words, PARTITIONS * 10, rank == 0 ? 40 + i : -1);
        MPI_Start(&request);
        for (int p = PARTITIONS - 1; p >= 0; p--)
            if (rank == 0) {
                MPI_Pready(p, request);
            } else {
                do
                    MPI_Parrived(request, p, &arrived);
                while (!arrived);
            }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(filled(words, PARTITIONS * 10, 40 + i), "partitioned communication");
    }
    MPI_Request_free(&request);
}

static int on_query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 99;
    return MPI_SUCCESS;
}

static int on_free(void *extra)
{
    *(int *)extra = -1;
    return MPI_SUCCESS;
}

static int on_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* A query of a status that is not available counts as a poll and not as an event. */
static void generalized(void)
{
    int state = 3;
    int flag;
    int count;
    MPI_Request request;
    MPI_Status status;

    MPI_Grequest_start(on_query, on_free, on_cancel, &state, &request);
    MPI_Request_get_status(request, &flag, &status);
    check(!flag, "MPI_Request_get_status of an open request");
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    check(flag && request != MPI_REQUEST_NULL && status.MPI_TAG == 99,
          "MPI_Request_get_status");
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == 3 && state == -1 && request == MPI_REQUEST_NULL, "MPI_Grequest");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    blocking();
    nonblocking();
    both_ways();
    collective();
    persistent();
    partitioned();
    generalized();
    MPI_Finalize();
    return 0;
}
#endif
