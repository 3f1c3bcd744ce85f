/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pool_calls.c - the MPI calls of pool.py. */
#include <mpi.h>
#include <stddef.h>

static int rank;

int start(void)
{
    int level;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return rank;
}

void send_to(int other)
{
    MPI_Send(&rank, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
}

int receive_from(int other)
{
    int value = -1;

    MPI_Recv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

void stop(void)
{
    MPI_Finalize();
}
