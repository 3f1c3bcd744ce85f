/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A program whose ranks block in various calls while other ranks need them for a
 * nonblocking broadcast. Its output must be the same with trees as with the library's
 * algorithms. It needs three ranks.
 *
 * Rank 1 starts a broadcast from rank 0 and then blocks in one call after the other. In
 * a chain, rank 2 gets the broadcast from rank 1; it waits for it first and only then
 * releases rank 1.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_RANKS = 8 };

static int rank;

struct blocking {
    const char *name;
    void (*blocks)(MPI_Comm comm);   /* rank 1 */
    void (*releases)(MPI_Comm comm); /* rank 2 */
};

static int numbers[4];

static void send_it(MPI_Comm comm)
{
    MPI_Send(numbers, 1, MPI_INT, 1, 9, comm);
}

static void receive_it(MPI_Comm comm)
{
    MPI_Recv(numbers, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE);
}

static void both(MPI_Comm comm)
{
    MPI_Sendrecv(&numbers[0], 1, MPI_INT, 1, 9, &numbers[1], 1, MPI_INT, 1, 9, comm,
                 MPI_STATUS_IGNORE);
}

static void block_recv(MPI_Comm comm)
{
    MPI_Recv(numbers, 1, MPI_INT, 2, 9, comm, MPI_STATUS_IGNORE);
}

