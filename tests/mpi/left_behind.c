/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * left_behind - a thread ends while its receive is deferred: an earlier wildcard
 * receive of the main thread may have taken its message, and completes only afterwards;
 * one rank.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *receive(void *unused)
{
    int word = -1;
    MPI_Request request;

    (void)unused;
    MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    for (int i = 0; i < 2; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("second %d\n", word);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;
    int word = -1;
    MPI_Request request;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &request);
    pthread_create(&thread, NULL, receive, NULL);
    pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("first %d\n", word);
    MPI_Finalize();
    return 0;
}
