/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * planted_names - communicates on a communicator named by its first argument.  Leaves
 * errors of each kind.  With a second argument rank 0 waits for a message that is never
 * sent.
 */
#include <mpi.h>
#include <stdio.h>

/* The rest is in a source file with a hostile name. */
#line 1 "=1+PLANT\033]0;title\a\r\nFORGED\t\302\233.c"

enum { ROUNDS = 20, TAG = 4711 };

static int rank, size;

static void exchange(MPI_Comm comm)
{
    int word = 0;

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;

        MPI_Irecv(&word, 1, MPI_INT, (rank + size - 1) % size, i, comm, &request);
        MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, i, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, comm);
        MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    }
}

/* A cycle of sends that were buffered, a race, and a receive that never completes. */
static void leave_errors(MPI_Comm comm)
{
    static int never;
    int word = 0;
    MPI_Request request;

    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, TAG, comm);
    MPI_Recv(&word, 1, MPI_INT, (rank + size - 1) % size, TAG, comm, MPI_STATUS_IGNORE);
    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, TAG + 1, comm);
        MPI_Recv(&word, 1, MPI_INT, 0, TAG + 2, comm, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Status status;

        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, comm, &status);
        MPI_Send(&i, 1, MPI_INT, status.MPI_SOURCE, TAG + 2, comm);
    }
    if (rank == 0)
        MPI_Irecv(&never, 1, MPI_INT, 1, TAG + 3, comm, &request);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    int word;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, argc > 1 ? argv[1] : "");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    exchange(comm);
    leave_errors(comm);
    if (argc > 2 && rank == 0) {
        printf("waiting\n");
        fflush(stdout);
        MPI_Recv(&word, 1, MPI_INT, 1, TAG, comm, MPI_STATUS_IGNORE);
    } else if (argc > 2) {
        MPI_Barrier(comm);
    }
    MPI_Finalize();
    return 0;
}