static void block_any(MPI_Comm comm)
{
    MPI_Recv(numbers, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

static void block_probe(MPI_Comm comm)
{
    MPI_Probe(2, 9, comm, MPI_STATUS_IGNORE);
    block_recv(comm);
}

static void block_mprobe(MPI_Comm comm)
{
    MPI_Message message;

    MPI_Mprobe(2, 9, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(numbers, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void block_iprobe(MPI_Comm comm)
{
    int flag = 0;

    while (!flag)
        MPI_Iprobe(2, 9, comm, &flag, MPI_STATUS_IGNORE);
    block_recv(comm);
}

static void block_ssend(MPI_Comm comm)
{
    MPI_Ssend(numbers, 1, MPI_INT, 2, 9, comm);
}

static void block_send(MPI_Comm comm)
{
    static int much[1 << 18];

    MPI_Send(much, 1 << 18, MPI_INT, 2, 9, comm);
}

static void receive_much(MPI_Comm comm)
{
    static int much[1 << 18];

    MPI_Recv(much, 1 << 18, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE);
}

static void block_sendrecv(MPI_Comm comm)
{
    MPI_Sendrecv(&numbers[0], 1, MPI_INT, 2, 9, &numbers[1], 1, MPI_INT, 2, 9, comm,
                 MPI_STATUS_IGNORE);
}

static void block_replace(MPI_Comm comm)
{
    MPI_Sendrecv_replace(numbers, 1, MPI_INT, 2, 9, 2, 9, comm, MPI_STATUS_IGNORE);
}

static void block_wait(MPI_Comm comm)
{
    MPI_Request request;

    MPI_Irecv(numbers, 1, MPI_INT, 2, 9, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void block_waitall(MPI_Comm comm)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    MPI_Irecv(numbers, 1, MPI_INT, 2, 9, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void block_waitany(MPI_Comm comm)
{
    MPI_Request request;
    int at;

    MPI_Irecv(numbers, 1, MPI_INT, 2, 9, comm, &request);
    MPI_Waitany(1, &request, &at, MPI_STATUS_IGNORE);
}

static void block_waitsome(MPI_Comm comm)
{
    MPI_Request request;
    int at;
    int done;

    MPI_Irecv(numbers, 1, MPI_INT, 2, 9, comm, &request);
    MPI_Waitsome(1, &request, &done, &at, MPI_STATUSES_IGNORE);
}

static void block_test(MPI_Comm comm)
{
    MPI_Request request;
    int flag = 0;

    MPI_Irecv(numbers, 1, MPI_INT, 2, 9, comm, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

/* Collective calls on a communicator without the root of the broadcast. */
static MPI_Comm others;

static void do_barrier(MPI_Comm comm)
{
    (void)comm;
    MPI_Barrier(others);
}

static void do_alltoall(MPI_Comm comm)
{
    int from[MAX_RANKS] = {0};
    int to[MAX_RANKS];

    (void)comm;
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, others);
}

static void do_allgatherv(MPI_Comm comm)
{
    int counts[MAX_RANKS];
    int places[MAX_RANKS];
    int all[MAX_RANKS];

    (void)comm;
    for (int i = 0; i < MAX_RANKS; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Allgatherv(&rank, 1, MPI_INT, all, counts, places, MPI_INT, others);
}

static void do_exscan(MPI_Comm comm)
{
    int sum;

    (void)comm;
    MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, others);
}

static void do_dup(MPI_Comm comm)
{
    MPI_Comm made;

    (void)comm;
    MPI_Comm_dup(others, &made);
    MPI_Comm_free(&made);
}

static void do_split(MPI_Comm comm)
{
    MPI_Comm made;

    (void)comm;
    MPI_Comm_split(others, rank % 2, 0, &made);
    MPI_Comm_free(&made);
}

static void do_window(MPI_Comm comm)
{
    MPI_Win made;

    (void)comm;
    MPI_Win_create(numbers, sizeof numbers, 1, MPI_INFO_NULL, others, &made);
    MPI_Win_free(&made);
}

/* Builds the first tree of a communicator during the broadcast. */
static void do_first_tree(MPI_Comm comm)
{
    static MPI_Comm made = MPI_COMM_NULL;

    (void)comm;
    if (made == MPI_COMM_NULL)
        MPI_Comm_split(others, 0, 0, &made);
    MPI_Bcast(numbers, 1, MPI_INT, 0, made);
}

static const struct blocking all[] = {
    {"MPI_Recv", block_recv, send_it},
    {"MPI_Recv of any", block_any, send_it},
    {"MPI_Probe", block_probe, send_it},
    {"MPI_Mprobe", block_mprobe, send_it},
    {"MPI_Iprobe", block_iprobe, send_it},
    {"MPI_Ssend", block_ssend, receive_it},
    {"MPI_Send", block_send, receive_much},
    {"MPI_Sendrecv", block_sendrecv, both},
    {"MPI_Sendrecv_replace", block_replace, both},
    {"MPI_Wait", block_wait, send_it},
    {"MPI_Waitall", block_waitall, send_it},
    {"MPI_Waitany", block_waitany, send_it},
    {"MPI_Waitsome", block_waitsome, send_it},
    {"MPI_Test", block_test, send_it},
    {"MPI_Barrier", do_barrier, do_barrier},
    {"MPI_Alltoall", do_alltoall, do_alltoall},
    {"MPI_Allgatherv", do_allgatherv, do_allgatherv},
    {"MPI_Exscan", do_exscan, do_exscan},
    {"MPI_Comm_dup", do_dup, do_dup},
    {"MPI_Comm_split", do_split, do_split},
    {"MPI_Win_create", do_window, do_window},
    {"a first MPI_Bcast", do_first_tree, do_first_tree},
};

static void try_blocking(const struct blocking *blocking, int number)
{
    MPI_Request request;
    int value = rank == 0 ? number : -1;

    if (rank == 0) /* rank 1 is blocked when the broadcast arrives */
        usleep(3000);
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == 1)
        blocking->blocks(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 2)
        blocking->releases(MPI_COMM_WORLD);
    printf("rank %d: %s: %d\n", rank, blocking->name, value);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &others);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < (int)(sizeof all / sizeof all[0]); i++)
        try_blocking(&all[i], i);
    if (others != MPI_COMM_NULL)
        MPI_Comm_free(&others);
    MPI_Finalize();
    return 0;
}
