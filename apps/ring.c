/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A token passes through all ranks: the smallest program with a causal order. */
#include "options.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_TOKEN = 1 };

struct ring {
    int rank, size;
    long rounds;
    long words; /* length of the token in 64-bit words, which are all equal */
    uint64_t *token;
};

/* Applied by each rank to the token. Not commutative, so the order of visits
 * matters. */
static uint64_t visit(uint64_t value, int rank)
{
    return value * 31 + (uint64_t)rank + 1;
}

static void visit_token(struct ring *ring)
{
    for (long i = 0; i < ring->words; i++)
        ring->token[i] = visit(ring->token[i], ring->rank);
}

static void receive_token(struct ring *ring)
{
    int left = (ring->rank + ring->size - 1) % ring->size;

    MPI_Recv(ring->token, (int)ring->words, MPI_UINT64_T, left, TAG_TOKEN,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_token(struct ring *ring)
{
    int right = (ring->rank + 1) % ring->size;

    MPI_Send(ring->token, (int)ring->words, MPI_UINT64_T, right, TAG_TOKEN,
             MPI_COMM_WORLD);
}

/* Rank 0 starts and ends each round; a single rank sends nothing. */
static void run_round(struct ring *ring)
{
    if (ring->size == 1) {
        visit_token(ring);
    } else if (ring->rank == 0) {
        visit_token(ring);
        send_token(ring);
        receive_token(ring);
    } else {
        receive_token(ring);
        visit_token(ring);
        send_token(ring);
    }
}

static uint64_t expected_token(const struct ring *ring)
{
    uint64_t value = 0;

    for (long round = 0; round < ring->rounds; round++)
        for (int rank = 0; rank < ring->size; rank++)
            value = visit(value, rank);
    return value;
}

/* Only rank 0 holds the token at the end; it sends the result to all ranks. */
static int check_token(const struct ring *ring)
{
    int wrong = 0;
    uint64_t expected = expected_token(ring);

    if (ring->rank == 0)
        for (long i = 0; i < ring->words; i++)
            wrong |= ring->token[i] != expected;
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ring->rank == 0 && wrong)
        fprintf(stderr, "ring: the token is not %016llx after %ld rounds\n",
                (unsigned long long)expected, ring->rounds);
    return wrong;
}

int main(int argc, char **argv)
{
    struct ring ring = {.rounds = 1000, .words = 1};
    const struct option_row rows[] = {
        {"rounds", OPTION_NUMBER, &ring.rounds, "rounds of the token", 0, 1L << 40},
        {"words", OPTION_NUMBER, &ring.words, "64-bit words in the token", 1, 1 << 27},
        {0},
    };

    int first = options_parse(argc, argv, "[OPTION]...",
                              "Sends a token round all ranks and checks it.", rows);
    options_no_arguments(argc, argv, first);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring.size);
    ring.token = calloc((size_t)ring.words, sizeof *ring.token);
    if (!ring.token) {
        fprintf(stderr, "ring: no memory for %ld words\n", ring.words);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }

    double start = MPI_Wtime();
    for (long round = 0; round < ring.rounds; round++)
        run_round(&ring);
    double seconds = MPI_Wtime() - start;

    int wrong = check_token(&ring);
    if (ring.rank == 0 && !wrong)
        printf("ring: %ld rounds over %d ranks correct, %.3f s\n", ring.rounds,
               ring.size, seconds);
    free(ring.token);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
