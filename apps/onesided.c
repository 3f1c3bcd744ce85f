/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* One-sided communication with all three kinds of synchronization. */
#include "options.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The parts of each rank's window, in words, each on its own cache line. MPICH 4.0.2
 * confuses the windows of ranks on one host if MPI_Win_allocate() is called with a size
 * that is not a multiple of 16 bytes.
 */
enum {
    SLOT_PUT = 0,
    SLOT_OFFERED = 8,
    SLOT_SUM = 16,
    SLOT_TICKET = 24,
    SLOT_OWNER = 32,
    WORDS = 40,
};

struct state {
    int rank, size, left, right;
    long rounds;
    int64_t *window;
    MPI_Win win;
    long errors;
};

static int64_t value_of(int rank, long round)
{
    return (int64_t)round * 100000 + rank;
}

static void expect(struct state *state,
                   const char *what,
                   int64_t found,
                   int64_t expected)
{
    if (found == expected)
        return;
    if (state->errors++ == 0)
        fprintf(stderr, "onesided: rank %d, %s: %lld instead of %lld\n", state->rank,
                what, (long long)found, (long long)expected);
}

/* Active target, all ranks: each rank puts to its right neighbour. */
static void put_between_fences(struct state *state, long round)
{
    int64_t value = value_of(state->rank, round);

    MPI_Win_fence(MPI_MODE_NOPRECEDE, state->win);
    MPI_Put(&value, 1, MPI_INT64_T, state->right, SLOT_PUT, 1, MPI_INT64_T, state->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, state->win);
    expect(state, "put between fences", state->window[SLOT_PUT],
           value_of(state->left, round));
}

/*
 * Active target, neighbours only: each rank gets from its left neighbour, so it exposes
 * its window to the right one.
 */
static void get_between_neighbours(struct state *state, long round)
{
    MPI_Group world, left, right;
    int64_t value = -1;

    state->window[SLOT_OFFERED] = value_of(state->rank, round);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &state->left, &left);
    MPI_Group_incl(world, 1, &state->right, &right);
    MPI_Win_post(right, 0, state->win);
    MPI_Win_start(left, 0, state->win);
    MPI_Get(&value, 1, MPI_INT64_T, state->left, SLOT_OFFERED, 1, MPI_INT64_T,
            state->win);
    MPI_Win_complete(state->win);
    MPI_Win_wait(state->win);
    MPI_Group_free(&left);
    MPI_Group_free(&right);
    MPI_Group_free(&world);
    expect(state, "get from the left", value, value_of(state->left, round));
}

/* Reads a word of rank 0's window. */
static int64_t read_locked(struct state *state, int slot)
{
    int64_t value = -1;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, state->win);
    MPI_Get(&value, 1, MPI_INT64_T, 0, slot, 1, MPI_INT64_T, state->win);
    MPI_Win_unlock(0, state->win);
    return value;
}

/* Passive target: each rank adds to a word of rank 0, which does nothing. */
static void accumulate_locked(struct state *state, long round)
{
    int64_t value = value_of(state->rank, round), expected = 0;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, state->win);
    MPI_Accumulate(&value, 1, MPI_INT64_T, 0, SLOT_SUM, 1, MPI_INT64_T, MPI_SUM,
                   state->win);
    MPI_Win_unlock(0, state->win);
    MPI_Barrier(MPI_COMM_WORLD);

    for (long done = 0; done <= round; done++)
        for (int rank = 0; rank < state->size; rank++)
            expected += value_of(rank, done);
    expect(state, "accumulated sum", read_locked(state, SLOT_SUM), expected);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Atomic operations: each rank draws a number from rank 0, all different. */
static void draw_ticket(struct state *state, long round)
{
    int64_t ticket = -1, sum = 0, one = 1;
    int64_t first = round * state->size;

    MPI_Win_lock_all(0, state->win);
    MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, SLOT_TICKET, MPI_SUM, state->win);
    MPI_Win_flush(0, state->win);
    MPI_Win_unlock_all(state->win);

    int64_t square = (ticket - first) * (ticket - first), expected = 0;
    for (int64_t i = 0; i < state->size; i++)
        expected += i * i;
    MPI_Allreduce(&square, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(state, "squares of the tickets", sum, expected);
}

/* In each round, exactly one rank takes the owner's word of rank 0 from its
 * predecessor. */
static void compete(struct state *state, long round)
{
    int64_t free_word = round, taken_word = round + 1, before = -1;
    int won, winners;

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, state->win);
    MPI_Compare_and_swap(&taken_word, &free_word, &before, MPI_INT64_T, 0, SLOT_OWNER,
                         state->win);
    MPI_Win_unlock(0, state->win);
    won = before == free_word;
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(state, "winners", winners, 1);
}

/* Request-based operations complete like nonblocking sends and receives. */
static void put_with_request(struct state *state, long round)
{
    int64_t value = -value_of(state->rank, round);
    MPI_Request request;

    MPI_Win_lock(MPI_LOCK_SHARED, state->right, 0, state->win);
    MPI_Rput(&value, 1, MPI_INT64_T, state->right, SLOT_PUT, 1, MPI_INT64_T, state->win,
             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(state->right, state->win);
    MPI_Barrier(MPI_COMM_WORLD);

    int64_t found = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, state->rank, 0, state->win);
    MPI_Get(&found, 1, MPI_INT64_T, state->rank, SLOT_PUT, 1, MPI_INT64_T, state->win);
    MPI_Win_unlock(state->rank, state->win);
    expect(state, "put with a request", found, -value_of(state->left, round));
}

static void run(struct state *state)
{
    MPI_Win_allocate(WORDS * (MPI_Aint)sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL,
                     MPI_COMM_WORLD, (void *)&state->window, &state->win);
    for (int i = 0; i < WORDS; i++)
        state->window[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 0; round < state->rounds; round++) {
        put_between_fences(state, round);
        get_between_neighbours(state, round);
        accumulate_locked(state, round);
        draw_ticket(state, round);
        compete(state, round);
        put_with_request(state, round);
    }
    MPI_Win_free(&state->win);
}

int main(int argc, char **argv)
{
    struct state state = {.rounds = 200};
    long all_errors = 0;
    const struct option_row rows[] = {
        {"rounds", OPTION_NUMBER, &state.rounds, "rounds of all operations", 0, 100000},
        {0},
    };

    int first = options_parse(argc, argv, "[OPTION]...",
                              "Puts, gets and accumulates with fences, with neighbours "
                              "and with locks.",
                              rows);
    options_no_arguments(argc, argv, first);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &state.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &state.size);
    state.left = (state.rank + state.size - 1) % state.size;
    state.right = (state.rank + 1) % state.size;
    run(&state);
    MPI_Allreduce(&state.errors, &all_errors, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (state.rank == 0)
        fprintf(all_errors ? stderr : stdout,
                "onesided: %ld rounds on %d ranks, %ld errors\n", state.rounds,
                state.size, all_errors);
    MPI_Finalize();
    return all_errors ? EXIT_FAILURE : EXIT_SUCCESS;
}
