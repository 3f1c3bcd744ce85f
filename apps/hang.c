/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Deadlocks on request, in the ways that are typical of MPI programs. */
#include "options.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { TAG_GOOD = 1, TAG_SENT = 2, TAG_AWAITED = 3 };

/* The error code of MPI_Abort() at the time limit. */
enum { EXIT_GAVE_UP = 3 };

struct hang {
    int rank, size, left, right;
    long after;
    long bytes;
    double seconds;
    bool absent_sleeps;
    char *buffer; /* two messages long */
};

struct hang_case {
    const char *name;
    const char *help;
    void (*run)(struct hang *);
};

/* MPI_Abort() need not work in a signal handler.  Here it may: nothing else is left to
 * do.  A thread would need MPI_THREAD_MULTIPLE, and could end the hang for all that an
 * observer knows: no verdict on it would be certain. */
static void give_up(int number)
{
    (void)number;
    MPI_Abort(MPI_COMM_WORLD, EXIT_GAVE_UP);
}

/* Aborts the program after this time. */
static void start_timer(double seconds)
{
    time_t whole = (time_t)seconds;
    struct itimerval timer = {
        .it_value = {.tv_sec = whole,
                     .tv_usec = (suseconds_t)((seconds - (double)whole) * 1e6)}};

    signal(SIGALRM, give_up);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_timer(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0}}, NULL);
}

/* A correct iteration: exchange with the neighbours, then a barrier of all. */
static void good_iteration(struct hang *hang)
{
    int sent = hang->rank, received = -1;

    MPI_Sendrecv(&sent, 1, MPI_INT, hang->right, TAG_GOOD, &received, 1, MPI_INT,
                 hang->left, TAG_GOOD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (received != hang->left) {
        fprintf(stderr, "hang: received %d from rank %d\n", received, hang->left);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void run_none(struct hang *hang)
{
    good_iteration(hang);
}

static void run_receive_cycle(struct hang *hang)
{
    int value = hang->rank;

    MPI_Recv(&value, 1, MPI_INT, hang->left, TAG_AWAITED, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, hang->right, TAG_AWAITED, MPI_COMM_WORLD);
}

static void run_missing_collective(struct hang *hang)
{
    int value = 0;

    if (hang->rank != hang->size - 1) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (hang->absent_sleeps) {
        for (;;)
            pause();
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, TAG_AWAITED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void run_wrong_tag(struct hang *hang)
{
    int value = hang->rank;

    MPI_Send(&value, 1, MPI_INT, hang->right, TAG_SENT, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, hang->left, TAG_AWAITED, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void run_send_cycle(struct hang *hang)
{
    int count = (int)hang->bytes;

    MPI_Send(hang->buffer, count, MPI_BYTE, hang->right, TAG_SENT, MPI_COMM_WORLD);
    MPI_Recv(hang->buffer + count, count, MPI_BYTE, hang->left, TAG_SENT,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void run_wait(struct hang *hang)
{
    int values[2] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Irecv(&values[0], 1, MPI_INT, hang->left, TAG_AWAITED, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, hang->right, TAG_AWAITED, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

static const struct hang_case cases[] = {
    {"receive-cycle", "everyone receives from the left before sending to the right",
     run_receive_cycle},
    {"missing-collective", "the last rank stays away from a barrier",
     run_missing_collective},
    {"wrong-tag", "everyone waits for a tag that nobody sends", run_wrong_tag},
    {"send-cycle", "everyone sends a large message before receiving one",
     run_send_cycle},
    {"wait", "everyone waits for receives that nobody answers", run_wait},
    {"none", "no deadlock: one more good iteration", run_none},
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

static const struct hang_case *find_case(const char *name)
{
    for (int i = 0; i < CASE_COUNT; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    return NULL;
}

static const struct hang_case *read_command_line(int argc,
                                                 char **argv,
                                                 struct hang *hang)
{
    const struct option_row rows[] = {
        {"after", OPTION_NUMBER, &hang->after, "good iterations first", 0, 1L << 40},
        {"seconds", OPTION_SECONDS, &hang->seconds,
         "give up by MPI_Abort after hanging this long; 0 = never", 0, 0},
        {"bytes", OPTION_NUMBER, &hang->bytes, "message size of send-cycle", 1,
         1 << 30},
        {"absent-sleeps", OPTION_FLAG, &hang->absent_sleeps,
         "missing-collective: the last rank sleeps instead of receiving", 0, 0},
        {0},
    };
    char summary[1024] = "Deadlocks on purpose. CASE is one of:";

    for (int i = 0; i < CASE_COUNT; i++) {
        size_t length = strlen(summary);
        snprintf(summary + length, sizeof summary - length, "\n  %-24s%s",
                 cases[i].name, cases[i].help);
    }
    int first = options_parse(argc, argv, "[OPTION]... CASE", summary, rows);
    const struct hang_case *found = first < argc ? find_case(argv[first]) : NULL;
    if (!found) {
        fprintf(stderr, "hang: %s: expected one CASE (see --help)\n",
                first < argc ? argv[first] : "no case given");
        exit(2);
    }
    options_no_arguments(argc, argv, first + 1);
    return found;
}

static void start_mpi(int *argc, char ***argv, struct hang *hang)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &hang->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &hang->size);
    hang->left = (hang->rank + hang->size - 1) % hang->size;
    hang->right = (hang->rank + 1) % hang->size;
    hang->buffer = calloc(2, (size_t)hang->bytes);
    if (!hang->buffer) {
        fprintf(stderr, "hang: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    struct hang hang = {.after = 10, .bytes = 16 << 20, .seconds = 60};
    const struct hang_case *chosen = read_command_line(argc, argv, &hang);

    start_mpi(&argc, &argv, &hang);
    for (long i = 0; i < hang.after; i++)
        good_iteration(&hang);
    if (hang.rank == 0) {
        printf("hang: %ld good iterations done, now %s\n", hang.after, chosen->name);
        fflush(stdout);
    }
    if (hang.seconds > 0)
        start_timer(hang.seconds);
    chosen->run(&hang);
    if (hang.seconds > 0)
        stop_timer();

    /* Only the case that does not hang may get here. */
    int wrong = chosen->run != run_none;
    if (hang.rank == 0)
        printf("hang: %s did not hang%s\n", chosen->name, wrong ? ", but should" : "");
    free(hang.buffer);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
