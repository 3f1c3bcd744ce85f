/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * trees_live SECONDS: allreduces, barriers and broadcasts on two communicators, long
 * enough for somebody to change their trees meanwhile.  Rank 0 says when it is over.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wrong;

static void round_on(MPI_Comm comm, int number)
{
    int rank, size;
    int own, sum, value;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    own = rank + number;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != size * (size - 1) / 2 + size * number;
    MPI_Barrier(comm);
    value = rank == number % size ? number : -1;
    MPI_Bcast(&value, 1, MPI_INT, number % size, comm);
    wrong += value != number;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    double end;
    int goes_on = 1;
    int rank, number;
    MPI_Comm twin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    end = MPI_Wtime() + seconds;
    for (number = 0; goes_on; number++) {
        round_on(MPI_COMM_WORLD, number);
        round_on(twin, number);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(1000);
    }
    if (rank == 0)
        printf("rounds %d\n", number);
    if (wrong != 0)
        printf("rank %d: %d wrong\n", rank, wrong);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return wrong != 0;
}
