/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Merge sort on a binary tree of ranks: halves go down, sorted halves come up. */
#include "options.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_DOWN = 1, TAG_UP = 2 };

struct sorter {
    int rank, size;
    long count; /* of all keys */
    uint32_t *keys, *scratch;
};

/*
 * A share of the keys, and the ranks from first to end that sort it. The first rank
 * holds the keys; it sends the upper half to the first rank of the upper half of the
 * ranks.
 */
struct share {
    int first, end;
    long count;
};

static struct share lower_half(struct share share)
{
    int ranks = share.end - share.first;
    int lower = ranks - ranks / 2;

    return (struct share){share.first, share.first + lower,
                          share.count * lower / ranks};
}

static struct share upper_half(struct share share)
{
    struct share lower = lower_half(share);

    return (struct share){lower.end, share.end, share.count - lower.count};
}

static int compare_keys(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Merges keys[0..middle) and keys[middle..count). */
static void merge(uint32_t *keys, long middle, long count, uint32_t *scratch)
{
    long low = 0, high = middle;

    for (long i = 0; i < count; i++)
        if (high >= count || (low < middle && keys[low] <= keys[high]))
            scratch[i] = keys[low++];
        else
            scratch[i] = keys[high++];
    memcpy(keys, scratch, (size_t)count * sizeof *keys);
}

/* Called by the first rank of the share, which holds the keys; descends the tree. */
static void sort_share(struct sorter *sorter, struct share share)
{
    if (share.end - share.first == 1) {
        qsort(sorter->keys, (size_t)share.count, sizeof *sorter->keys, compare_keys);
        return;
    }
    struct share lower = lower_half(share), upper = upper_half(share);
    uint32_t *keys = sorter->keys + lower.count;

    MPI_Send(keys, (int)upper.count, MPI_UINT32_T, upper.first, TAG_DOWN,
             MPI_COMM_WORLD);
    sort_share(sorter, lower);
    MPI_Recv(keys, (int)upper.count, MPI_UINT32_T, upper.first, TAG_UP, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    merge(sorter->keys, lower.count, share.count, sorter->scratch);
}

/* Every rank but 0 is the first of exactly one upper half; its parent is the rank that
 * halved. */
static struct share find_share(const struct sorter *sorter, int *ret_parent)
{
    struct share share = {0, sorter->size, sorter->count};

    while (share.first != sorter->rank) {
        struct share upper = upper_half(share);
        *ret_parent = share.first;
        share = sorter->rank >= upper.first ? upper : lower_half(share);
    }
    return share;
}

static void run(struct sorter *sorter)
{
    int parent = -1;
    struct share share = find_share(sorter, &parent);

    if (parent >= 0)
        MPI_Recv(sorter->keys, (int)share.count, MPI_UINT32_T, parent, TAG_DOWN,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sort_share(sorter, share);
    if (parent >= 0)
        MPI_Send(sorter->keys, (int)share.count, MPI_UINT32_T, parent, TAG_UP,
                 MPI_COMM_WORLD);
}

/* The keys are n * odd modulo 2^32 plus a shift: they are distinct, and their sum is
 * known. */
static void make_keys(struct sorter *sorter, uint32_t shift)
{
    for (long i = 0; i < sorter->count; i++)
        sorter->keys[i] = (uint32_t)i * 2654435761u + shift;
}

static uint64_t sum_keys(const struct sorter *sorter)
{
    uint64_t sum = 0;

    for (long i = 0; i < sorter->count; i++)
        sum += sorter->keys[i] * (uint64_t)0x9e3779b97f4a7c15u ^ sorter->keys[i];
    return sum;
}

static int is_sorted(const struct sorter *sorter)
{
    for (long i = 1; i < sorter->count; i++)
        if (sorter->keys[i - 1] > sorter->keys[i])
            return 0;
    return 1;
}

/* Sorts once and returns whether the result is wrong; only rank 0 knows. */
static int sort_and_check(struct sorter *sorter, uint32_t shift)
{
    uint64_t sum = 0;

    if (sorter->rank == 0) {
        make_keys(sorter, shift);
        sum = sum_keys(sorter);
    }
    run(sorter);
    return sorter->rank == 0 && (!is_sorted(sorter) || sum_keys(sorter) != sum);
}

int main(int argc, char **argv)
{
    struct sorter sorter = {.count = 200000};
    long rounds = 10;
    int wrong = 0;
    const struct option_row rows[] = {
        {"keys", OPTION_NUMBER, &sorter.count, "keys to sort", 1, 1 << 28},
        {"rounds", OPTION_NUMBER, &rounds, "how often to sort", 0, 1L << 32},
        {0},
    };

    int first = options_parse(argc, argv, "[OPTION]...",
                              "Sorts by merging on a binary tree of ranks.", rows);
    options_no_arguments(argc, argv, first);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &sorter.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &sorter.size);
    sorter.keys = calloc((size_t)sorter.count, sizeof *sorter.keys);
    sorter.scratch = calloc((size_t)sorter.count, sizeof *sorter.scratch);
    if (!sorter.keys || !sorter.scratch) {
        fprintf(stderr, "mergesort: no memory for %ld keys\n", sorter.count);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (long round = 0; round < rounds; round++)
        wrong |= sort_and_check(&sorter, (uint32_t)round);

    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (sorter.rank == 0)
        fprintf(wrong ? stderr : stdout, "mergesort: %ld times %ld keys %s\n", rounds,
                sorter.count, wrong ? "not sorted" : "sorted");
    free(sorter.keys);
    free(sorter.scratch);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
