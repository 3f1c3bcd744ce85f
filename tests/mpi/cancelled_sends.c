/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * cancelled_sends - cancels sends, and logs which messages were really received.
 *
 *   cancelled_sends LOG_DIRECTORY SEED STEPS
 *
 * Each rank sends to itself, on a communicator of its own, and to others.  It cancels
 * some of its nonblocking and persistent sends, and some receives.  Each message
 * contains a unique number. LOG_DIRECTORY/log.RANK has a line for each send that was
 * started ("S NUMBER"), each that was cancelled ("C NUMBER") and each message that was
 * received ("R NUMBER"), in order.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"

enum { TAGS = 3, MAX_SENDS = 12, MAX_RECEIVES = 4, MAX_RANKS = 8, EXTRA = 1000 };

struct send {
    MPI_Request request; /* MPI_REQUEST_NULL = unused */
    int words[2];        /* number; unused */
    MPI_Comm comm;
    int dest;
    int tag;
    bool persistent;
    bool active;
    bool cancelling;
};

struct receive {
    MPI_Request request;
    int words[2];
    bool cancelling;
};

static struct send sends[MAX_SENDS];
static struct receive receives[MAX_RECEIVES];
static MPI_Comm own;             /* MPICH 4.0 cancels only sends to oneself */
static int delivered[MAX_RANKS]; /* sends that were not cancelled, by receiver */
static int received;
static int next_number;
static int rank;
static int size;
static uint64_t state;
static FILE *log_file;

static void took(const int *words)
{
    fprintf(log_file, "R %d\n", words[0]);
    received++;
}

/* --- Sends ---------------------------------------------------------------------- */

static void number(struct send *send)
{
    send->words[0] = rank * 10000000 + next_number++;
    send->active = true;
    send->cancelling = false;
    fprintf(log_file, "S %d\n", send->words[0]);
}

static void begin_send(void)
{
    struct send *send = &sends[random_below(&state, MAX_SENDS)];

    if (send->request != MPI_REQUEST_NULL) {
        if (!send->active) {
            number(send);
            MPI_Start(&send->request);
        }
        return;
    }
    send->comm = random_below(&state, 3) == 0 ? MPI_COMM_WORLD : own;
    send->dest = send->comm == own ? 0 : random_int(&state, size);
    send->tag = random_int(&state, TAGS);
    send->persistent = random_below(&state, 3) == 0;
    if (send->persistent) {
        send->active = false;
        MPI_Ssend_init(send->words, 2, MPI_INT, send->dest, send->tag, send->comm,
                       &send->request);
        return;
    }
    number(send);
    if (send->comm == own && random_below(&state, 2) == 0)
        MPI_Issend(send->words, 2, MPI_INT, send->dest, send->tag, send->comm,
                   &send->request);
    else
        MPI_Isend(send->words, 2, MPI_INT, send->dest, send->tag, send->comm,
                  &send->request);
}

static void finish_send(struct send *send)
{
    MPI_Status status;
    int flag = 0;

    if (!send->active)
        return;
    MPI_Test(&send->request, &flag, &status);
    if (!flag)
        return;
    send->active = false;
    MPI_Test_cancelled(&status, &flag);
    if (flag)
        fprintf(log_file, "C %d\n", send->words[0]);
    else
        delivered[send->comm == own ? rank : send->dest]++;
    if (send->persistent && random_below(&state, 2) == 0)
        MPI_Request_free(&send->request);
}

/* In MPICH 4.0 a synchronous send to another process that is to be cancelled may
 * neither be cancelled nor complete.  So only sends to this process are cancelled. */
static void cancel_send(struct send *send)
{
    if (!send->active || send->cancelling || send->comm != own)
        return;
    send->cancelling = true;
    MPI_Cancel(&send->request);
    if (random_below(&state, 2) == 0)
        finish_send(send);
}

/* --- Receives ------------------------------------------------------------------- */

static void finish_receive(struct receive *receive)
{
    MPI_Status status;
    int flag = 0;

    if (receive->request == MPI_REQUEST_NULL)
        return;
    MPI_Test(&receive->request, &flag, &status);
    if (!flag)
        return;
    MPI_Test_cancelled(&status, &flag);
    if (!flag)
        took(receive->words);
}

/* Cancels a receive once: Open MPI crashes if it is cancelled twice. */
static void cancel_receive(struct receive *receive)
{
    if (receive->request == MPI_REQUEST_NULL || receive->cancelling)
        return;
    receive->cancelling = true;
    MPI_Cancel(&receive->request);
}

