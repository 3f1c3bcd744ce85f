/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* openmp.c - a parallel region: its first thread receives, another one sends after
 * "go". */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#include "listen.h"

int main(int argc, char **argv)
{
    int level, rank, value = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
        listen_reached(rank);
        MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        listen_for_go();
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return value != 1 - rank;
}
