/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Runs made of tuples by hand: processes of one host on MPI_COMM_WORLD, whose clocks
 * tick in nanoseconds.
 */
#ifndef ES_TESTS_CAUSALITY_MADE_TUPLES_H
#define ES_TESTS_CAUSALITY_MADE_TUPLES_H

#include "monitors/causality/causality.h"
#include "tests/causality/made_stream.h"

enum { MADE_RANKS_MAX = 16 };

struct made_tuples {
    struct esi_causality *causality;
    struct made_stream stream;
    int ranks;
    uint32_t processes[MADE_RANKS_MAX];
    uint32_t elements[MADE_RANKS_MAX]; /* thread 0's first of each rank */
    uint32_t next_bytes;               /* each tuple has other bytes, from 1 */
};

/* Processes of ranks 0 to ranks - 1, each with thread 0, an element, and the world
 * communicator at index 0. */
void made_tuples_begin(struct made_tuples *made, int ranks);
/* The same with settings; its sink is set. */
void made_tuples_begin_with(struct made_tuples *made,
                            int ranks,
                            struct esi_causality_config config);
void made_tuples_end(struct made_tuples *made);

/* One more element of a thread of a rank. */
uint32_t made_element(struct made_tuples *made, int rank, int thread);

/* What a tuple says; zero is: on the world communicator, no tag. */
struct made_call {
    const char *operation;
    uint64_t start;
    uint64_t stop;
    int32_t peer;
    uint32_t sequence;
    int32_t tag;
    uint16_t communicator;
    bool any_source; /* a receive that was open to any */
};

/* Adds the tuple to an element, or to the first of a rank.  Returns its bytes. */
uint32_t made_add_to(struct made_tuples *made,
                     uint32_t element,
                     const struct made_call *call);
uint32_t made_add(struct made_tuples *made, int rank, const struct made_call *call);

void made_advance(struct made_tuples *made);
/* Finishes, and gives the totals. */
struct esi_causality_totals made_finish(struct made_tuples *made);

#endif
