/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * outstanding - two ranks leave various operations incomplete, then wait for a message
 * that never arrives:
 *
 *   outstanding waitall|waitany|wait|poll|storm|receive|threads
 */
#include <mpi.h>
#include <pthread.h>
#include <string.h>

#define NEVER 99 /* no message has this tag */

static int rank;
static int words[8];
static MPI_Request requests[3];

/* Names each communicator, so that the test can identify it. */
static MPI_Comm named(const char *name)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    return comm;
}

static void leave_collectives(void)
{
    MPI_Comm alike = named("alike");
    MPI_Comm unlike = named("unlike");
    MPI_Datatype four;
    MPI_Request started;
    int sum;

    MPI_Type_contiguous(4, MPI_INT, &four); /* not freed */
    MPI_Type_commit(&four);
    MPI_Bcast(words, rank == 0 ? 2 : 8, rank == 0 ? four : MPI_INT, 0, alike);
    MPI_Allreduce(words, &sum, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, unlike);
    MPI_Ibarrier(alike, &started);
    MPI_Wait(&started, MPI_STATUS_IGNORE);
}

static void ignore(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)count;
    (void)type;
}

static void leave_objects(void)
{
    MPI_Group group;
    MPI_Op op;
    MPI_Datatype freed;
    MPI_Comm gone;

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Op_create(ignore, 1, &op);
    MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &freed);
    MPI_Type_free(&freed);
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Comm_free(&gone);
}

static void leave_error(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(words, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}

static void leave_lock(void)
{
    MPI_Win win;

    MPI_Win_create(words, sizeof words, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_lock(rank == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 1 - rank, 0, win);
}

/* Rank 1 sends three messages; rank 0 receives one. */
static void leave_messages(void)
{
    MPI_Request sent[3];

    if (rank == 0) {
        MPI_Recv(words, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 0; i < 3; i++)
        MPI_Isend(words, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &sent[i]);
    MPI_Waitall(3, sent, MPI_STATUSES_IGNORE);
}

static void *receive_never(void *argument)
{
    MPI_Request request;

    MPI_Irecv(argument, 1, MPI_INT, 1 - rank, NEVER, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return NULL;
}

static void wait_in_threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, receive_never, &words[4]);
    receive_never(&words[5]);
}

static void wait_for_ever(const char *how)
{
    int flag;
    int index;
    int done;
    int indices[3];

    if (strcmp(how, "waitall") == 0)
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    else if (strcmp(how, "waitany") == 0)
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    else if (strcmp(how, "wait") == 0)
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    else if (strcmp(how, "threads") == 0)
        wait_in_threads();
    else if (strcmp(how, "receive") == 0)
        MPI_Recv(words, 1, MPI_INT, 1 - rank, NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (;;) {
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE);
        if (strcmp(how, "storm") == 0) {
            MPI_Testsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
            MPI_Iprobe(1 - rank, NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "receive";
    int provided;

    MPI_Init_thread(&argc, &argv,
                    strcmp(how, "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    leave_collectives();
    leave_objects();
    leave_error();
    leave_lock();
    leave_messages();
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&words[i], 1, MPI_INT, 1 - rank, NEVER + 1 + i, MPI_COMM_WORLD,
                  &requests[i]);
    wait_for_ever(how);
    return 0;
}
