/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* spaces.c - ranks that wait forever on intercommunicators and in windows. */
#include "cases.h"

#include <stddef.h>

/* Connects the ranks before `first` with the others.  The first rank of
 * each side is its leader. */
static MPI_Comm make_bridge(int first)
{
    MPI_Comm part, bridge;
    bool is_second = case_rank >= first;

    MPI_Comm_split(MPI_COMM_WORLD, is_second, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, is_second ? 0 : first, 0, &bridge);
    MPI_Comm_free(&part);
    return bridge;
}

static void receive_over(MPI_Comm bridge, int from)
{
    int value;

    MPI_Recv(&value, 1, MPI_INT, from, TAG_NEVER, bridge, MPI_STATUS_IGNORE);
}

/* The leaders wait for each other, and all others wait for the remote leader. */
static void inter_receive_cycle(void)
{
    MPI_Comm bridge = make_bridge(2);

    case_reached();
    receive_over(bridge, 0);
    MPI_Comm_free(&bridge);
}

static void inter_wildcard(void)
{
    MPI_Comm bridge = make_bridge(1);

    case_reached();
    receive_over(bridge, case_rank == 0 ? MPI_ANY_SOURCE : 0);
    MPI_Comm_free(&bridge);
}

/* Rank 2 is alone on its side.  It waits for rank 0 instead of entering the barrier. */
static void inter_barrier_missing(void)
{
    MPI_Comm bridge = make_bridge(2);

    case_reached();
    if (case_rank < 2)
        MPI_Barrier(bridge);
    else
        receive_over(bridge, 0);
    MPI_Comm_free(&bridge);
}

/* The root is on the remote side and never enters. */
static void inter_bcast_missing(void)
{
    MPI_Comm bridge = make_bridge(1);
    int value = 0;

    case_reached();
    if (case_rank == 0)
        receive_over(bridge, 0);
    MPI_Bcast(&value, 1, MPI_INT, 0, bridge);
    MPI_Comm_free(&bridge);
}

static MPI_Win make_window(void)
{
    static int memory;
    MPI_Win window;

    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    return window;
}

static void put_into(MPI_Win window, int target)
{
    static const int value = 1;

    MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
}

/* Rank 0 holds the lock of 1 and waits for 2, which requests that lock. */
static void lock_held(void)
{
    MPI_Win window = make_window();

    if (case_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        put_into(window, 1);
        MPI_Win_flush(1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    case_reached();
    if (case_rank == 0)
        case_receive(2, TAG_NEVER);
    if (case_rank == 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        put_into(window, 1);
        MPI_Win_unlock(1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
}

/* Each rank holds the lock of its own memory and requests the other's. */
static void lock_cycle(void)
{
    MPI_Win window = make_window();
    int other = 1 - case_rank;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, case_rank, 0, window);
    put_into(window, case_rank);
    MPI_Win_flush(case_rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    case_reached();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, window);
    put_into(window, other);
    MPI_Win_unlock(other, window);
    MPI_Win_unlock(case_rank, window);
    MPI_Win_free(&window);
}

static MPI_Group group_of(int rank)
{
    MPI_Group all, one;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Group_free(&all);
    return one;
}

static void start_without_post(void)
{
    MPI_Win window = make_window();
    MPI_Group other = group_of(1 - case_rank);

    case_reached();
    if (case_rank == 0) {
        MPI_Win_start(other, 0, window);
        put_into(window, 1);
        MPI_Win_complete(window);
    } else {
        case_receive(0, TAG_NEVER);
    }
    MPI_Group_free(&other);
    MPI_Win_free(&window);
}

static void wait_without_complete(void)
{
    MPI_Win window = make_window();
    MPI_Group other = group_of(1 - case_rank);

    case_reached();
    if (case_rank == 0) {
        MPI_Win_start(other, 0, window);
        put_into(window, 1);
        case_receive(1, TAG_NEVER);
        MPI_Win_complete(window);
    } else {
        MPI_Win_post(other, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Group_free(&other);
    MPI_Win_free(&window);
}

static void wait_polled(void)
{
    MPI_Win window = make_window();
    MPI_Group other = group_of(1 - case_rank);
    int done = 0;

    case_reached();
    if (case_rank == 0)
        case_receive(1, TAG_NEVER);
    MPI_Win_post(other, 0, window);
    while (!done)
        MPI_Win_test(window, &done);
    MPI_Group_free(&other);
    MPI_Win_free(&window);
}

static void fence_missing(void)
{
    MPI_Win window = make_window();

    MPI_Win_fence(0, window);
    case_reached();
    if (case_rank == 2)
        case_receive(0, TAG_NEVER);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void win_free_missing(void)
{
    MPI_Win window = make_window();

    case_reached();
    if (case_rank == 1)
        case_receive(0, TAG_NEVER);
    MPI_Win_free(&window);
}

const struct verdict_case space_cases[] = {
    {"inter_recv_cycle", 4, CASE_HANGS, "DEADLOCK certain 0,2", inter_receive_cycle,
     false},
    {"inter_wildcard", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", inter_wildcard, false},
    {"inter_barrier_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2",
     inter_barrier_missing, false},
    {"inter_bcast_missing", 2, CASE_HANGS, "DEADLOCK certain 0,1", inter_bcast_missing,
     false},
    {"lock_held", 3, CASE_HANGS, "DEADLOCK certain 0,2", lock_held, false},
    {"lock_cycle", 2, CASE_HANGS, "DEADLOCK certain 0,1", lock_cycle, false},
    {"start_without_post", 2, CASE_HANGS, "DEADLOCK certain 0,1", start_without_post,
     false},
    {"wait_without_complete", 2, CASE_HANGS, "DEADLOCK certain 0,1",
     wait_without_complete, false},
    {"wait_polled", 2, CASE_HANGS, "DEADLOCK possible 0,1", wait_polled, false},
    {"fence_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", fence_missing, false},
    {"win_free_missing", 2, CASE_HANGS, "DEADLOCK certain 0,1", win_free_missing,
     false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
