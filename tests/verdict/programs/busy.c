/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* busy.c - right programs at full speed.  At any moment many ranks
 * wait, but none forever. */
#include "cases.h"

#include <stddef.h>
#include <stdlib.h>

enum { LONG_BYTES = 1 << 24, PEERS_MAX = 8 };

static int left_rank(void)
{
    return (case_rank + case_size - 1) % case_size;
}

static int right_rank(void)
{
    return (case_rank + 1) % case_size;
}

static void busy_pingpong(void)
{
    for (long round = 0; case_goes_on(round); round++) {
        if (case_rank == 0)
            case_send(1, TAG_DATA);
        case_receive(1 - case_rank, case_rank == 0 ? TAG_REPLY : TAG_DATA);
        if (case_rank == 1)
            case_send(0, TAG_REPLY);
    }
}

static void busy_ring(void)
{
    int value;

    for (long round = 0; case_goes_on(round); round++)
        MPI_Sendrecv(&case_rank, 1, MPI_INT, right_rank(), TAG_DATA, &value, 1, MPI_INT,
                     left_rank(), TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void busy_ssend(void)
{
    for (long round = 0; case_goes_on(round); round++) {
        if (case_rank == 0)
            MPI_Ssend(&case_rank, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD);
        else
            case_receive(case_rank - 1, TAG_DATA);
        if (case_rank > 0 && case_rank + 1 < case_size)
            MPI_Ssend(&case_rank, 1, MPI_INT, case_rank + 1, TAG_DATA, MPI_COMM_WORLD);
    }
}

static void busy_long_messages(void)
{
    char *memory = calloc(2, LONG_BYTES);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (long round = 0; case_goes_on(round * 32); round++)
        MPI_Sendrecv(memory, LONG_BYTES, MPI_BYTE, 1 - case_rank, TAG_DATA,
                     memory + LONG_BYTES, LONG_BYTES, MPI_BYTE, 1 - case_rank, TAG_DATA,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(memory);
}

static void busy_large_sends(void)
{
    for (long round = 0; case_goes_on(round); round++) {
        if (case_rank == 0)
            MPI_Send(case_large, LARGE_BYTES, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD);
        else
            MPI_Recv(case_large_in, LARGE_BYTES, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

/* A master and its workers; the master receives from MPI_ANY_SOURCE. */
static void busy_farm(void)
{
    for (long round = 0; case_goes_on(round); round++) {
        if (case_rank > 0) {
            case_send(0, TAG_DATA);
            case_receive(0, TAG_REPLY);
            continue;
        }
        for (int i = 1; i < case_size; i++) {
            MPI_Status status;
            int value;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                     &status);
            case_send(status.MPI_SOURCE, TAG_REPLY);
        }
    }
}

/* Receives from MPI_ANY_SOURCE and from rank 1, posted together.  All are matched. */
static void busy_mixed_wildcards(void)
{
    int values[3];
    MPI_Request requests[3];

    for (long round = 0; case_goes_on(round); round++) {
        if (case_rank > 0) {
            case_send(0, TAG_DATA);
            if (case_rank == 1)
                case_send(0, TAG_OTHER);
            continue;
        }
        MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 1, TAG_OTHER, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                  &requests[2]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
}

static int post_halo(int *values, MPI_Request *ret_requests)
{
    int count = 0;

    for (int i = 0; i < case_size; i++)
        if (i != case_rank)
            MPI_Irecv(&values[i], 1, MPI_INT, i, TAG_DATA, MPI_COMM_WORLD,
                      &ret_requests[count++]);
    for (int i = 0; i < case_size; i++)
        if (i != case_rank)
            MPI_Isend(&case_rank, 1, MPI_INT, i, TAG_DATA, MPI_COMM_WORLD,
                      &ret_requests[count++]);
    return count;
}

static void busy_waitall(void)
{
    int values[PEERS_MAX];
    MPI_Request requests[2 * PEERS_MAX];

    for (long round = 0; case_goes_on(round); round++)
        MPI_Waitall(post_halo(values, requests), requests, MPI_STATUSES_IGNORE);
}

static void busy_waitany(void)
{
    int values[PEERS_MAX], index;
    MPI_Request requests[2 * PEERS_MAX];

    for (long round = 0; case_goes_on(round); round++) {
        int count = post_halo(values, requests);
        for (int i = 0; i < count; i++)
            MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    }
}

static void busy_waitsome(void)
{
    int values[PEERS_MAX], indices[2 * PEERS_MAX];
    MPI_Request requests[2 * PEERS_MAX];

    for (long round = 0; case_goes_on(round); round++) {
        int count = post_halo(values, requests);
        for (int done, left = count; left > 0; left -= done)
            MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
}

static void busy_testall(void)
{
    int values[PEERS_MAX];
    MPI_Request requests[2 * PEERS_MAX];

    for (long round = 0; case_goes_on(round); round++) {
        int count = post_halo(values, requests);
        for (int done = 0; !done;)
            MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    }
}

static void busy_probes(void)
{
    MPI_Message message;
    int value, found;

    for (long round = 0; case_goes_on(round); round++) {
        if (case_rank == 0) {
            for (int tag = 0; tag < 3; tag++)
                case_send(1, tag);
            case_receive(1, TAG_REPLY);
            continue;
        }
        MPI_Probe(0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        case_receive(0, 0);
        MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        for (found = 0; !found;)
            MPI_Iprobe(0, 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        case_receive(0, 2);
        case_send(0, TAG_REPLY);
    }
}

static void busy_persistent(void)
{
    int value;
    MPI_Request requests[2];

    MPI_Recv_init(&value, 1, MPI_INT, left_rank(), TAG_DATA, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Send_init(&case_rank, 1, MPI_INT, right_rank(), TAG_DATA, MPI_COMM_WORLD,
                  &requests[1]);
    for (long round = 0; case_goes_on(round); round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

#if MPI_VERSION >= 4
static void busy_partitions(void)
{
    int values[4] = {0};
    MPI_Request request;

    if (case_rank == 0)
        MPI_Psend_init(values, 4, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(values, 4, 1, MPI_INT, 0, TAG_DATA, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    for (long round = 0; case_goes_on(round); round++) {
        MPI_Start(&request);
        for (int i = 0; i < 4 && case_rank == 0; i++)
            MPI_Pready(i, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}
#endif

static void busy_cancels(void)
{
    int value;
    MPI_Request request;

    for (long round = 0; case_goes_on(round); round++) {
        MPI_Irecv(&value, 1, MPI_INT, left_rank(), TAG_NEVER, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        case_send(right_rank(), TAG_DATA);
        case_receive(left_rank(), TAG_DATA);
    }
}

static void busy_collectives(void)
{
    int in[PEERS_MAX] = {0}, out[PEERS_MAX];

    for (long round = 0; case_goes_on(round); round++) {
        int root = (int)(round % case_size);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(in, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Reduce(in, out, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void busy_icollectives(void)
{
    int in[3] = {0}, out[3];
    MPI_Request requests[3];

    for (long round = 0; case_goes_on(round); round++) {
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        MPI_Ibcast(&in[1], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
}

static void busy_rows_and_columns(void)
{
    int value = 1, sum;
    MPI_Comm row, column;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank / 2, 0, &row);
    MPI_Comm_split(MPI_COMM_WORLD, case_rank % 2, 0, &column);
    for (long round = 0; case_goes_on(round); round++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, row);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, column);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

static void busy_communicators(void)
{
    MPI_Comm copy, part;

    for (long round = 0; case_goes_on(round); round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_split(copy, case_rank % 2, 0, &part);
        MPI_Barrier(part);
        MPI_Barrier(copy);
        MPI_Comm_free(&part);
        MPI_Comm_free(&copy);
    }
}

static void busy_intercommunicator(void)
{
    int value;
    MPI_Comm part, bridge;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank % 2, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - case_rank % 2, 0, &bridge);
    for (long round = 0; case_goes_on(round); round++) {
        MPI_Sendrecv(&case_rank, 1, MPI_INT, case_rank / 2, TAG_DATA, &value, 1,
                     MPI_INT, case_rank / 2, TAG_DATA, bridge, MPI_STATUS_IGNORE);
        MPI_Barrier(bridge);
    }
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&part);
}

static void busy_locks(void)
{
    static int memory;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    for (long round = 0; case_goes_on(round); round++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (int)(round % 2), 0, window);
        MPI_Put(&case_rank, 1, MPI_INT, (int)(round % 2), 0, 1, MPI_INT, window);
        MPI_Win_unlock((int)(round % 2), window);
        if (round % 16 == 0)
            MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

static void busy_epochs(void)
{
    static int memory;
    int others[1] = {1 - case_rank};
    MPI_Group all, other;
    MPI_Win window;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, others, &other);
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    for (long round = 0; case_goes_on(round); round++) {
        MPI_Win_post(other, 0, window);
        MPI_Win_start(other, 0, window);
        MPI_Put(&case_rank, 1, MPI_INT, others[0], 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
    }
    MPI_Win_free(&window);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
}

const struct verdict_case busy_cases[] = {
    {"busy_pingpong", 2, CASE_GOES, "none", busy_pingpong, false},
    {"busy_ring", 4, CASE_GOES, "none", busy_ring, false},
    {"busy_ssend", 3, CASE_GOES, "none", busy_ssend, false},
    {"busy_long_messages", 2, CASE_GOES, "none", busy_long_messages, false},
    {"busy_large_sends", 2, CASE_GOES, "none", busy_large_sends, false},
    {"busy_farm", 4, CASE_GOES, "none", busy_farm, false},
    {"busy_mixed_wildcards", 3, CASE_GOES, "none", busy_mixed_wildcards, false},
    {"busy_waitall", 4, CASE_GOES, "none", busy_waitall, false},
    {"busy_waitany", 3, CASE_GOES, "none", busy_waitany, false},
    {"busy_waitsome", 3, CASE_GOES, "none", busy_waitsome, false},
    {"busy_testall", 3, CASE_GOES, "none", busy_testall, false},
    {"busy_probes", 2, CASE_GOES, "none", busy_probes, false},
    {"busy_persistent", 3, CASE_GOES, "none", busy_persistent, false},
#if MPI_VERSION >= 4
    {"busy_partitions", 2, CASE_GOES, "none", busy_partitions, false},
#endif
    {"busy_cancels", 2, CASE_GOES, "none", busy_cancels, false},
    {"busy_collectives", 4, CASE_GOES, "none", busy_collectives, false},
    {"busy_icollectives", 3, CASE_GOES, "none", busy_icollectives, false},
    {"busy_rows_and_columns", 4, CASE_GOES, "none", busy_rows_and_columns, false},
    {"busy_communicators", 3, CASE_GOES, "none", busy_communicators, false},
    {"busy_intercommunicator", 4, CASE_GOES, "none", busy_intercommunicator, false},
    {"busy_locks", 3, CASE_GOES, "none", busy_locks, false},
    {"busy_epochs", 2, CASE_GOES, "none", busy_epochs, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
