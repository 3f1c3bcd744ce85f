/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* latent - programs that end well but contain an error, and their correct versions,
 * selected by the argument. */
#include <mpi.h>
#include <string.h>

enum { ROUNDS = 5, TAG = 7, ANSWER = 8 };

static int rank, size, to, from;
static int out = 1;

static void send_first(void)
{
    int in;

    MPI_Send(&out, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_first(void)
{
    MPI_Request request;
    int in;

    MPI_Isend(&out, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&in, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void broadcast_first(void)
{
    int in;

    if (rank == 0) {
        MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Send(&out, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        return;
    }
    if (rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void post_first(void)
{
    MPI_Request requests[2];
    int in;

    MPI_Irecv(&in, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&out, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(&in, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, to, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&out, 1, MPI_INT, to, TAG, &in, 1, MPI_INT, from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Rank 0 receives from all others, in any order. */
static void gather_any(void)
{
    int in;

    if (rank > 0)
        MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 answers in the order of arrival. */
static void answer_any(void)
{
    MPI_Status status;
    int in;

    if (rank > 0) {
        MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 1; i < size && rank == 0; i++) {
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        MPI_Send(&out, 1, MPI_INT, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
    }
}

/* Leaves a message that nobody receives, a receive that is not completed, and more. */
static void leave_over(void)
{
    static int in;
    static int done;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Comm twin;

    if (done++ > 0)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Type_contiguous(3, MPI_INT, &type);
    if (rank == 0)
        MPI_Send(&out, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Irecv(&in, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
}

struct latent_case {
    const char *name;
    void (*run)(void);
};

static const struct latent_case cases[] = {
    {"send-first", send_first},           {"wait-first", wait_first},
    {"broadcast-first", broadcast_first}, {"post-first", post_first},
    {"gather-any", gather_any},           {"answer-any", answer_any},
    {"leave-over", leave_over},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < ROUNDS && argc > 1 && strcmp(argv[1], cases[i].name) == 0;
             k++)
            cases[i].run();
    MPI_Finalize();
    return 0;
}
