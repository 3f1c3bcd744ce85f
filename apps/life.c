/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The relay of Nichols' thesis (its PVM program "Life"): one rank sends data to all
 * others, and each rank that receives data forwards it at once to one of its
 * neighbours.
 */
#include "options.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG_PARCEL = 1 };

/* The contents of a message. The route is random but predetermined, so all ranks can
 * compute it. */
struct parcel {
    uint64_t id;
    uint64_t hop;   /* number of times it was sent before */
    uint64_t trail; /* a hash of the ranks on its route */
};

enum { PARCEL_WORDS = sizeof(struct parcel) / sizeof(uint64_t) };

struct relay {
    int rank, size;
    int wide, high; /* the ranks form a torus of this size */
    long hops;
    long seed;
    struct parcel *parcels; /* one per message that this rank receives or starts */
    MPI_Request *requests;  /* of the messages that it sends */
    long sent;
};

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* One of the eight neighbours on the torus, never the rank itself. */
static int choose_neighbour(const struct relay *relay,
                            int rank,
                            const struct parcel *parcel)
{
    static const int step[8][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                   {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    uint64_t random = mix(mix((uint64_t)relay->seed + parcel->id) + parcel->hop);

    for (int i = 0; i < 8; i++) {
        const int *way = step[(random + (uint64_t)i) % 8];
        int x = (rank % relay->wide + way[0] + relay->wide) % relay->wide;
        int y = (rank / relay->wide + way[1] + relay->high) % relay->high;
        if (y * relay->wide + x != rank)
            return y * relay->wide + x;
    }
    return rank;
}

/* Parcel i starts at rank 0 and goes to rank i first. */
static struct parcel new_parcel(int id)
{
    return (struct parcel){.id = (uint64_t)id};
}

/* Records an arrival; returns the next rank, or -1 at the end of the route. */
static int arrive(const struct relay *relay, int rank, struct parcel *parcel)
{
    parcel->trail = mix(parcel->trail + (uint64_t)rank + 1);
    if (++parcel->hop == (uint64_t)relay->hops)
        return -1;
    return choose_neighbour(relay, rank, parcel);
}

/*
 * Simulates the routes of all parcels. Returns the number of messages that this rank
 * will receive, and the sum of the trails of the parcels that end here.
 */
static long foresee(const struct relay *relay, uint64_t *ret_trails)
{
    long arrivals = 0;
    uint64_t trails = 0;

    for (int id = 1; id < relay->size; id++) {
        struct parcel parcel = new_parcel(id);
        for (int rank = id, next; rank >= 0; rank = next) {
            next = arrive(relay, rank, &parcel);
            arrivals += rank == relay->rank;
            if (next < 0 && rank == relay->rank)
                trails += parcel.trail;
        }
    }
    *ret_trails = trails;
    return arrivals;
}

static void send_parcel(struct relay *relay, const struct parcel *parcel, int to)
{
    MPI_Isend(parcel, PARCEL_WORDS, MPI_UINT64_T, to, TAG_PARCEL, MPI_COMM_WORLD,
              &relay->requests[relay->sent++]);
}

static void start_parcels(struct relay *relay, struct parcel *parcels)
{
    for (int id = 1; id < relay->size; id++) {
        parcels[id - 1] = new_parcel(id);
        send_parcel(relay, &parcels[id - 1], id);
    }
}

/* Receives from any source and forwards at once; returns the trails that ended here. */
static uint64_t forward_parcels(struct relay *relay,
                                struct parcel *parcels,
                                long arrivals)
{
    uint64_t trails = 0;

    for (long i = 0; i < arrivals; i++) {
        MPI_Recv(&parcels[i], PARCEL_WORDS, MPI_UINT64_T, MPI_ANY_SOURCE, TAG_PARCEL,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int next = arrive(relay, relay->rank, &parcels[i]);
        if (next >= 0)
            send_parcel(relay, &parcels[i], next);
        else
            trails += parcels[i].trail;
    }
    return trails;
}

static void init_relay(struct relay *relay, long arrivals)
{
    long starts = relay->rank == 0 ? relay->size - 1 : 0;
    size_t count = (size_t)(starts + arrivals + 1);

    relay->parcels = calloc(count, sizeof *relay->parcels);
    relay->requests = calloc(count, sizeof *relay->requests);
    if (!relay->parcels || !relay->requests) {
        fprintf(stderr, "life: no memory for %zu messages\n", count);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* Returns whether the parcels arrived on this rank as expected. */
static int run(struct relay *relay, long *ret_arrivals)
{
    uint64_t expected;
    long arrivals = foresee(relay, &expected);
    long starts = relay->rank == 0 ? relay->size - 1 : 0;

    init_relay(relay, arrivals);
    if (relay->rank == 0)
        start_parcels(relay, relay->parcels);
    uint64_t trails = forward_parcels(relay, relay->parcels + starts, arrivals);
    for (long i = 0; i < relay->sent; i++)
        MPI_Wait(&relay->requests[i], MPI_STATUS_IGNORE);
    if (trails != expected)
        fprintf(stderr, "life: rank %d did not get the parcels it should\n",
                relay->rank);
    free(relay->parcels);
    free(relay->requests);
    *ret_arrivals = arrivals;
    return trails == expected;
}

static void find_torus(struct relay *relay)
{
    int sides[2] = {0};

    MPI_Comm_rank(MPI_COMM_WORLD, &relay->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &relay->size);
    MPI_Dims_create(relay->size, 2, sides);
    relay->wide = sides[0];
    relay->high = sides[1];
}

int main(int argc, char **argv)
{
    struct relay relay = {.hops = 1000, .seed = 1};
    long arrivals, all_arrivals = 0;
    int right, all_right;
    const struct option_row rows[] = {
        {"hops", OPTION_NUMBER, &relay.hops, "how often each parcel is sent", 1,
         1 << 24},
        {"seed", OPTION_NUMBER, &relay.seed, "of the ways", 0, 1L << 62},
        {0},
    };

    int first = options_parse(argc, argv, "[OPTION]...",
                              "Rank 0 sends a parcel to every other rank; the ranks "
                              "relay them to neighbours.",
                              rows);
    options_no_arguments(argc, argv, first);

    MPI_Init(&argc, &argv);
    find_torus(&relay);
    right = run(&relay, &arrivals);
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Reduce(&arrivals, &all_arrivals, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (relay.rank == 0) {
        if (all_arrivals != relay.hops * (relay.size - 1))
            all_right = 0;
        printf("life: %ld messages over %d ranks, %s\n", all_arrivals, relay.size,
               all_right ? "all as foreseen" : "WRONG");
    }
    MPI_Bcast(&all_right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
