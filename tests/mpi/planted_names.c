/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * planted_names - communicates on a communicator named by its first argument.  With a
 * second argument rank 0 waits for a message that is never sent.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, argc > 1 ? argv[1] : "");
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 20; i++) {
        MPI_Request request;

        MPI_Irecv(&word, 1, MPI_INT, (rank + size - 1) % size, i, comm, &request);
        MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, i, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_SUM, comm);
        MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    }
    if (argc > 2 && rank == 0) {
        printf("waiting\n");
        fflush(stdout);
        MPI_Recv(&word, 1, MPI_INT, 1, 4711, comm, MPI_STATUS_IGNORE);
    } else if (argc > 2) {
        MPI_Barrier(comm);
    }
    MPI_Finalize();
    return 0;
}
