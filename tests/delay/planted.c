/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * planted - a program with planted delays, which it reports.
 *
 *   mpiexec -n 4 planted PLAN ROUNDS
 *
 * For each line where a rank slept before a call it prints the time slept, and for each
 * rank the time in its calls, as measured by the program:
 *   planted RANK LINE NANOSECONDS
 *   calls RANK NANOSECONDS
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINES = 1000, LONG_MS = 40, SHORT_MS = 20 };

static int rank, ranks;
static double slept_ns[LINES];
static double called_ns;

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void sleep_ahead(int line, int ms)
{
    struct timespec time = {.tv_nsec = (long)ms * 1000000};
    double begin = now_ns();

    nanosleep(&time, NULL);
    slept_ns[line] += now_ns() - begin;
}

/* The call is on the line of the macro, and so is the delay before it. */
#define CALL(CALLED)                                                                   \
    do {                                                                               \
        double begin_ = now_ns();                                                      \
        CALLED;                                                                        \
        called_ns += now_ns() - begin_;                                                \
    } while (0)
#define LATE(WHO, MS, CALLED)                                                          \
    do {                                                                               \
        if (rank == (WHO))                                                             \
            sleep_ahead(__LINE__, MS);                                                 \
        CALL(CALLED);                                                                  \
    } while (0)

static int out[2], in[2], sum;

static void send_to(int other)
{
    CALL(MPI_Send(out, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
}

static void receive_from(int other)
{
    CALL(MPI_Recv(in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Rank 0 waits for a message of rank 1. */
static void late_sender(int round)
{
    (void)round;
    if (rank == 1)
        LATE(1, LONG_MS, MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    else if (rank == 0)
        receive_from(1);
}

/* Rank 0 waits until rank 1 receives. */
static void late_receiver(int round)
{
    (void)round;
    if (rank == 0)
        CALL(MPI_Ssend(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    else if (rank == 1)
        LATE(1, LONG_MS,
             MPI_Recv(in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The same of a persistent send. */
static void late_receiver_of_started(int round)
{
    MPI_Request request;

    if (rank != 0) {
        late_receiver(round);
        return;
    }
    MPI_Ssend_init(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
}

static void poll_until(MPI_Request *request)
{
    int done;

    do
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    while (!done);
}

/* Rank 0 polls until rank 1 has sent. */
static void polls(int round)
{
    MPI_Request request;

    (void)round;
    if (rank == 1)
        LATE(1, LONG_MS, MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    if (rank == 0) {
        MPI_Irecv(in, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        CALL(poll_until(&request));
    }
}

static void exchange_halos(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int left = (rank + ranks - 1) % ranks;
    int right = (rank + 1) % ranks;

    MPI_Irecv(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    LATE(2, LONG_MS,
         MPI_Isend(out, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[2]));
    CALL(MPI_Isend(out, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[3]));
    CALL(MPI_Waitall(4, requests, statuses));
}

/* A ring with a reduction at each fifth step: rank 0, which exchanges no halo with rank
 * 2, is delayed through its neighbours. */
static void halo(int round)
{
    exchange_halos();
    if (round % 5 == 4)
        CALL(MPI_Allreduce(out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* Each rank waits for the previous one; the first one is late. */
static void chain(int round)
{
    (void)round;
    if (rank == 0)
        LATE(0, LONG_MS, MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    else
        receive_from(rank - 1);
    if (rank > 0 && rank < ranks - 1)
        send_to(rank + 1);
}

static void collective(int round)
{
    (void)round;
    LATE(1, LONG_MS, MPI_Allreduce(out, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void root(int round)
{
    (void)round;
    LATE(2, LONG_MS, MPI_Bcast(out, 1, MPI_INT, 2, MPI_COMM_WORLD));
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

/* The other ranks wait at the barrier for rank 0, which has waited for the last
 * rank. */
static void through(int round)
{
    (void)round;
    if (rank == ranks - 1)
        LATE(ranks - 1, LONG_MS, MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    else if (rank == 0)
        receive_from(ranks - 1);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

/* Two delays at the same time; only the longer one counts. */
static void overlap(int round)
{
    (void)round;
    if (rank == 1)
        LATE(1, SHORT_MS, MPI_Barrier(MPI_COMM_WORLD));
    else
        LATE(2, LONG_MS, MPI_Barrier(MPI_COMM_WORLD));
}

/* Two delays in a row: the second rank waits for the first delay, and the third for
 * both. */
static void added(int round)
{
    (void)round;
    if (rank == 0)
        LATE(0, SHORT_MS, MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    if (rank == 1) {
        receive_from(0);
        LATE(1, LONG_MS, MPI_Send(out, 1, MPI_INT, 2, 1, MPI_COMM_WORLD));
    }
    if (rank == 2)
        receive_from(1);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

static const struct {
    const char *name;
    void (*run)(int round);
} plans[] = {
    {"sender", late_sender},
    {"receiver", late_receiver},
    {"halo", halo},
    {"chain", chain},
    {"collective", collective},
    {"root", root},
    {"through", through},
    {"overlap", overlap},
    {"added", added},
    {"polls", polls},
    {"persistent", late_receiver_of_started},
};

static void run(const char *plan, int rounds)
{
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        if (strcmp(plans[i].name, plan) == 0) {
            for (int round = 0; round < rounds; round++)
                plans[i].run(round);
            return;
        }
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void tell(void)
{
    for (int line = 0; line < LINES; line++)
        if (slept_ns[line] > 0)
            printf("planted %d %d %.0f\n", rank, line, slept_ns[line]);
    printf("calls %d %.0f\n", rank, called_ns);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rounds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 || ranks != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    rounds = atoi(argv[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    run(argv[1], rounds);
    tell();
    MPI_Finalize();
    return 0;
}
