/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The threads of a rank, which move its slices step by step. */
#ifndef APPS_TUNNEL_CREW_H
#define APPS_TUNNEL_CREW_H

#include "exchange.h"
#include "slice.h"
#include "tunnel.h"

struct crew;

/* How long to run, and how often to look. */
struct crew_plan {
    long iterations;   /* at most */
    double seconds;    /* stop at the first look after this long; 0 = no limit */
    const char *until; /* stop at the first look that finds this file; NULL = none */
    long check_every;  /* iterations between checks of the balance */
    double pause_ms;   /* rest at each of these checks; 0 = none */
};

/* What a run came to; the same on all ranks. */
struct crew_result {
    long iterations;
    double seconds;
    uint64_t hash;
    struct gas_sum start, end; /* what the tunnel holds */
    struct gas_sum error;      /* what the balance is wrong by: all zero */
};

/*
 * Makes the slices of this rank, to be moved by that many threads. To be called by all
 * ranks of the layout's communicator. Returns 0 or -ENOMEM. The tunnel is borrowed.
 */
int crew_create(const struct tunnel *tunnel,
                const struct exchange_layout *layout,
                int threads,
                struct crew **ret_crew);

void crew_destroy(struct crew *crew);

/*
 * Runs the tunnel; collective over the layout's communicator. Ends early when the
 * balance is wrong. Returns 0, or the negative errno value of a thread that did not
 * start.
 */
int crew_run(struct crew *crew,
             const struct crew_plan *plan,
             struct crew_result *ret_result);

/* The slices of this rank from north to south. */
const struct slice *crew_slices(const struct crew *crew, int *ret_count);

#endif
