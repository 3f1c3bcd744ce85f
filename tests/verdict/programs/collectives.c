/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives.c - collective operations that some rank never enters. */
#include "cases.h"

#include <stddef.h>

enum { RANKS_MAX = 8 };

static int in[RANKS_MAX * RANKS_MAX];
static int out[RANKS_MAX * RANKS_MAX];

/* Whether this is the last rank, which stays out of the collective operation.  It waits
 * for rank 0, which is inside. */
static bool is_absent(void)
{
    case_reached();
    if (case_rank != case_size - 1)
        return false;
    case_receive(0, TAG_NEVER);
    return true;
}

static void barrier_missing(void)
{
    if (!is_absent())
        MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce_missing(void)
{
    if (!is_absent())
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather_missing(void)
{
    if (!is_absent())
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
}

static void alltoall_missing(void)
{
    if (!is_absent())
        MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
}

static void reduce_scatter_missing(void)
{
    if (!is_absent())
        MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* The others need the last rank, which is the root. */
static void bcast_missing_root(void)
{
    if (!is_absent())
        MPI_Bcast(in, 1, MPI_INT, case_size - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void scatter_missing_root(void)
{
    if (!is_absent())
        MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, case_size - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The root is rank 0, which needs all ranks. */
static void reduce_missing(void)
{
    if (!is_absent())
        MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void gather_missing(void)
{
    if (!is_absent())
        MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A prefix reduction needs the lower ranks, but rank 0 stays out
 * and waits for rank 1. */
static void scan_missing(void)
{
    case_reached();
    if (case_rank == 0)
        case_receive(1, TAG_NEVER);
    MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void iallreduce_unposted(void)
{
    MPI_Request request;

    if (is_absent())
        return;
    MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void ibarrier_polled(void)
{
    MPI_Request request;
    int done = 0;

    if (is_absent())
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* All ranks post the first of two barriers, but the last rank not the second. */
static void ibarrier_second(void)
{
    MPI_Request requests[2];

    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    if (is_absent())
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void split_missing(void)
{
    MPI_Comm part;

    if (!is_absent())
        MPI_Comm_split(MPI_COMM_WORLD, case_rank, 0, &part);
}

static void dup_missing(void)
{
    MPI_Comm copy;

    if (!is_absent())
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
}

static void idup_missing(void)
{
    MPI_Comm copy;
    MPI_Request request;

    if (is_absent())
        return;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void neighbours_missing(void)
{
    const int sizes[1] = {case_size};
    const int periods[1] = {1};
    MPI_Comm ring;

    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &ring);
    if (!is_absent())
        MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&ring);
}

static void file_missing(void)
{
    MPI_File file;

    if (!is_absent())
        MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL,
                      &file);
}

/* Two communicators have the same members, but each rank uses them in another order. */
static void order_of_two(void)
{
    MPI_Comm copies[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[1]);
    case_reached();
    MPI_Barrier(copies[case_rank % 2]);
    MPI_Barrier(copies[1 - case_rank % 2]);
    MPI_Comm_free(&copies[0]);
    MPI_Comm_free(&copies[1]);
}

/* The ranks form a square.  Those in their row's barrier wait for
 * those in their column's. */
static void rows_and_columns(void)
{
    static const bool begins_with_row[] = {true, false, false, true};
    MPI_Comm row, column;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank / 2, 0, &row);
    MPI_Comm_split(MPI_COMM_WORLD, case_rank % 2, 0, &column);
    case_reached();
    MPI_Barrier(begins_with_row[case_rank] ? row : column);
    MPI_Barrier(begins_with_row[case_rank] ? column : row);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

/* Two of four ranks enter a barrier on a communicator of three.  The other two enter
 * one on MPI_COMM_WORLD. */
static void part_and_world(void)
{
    MPI_Comm part;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank < 3 ? 0 : MPI_UNDEFINED, 0, &part);
    case_reached();
    if (case_rank < 2)
        MPI_Barrier(part);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 repeats a loop once more than the others. */
static void one_round_more(void)
{
    int rounds = case_rank == 0 ? 101 : 100;

    for (int i = 0; i < rounds; i++) {
        if (i == 100)
            case_reached();
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    case_receive_in_vain(0);
}

/* Rank 0 computes within the operation, for which it has got everything.  The others
 * have left it, freed the communicator, and are in MPI_Finalize. */
static void add_late(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    if (case_rank == 0) {
        case_reached();
        case_await_go();
    }
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static void freed_by_others(void)
{
    MPI_Comm copy;
    MPI_Op late;
    int sum = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Op_create(add_late, 1, &late);
    MPI_Reduce(&case_rank, &sum, 1, MPI_INT, late, 0, copy);
    MPI_Op_free(&late);
    MPI_Comm_free(&copy);
    if (case_rank != 0)
        case_reached();
}

const struct verdict_case collective_cases[] = {
    {"barrier_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", barrier_missing, false},
    {"allreduce_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", allreduce_missing,
     false},
    {"allgather_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", allgather_missing,
     false},
    {"alltoall_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", alltoall_missing,
     false},
    {"reduce_scatter_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2",
     reduce_scatter_missing, false},
    {"bcast_missing_root", 3, CASE_HANGS, "DEADLOCK certain 0,2", bcast_missing_root,
     false},
    {"scatter_missing_root", 3, CASE_HANGS, "DEADLOCK certain 0,2",
     scatter_missing_root, false},
    {"reduce_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", reduce_missing, false},
    {"gather_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", gather_missing, false},
    {"scan_missing", 2, CASE_HANGS, "DEADLOCK certain 0,1", scan_missing, false},
    {"iallreduce_unposted", 3, CASE_HANGS, "DEADLOCK certain 0,2", iallreduce_unposted,
     false},
    {"ibarrier_polled", 3, CASE_HANGS, "DEADLOCK possible 0,2", ibarrier_polled, false},
    {"ibarrier_second", 3, CASE_HANGS, "DEADLOCK certain 0,2", ibarrier_second, false},
    {"split_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", split_missing, false},
    {"dup_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", dup_missing, false},
    {"idup_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", idup_missing, false},
    {"neighbours_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", neighbours_missing,
     false},
    {"file_missing", 3, CASE_HANGS, "DEADLOCK certain 0,2", file_missing, false},
    {"order_of_two", 2, CASE_HANGS, "DEADLOCK certain 0,1", order_of_two, false},
    {"rows_and_columns", 4, CASE_HANGS, "DEADLOCK certain 0,1,2,3", rows_and_columns,
     false},
    {"part_and_world", 4, CASE_HANGS, "DEADLOCK certain 0,1,2", part_and_world, false},
    {"freed_by_others", 3, CASE_GOES, "none", freed_by_others, false},
    {"one_round_more", 3, CASE_HANGS, "DEADLOCK certain 0,1,2", one_round_more, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
