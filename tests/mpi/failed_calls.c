/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * failed_calls [hang] - calls that return errors to rank 0, which goes on; two ranks.
 * With `hang`, rank 1 waits for the message whose send failed.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void check(const char *name, int code, int expected)
{
    int error_class = code;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &error_class);
    if (error_class != expected) {
        printf("%s: class %d instead of %d\n", name, error_class, expected);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

/* A message that is too long for its receive. */
static void truncate_message(int rank)
{
    int words[2] = {1, 2};

    if (rank == 1)
        MPI_Send(words, 2, MPI_INT, 0, 8, MPI_COMM_WORLD);
    else
        check("MPI_Recv",
              MPI_Recv(words, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_ERR_TRUNCATE);
}

int main(int argc, char **argv)
{
    bool hangs = argc > 1 && strcmp(argv[1], "hang") == 0;
    MPI_Request request;
    int word = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    truncate_message(rank);
    if (rank == 0) {
        check("MPI_Send", MPI_Send(&word, 1, MPI_INT, 99, 7, MPI_COMM_WORLD),
              MPI_ERR_RANK);
        check("MPI_Irecv",
              MPI_Irecv(&word, 1, MPI_INT, 99, 7, MPI_COMM_WORLD, &request),
              MPI_ERR_RANK);
        check("MPI_Send", MPI_Send(&word, -1, MPI_INT, 1, 7, MPI_COMM_WORLD),
              MPI_ERR_COUNT);
    }
    if (!hangs && rank == 0)
        MPI_Send(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("over\n");
    return MPI_Finalize();
}
