/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* late_module - loaded by late_host; is linked with MPI. */
#include <mpi.h>
#include <stdio.h>

int run(void);

/* MPI_Sendrecv has so many arguments that some handles are passed on the stack. */
int run(void)
{
    MPI_Status status;
    int rank;
    int size;
    int left;
    int got = -1;
    int sum = 0;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    left = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &got, 1, MPI_INT, left, 7,
                 MPI_COMM_WORLD, &status);
    printf("sum %d\n", sum);
    MPI_Finalize();
    if (got != left || status.MPI_SOURCE != left)
        return 1;
    return sum == size * (size - 1) / 2 ? 0 : 1;
}
