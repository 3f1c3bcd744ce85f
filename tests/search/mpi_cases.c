/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * mpi_cases.c - typical errors in MPI programs, one at a time, on three ranks.
 *
 *   mpiexec -n 3 mpi_cases CASE
 *
 * Each case begins and ends with a barrier and contains nothing but the error.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_US = 30000, RANKS = 3 };

static int rank;

static void send_to(int peer, int tag)
{
    int word = rank;

    MPI_Send(&word, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
}

static void receive_from(int peer, int tag)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Ways to receive a message from any sender. */
enum how {
    OPEN,    /* from any source */
    PROBED,  /* by name, after a probe from any source */
    POLLED,  /* likewise, with a nonblocking probe */
    MATCHED, /* the message taken by a matched probe */
};

static void receive_any(enum how how)
{
    MPI_Status status;
    MPI_Message message;
    int is_there = 0, word;

    if (how == OPEN)
        receive_from(MPI_ANY_SOURCE, 0);
    if (how == PROBED)
        MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    while (how == POLLED && !is_there)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &status);
    if (how == PROBED || how == POLLED)
        receive_from(status.MPI_SOURCE, 0);
    if (how == MATCHED) {
        MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&word, 1, MPI_INT, &message, &status);
    }
}

/* Either message may arrive first. */
static void race_by(enum how first, enum how second)
{
    if (rank > 0) {
        send_to(0, 0);
    } else {
        receive_any(first);
        receive_any(second);
    }
}

/* The second message is sent only after the first one was received. */
static void asked_by(enum how first, enum how second)
{
    if (rank == 1)
        send_to(0, 0);
    if (rank == 2) {
        receive_from(0, 1);
        send_to(0, 0);
    }
    if (rank == 0) {
        receive_any(first);
        send_to(2, 1);
        receive_any(second);
    }
}

static void race(void)
{
    race_by(OPEN, OPEN);
}

/* Two kinds of messages; one of a kind comes between two of the other. */
static void interleaved(void)
{
    for (int i = 0; i < 4; i++)
        if (rank == 0)
            receive_from(MPI_ANY_SOURCE, i % 2);
        else if (i < 2)
            send_to(0, i);
}

static void probe_race(void)
{
    race_by(PROBED, POLLED);
}

static void matched_race(void)
{
    race_by(MATCHED, MATCHED);
}

static void asked(void)
{
    asked_by(OPEN, OPEN);
}

static void probe_asked(void)
{
    asked_by(POLLED, PROBED);
}

/* The receives name their sources. */
static void named(void)
{
    if (rank > 0) {
        send_to(0, 0);
    } else {
        receive_from(1, 0);
        receive_from(2, 0);
    }
}

static void overtaking(void)
{
    if (rank == 1) {
        send_to(0, 1);
        send_to(0, 2);
    }
    if (rank == 0) {
        receive_from(1, 2);
        receive_from(1, 1);
    }
}

static void lost(void)
{
    if (rank == 1)
        send_to(0, 3);
}

static void late_sender(void)
{
    if (rank == 1) {
        usleep(WAIT_US);
        send_to(0, 0);
    }
    if (rank == 0)
        receive_from(1, 0);
}

static void late_receiver(void)
{
    int word = 0;

    if (rank == 1)
        MPI_Ssend(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(WAIT_US);
        receive_from(1, 0);
    }
}

/* Two ranks wait for the third. */
static void one_for_all(void)
{
    if (rank == 0) {
        usleep(WAIT_US);
        send_to(1, 0);
        send_to(2, 0);
    } else {
        receive_from(0, 0);
    }
}

/* Each rank enters only after the one before has left. */
static void serialized(void)
{
    int word = 0;

    if (rank > 0)
        receive_from(rank - 1, 0);
    MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank < RANKS - 1)
        send_to(rank + 1, 0);
}

static void imbalance(void)
{
    if (rank == 1)
        usleep(WAIT_US);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void access_window(int atomically)
{
    int word = rank, memory = 0;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Win_fence(0, window);
    if (rank > 0 && atomically)
        MPI_Accumulate(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    else if (rank > 0)
        MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void conflict(void)
{
    access_window(0);
}

static void atomic_access(void)
{
    access_window(1);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"race", race},
    {"named", named},
    {"asked", asked},
    {"interleaved", interleaved},
    {"probe-race", probe_race},
    {"probe-asked", probe_asked},
    {"matched-race", matched_race},
    {"overtaking", overtaking},
    {"lost", lost},
    {"late-sender", late_sender},
    {"late-receiver", late_receiver},
    {"one-for-all", one_for_all},
    {"serialized", serialized},
    {"imbalance", imbalance},
    {"conflict", conflict},
    {"atomic", atomic_access},
};

int main(int argc, char **argv)
{
    int size, found = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (size == RANKS && argc == 2 && strcmp(cases[i].name, argv[1]) == 0) {
            cases[i].run();
            found = 1;
        }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (!found && rank == 0)
        fprintf(stderr, "usage: mpiexec -n 3 mpi_cases CASE\n");
    return found ? 0 : 2;
}
