/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* alike.c - collective operations whose arguments differ between ranks as MPI allows.
 * There is no mismatch. */
#include "cases.h"

#include <stddef.h>

enum { RANKS = 3, WORDS = 16 };

static int in[WORDS];
static int out[WORDS];

/* Keeps the ranks alive between two operations, so that they can be looked at. */
static void stay_alive(void)
{
    case_reached();
    case_await_go();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The root sends four integers, the others receive one element of a
 * type of four integers. */
static void same_signature(void)
{
    MPI_Datatype four;

    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    if (case_rank == 0)
        MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(in, 1, four, 0, MPI_COMM_WORLD);
    stay_alive();
    MPI_Type_free(&four);
}

/* The root sends every second of eight integers, the others receive four in a row. */
static void other_layout(void)
{
    MPI_Datatype comb;

    MPI_Type_vector(4, 1, 2, MPI_INT, &comb);
    MPI_Type_commit(&comb);
    if (case_rank == 0)
        MPI_Bcast(in, 1, comb, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);
    stay_alive();
    MPI_Type_free(&comb);
}

static void in_place(void)
{
    if (case_rank == 0)
        MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (case_rank == 0)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 2, MPI_INT, 0,
                   MPI_COMM_WORLD);
    else
        MPI_Gather(in, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    stay_alive();
}

/* Each rank passes another count. */
static void own_counts(void)
{
    static const int counts[RANKS] = {0, 1, 2};
    static const int starts[RANKS] = {0, 0, 1};

    MPI_Gatherv(in, case_rank, MPI_INT, out, counts, starts, MPI_INT, 0,
                MPI_COMM_WORLD);
    MPI_Allgatherv(in, case_rank, MPI_INT, out, counts, starts, MPI_INT,
                   MPI_COMM_WORLD);
    MPI_Scatterv(in, counts, starts, MPI_INT, out, case_rank, MPI_INT, 0,
                 MPI_COMM_WORLD);
    stay_alive();
}

/* The counts to oneself and to the others differ. */
static void own_counts_to_all(void)
{
    int sent[RANKS], received[RANKS], starts[RANKS];

    for (int i = 0; i < RANKS; i++) {
        sent[i] = case_rank;
        received[i] = i;
        starts[i] = 2 * i;
    }
    MPI_Alltoallv(in, sent, starts, MPI_INT, out, received, starts, MPI_INT,
                  MPI_COMM_WORLD);
    stay_alive();
}

static void add_numbers(void *from, void *into, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)into)[i] += ((int *)from)[i];
}

/* Each rank creates its operator itself, and some create another one before. */
static void own_operator(void)
{
    MPI_Op operators[2];

    for (int i = 0; i < 2; i++)
        MPI_Op_create(add_numbers, 1, &operators[i]);
    MPI_Allreduce(in, out, 1, MPI_INT, operators[case_rank % 2], MPI_COMM_WORLD);
    stay_alive();
    for (int i = 0; i < 2; i++)
        MPI_Op_free(&operators[i]);
}

/* A broadcast of no elements, with another type on the root. */
static void nothing_sent(void)
{
    MPI_Bcast(NULL, 0, case_rank == 0 ? MPI_INT : MPI_DOUBLE, 0, MPI_COMM_WORLD);
    stay_alive();
}

/* The ranks split with different colours and keys. */
static void own_colour(void)
{
    MPI_Comm part;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank == 0 ? MPI_UNDEFINED : case_rank,
                   -case_rank, &part);
    stay_alive();
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
}

/* One call makes disjoint communicators, which then perform different operations. */
static void own_part(void)
{
    MPI_Comm part;

    MPI_Comm_split(MPI_COMM_WORLD, case_rank / 2, 0, &part);
    if (case_rank / 2 == 0)
        MPI_Barrier(part);
    else
        MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, part);
    stay_alive();
    MPI_Comm_free(&part);
}

const struct verdict_case alike_cases[] = {
    {"same_signature", 2, CASE_GOES, "none", same_signature, false},
    {"other_layout", 2, CASE_GOES, "none", other_layout, false},
    {"in_place", RANKS, CASE_GOES, "none", in_place, false},
    {"own_counts", RANKS, CASE_GOES, "none", own_counts, false},
    {"own_counts_to_all", RANKS, CASE_GOES, "none", own_counts_to_all, false},
    {"own_operator", 2, CASE_GOES, "none", own_operator, false},
    {"nothing_sent", 2, CASE_GOES, "none", nothing_sent, false},
    {"own_colour", RANKS, CASE_GOES, "none", own_colour, false},
    {"own_part", 4, CASE_GOES, "none", own_part, false},
    {NULL, 0, CASE_HANGS, NULL, NULL, false},
};
