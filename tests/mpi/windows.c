/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * windows - one-sided communication on several windows at a time, in epochs with
 * changing ranks; four ranks.
 */
#include <mpi.h>

enum { ROUNDS = 5, SIZE_MAX_RANKS = 16 };

static int rank;
static int size;

static MPI_Win make_window(MPI_Comm comm)
{
    void *base;
    MPI_Win win;

    MPI_Win_allocate(SIZE_MAX_RANKS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm,
                     &base, &win);
    return win;
}

/* Whether `origin` accesses `target` in a round; both compute it. */
static int has_access(int round, int origin, int target)
{
    return origin != target && (origin * 5 + target * 3 + round) % 3 != 0;
}

/* The group of ranks that access this rank's window, or whose windows it accesses. */
static MPI_Group others(MPI_Win win, int round, int is_origin)
{
    MPI_Group all;
    MPI_Group group;
    int ranks[SIZE_MAX_RANKS];
    int count = 0;

    for (int i = size - 1; i >= 0; i--)
        if (is_origin ? has_access(round, rank, i) : has_access(round, i, rank))
            ranks[count++] = i;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static void await(MPI_Win win, int round)
{
    int flag = 0;

    if (round % 2 == 0)
        MPI_Win_wait(win);
    else
        while (!flag)
            MPI_Win_test(win, &flag);
}

/* All ranks have ended the previous epochs: MPICH 4.0 counts posts without
 * distinguishing their origins. */
static void neighbours(MPI_Win win, int round)
{
    MPI_Group origins = others(win, round, 0);
    MPI_Group targets = others(win, round, 1);

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_post(origins, 0, win);
    MPI_Win_start(targets, 0, win);
    for (int i = 0; i < size; i++)
        if (has_access(round, rank, i))
            MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, win);
    MPI_Win_complete(win);
    await(win, round);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

static void together(MPI_Win win)
{
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
}

static void locked(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    MPI_Win_unlock(0, win);
}

int main(int argc, char **argv)
{
    MPI_Comm reversed;
    MPI_Win first;
    MPI_Win second;
    MPI_Win third;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    first = make_window(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    second = make_window(MPI_COMM_WORLD);
    third = make_window(reversed);
    together(second);
    together(first);
    locked(second);
    rank = size - 1 - rank; /* from here on the rank in the reversed communicator */
    for (int round = 0; round < ROUNDS; round++)
        neighbours(third, round);
    rank = size - 1 - rank;
    for (int round = 1; round < ROUNDS; round++) {
        neighbours(first, round);
        neighbours(second, round + 1);
    }
    MPI_Win_free(&first);
    /* Its handle is used again; its epochs begin anew. */
    first = make_window(MPI_COMM_WORLD);
    neighbours(first, 0);
    MPI_Win_free(&second);
    MPI_Win_free(&first);
    MPI_Win_free(&third);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
