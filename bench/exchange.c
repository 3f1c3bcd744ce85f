/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * exchange.c - messages between two ranks, in a program that does not know of
 * collectors.
 *
 *   mpiexec -n 2 exchange pingpong|rate [floor] [ROUNDS]
 *
 * Prints the nanoseconds of half a ping-pong of 8 bytes, or per message in windows of
 * 64: minimum and median of the rounds.  exchange.sh runs it alone and under
 * `eventspace exec`.  With `floor`, it does the least that a collector must do: two
 * clock reads and a stored record per call.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum { WINDOW = 64, MESSAGES = 2048, MAX_ROUNDS = 4000, SLOTS = 4096 };

struct record {
    uint64_t start, stop;
    uint32_t what[4];
};

static struct record ring[SLOTS];
static _Atomic uint64_t head;
static bool has_floor;

static uint64_t read_clock(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

static uint64_t begin_call(void)
{
    return has_floor ? read_clock() : 0;
}

static void end_call(uint64_t start, uint32_t what, int peer, int count)
{
    uint64_t at = atomic_load_explicit(&head, memory_order_relaxed);
    struct record *slot = &ring[at % SLOTS];

    if (!has_floor)
        return;
    slot->start = start;
    slot->what[0] = what;
    slot->what[1] = (uint32_t)at;
    slot->what[2] = (uint32_t)peer;
    slot->what[3] = (uint32_t)count;
    slot->stop = read_clock();
    atomic_store_explicit(&head, at + 1, memory_order_release);
}

static void send_one(const double *value, int peer)
{
    uint64_t start = begin_call();

    MPI_Send(value, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    end_call(start, 1, peer, 1);
}

static void receive_one(double *value, int peer)
{
    uint64_t start = begin_call();

    MPI_Recv(value, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end_call(start, 2, peer, 1);
}

static void play(int rank)
{
    double value = 0;

    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            send_one(&value, 1);
        receive_one(&value, 1 - rank);
        if (rank == 1)
            send_one(&value, 0);
    }
}

static void exchange_window(int rank)
{
    static double values[WINDOW];
    MPI_Request requests[WINDOW];
    MPI_Status statuses[WINDOW];
    uint64_t start;

    for (int i = 0; i < WINDOW; i++) {
        start = begin_call();
        if (rank == 0)
            MPI_Isend(&values[i], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(&values[i], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        end_call(start, 3, 1 - rank, 1);
    }
    start = begin_call();
    MPI_Waitall(WINDOW, requests, statuses);
    end_call(start, 4, -1, WINDOW);
}

static void stream(int rank)
{
    double value = 0;

    for (int i = 0; i < MESSAGES / WINDOW; i++)
        exchange_window(rank);
    if (rank == 1)
        send_one(&value, 0); /* all messages have arrived */
    else
        receive_one(&value, 1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(int rank, bool rate, int rounds)
{
    static double times[MAX_ROUNDS];

    for (int r = -20; r < rounds; r++) {
        double start;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        if (rate)
            stream(rank);
        else
            play(rank);
        if (r >= 0)
            times[r] = (MPI_Wtime() - start) * 1e9 / (rate ? MESSAGES : 2 * MESSAGES);
    }
    qsort(times, (size_t)rounds, sizeof times[0], compare);
    if (rank == 0)
        printf("%s %.1f %.1f\n", rate ? "rate" : "pingpong", times[0],
               times[rounds / 2]);
}

int main(int argc, char **argv)
{
    int at = 2, rank, size, rounds;
    bool rate = argc > 1 && strcmp(argv[1], "rate") == 0;

    if (argc > at && strcmp(argv[at], "floor") == 0) {
        has_floor = true;
        at++;
    }
    rounds = argc > at ? atoi(argv[at]) : 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || size != 2 || rounds < 1 || rounds > MAX_ROUNDS) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: mpiexec -n 2 exchange pingpong|rate [floor] [ROUNDS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    measure(rank, rate, rounds);
    MPI_Finalize();
    return 0;
}
