/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* messages.c - blocking sends, receives and probes that wait forever. */
#include "cases.h"

#include <stddef.h>

static int left_rank(void)
{
    return (case_rank + case_size - 1) % case_size;
}

static int right_rank(void)
{
    return (case_rank + 1) % case_size;
}

static void receive_cycle(void)
{
    case_reached();
    case_receive(left_rank(), TAG_DATA);
    case_send(right_rank(), TAG_DATA);
}

/* Ranks 1 and 2 wait for each other, 0 waits for 1, and 3 for 0. */
static void receive_behind(void)
{
    static const int sources[] = {1, 2, 1, 0};

    case_receive_in_vain(sources[case_rank]);
}

/* Two independent cycles, and a rank that waits for both. */
static void receive_two_cycles(void)
{
    static const int partners[] = {1, 0, 3, 2};

    case_reached();
    if (case_rank < 4)
        case_receive(partners[case_rank], TAG_DATA);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* The cycle appears after many rounds without a fault. */
static void receive_cycle_late(void)
{
    for (int i = 0; i < 5000; i++) {
        int value;
        MPI_Sendrecv(&case_rank, 1, MPI_INT, right_rank(), TAG_DATA, &value, 1, MPI_INT,
                     left_rank(), TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    receive_cycle();
}

static void send_cycle(void)
{
    case_reached();
    MPI_Send(case_large, LARGE_BYTES, MPI_BYTE, right_rank(), TAG_DATA, MPI_COMM_WORLD);
    MPI_Recv(case_large_in, LARGE_BYTES, MPI_BYTE, left_rank(), TAG_DATA,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ssend_cycle(void)
{
    case_reached();
    MPI_Ssend(&case_rank, 1, MPI_INT, right_rank(), TAG_DATA, MPI_COMM_WORLD);
    case_receive(left_rank(), TAG_DATA);
}

/* Rank 0 waits for another tag than the partner's message has. */
static void sendrecv_mismatch(void)
{
    int value;
    int wanted = case_rank == 0 ? TAG_OTHER : TAG_DATA;

    case_reached();
    MPI_Sendrecv(&case_rank, 1, MPI_INT, 1 - case_rank, TAG_DATA, &value, 1, MPI_INT,
                 1 - case_rank, wanted, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wrong_tag(void)
{
    if (case_rank == 0)
        case_send(1, TAG_DATA);
    case_receive_in_vain(1 - case_rank);
}

static void wrong_communicator(void)
{
    MPI_Comm other;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (case_rank == 0)
        MPI_Send(&case_rank, 1, MPI_INT, 1, TAG_DATA, other);
    case_reached();
    case_receive(1 - case_rank, TAG_DATA);
    MPI_Comm_free(&other);
}

/* Rank 2 waits for 1, but 0 has sent the message. */
static void wrong_source(void)
{
    if (case_rank == 0)
        case_send(2, TAG_DATA);
    case_reached();
    if (case_rank == 2)
        case_receive(1, TAG_DATA);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A receive from MPI_ANY_SOURCE takes rank 1's message, which
 * the next receive needs. */
static void taken_by_wildcard(void)
{
    if (case_rank == 1)
        case_send(0, TAG_DATA);
    if (case_rank == 2) {
        case_receive(0, TAG_REPLY);
        case_send(0, TAG_DATA);
    }
    if (case_rank == 0) {
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        case_send(2, TAG_REPLY);
        case_reached();
        case_receive(1, TAG_DATA);
    }
    case_meet_in_vain();
}

/* The same, with a nonblocking receive from MPI_ANY_SOURCE that was posted earlier and
 * is still outstanding. */
static void taken_by_pending(void)
{
    int value;
    MPI_Request request;

    if (case_rank == 1)
        case_send(0, TAG_DATA);
    if (case_rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                  &request);
        case_reached();
        case_receive(1, TAG_DATA);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    case_meet_in_vain();
}

/* There is one receive more than messages.  The first one is outstanding, so the
 * senders of the messages that the others got are not counted yet. */
static void held_by_pending(void)
{
    int value;
    MPI_Request request;

    if (case_rank > 0)
        case_send(0, TAG_DATA);
    if (case_rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                  &request);
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        case_reached();
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    case_meet_in_vain();
}

/* The same, but each receive gets a message in the end. */
static void left_by_pending(void)
{
    int value;
    MPI_Request request;

    case_reached();
    if (case_rank == 1)
        case_send(0, TAG_DATA);
    if (case_rank == 2) {
        case_await_go();
        case_send(0, TAG_DATA);
        case_send(0, TAG_DATA);
    }
    if (case_rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                  &request);
        case_receive(2, TAG_DATA);
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wildcard_nobody(void)
{
    case_receive_in_vain(case_rank == 0 ? MPI_ANY_SOURCE : 0);
}

/* Each rank receives from MPI_ANY_SOURCE. */
static void wildcard_all(void)
{
    case_receive_in_vain(MPI_ANY_SOURCE);
}

/* The master has received the messages of all workers and waits for one more. */
static void wildcard_one_too_many(void)
{
    if (case_rank == 0) {
        for (int i = 1; i < case_size; i++)
            case_receive(MPI_ANY_SOURCE, TAG_DATA);
        case_reached();
        case_receive(MPI_ANY_SOURCE, TAG_DATA);
        return;
    }
    case_send(0, TAG_DATA);
    case_reached();
    case_receive(0, TAG_REPLY);
}

/* A receive with any tag, while nobody sends. */
static void any_tag(void)
{
    case_reached();
    case_receive(1 - case_rank, MPI_ANY_TAG);
}

static void probe_none(void)
{
    case_reached();
    if (case_rank == 0)
        MPI_Probe(1, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    case_receive(0, TAG_NEVER);
}

static void probe_any_none(void)
{
    case_reached();
    if (case_rank == 0)
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    case_receive(0, TAG_NEVER);
}

static void mprobe_none(void)
{
    MPI_Message message;

    case_reached();
    if (case_rank == 0)
        MPI_Mprobe(1, TAG_DATA, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    case_receive(0, TAG_NEVER);
}

/* Rank 0 matches the message but never receives it, so its sender waits, too. */
static void mprobe_kept(void)
{
    MPI_Message message;

    if (case_rank == 0) {
        MPI_Mprobe(1, TAG_DATA, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        case_receive_in_vain(1);
    }
    case_reached();
    MPI_Ssend(&case_rank, 1, MPI_INT, 0, TAG_DATA, MPI_COMM_WORLD);
}

/* A synchronous send to oneself, before the receive. */
static void ssend_to_self(void)
{
    if (case_rank == 0) {
        case_reached();
        MPI_Ssend(&case_rank, 1, MPI_INT, 0, TAG_DATA, MPI_COMM_WORLD);
        case_receive(0, TAG_DATA);
    }
    case_meet_in_vain();
}

static void receive_from_self(void)
{
    if (case_rank == 0)
        case_receive_in_vain(0);
    case_meet_in_vain();
}

const struct verdict_case message_cases[] = {
    {"recv_cycle_2", 2, CASE_HANGS, "DEADLOCK certain 0,1", receive_cycle, false},
    {"recv_cycle_3", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", receive_cycle, false},
    {"recv_cycle_4", 4, CASE_HANGS, "DEADLOCK certain 0,1,2,3", receive_cycle, false},
    {"recv_cycle_late", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", receive_cycle_late,
     false},
    {"recv_behind", 4, CASE_HANGS, "DEADLOCK certain 1,2", receive_behind, false},
    {"recv_two_cycles", 5, CASE_HANGS, "DEADLOCK certain 0,1+2,3", receive_two_cycles,
     false},
    {"send_cycle", 2, CASE_HANGS, "DEADLOCK certain 0,1", send_cycle, false},
    {"send_cycle_3", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", send_cycle, false},
    {"ssend_cycle", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", ssend_cycle, false},
    {"sendrecv_mismatch", 2, CASE_HANGS, "DEADLOCK certain 0,1", sendrecv_mismatch,
     false},
    {"wrong_tag", 2, CASE_HANGS, "DEADLOCK certain 0,1", wrong_tag, false},
    {"wrong_communicator", 2, CASE_HANGS, "DEADLOCK certain 0,1", wrong_communicator,
     false},
    {"wrong_source", 3, CASE_HANGS, "DEADLOCK certain 1,2", wrong_source, false},
    {"taken_by_wildcard", 3, CASE_HANGS, "DEADLOCK certain 0,1", taken_by_wildcard,
     false},
    {"taken_by_pending", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", taken_by_pending,
     false},
    {"held_by_pending", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", held_by_pending,
     false},
    {"left_by_pending", 3, CASE_GOES, "none", left_by_pending, false},
    {"wildcard_nobody", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", wildcard_nobody,
     false},
    {"wildcard_all", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", wildcard_all, false},
    {"wildcard_one_too_many", 3, CASE_HANGS, "DEADLOCK certain 0,1,2",
     wildcard_one_too_many, false},
    {"any_tag", 2, CASE_HANGS, "DEADLOCK certain 0,1", any_tag, false},
    {"probe_none", 2, CASE_HANGS, "DEADLOCK certain 0,1", probe_none, false},
    {"probe_any_none", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", probe_any_none, false},
    {"mprobe_none", 2, CASE_HANGS, "DEADLOCK certain 0,1", mprobe_none, false},
    {"mprobe_kept", 2, CASE_HANGS, "DEADLOCK certain 0,1", mprobe_kept, false},
    {"ssend_to_self", 2, CASE_HANGS, "DEADLOCK certain 0", ssend_to_self, false},
    {"recv_from_self", 2, CASE_HANGS, "DEADLOCK certain 0", receive_from_self, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
