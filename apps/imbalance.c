/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Iterations of work and one collective operation, with ranks that are late on purpose:
 * the expected result of a tool that finds late ranks is known.
 *
 * In every iteration, each rank works for --work-us, plus its own jitter; the ranks in
 * --ranks-late work --late-us longer in every iteration that --every divides.  At the
 * end, each rank prints its total lateness, as measured by itself, and the results of
 * the operation are checked.
 */
#include "options.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum operation {
    OPERATION_BARRIER,
    OPERATION_BCAST,
    OPERATION_REDUCE,
    OPERATION_ALLREDUCE,
    OPERATION_ALLGATHER,
    OPERATION_ALLTOALL,
    OPERATION_SCAN,
    OPERATION_IALLREDUCE,
    OPERATION_COUNT,
};

static const char *const operation_names[OPERATION_COUNT] = {
    "barrier",   "bcast",    "reduce", "allreduce",
    "allgather", "alltoall", "scan",   "iallreduce",
};

struct imbalance {
    int rank, size;
    enum operation operation;
    long iterations, every, root;
    long late_us, work_us, jitter_us;
    bool sleeps; /* late ranks sleep and leave their processors to others */
    bool late;   /* this rank is late */
    long words;  /* 64-bit words of each rank */
    uint64_t *mine;
    uint64_t *all; /* room for the words of all ranks */
    uint64_t random;
    uint64_t late_ns; /* total lateness of this rank, measured */
    long faults;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Works or sleeps for the time; returns the time it took. */
static uint64_t spend(const struct imbalance *imbalance, long us)
{
    uint64_t begin_ns = now_ns();
    uint64_t span_ns = (uint64_t)us * 1000;

    if (us > 0 && imbalance->sleeps) {
        struct timespec span = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

        nanosleep(&span, NULL);
    } else if (us > 0) {
        while (now_ns() - begin_ns < span_ns)
            continue;
    }
    return now_ns() - begin_ns;
}

/* The same numbers in every run: each rank has its own generator. */
static long draw(struct imbalance *imbalance, long below)
{
    imbalance->random = imbalance->random * 6364136223846793005u + 1442695040888963407u;
    return below > 0 ? (long)((imbalance->random >> 33) % (uint64_t)below) : 0;
}

static void work(struct imbalance *imbalance, long iteration)
{
    long us = imbalance->work_us + draw(imbalance, imbalance->jitter_us + 1);

    spend(imbalance, us);
    if (imbalance->late && iteration % imbalance->every == 0)
        imbalance->late_ns += spend(imbalance, imbalance->late_us);
}

/* --- The operation ---------------------------------------------------------------- */

static uint64_t word_of(int rank, long iteration)
{
    return (uint64_t)(rank + 1) * 1000003u + (uint64_t)iteration;
}

/* Sum of the words of ranks 0 to `last`. */
static uint64_t sum_to(int last, long iteration)
{
    uint64_t sum = 0;

    for (int rank = 0; rank <= last; rank++)
        sum += word_of(rank, iteration);
    return sum;
}

static void expect(struct imbalance *imbalance, const uint64_t *words, uint64_t value)
{
    for (long i = 0; i < imbalance->words; i++)
        imbalance->faults += words[i] != value;
}

static void expect_all(struct imbalance *imbalance, long iteration)
{
    for (int rank = 0; rank < imbalance->size; rank++)
        expect(imbalance, imbalance->all + rank * imbalance->words,
               word_of(rank, iteration));
}

static void operate(struct imbalance *imbalance, long iteration)
{
    int words = (int)imbalance->words;
    int root = (int)imbalance->root;
    uint64_t *mine = imbalance->mine;
    uint64_t *all = imbalance->all;
    MPI_Request request;

    switch (imbalance->operation) {
    case OPERATION_BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    case OPERATION_BCAST:
        MPI_Bcast(mine, words, MPI_UINT64_T, root, MPI_COMM_WORLD);
        expect(imbalance, mine, word_of(root, iteration));
        return;
    case OPERATION_REDUCE:
        MPI_Reduce(mine, all, words, MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD);
        if (imbalance->rank == root)
            expect(imbalance, all, sum_to(imbalance->size - 1, iteration));
        return;
    case OPERATION_ALLREDUCE:
        MPI_Allreduce(mine, all, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        expect(imbalance, all, sum_to(imbalance->size - 1, iteration));
        return;
    case OPERATION_IALLREDUCE:
        MPI_Iallreduce(mine, all, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(imbalance, all, sum_to(imbalance->size - 1, iteration));
        return;
    case OPERATION_ALLGATHER:
        MPI_Allgather(mine, words, MPI_UINT64_T, all, words, MPI_UINT64_T,
                      MPI_COMM_WORLD);
        expect_all(imbalance, iteration);
        return;
    case OPERATION_ALLTOALL:
        for (int rank = 0; rank < imbalance->size; rank++)
            memcpy(all + rank * imbalance->words, mine, (size_t)words * sizeof *mine);
        MPI_Alltoall(MPI_IN_PLACE, words, MPI_UINT64_T, all, words, MPI_UINT64_T,
                     MPI_COMM_WORLD);
        expect_all(imbalance, iteration);
        return;
    default:
        MPI_Scan(mine, all, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        expect(imbalance, all, sum_to(imbalance->rank, iteration));
    }
}

static void iterate(struct imbalance *imbalance)
{
    for (long i = 0; i < imbalance->iterations; i++) {
        for (long word = 0; word < imbalance->words; word++)
            imbalance->mine[word] = word_of(imbalance->rank, i);
        work(imbalance, i);
        operate(imbalance, i);
    }
}

/* --- Start and end ---------------------------------------------------------------- */

/* Point-to-point, so that the iterations have the only collectives. */
static int report(const struct imbalance *imbalance, double seconds)
{
    uint64_t facts[2] = {imbalance->late_ns, (uint64_t)imbalance->faults};
    long faults = 0;

    if (imbalance->rank != 0) {
        MPI_Send(facts, 2, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
        return imbalance->faults > 0;
    }
    for (int rank = 0; rank < imbalance->size; rank++) {
        if (rank > 0)
            MPI_Recv(facts, 2, MPI_UINT64_T, rank, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        printf("rank %d: late by %.6f s altogether\n", rank, (double)facts[0] / 1e9);
        faults += (long)facts[1];
    }
    if (faults > 0)
        fprintf(stderr, "imbalance: %ld wrong words\n", faults);
    else
        printf("imbalance: %ld times MPI %s over %d ranks correct, %.3f s\n",
               imbalance->iterations, operation_names[imbalance->operation],
               imbalance->size, seconds);
    return faults > 0;
}

static void refuse(const char *option, const char *text, const char *expected)
{
    fprintf(stderr, "imbalance: --%s: '%s' is not %s\n", option, text, expected);
    exit(2);
}

static enum operation find_operation(const char *name)
{
    for (int i = 0; i < OPERATION_COUNT; i++)
        if (strcmp(name, operation_names[i]) == 0)
            return (enum operation)i;
    refuse("operation", name,
           "barrier, bcast, reduce, allreduce, allgather, alltoall, scan or "
           "iallreduce");
    return OPERATION_BARRIER;
}

/* Returns true if the rank is in a list such as "1,3". */
static bool is_in_list(const char *list, int rank)
{
    bool found = false;

    for (const char *at = list; *at;) {
        char *end;
        long number = strtol(at, &end, 10);

        if (end == at || number < 0 || (*end && *end != ','))
            refuse("ranks-late", list, "a list of ranks such as 1,3");
        found |= number == rank;
        at = end + (*end == ',');
    }
    return found;
}

static void allocate(struct imbalance *imbalance)
{
    size_t words = (size_t)imbalance->words;

    imbalance->mine = calloc(words + 1, sizeof *imbalance->mine);
    imbalance->all =
        calloc(words * (size_t)imbalance->size + 1, sizeof *imbalance->all);
    if (imbalance->mine && imbalance->all)
        return;
    fprintf(stderr, "imbalance: no memory for %zu words of each rank\n", words);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    struct imbalance imbalance = {.iterations = 200, .every = 1, .late_us = 1000};
    const char *operation = "allreduce";
    const char *late = "";
    long bytes = 8;
    const struct option_row rows[] = {
        {"operation", OPTION_TEXT, &operation,
         "barrier, bcast, reduce, allreduce, allgather, alltoall, scan, iallreduce", 0,
         0},
        {"iterations", OPTION_NUMBER, &imbalance.iterations, "of work and operation", 0,
         1L << 40},
        {"ranks-late", OPTION_TEXT, &late, "ranks that are late, such as 1,3", 0, 0},
        {"late-us", OPTION_NUMBER, &imbalance.late_us, "microseconds that they are", 0,
         1L << 40},
        {"every", OPTION_NUMBER, &imbalance.every,
         "late in each iteration so far apart", 1, 1L << 40},
        {"work-us", OPTION_NUMBER, &imbalance.work_us,
         "microseconds of work of all ranks", 0, 1L << 40},
        {"jitter-us", OPTION_NUMBER, &imbalance.jitter_us,
         "microseconds of work more at most, at random", 0, 1 << 30},
        {"bytes", OPTION_NUMBER, &bytes, "of each rank, rounded up to 8", 0, 1L << 30},
        {"root", OPTION_NUMBER, &imbalance.root, "of bcast and reduce", 0, 1 << 20},
        {"sleep", OPTION_FLAG, &imbalance.sleeps, "sleep instead of busy work", 0, 0},
        {0},
    };
    int first = options_parse(argc, argv, "[OPTION]...",
                              "Collective operations with ranks that are late.", rows);

    options_no_arguments(argc, argv, first);
    imbalance.operation = find_operation(operation);
    is_in_list(late, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &imbalance.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &imbalance.size);
    imbalance.words = (bytes + 7) / 8;
    imbalance.late = is_in_list(late, imbalance.rank);
    imbalance.random = (uint64_t)imbalance.rank + 1;
    imbalance.root %= imbalance.size;
    allocate(&imbalance);

    double start = MPI_Wtime();
    iterate(&imbalance);
    int wrong = report(&imbalance, MPI_Wtime() - start);

    free(imbalance.mine);
    free(imbalance.all);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
