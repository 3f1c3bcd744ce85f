/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Several threads of each rank communicate at the same time (MPI_THREAD_MULTIPLE). */
#include "options.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_MAX = 64 };

/* Each thread has its own tags: the kind of message plus KINDS times its number. */
enum kind { KIND_SENDRECV, KIND_WILDCARD, KINDS };

struct team {
    int rank, size, left, right;
    long threads, rounds, window;
};

struct member {
    const struct team *team;
    int number;
    MPI_Comm comm; /* of all threads with this number */
    pthread_t thread;
    long errors;
};

/* The contents of a message; all messages differ. */
static long message(int rank, int thread, long round, long i)
{
    return ((round * 1000 + rank) * 1000 + thread) * 1000 + i;
}

static int tag_of(const struct member *member, enum kind kind)
{
    return (int)kind + KINDS * member->number;
}

/* Blocking, on the common communicator: only the tags separate the threads. */
static void exchange_blocking(struct member *member, long round)
{
    const struct team *team = member->team;
    int tag = tag_of(member, KIND_SENDRECV);
    long sent = message(team->rank, member->number, round, 0), received = -1;

    MPI_Sendrecv(&sent, 1, MPI_LONG, team->right, tag, &received, 1, MPI_LONG,
                 team->left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    member->errors += received != message(team->left, member->number, round, 0);
}

/* Nonblocking, many at a time, on the thread's own communicator. */
static void exchange_nonblocking(struct member *member, long round)
{
    const struct team *team = member->team;
    int window = (int)team->window;
    long sent[WINDOW_MAX], received[WINDOW_MAX];
    MPI_Request requests[2 * WINDOW_MAX];
    MPI_Status statuses[2 * WINDOW_MAX];

    for (int i = 0; i < window; i++) {
        sent[i] = message(team->rank, member->number, round, i);
        received[i] = -1;
        MPI_Irecv(&received[i], 1, MPI_LONG, team->left, 0, member->comm, &requests[i]);
        MPI_Isend(&sent[i], 1, MPI_LONG, team->right, 0, member->comm,
                  &requests[window + i]);
    }
    MPI_Waitall(2 * window, requests, statuses);
    for (int i = 0; i < window; i++)
        member->errors += received[i] != message(team->left, member->number, round, i);
}

/* All to all; the receiver accepts any source, but only its own tag. */
static void exchange_wildcard(struct member *member, long round)
{
    const struct team *team = member->team;
    int tag = tag_of(member, KIND_WILDCARD);
    long sent = message(team->rank, member->number, round, 0);
    MPI_Request *requests = calloc((size_t)team->size, sizeof(MPI_Request));

    if (!requests)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (int rank = 0; rank < team->size; rank++)
        MPI_Isend(&sent, 1, MPI_LONG, rank, tag, MPI_COMM_WORLD, &requests[rank]);
    for (int i = 0; i < team->size; i++) {
        long received = -1;
        MPI_Status status;
        MPI_Recv(&received, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        /* A fast rank may be a round ahead, but only after all its messages have
         * arrived here. */
        member->errors +=
            received != message(status.MPI_SOURCE, member->number, round, 0);
    }
    for (int rank = 0; rank < team->size; rank++)
        MPI_Wait(&requests[rank], MPI_STATUS_IGNORE);
    free(requests);
}

static void add_up(struct member *member, long round)
{
    const struct team *team = member->team;
    long own = message(team->rank, member->number, round, 0), sum = 0, expected = 0;

    MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, member->comm);
    for (int rank = 0; rank < team->size; rank++)
        expected += message(rank, member->number, round, 0);
    member->errors += sum != expected;
}

/* The collective ends the round for all threads with this number. */
static void *work(void *argument)
{
    struct member *member = argument;

    for (long round = 0; round < member->team->rounds; round++) {
        exchange_blocking(member, round);
        exchange_nonblocking(member, round);
        exchange_wildcard(member, round);
        add_up(member, round);
    }
    return NULL;
}

/* Returns the number of wrong messages on this rank. */
static long run(const struct team *team)
{
    long errors = 0;
    struct member *members = calloc((size_t)team->threads, sizeof *members);

    if (!members)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    for (int i = 0; i < team->threads; i++) {
        members[i] = (struct member){.team = team, .number = i};
        MPI_Comm_dup(MPI_COMM_WORLD, &members[i].comm);
    }
    for (int i = 1; i < team->threads; i++) {
        int error = pthread_create(&members[i].thread, NULL, work, &members[i]);
        if (error) {
            fprintf(stderr, "threads: cannot start a thread: %s\n", strerror(error));
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
    work(&members[0]);
    for (int i = 0; i < team->threads; i++) {
        if (i > 0)
            pthread_join(members[i].thread, NULL);
        errors += members[i].errors;
        MPI_Comm_free(&members[i].comm);
    }
    free(members);
    return errors;
}

static void start_mpi(int *argc, char ***argv, struct team *team)
{
    int provided;

    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "threads: this MPI does not offer MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &team->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team->size);
    team->left = (team->rank + team->size - 1) % team->size;
    team->right = (team->rank + 1) % team->size;
}

int main(int argc, char **argv)
{
    struct team team = {.threads = 2, .rounds = 200, .window = 8};
    const struct option_row rows[] = {
        {"threads", OPTION_NUMBER, &team.threads, "threads per rank", 1, 64},
        {"rounds", OPTION_NUMBER, &team.rounds, "rounds of all exchanges", 0, 1L << 32},
        {"window", OPTION_NUMBER, &team.window, "nonblocking messages at a time", 1,
         WINDOW_MAX},
        {0},
    };

    int first = options_parse(argc, argv, "[OPTION]...",
                              "The threads of all ranks exchange messages.", rows);
    options_no_arguments(argc, argv, first);

    start_mpi(&argc, &argv, &team);
    double start = MPI_Wtime();
    long errors = run(&team), all_errors = 0;
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(&errors, &all_errors, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (team.rank == 0)
        fprintf(all_errors ? stderr : stdout,
                "threads: %ld rounds of %ld threads on %d ranks, %ld errors, %.3f s\n",
                team.rounds, team.threads, team.size, all_errors, seconds);
    MPI_Finalize();
    return all_errors ? EXIT_FAILURE : EXIT_SUCCESS;
}
