/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * counts - a known number of calls, among them some that make MPI call itself; two
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
