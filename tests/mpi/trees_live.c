/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * trees_live SECONDS [mixed]: allreduces, barriers and broadcasts on two communicators,
 * while their trees are changed from outside.  With "mixed" there is a third
 * communicator, and nonblocking forms are used.  Rank 0 prints the number of rounds at
 * the end.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int wrong;

static void round_on(MPI_Comm comm, int number)
{
    int rank, size;
    int own, sum, value;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    own = rank + number;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != size * (size - 1) / 2 + size * number;
    MPI_Barrier(comm);
    value = rank == number % size ? number : -1;
    MPI_Bcast(&value, 1, MPI_INT, number % size, comm);
    wrong += value != number;
}

/* The nonblocking operations of one round on one communicator. */
struct under_way {
    int own[1000], sums[1000], value[1000];
    int count;
    MPI_Request requests[2];
};

static void begin(MPI_Comm comm, int number, struct under_way *all)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    all->count = 1 + number * 7 % 1000;
    for (int i = 0; i < all->count; i++) {
        all->own[i] = rank + number + i;
        all->value[i] = rank == number % size ? number + i : -1;
    }
    MPI_Iallreduce(all->own, all->sums, all->count, MPI_INT, MPI_SUM, comm,
                   &all->requests[0]);
    MPI_Ibcast(all->value, all->count, MPI_INT, number % size, comm, &all->requests[1]);
}

static void finish(MPI_Comm comm, int number, struct under_way *all)
{
    int size;
    MPI_Status statuses[2];

    MPI_Comm_size(comm, &size);
    MPI_Waitall(2, all->requests, statuses);
    for (int i = 0; i < all->count; i++) {
        wrong += all->sums[i] != size * (size - 1) / 2 + size * (number + i);
        wrong += all->value[i] != number + i;
    }
}

/* Operations of one communicator are under way while those of another one block. */
static void mixed_round(MPI_Comm comms[3], int number)
{
    static struct under_way all[3];

    for (int i = 0; i < 3; i++) {
        begin(comms[i], number, &all[i]);
        round_on(comms[(i + 1) % 3], number);
    }
    for (int i = 0; i < 3; i++)
        finish(comms[i], number, &all[i]);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    double end;
    int goes_on = 1;
    int rank, number;
    bool is_mixed = argc > 2;
    MPI_Comm comms[3] = {MPI_COMM_WORLD};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, is_mixed ? 0 : MPI_UNDEFINED, -rank, &comms[2]);
    end = MPI_Wtime() + seconds;
    for (number = 0; goes_on; number++) {
        if (is_mixed) {
            mixed_round(comms, number);
        } else {
            round_on(comms[0], number);
            round_on(comms[1], number);
        }
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(2000);
    }
    if (rank == 0)
        printf("rounds %d\n", number);
    if (wrong != 0)
        printf("rank %d: %d wrong\n", rank, wrong);
    MPI_Comm_free(&comms[1]);
    MPI_Finalize();
    return wrong != 0;
}
