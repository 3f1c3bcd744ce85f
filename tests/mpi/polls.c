/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * polls - polls STORM times without success by each routine that can, then exchanges
 * ROUNDS messages on three communicators ("red", "blue" and the world); two ranks.
 *
 *   polls STORM ROUNDS [hold | wild]
 *
 * hold: a receive is deferred until the end.  wild: the program also receives from any
 * source, and gives two communicators the same name.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int storm = argc > 1 ? atoi(argv[1]) : 0;
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    int wild = argc > 3 && strcmp(argv[3], "wild") == 0;
    int rank;
    int flag;
    int index;
    int done;
    int indices[1];
    int word = 0;
    int other = 0;
    MPI_Request request;
    MPI_Request open;
    MPI_Status status;
    MPI_Message message;
    MPI_Comm comms[3] = {MPI_COMM_WORLD};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&word, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &request);
    for (int i = 0; i < storm; i++) {
        MPI_Test(&request, &flag, &status);
        MPI_Testany(1, &request, &index, &flag, &status);
        MPI_Testall(1, &request, &flag, &status);
        MPI_Testsome(1, &request, &done, indices, &status);
        MPI_Request_get_status(request, &flag, &status);
        MPI_Iprobe(1 - rank, 6, MPI_COMM_WORLD, &flag, &status);
        MPI_Improbe(1 - rank, 6, MPI_COMM_WORLD, &flag, &message, &status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_set_name(comms[1], "red");
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    MPI_Comm_set_name(comms[2], wild ? "red" : "blue");
    if (wild) {
        MPI_Isend(&rank, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &request);
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
        do
            MPI_Test(&request, &flag, &status);
        while (!flag);
    }
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < rounds; i++) {
            MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, c, &word, 1, MPI_INT, 1 - rank, c,
                         comms[c], &status);
            MPI_Sendrecv(&i, 1, MPI_INT, rank, c, &word, 1, MPI_INT, rank, c, comms[c],
                         &status);
        }
    if (argc > 3 && !wild) { /* a wildcard that may match first stays open */
        MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 9, comms[1], &open);
        MPI_Irecv(&word, 1, MPI_INT, rank, 9, comms[1], &request);
        MPI_Send(&rank, 1, MPI_INT, rank, 9, comms[1]);
        MPI_Send(&rank, 1, MPI_INT, rank, 9, comms[1]);
        MPI_Wait(&request, &status);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Finalize();
    return 0;
}
