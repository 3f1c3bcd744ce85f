/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The overhead of collection on real operations between two ranks of one host.
 *
 *   mpiexec -n 2 collect DIRECTORY [ROUNDS]
 *
 * 8-byte ping-pong (half round trip), Isend/Irecv/Waitall message rate (per message),
 * 8-byte allreduce.  The variants take turns; each round yields one ratio to the direct
 * variant next to it, and the figures are medians over the rounds.  Cores may be near
 * or far (a cache line is passed on in under 80 or over 110 ns), which matters more
 * than any collector: the latency of each round is measured, too, and near and far
 * rounds are reported separately.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/variants.h"
#include "eventspace/run.h"

enum { PINGS = 400, WINDOW = 64, WINDOWS = 20, REDUCES = 400, MAX_ROUNDS = 10000 };
enum work { PING_PONG, MESSAGE_RATE, ALLREDUCE, WORK_COUNT };

static const char *const names[WORK_COUNT] = {"ping_pong", "message_rate", "allreduce"};

static int rank;

static void ping_pong(const struct variant *v)
{
    double value = 0;
    int peer = 1 - rank;

    for (int i = 0; i < PINGS; i++) {
        if (rank == 0)
            v->send(&value, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
        v->recv(&value, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            v->send(&value, 1, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);
    }
}

static void message_rate(const struct variant *v)
{
    static double values[WINDOW];
    MPI_Request requests[WINDOW];
    double done = 0;

    for (int w = 0; w < WINDOWS; w++) {
        for (int i = 0; i < WINDOW; i++)
            if (rank == 0)
                v->isend(&values[i], 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, &requests[i]);
            else
                v->irecv(&values[i], 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &requests[i]);
        v->waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    }
    /* The sender ends with the receiver; uses MPI itself, alike in all variants. */
    if (rank == 0)
        PMPI_Recv(&done, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        PMPI_Send(&done, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
}

static void allreduce(const struct variant *v)
{
    double in = 1;
    double out;

    for (int i = 0; i < REDUCES; i++)
        v->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Nanoseconds of half a round trip, of a message, or of a reduction. */
static double measure(const struct variant *v, enum work work)
{
    static void (*const run[WORK_COUNT])(const struct variant *) = {
        ping_pong, message_rate, allreduce};
    static const double units[WORK_COUNT] = {2.0 * PINGS, (double)WINDOW * WINDOWS,
                                             REDUCES};
    unsigned long long start;

    PMPI_Barrier(MPI_COMM_WORLD);
    start = bench_ticks();
    run[work](v);
    return (double)(bench_ticks() - start) * bench_tick_ns() / units[work];
}

/* Half a direct round trip, in nanoseconds, that separates near cores from far ones. */
enum { NEAR_BELOW = 350 };

struct round {
    double ns[VARIANT_COUNT];
    bool steady;
    bool near;
};

/* Returns true if the machine had the same speed before and after. */
static bool is_steady(double before, double after)
{
    return before < after * 1.25 && after < before * 1.25;
}

static void report_part(enum work work,
                        const struct round *rounds_of,
                        int count,
                        bool near)
{
    static double values[MAX_ROUNDS];
    double direct = 0;
    int used = 0;

    for (int v = 0; v < VARIANT_COUNT; v++) {
        double ns;

        used = 0;
        for (int r = 0; r < count; r++)
            if (rounds_of[r].steady && rounds_of[r].near == near)
                values[used++] =
                    rounds_of[r].ns[v] - (v == DIRECT ? 0 : rounds_of[r].ns[DIRECT]);
        if (used < 5)
            return;
        ns = bench_median(values, used);
        if (v == DIRECT) {
            direct = ns;
            printf("%-13s %-5s %7d %9.1f", names[work], near ? "near" : "far", used,
                   ns);
            continue;
        }
        printf(" %+8.1f (%+5.1f %%)", ns, ns / direct * 100);
        if (v == COLLECTED) {
            printf("\nfigure: collect_%s_%s_added %.1f ns\n", names[work],
                   near ? "near" : "far", ns);
            printf("figure: collect_%s_%s_slowdown %.3f ratio\n", names[work],
                   near ? "near" : "far", 1 + ns / direct);
        }
    }
}

static struct round rounds[WORK_COUNT][MAX_ROUNDS];

/* Rounds below 0 are for warming up. */
static void measure_round(const struct variant *variants, int r)
{
    double before = measure(&variants[DIRECT], PING_PONG);
    double after;

    for (int work = 0; work < WORK_COUNT; work++)
        for (int i = 0; i < VARIANT_COUNT; i++) {
            int v = (i + (r < 0 ? 0 : r)) % VARIANT_COUNT; /* the first place rotates */
            double ns = measure(&variants[v], (enum work)work);

            if (r >= 0)
                rounds[work][r].ns[v] = ns;
        }
    after = measure(&variants[DIRECT], PING_PONG);
    for (int work = 0; r >= 0 && work < WORK_COUNT; work++) {
        rounds[work][r].steady = is_steady(before, after);
        rounds[work][r].near = before < NEAR_BELOW;
    }
}

int main(int argc, char **argv)
{
    struct variant variants[VARIANT_COUNT];
    char run[64];
    int count = argc > 2 ? atoi(argv[2]) : 1000;
    int size;

    if (argc < 2 || count < 1 || count > MAX_ROUNDS) {
        fprintf(stderr, "usage: mpiexec -n 2 collect DIRECTORY [ROUNDS]\n");
        return 2;
    }
    snprintf(run, sizeof run, "bench-collect-%d", (int)getppid());
    setenv("EVENTSPACE_RUN", run, 1);
    variants_load(argv[1], variants);
    variants[COLLECTED].init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "collect: needs 2 ranks, has %d\n", size);
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int r = -5; r < count; r++)
        measure_round(variants, r);
    if (rank == 0) {
        printf("%-13s %-5s %7s %9s %18s %18s %18s   (ns)\n", "operation", "cores",
               "rounds", "direct", "pass-through", "floor", "collected");
        for (int work = 0; work < WORK_COUNT; work++) {
            report_part((enum work)work, rounds[work], count, true);
            report_part((enum work)work, rounds[work], count, false);
        }
    }
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        es_run_remove(run, true);
    PMPI_Finalize();
    return 0;
}
