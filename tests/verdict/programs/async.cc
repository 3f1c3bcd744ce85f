/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* async.cc - std::async sends after "go", while the main thread receives. */
#include <mpi.h>

#include <future>

#include "listen.h"

int main(int argc, char **argv)
{
    int level, rank, value = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 2);
    auto sent = std::async(std::launch::async, [rank] {
        listen_for_go();
        return MPI_Send(&rank, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    });
    listen_reached(rank);
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent.wait();
    MPI_Finalize();
    return value != 1 - rank;
}
