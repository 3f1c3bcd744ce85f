/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sites - calls MPI at marked lines: "OPERATIONS in FUNCTION" is in the line before
 * each call.
 *
 *   mpiexec -n 2 sites [hang|serialized]
 *
 * With "hang", rank 0 waits forever at the end; with "serialized", MPI is initialized
 * for one thread at a time.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static int rank;

/* The tuple of a request has the site of its post. */
static void exchange(void)
{
    MPI_Request requests[9];
    int out = rank, in[6];

    for (int i = 0; i < 3; i++) {
        /* SITE MPI_Irecv in exchange() */
        MPI_Irecv(&in[2 * i], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                  &requests[3 * i]);
        /* SITE MPI_Irecv in exchange() */
        MPI_Irecv(&in[2 * i + 1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD,
                  &requests[3 * i + 1]);
        /* SITE MPI_Isend in exchange() */
        MPI_Isend(&out, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[3 * i + 2]);
        /* SITE MPI_Send in exchange() */
        MPI_Send(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    }
    /* SITE MPI_Waitall in exchange() */
    MPI_Waitall(9, requests, MPI_STATUSES_IGNORE);
}

/* A wildcard defers the next receive until it is decided in another call. */
static void hold_back(void)
{
    MPI_Request any, later;
    int in[2], out = rank;

    /* SITE MPI_Irecv in hold_back() */
    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_SELF, &any);
    /* SITE MPI_Irecv in hold_back() */
    MPI_Irecv(&in[1], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &later);
    /* SITE MPI_Send in hold_back() */
    MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    /* SITE MPI_Send in hold_back() */
    MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    /* SITE MPI_Wait in hold_back() */
    MPI_Wait(&later, MPI_STATUS_IGNORE);
    /* SITE MPI_Wait in hold_back() */
    MPI_Wait(&any, MPI_STATUS_IGNORE);
}

static void start_often(void)
{
    MPI_Request request;
    int in, out = rank;

    /* SITE MPI_Recv_init in start_often() */
    MPI_Recv_init(&in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    for (int i = 0; i < 3; i++) {
        /* SITE MPI_Start,MPI_Start_receive in start_often() */
        MPI_Start(&request);
        /* SITE MPI_Send in start_often() */
        MPI_Send(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
        /* SITE MPI_Wait in start_often() */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    /* SITE MPI_Request_free in start_often() */
    MPI_Request_free(&request);
}

static inline __attribute__((always_inline)) void meet(void)
{
    /* SITE MPI_Barrier in meet() */
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *call_from_thread(void *argument)
{
    int in, out = rank;

    /* SITE MPI_Sendrecv,MPI_Sendrecv_receive in call_from_thread() */
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, 0, 4, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    return argument;
}

int main(int argc, char **argv)
{
    bool serialized = argc > 1 && strcmp(argv[1], "serialized") == 0;
    int wanted = serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    int provided, in;
    pthread_t thread;

    /* SITE MPI_Init_thread in main() */
    MPI_Init_thread(NULL, NULL, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange();
    hold_back();
    start_often();
    meet();
    pthread_create(&thread, NULL, call_from_thread, NULL);
    pthread_join(thread, NULL);
    if (argc > 1 && strcmp(argv[1], "hang") == 0 && rank == 0)
        MPI_Recv(&in, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    /* SITE MPI_Finalize in main() */
    MPI_Finalize();
    return 0;
}
