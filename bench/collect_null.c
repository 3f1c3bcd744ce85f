/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of collecting an operation that does nothing.
 *
 *   collect_null DIRECTORY [ROUNDS]
 *
 * The variants take turns; each figure is the median over the rounds, each far shorter
 * than a time slice.  Polls are those of a program that tests all the time and finds
 * nothing.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/variants.h"
#include "eventspace/run.h"

enum { CALLS = 2000, MAX_ROUNDS = 4000 };

enum work { SEND, RECEIVE, WINDOW, ALLREDUCE, TEST, IPROBE, WORK_COUNT };

static const char *const names[WORK_COUNT] = {
    "send", "receive", "isend_irecv_waitall", "allreduce", "test_poll", "iprobe_poll"};

static void window(const struct variant *v, double *value)
{
    MPI_Request requests[2];

    v->irecv(value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[0]);
    v->isend(value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &requests[1]);
    v->waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void once(const struct variant *v, enum work work, double *value)
{
    MPI_Request request = 77;
    int flag;

    switch (work) {
    case SEND:
        v->send(value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        break;
    case RECEIVE:
        v->recv(value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case WINDOW:
        window(v, value);
        break;
    case ALLREDUCE:
        v->allreduce(value, value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case TEST:
        v->test(&request, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        v->iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        break;
    }
}

/* Nanoseconds per call. */
static double measure(const struct variant *v, enum work work)
{
    double value = 0;
    int calls = work == WINDOW ? 3 * CALLS : CALLS;
    unsigned long long start = bench_ticks();

    for (int i = 0; i < CALLS; i++)
        once(v, work, &value);
    return (double)(bench_ticks() - start) * bench_tick_ns() / calls;
}

static void report(enum work work, double times[VARIANT_COUNT][MAX_ROUNDS], int rounds)
{
    double median[VARIANT_COUNT];
    bool poll = work == TEST || work == IPROBE;

    for (int v = 0; v < VARIANT_COUNT; v++)
        median[v] = bench_median(times[v], rounds);
    printf("%-20s %8.1f %12.1f %8.1f %10.1f %8.2f\n", names[work], median[DIRECT],
           median[PASS_THROUGH], median[FLOOR], median[COLLECTED],
           poll ? 0.0
                : (median[COLLECTED] - median[DIRECT]) /
                      (median[FLOOR] - median[DIRECT]));
    printf("figure: collect_null_%s_added %.1f ns\n", names[work],
           median[COLLECTED] - median[DIRECT]);
    if (poll)
        printf("figure: collect_null_%s_over_pass_through %.1f ns\n", names[work],
               median[COLLECTED] - median[PASS_THROUGH]);
    else
        printf("figure: collect_null_%s_to_floor %.2f ratio\n", names[work],
               (median[COLLECTED] - median[DIRECT]) / (median[FLOOR] - median[DIRECT]));
}

int main(int argc, char **argv)
{
    static double times[VARIANT_COUNT][MAX_ROUNDS];
    struct variant variants[VARIANT_COUNT];
    char run[64];
    int rounds = argc > 2 ? atoi(argv[2]) : 1000;

    if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: collect_null DIRECTORY [ROUNDS]\n");
        return 2;
    }
    snprintf(run, sizeof run, "bench-null-%d", (int)getpid());
    setenv("EVENTSPACE_RUN", run, 1);
    PMPI_Init(&argc, &argv); /* a linker may drop an unused library */
    variants_load(argv[1], variants);
    variants[COLLECTED].init(&argc, &argv);
    printf("%-20s %8s %12s %8s %10s %8s   (ns a call)\n", "operation", "direct",
           "pass-through", "floor", "collected", "ratio");
    for (int work = 0; work < WORK_COUNT; work++) {
        for (int r = -5; r < rounds; r++)
            for (int v = 0; v < VARIANT_COUNT; v++) {
                double ns = measure(&variants[v], (enum work)work);

                if (r >= 0)
                    times[v][r] = ns;
            }
        report((enum work)work, times, rounds);
    }
    es_run_remove(run, true);
    return 0;
}
