/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * refused_messages - messages like those sent and received before, but MPI refuses
 * them: their buffer is null, or too small; and a broadcast from no rank.  Two ranks.
 */
#include <mpi.h>
#include <stddef.h>

enum { ROUNDS = 6, REFUSED_ROUND = 3 };

static int refused; /* calls that returned an error */

static void note(int result)
{
    refused += result != MPI_SUCCESS;
}

static void send_all(int *words, int is_refused)
{
    MPI_Request request;

    if (is_refused)
        note(MPI_Send(NULL, 1, MPI_INT, 1, 5, MPI_COMM_WORLD));
    MPI_Send(words, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    if (is_refused)
        note(MPI_Isend(NULL, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request));
    MPI_Isend(words, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(words, is_refused ? 4 : 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
}

static void receive_all(int *words, int is_refused)
{
    MPI_Request request;

    if (is_refused)
        note(MPI_Recv(NULL, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Recv(words, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_refused)
        note(MPI_Irecv(NULL, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request));
    MPI_Irecv(words, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note(MPI_Recv(words, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int words[4] = {0};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0)
            send_all(words, round == REFUSED_ROUND);
        else
            receive_all(words, round == REFUSED_ROUND);
        if (round == REFUSED_ROUND)
            note(MPI_Bcast(words, 1, MPI_INT, 2, MPI_COMM_WORLD));
        MPI_Bcast(words, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    if (refused != (rank == 0 ? 3 : 4))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
