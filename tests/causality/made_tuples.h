/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creates runs from single tuples: processes of one host on MPI_COMM_WORLD, with clocks
 * in nanoseconds.
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
    struct esi_run_process *processes[MADE_RANKS_MAX];
    uint32_t elements[MADE_RANKS_MAX]; /* first element of thread 0 of each rank */
    uint32_t next_bytes;               /* unique for each tuple, from 1 */
};

/* Adds processes of ranks 0 to ranks - 1, each with thread 0, an element, and the world
 * communicator at index 0. */
void made_tuples_begin(struct made_tuples *made, int ranks);
/* The same with settings; the function sets their sink. */
void made_tuples_begin_with(struct made_tuples *made,
                            int ranks,
                            struct esi_causality_config config);
void made_tuples_end(struct made_tuples *made);

/* Adds an element to a thread of a rank. Returns its number. */
uint32_t made_element(struct made_tuples *made, int rank, int thread);

/* The contents of a tuple; zero members mean the world communicator and no tag. */
struct made_call {
    const char *operation;
    uint64_t start;
    uint64_t stop;
    int32_t peer;
    uint32_t sequence;
    int32_t tag;
    uint16_t communicator;
    bool any_source; /* a receive from any source */
    uint32_t error;  /* the class of the error that it returned; 0 = none */
};

/* Adds the tuple to an element, or to the first one of a rank.  Returns its bytes. */
uint32_t made_add_to(struct made_tuples *made,
                     uint32_t element,
                     const struct made_call *call);
uint32_t made_add(struct made_tuples *made, int rank, const struct made_call *call);

void made_advance(struct made_tuples *made);
/* Finishes and returns the totals. */
struct esi_causality_totals made_finish(struct made_tuples *made);

#endif
