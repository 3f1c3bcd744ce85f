/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The threads of a rank, which move its slices step by step. */
#ifndef APPS_TUNNEL_CREW_H
#define APPS_TUNNEL_CREW_H

#include "exchange.h"
#include "slice.h"
#include "tunnel.h"

struct crew;

/* Limits of a run, and the intervals of its checks. */
struct crew_plan {
    long iterations;   /* at most */
    double seconds;    /* stop at the first check after this time; 0 for no limit */
    const char *until; /* stop at the first check that finds this file; NULL for none */
    long check_every;  /* iterations between checks of the balance */
    double pause_ms;   /* pause at each of these checks; 0 for none */
};

/* The result of a run; the same on all ranks. */
struct crew_result {
    long iterations;
    double seconds;
    uint64_t hash;
    struct gas_sum start, end; /* contents of the tunnel */
    struct gas_sum error;      /* error of the balance: all zero */
};

/*
 * Creates the slices of this rank, to be moved by the given number of threads. Called
 * by all ranks of the layout's communicator. Returns 0 or -ENOMEM. The tunnel is
 * borrowed.
 */
int crew_create(const struct tunnel *tunnel,
                const struct exchange_layout *layout,
                int threads,
                struct crew **ret_crew);

void crew_destroy(struct crew *crew);

/*
 * Runs the tunnel; collective over the layout's communicator. Ends early if the balance
 * is wrong.  Returns 0, or the negative errno value of a thread that could not be
 * started.
 */
int crew_run(struct crew *crew,
             const struct crew_plan *plan,
             struct crew_result *ret_result);

/* The slices of this rank from north to south. */
const struct slice *crew_slices(const struct crew *crew, int *ret_count);

#endif