static void begin_receive(void)
{
    struct receive *receive = &receives[random_below(&state, MAX_RECEIVES)];
    MPI_Comm comm = random_below(&state, 2) == 0 ? own : MPI_COMM_WORLD;
    int source = random_below(&state, 4) == 0 ? MPI_ANY_SOURCE
                 : comm == own                ? 0
                                              : random_int(&state, size);
    int tag = random_below(&state, 4) == 0 ? MPI_ANY_TAG : random_int(&state, TAGS);

    if (receive->request == MPI_REQUEST_NULL) {
        MPI_Irecv(receive->words, 2, MPI_INT, source, tag, comm, &receive->request);
        receive->cancelling = false;
    } else if (random_below(&state, 3) == 0) {
        cancel_receive(receive);
    }
}

static void drain(MPI_Comm comm)
{
    int words[2];
    int flag;
    MPI_Status status;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    if (!flag)
        return;
    MPI_Recv(words, 2, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
    took(words);
}

/* --- The program ----------------------------------------------------------------- */

static void act(void)
{
    switch (random_below(&state, 10)) {
    case 0:
    case 1:
    case 2:
        begin_send();
        break;
    case 3:
        if (random_below(&state, 6) == 0)
            cancel_send(&sends[random_below(&state, MAX_SENDS)]);
        break;
    case 4:
        begin_receive();
        break;
    case 5:
        drain(own);
        break;
    case 6:
        drain(MPI_COMM_WORLD);
        break;
    default:
        finish_send(&sends[random_below(&state, MAX_SENDS)]);
        finish_receive(&receives[random_below(&state, MAX_RECEIVES)]);
        break;
    }
}

static bool are_sends_open(void)
{
    for (int i = 0; i < MAX_SENDS; i++)
        if (sends[i].active)
            return true;
    return false;
}

/* Receives until all messages that were sent have arrived. */
static void end(MPI_Comm control)
{
    int here[MAX_RANKS];
    int expected = 0;
    int flag = 0;
    MPI_Request told;

    while (are_sends_open()) {
        drain(own);
        drain(MPI_COMM_WORLD);
        for (int i = 0; i < MAX_SENDS; i++)
            finish_send(&sends[i]);
        for (int i = 0; i < MAX_RECEIVES; i++)
            finish_receive(&receives[i]);
    }
    MPI_Ialltoall(delivered, 1, MPI_INT, here, 1, MPI_INT, control, &told);
    for (int i = 0; i < MAX_RECEIVES; i++)
        cancel_receive(&receives[i]);
    while (!flag || received < expected) {
        drain(own);
        drain(MPI_COMM_WORLD);
        for (int i = 0; i < MAX_RECEIVES; i++)
            finish_receive(&receives[i]);
        if (flag)
            continue;
        MPI_Test(&told, &flag, MPI_STATUS_IGNORE);
        for (int i = 0; flag && i < size; i++)
            expected += here[i];
    }
}

/* Frees a cancelled send without waiting for it: nobody can know whether the next send
 * is the first or the second of its channel. */
static void forget_cancelled(void)
{
    int words[3] = {-1, -2, -3};
    int got;
    MPI_Request request;

    MPI_Isend(&words[0], 1, MPI_INT, 0, EXTRA, own, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    for (int i = 1; i < 3; i++) {
        MPI_Isend(&words[i], 1, MPI_INT, 0, EXTRA, own, &request);
        MPI_Recv(&got, 1, MPI_INT, 0, EXTRA, own, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    char path[512];
    int steps = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Comm control;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    snprintf(path, sizeof path, "%s/log.%d", argc > 1 ? argv[1] : ".", rank);
    log_file = fopen(path, "w");
    if (argc < 4 || size > MAX_RANKS || log_file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 2);
    state = strtoull(argv[2], NULL, 10) * MAX_RANKS + (uint64_t)rank;
    for (int i = 0; i < MAX_SENDS; i++)
        sends[i].request = MPI_REQUEST_NULL;
    for (int i = 0; i < MAX_RECEIVES; i++)
        receives[i].request = MPI_REQUEST_NULL;
    for (int i = 0; i < steps; i++)
        act();
    end(control);
    for (int i = 0; i < MAX_SENDS; i++)
        if (sends[i].request != MPI_REQUEST_NULL)
            MPI_Request_free(&sends[i].request);
    fclose(log_file);
    forget_cancelled();
    MPI_Comm_free(&own);
    MPI_Comm_free(&control);
    MPI_Finalize();
    return 0;
}
