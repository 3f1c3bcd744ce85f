/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Master and workers: tasks are assigned when workers ask, results arrive from any
 * source. */
#include "options.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A worker sends TAG_RESULT and receives TAG_TASK, or TAG_STOP if no task is left. */
enum { TAG_RESULT = 1, TAG_TASK = 2, TAG_STOP = 3 };

struct farm {
    int rank, size;
    long tasks;
    long numbers; /* per task */
};

/* A range of numbers, and the number of primes in it. */
struct task {
    int64_t first, count, primes;
};

enum { TASK_WORDS = sizeof(struct task) / sizeof(int64_t) };

static int is_prime(int64_t number)
{
    if (number < 2)
        return 0;
    for (int64_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return 0;
    return 1;
}

static void count_primes(struct task *task)
{
    task->primes = 0;
    for (int64_t i = 0; i < task->count; i++)
        task->primes += is_prime(task->first + i);
}

static void send_next(const struct farm *farm, int worker, long *next)
{
    struct task task = {.first = *next * farm->numbers, .count = farm->numbers};
    int tag = *next < farm->tasks ? TAG_TASK : TAG_STOP;

    if (tag == TAG_TASK)
        ++*next;
    MPI_Send(&task, TASK_WORDS, MPI_INT64_T, worker, tag, MPI_COMM_WORLD);
}

/* A worker's first result is empty: it only reports that the worker is free. */
static int64_t run_master(const struct farm *farm)
{
    int64_t primes = 0;
    long next = 0;
    int working = farm->size - 1;

    while (working > 0) {
        struct task result;
        MPI_Status status;
        MPI_Recv(&result, TASK_WORDS, MPI_INT64_T, MPI_ANY_SOURCE, TAG_RESULT,
                 MPI_COMM_WORLD, &status);
        primes += result.primes;
        if (next >= farm->tasks)
            working--;
        send_next(farm, status.MPI_SOURCE, &next);
    }
    return primes;
}

/* Receives any tag: the tag is the command. */
static void run_worker(void)
{
    struct task task = {0};
    MPI_Status status;

    for (;;) {
        MPI_Send(&task, TASK_WORDS, MPI_INT64_T, 0, TAG_RESULT, MPI_COMM_WORLD);
        MPI_Recv(&task, TASK_WORDS, MPI_INT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        if (status.MPI_TAG == TAG_STOP)
            return;
        count_primes(&task);
    }
}

/* Counts with a sieve, independently of is_prime(). Returns -1 on failure. */
static int64_t sieve(int64_t limit)
{
    int64_t primes = 0;
    char *composite = calloc((size_t)limit + 1, 1);

    if (!composite)
        return -1;
    for (int64_t number = 2; number < limit; number++) {
        if (composite[number])
            continue;
        primes++;
        for (int64_t multiple = 2 * number; multiple < limit; multiple += number)
            composite[multiple] = 1;
    }
    free(composite);
    return primes;
}

static int64_t count_all(const struct farm *farm)
{
    struct task everything = {.count = farm->tasks * farm->numbers};

    if (farm->size > 1)
        return run_master(farm);
    count_primes(&everything);
    return everything.primes;
}

int main(int argc, char **argv)
{
    struct farm farm = {.tasks = 500, .numbers = 2000};
    int wrong = 0;
    const struct option_row rows[] = {
        {"tasks", OPTION_NUMBER, &farm.tasks, "tasks to hand out", 0, 1000000},
        {"numbers", OPTION_NUMBER, &farm.numbers, "numbers to test in each task", 1,
         10000},
        {0},
    };

    int first =
        options_parse(argc, argv, "[OPTION]...",
                      "Rank 0 has the others count primes, task by task.", rows);
    options_no_arguments(argc, argv, first);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &farm.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &farm.size);
    if (farm.rank == 0) {
        int64_t primes = count_all(&farm);
        int64_t expected = sieve(farm.tasks * farm.numbers);
        wrong = primes != expected;
        fprintf(wrong ? stderr : stdout,
                "masterworker: %lld primes in %ld tasks, expected %lld\n",
                (long long)primes, farm.tasks, (long long)expected);
    } else {
        run_worker();
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
