/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * counts - makes a known number of calls, some of which make MPI call itself; two
 * ranks.
 *
 *   counts FILE            FILE is written by MPI-IO
 */
#include <mpi.h>
#include <stdlib.h>

static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_Barrier(MPI_COMM_SELF);
}

static void messages(int rank)
{
    int word = rank;
    MPI_Request request;

    for (int i = 0; i < 7; i++) {
        MPI_Irecv(&word, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &request);
        MPI_Send(&rank, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Creates and starts persistent requests to the rank itself. */
static void persistent(int rank)
{
    int out = rank;
    int in = 0;
    MPI_Request requests[5];

    MPI_Recv_init(&in, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, &requests[1]);
    MPI_Ssend_init(&out, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, &requests[2]);
    MPI_Bsend_init(&out, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, &requests[3]);
    MPI_Rsend_init(&out, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, &requests[4]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; i++)
        MPI_Request_free(&requests[i]);
}

/* Calls that complete or start no request have the results that MPI defines. */
static void nothing(void)
{
    MPI_Request null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int indices[2];
    int index = 0;
    int count = 0;
    int flag = 0;
    int good = 0;

    good += MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    good += MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            index == MPI_UNDEFINED;
    good += MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
            count == MPI_UNDEFINED;
    good += MPI_Startall(0, null) == MPI_SUCCESS; /* Open MPI rejects NULL here */
    good +=
        MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && flag == 1;
    index = flag = 0;
    good += MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            flag == 1 && index == MPI_UNDEFINED;
    count = 0;
    good += MPI_Testsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
            count == MPI_UNDEFINED;
    good += MPI_Waitall(2, null, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    good += MPI_Waitany(2, null, &index, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            index == MPI_UNDEFINED;
    good +=
        MPI_Waitsome(2, null, &count, indices, MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
        count == MPI_UNDEFINED;
    good += MPI_Wait(null, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (good != 11)
        MPI_Abort(MPI_COMM_WORLD, good);
}

static void write_file(const char *name, int rank)
{
    int words[64] = {rank};
    MPI_File file;
    MPI_Datatype every_other;

    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    MPI_Type_vector(32, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_set_view(file, rank * 4, MPI_INT, every_other, "native", MPI_INFO_NULL);
    for (int i = 0; i < 3; i++)
        MPI_File_write_all(file, words, 32, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&every_other);
}

static void put(int rank)
{
    int words[2] = {0, 0};
    MPI_Win win;

    MPI_Win_create(words, sizeof words, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++)
        MPI_Put(&rank, 1, MPI_INT, 1 - rank, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int rank;
    int key;
    int sum;
    MPI_Comm comm;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    messages(rank);
    persistent(rank);
    nothing();
    for (int i = 0; i < 5; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free(&comm);
    put(rank);
    if (argc > 1)
        write_file(argv[1], rank);
    MPI_Finalize();
    return 0;
}
