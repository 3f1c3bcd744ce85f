/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* requests.c - waits for requests that never complete, and polls of them. */
#include "cases.h"

#include <stddef.h>

enum { REQUESTS = 4 };

static void free_requests(MPI_Request *requests)
{
    for (int i = 0; i < REQUESTS; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
}

/* Rank 0 posts receives with tags 0 to 3.  Rank 1 sends messages
 * with all tags but 2. */
static void post_receives(int *values, MPI_Request *ret_requests)
{
    for (int i = 0; i < REQUESTS; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &ret_requests[i]);
}

static void send_but_one(void)
{
    for (int i = 0; i < REQUESTS; i++)
        if (i != 2)
            case_send(0, i);
}

static void waitall_one(void)
{
    int values[REQUESTS];
    MPI_Request requests[REQUESTS];

    if (case_rank == 0) {
        post_receives(values, requests);
        case_reached();
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    }
    send_but_one();
    case_receive_in_vain(0);
}

/* The requests are a receive that is matched and a long send that nobody receives. */
static void waitall_send(void)
{
    int value;
    MPI_Request requests[2];

    if (case_rank == 0) {
        MPI_Isend(case_large, LARGE_BYTES, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(&value, 1, MPI_INT, 1, TAG_OTHER, MPI_COMM_WORLD, &requests[1]);
        case_reached();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    case_send(0, TAG_OTHER);
    case_receive_in_vain(0);
}

static void waitall_many(void)
{
    enum { MANY = 100 };
    int values[MANY];
    MPI_Request requests[MANY];

    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, 1 - case_rank, i, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < MANY - 1; i++)
        case_send(1 - case_rank, i);
    case_reached();
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
}

/* Posts receives from the two other ranks, which wait for rank 0. */
static void post_from_others(int *values, MPI_Request *ret_requests)
{
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, i + 1, TAG_DATA, MPI_COMM_WORLD,
                  &ret_requests[i]);
}

static void waitany_none(void)
{
    int values[2], index;
    MPI_Request requests[2];

    if (case_rank == 0) {
        post_from_others(values, requests);
        case_reached();
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    }
    case_receive_in_vain(0);
}

static void waitsome_none(void)
{
    int values[2], count, indices[2];
    MPI_Request requests[2];

    if (case_rank == 0) {
        post_from_others(values, requests);
        case_reached();
        MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    case_receive_in_vain(0);
}

/* Only three of the four receives get a message. */
static void waitany_last(void)
{
    int values[REQUESTS], index;
    MPI_Request requests[REQUESTS];

    if (case_rank == 0) {
        post_receives(values, requests);
        for (int i = 0; i < REQUESTS; i++) {
            if (i == REQUESTS - 1)
                case_reached();
            MPI_Waitany(REQUESTS, requests, &index, MPI_STATUS_IGNORE);
        }
    }
    send_but_one();
    case_receive_in_vain(0);
}

static void wait_cross(void)
{
    int value;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_INT, 1 - case_rank, TAG_DATA, MPI_COMM_WORLD, &request);
    case_reached();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    case_send(1 - case_rank, TAG_DATA);
}

/* Long sends complete when they are received, but both ranks wait for that
 * before they receive. */
static void isend_cross(void)
{
    MPI_Request request;

    MPI_Isend(case_large, LARGE_BYTES, MPI_BYTE, 1 - case_rank, TAG_DATA,
              MPI_COMM_WORLD, &request);
    case_reached();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(case_large_in, LARGE_BYTES, MPI_BYTE, 1 - case_rank, TAG_DATA,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The only message goes to the receive from MPI_ANY_SOURCE, which was posted first. */
static void wildcard_posted_first(void)
{
    int values[2];
    MPI_Request requests[2];

    if (case_rank == 0) {
        MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG_DATA, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD, &requests[1]);
        case_reached();
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    case_send(0, TAG_DATA);
    case_receive_in_vain(0);
}

static MPI_Request receive_never(void)
{
    static int value;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_INT, 1, TAG_NEVER, MPI_COMM_WORLD, &request);
    return request;
}

static void poll_test(void)
{
    int done = 0;

    if (case_rank == 0) {
        MPI_Request request = receive_never();
        case_reached();
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    case_receive_in_vain(0);
}

static void poll_testall(void)
{
    int values[REQUESTS], done = 0;
    MPI_Request requests[REQUESTS];

    if (case_rank == 0) {
        post_receives(values, requests);
        case_reached();
        while (!done)
            MPI_Testall(REQUESTS, requests, &done, MPI_STATUSES_IGNORE);
    }
    send_but_one();
    case_receive_in_vain(0);
}

static void poll_testany(void)
{
    int values[2], done = 0, index;
    MPI_Request requests[2];

    if (case_rank == 0) {
        post_from_others(values, requests);
        case_reached();
        while (!done)
            MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
    }
    case_receive_in_vain(0);
}

static void poll_testsome(void)
{
    int values[2], count = 0, indices[2];
    MPI_Request requests[2];

    if (case_rank == 0) {
        post_from_others(values, requests);
        case_reached();
        while (count == 0)
            MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    }
    case_receive_in_vain(0);
}

static void poll_iprobe(void)
{
    int done = 0;

    if (case_rank == 0) {
        case_reached();
        while (!done)
            MPI_Iprobe(1, TAG_NEVER, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    }
    case_receive_in_vain(0);
}

static void poll_improbe(void)
{
    MPI_Message message;
    int done = 0;

    if (case_rank == 0) {
        case_reached();
        while (!done)
            MPI_Improbe(MPI_ANY_SOURCE, TAG_NEVER, MPI_COMM_WORLD, &done, &message,
                        MPI_STATUS_IGNORE);
    }
    case_receive_in_vain(0);
}

/* Both ranks poll. */
static void poll_both(void)
{
    int value, done = 0;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_INT, 1 - case_rank, TAG_DATA, MPI_COMM_WORLD, &request);
    case_reached();
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    case_send(1 - case_rank, TAG_DATA);
}

/* The sender creates its request but never starts it. */
static void persistent_unstarted(void)
{
    int value = 0;
    MPI_Request request;

    if (case_rank == 0) {
        MPI_Recv_init(&value, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        case_reached();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Send_init(&value, 1, MPI_INT, 0, TAG_DATA, MPI_COMM_WORLD, &request);
    }
    case_meet_in_vain();
    MPI_Request_free(&request);
}

/* The receiver starts its request once more than the sender. */
static void persistent_once_more(void)
{
    int value = 0;
    int rounds = case_rank == 0 ? 4 : 3;
    MPI_Request request;

    if (case_rank == 0)
        MPI_Recv_init(&value, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD, &request);
    else
        MPI_Ssend_init(&value, 1, MPI_INT, 0, TAG_DATA, MPI_COMM_WORLD, &request);
    for (int i = 0; i < rounds; i++) {
        if (i == 3)
            case_reached();
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    case_meet_in_vain();
    MPI_Request_free(&request);
}

/* Four persistent requests are started together, and one is never matched. */
static void persistent_startall(void)
{
    int values[REQUESTS];
    MPI_Request requests[REQUESTS];

    if (case_rank == 0) {
        for (int i = 0; i < REQUESTS; i++)
            MPI_Recv_init(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Startall(REQUESTS, requests);
        case_reached();
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
        free_requests(requests);
    }
    send_but_one();
    case_receive_in_vain(0);
}

#if MPI_VERSION >= 4
/* The last of four partitions never becomes ready. */
static void partition_unready(void)
{
    int values[REQUESTS] = {0};
    MPI_Request request;

    if (case_rank == 0)
        MPI_Psend_init(values, REQUESTS, 1, MPI_INT, 1, TAG_DATA, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(values, REQUESTS, 1, MPI_INT, 0, TAG_DATA, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (case_rank == 0)
        MPI_Pready_range(0, REQUESTS - 2, request);
    else {
        case_reached();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    case_meet_in_vain();
    MPI_Request_free(&request);
}
#endif

const struct verdict_case request_cases[] = {
    {"waitall_one", 2, CASE_HANGS, "DEADLOCK certain 0,1", waitall_one, false},
    {"waitall_send", 2, CASE_HANGS, "DEADLOCK certain 0,1", waitall_send, false},
    {"waitall_many", 2, CASE_HANGS, "DEADLOCK any 0,1", waitall_many, false},
    {"waitany_none", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", waitany_none, false},
    {"waitsome_none", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", waitsome_none, false},
    {"waitany_last", 2, CASE_HANGS, "DEADLOCK certain 0,1", waitany_last, false},
    {"wait_cross", 2, CASE_HANGS, "DEADLOCK certain 0,1", wait_cross, false},
    {"isend_cross", 2, CASE_HANGS, "DEADLOCK certain 0,1", isend_cross, false},
    {"wildcard_posted_first", 2, CASE_HANGS, "DEADLOCK any 0,1", wildcard_posted_first,
     false},
    {"poll_test", 2, CASE_HANGS, "DEADLOCK possible 0,1", poll_test, false},
    {"poll_testall", 2, CASE_HANGS, "DEADLOCK possible 0,1", poll_testall, false},
    {"poll_testany", 3, CASE_HANGS, "DEADLOCK possible 0,1,2", poll_testany, false},
    {"poll_testsome", 3, CASE_HANGS, "DEADLOCK possible 0,1,2", poll_testsome, false},
    {"poll_iprobe", 2, CASE_HANGS, "DEADLOCK possible 0,1", poll_iprobe, false},
    {"poll_improbe", 2, CASE_HANGS, "DEADLOCK possible 0,1", poll_improbe, false},
    {"poll_both", 2, CASE_HANGS, "DEADLOCK possible 0,1", poll_both, false},
    {"persistent_unstarted", 2, CASE_HANGS, "DEADLOCK certain 0,1",
     persistent_unstarted, false},
    {"persistent_once_more", 2, CASE_HANGS, "DEADLOCK certain 0,1",
     persistent_once_more, false},
    {"persistent_startall", 2, CASE_HANGS, "DEADLOCK certain 0,1", persistent_startall,
     false},
#if MPI_VERSION >= 4
    {"partition_unready", 2, CASE_HANGS, "DEADLOCK any 0,1", partition_unready, false},
#endif
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
