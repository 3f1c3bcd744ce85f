/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* exit_status - ends early in the way named by its first argument. If a single rank
 * does so, it is the rank of the second argument, by default rank 0. Before MPI_Init it
 * waits until the file of the third argument exists. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void abort_mpi(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void raise_signal(int number)
{
    raise(number);
}

static void finalize(int code)
{
    MPI_Finalize();
    exit(rank == 0 ? code : 0);
}

/* A call that MPI refuses. */
static void call_misplaced(int which)
{
    int word = 0;

    if (which == 'B')
        MPI_Barrier(MPI_COMM_WORLD);
    if (which == 'S')
        MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    if (which == 'R')
        MPI_Comm_rank(MPI_COMM_WORLD, &word);
    if (which == 'F')
        MPI_Finalize();
}

static void finalize_and_call(int which)
{
    MPI_Finalize();
    if (rank == 0)
        call_misplaced(which);
    exit(0);
}

static void finalize_and_raise(int number)
{
    MPI_Finalize();
    if (rank == 0)
        raise(number);
    exit(0);
}

static void wait_for_ever(int tag)
{
    int word;

    printf("waiting\n");
    fflush(stdout);
    MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

struct ending {
    const char *name;
    void (*end)(int value);
    int value;
    int is_of_all; /* every rank ends so, not only one */
};

static const struct ending endings[] = {
    {"finalize", finalize, 4, 1},
    {"_exit", _exit, 5, 0},
    {"exit", exit, 5, 0},
    {"exit-all", exit, 3, 1},
    {"exit-well", exit, 0, 0},
    {"abort", abort_mpi, 7, 0},
    {"abort-all", abort_mpi, 7, 1},
    {"SIGSEGV", raise_signal, SIGSEGV, 0},
    {"SIGKILL", raise_signal, SIGKILL, 0},
    {"SIGTERM", raise_signal, SIGTERM, 0},
    {"SIGABRT", raise_signal, SIGABRT, 0},
    {"wait", wait_for_ever, 0, 1},
    {"after-barrier", finalize_and_call, 'B', 1},
    {"after-send", finalize_and_call, 'S', 1},
    {"after-rank", finalize_and_call, 'R', 1},
    {"after-finalize", finalize_and_call, 'F', 1},
    {"after-signal", finalize_and_raise, SIGABRT, 1},
};

static void sleep_for_ever(int unused)
{
    (void)unused;
    for (;;)
        pause();
}

/* Before MPI_Init. */
static const struct ending early_endings[] = {
    {"exit-early", exit, 6, 1},
    {"before-barrier", call_misplaced, 'B', 1},
    {"before-send", call_misplaced, 'S', 1},
    {"early-exit", exit, 5, 0},
    {"early-SIGABRT", raise_signal, SIGABRT, 0},
    {"early-sleep", sleep_for_ever, 0, 0},
};

static int launched_rank(void)
{
    const char *text = getenv("PMI_RANK");

    text = text ? text : getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : -1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int who = argc > 2 ? atoi(argv[2]) : 0;

    for (size_t i = 0; i < sizeof early_endings / sizeof early_endings[0]; i++)
        if (strcmp(how, early_endings[i].name) == 0 &&
            (launched_rank() == who || early_endings[i].is_of_all)) {
            while (argc > 3 && access(argv[3], F_OK) != 0)
                usleep(10000);
            early_endings[i].end(early_endings[i].value);
        }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(how, endings[i].name) == 0 && (rank == who || endings[i].is_of_all))
            endings[i].end(endings[i].value);
    wait_for_ever(0);
    return 99;
}
