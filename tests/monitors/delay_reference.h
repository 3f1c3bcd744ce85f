/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What waits cost and what is on the critical path, from the definitions (docs/time.md)
 * alone: backwards, by recursion, on all calls of a run.  Shares no code with
 * monitors/delay.
 */
#ifndef ES_TESTS_MONITORS_DELAY_REFERENCE_H
#define ES_TESTS_MONITORS_DELAY_REFERENCE_H

#include "tests/monitors/made_timeline.h"

enum { REFERENCE_PLACES = 48 };

/* By rank, by place, and by what was done there: [0] computed ahead, [1] called. */
typedef double reference_sums[TIMELINE_RANKS][REFERENCE_PLACES][2];

struct reference_call; /* what is known of a call */

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
    int most_causes; /* of a wait */
    int ties;        /* of last causes, or of ranks that end last */
    reference_sums caused;
    double direct; /* by what those did that were waited for */
    reference_sums critical;
};

/* A wait of at most this is not claimed. */
void delay_reference_make(struct delay_reference *reference,
                          const struct made_timeline *timeline,
                          uint64_t bound_ns);
void delay_reference_fini(struct delay_reference *reference);

#endif
