/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* fatal_errors - rank 1 makes the error that is named, which ends the program. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 5, NOBODY = 77 };

static const int values[4];
static int rank;

static void meet(MPI_Comm comm)
{
    int word = 0;

    /* When rank 1 fails, rank 0 is in a call that does not return. */
    if (rank == 0)
        MPI_Sendrecv(&word, 1, MPI_INT, 1, TAG + 1, &word, 1, MPI_INT, 1, TAG + 1, comm,
                     MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, TAG + 1, comm, MPI_STATUS_IGNORE);
}

static void truncate_in(MPI_Comm comm)
{
    int word;

    if (rank == 0)
        MPI_Send(values, 4, MPI_INT, 1, TAG, comm);
    meet(comm);
    MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
}

static void truncate_world(void)
{
    truncate_in(MPI_COMM_WORLD);
}

/* The communicator does not inherit the error handler of its parent. */
static void truncate_created(void)
{
    MPI_Group group;
    MPI_Comm made;

    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &made);
    truncate_in(made);
}

static void truncate_set_again(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    truncate_in(MPI_COMM_WORLD);
}

static void truncate_wait(void)
{
    MPI_Request request;
    int word;

    if (rank == 0)
        MPI_Send(values, 4, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    meet(MPI_COMM_WORLD);
    MPI_Irecv(&word, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void invalid_rank(void)
{
    meet(MPI_COMM_WORLD);
    MPI_Send(values, 1, MPI_INT, NOBODY, TAG, MPI_COMM_WORLD);
}

/* Rank 0 is in no call when rank 1 fails. */
static void compute(void)
{
    if (rank == 0)
        for (;;)
            pause();
}

static void invalid_rank_elsewhere(void)
{
    compute();
    MPI_Send(values, 1, MPI_INT, NOBODY, TAG, MPI_COMM_WORLD);
}

static void truncate_elsewhere(void)
{
    int word;

    if (rank == 0)
        MPI_Send(values, 4, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    compute();
    MPI_Recv(&word, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The routine is not recorded. */
static void invalid_type(void)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;

    meet(MPI_COMM_WORLD);
    MPI_Type_commit(&type);
}

static void invalid_window_rank(void)
{
    static int memory;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    meet(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, NOBODY, 0, window);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"truncate", truncate_world},
    {"truncate-created", truncate_created},
    {"truncate-set-again", truncate_set_again},
    {"truncate-wait", truncate_wait},
    {"truncate-elsewhere", truncate_elsewhere},
    {"invalid-rank", invalid_rank},
    {"invalid-rank-elsewhere", invalid_rank_elsewhere},
    {"invalid-type", invalid_type},
    {"invalid-window-rank", invalid_window_rank},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    MPI_Finalize();
    return 0;
}
