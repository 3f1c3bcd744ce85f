/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Computes the costs of waits and the critical path directly from their definitions
 * (docs/time.md): backwards, by recursion, over all calls of a run.  Shares no code
 * with monitors/delay.
 */
#ifndef ES_TESTS_MONITORS_DELAY_REFERENCE_H
#define ES_TESTS_MONITORS_DELAY_REFERENCE_H

#include "tests/monitors/made_timeline.h"

enum { REFERENCE_PLACES = 48 };

/* By rank, by place, and by activity: [0] computing before the call, [1] the call. */
typedef double reference_sums[TIMELINE_RANKS][REFERENCE_PLACES][2];

struct reference_call; /* computed values of a call */

struct delay_reference {
    const struct made_timeline *timeline; /* borrowed */
    struct {
        const char *operation;
        int line;
    } places[REFERENCE_PLACES];
    int place_count;
    struct reference_call *calls[TIMELINE_RANKS]; /* owned */
    double waited[TIMELINE_RANKS];
    uint64_t waits;
    int most_causes; /* maximum for one wait */
    int ties;        /* waits with two last causes; ranks that end last together */
    reference_sums caused;
    double direct; /* share of the ranks that were waited for */
    reference_sums critical;
};

/* Waits of at most `bound_ns` are ignored. */
void delay_reference_make(struct delay_reference *reference,
                          const struct made_timeline *timeline,
                          uint64_t bound_ns);
void delay_reference_fini(struct delay_reference *reference);

#endif
