/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* wait_words.h - describes in words what threads wait for. */
#ifndef ES_MONITORS_VERDICT_WAIT_WORDS_H
#define ES_MONITORS_VERDICT_WAIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "monitors/verdict/conditions.h"

enum { ES_WAIT_WORDS = 400 };

/* The waits to describe, and what the text contains. */
struct esi_wait_words {
    const struct esi_thread_state *thread; /* the first of several; borrowed */
    const struct esi_wait *wait;           /* its wait; borrowed */
    bool many;                             /* several threads */
    bool brief;       /* only the operation: the threads wait for different ranks */
    const char *span; /* the duration; borrowed */
};

/* The predicate for "rank 3" or "ranks 3-7": "waits in MPI_Recv for rank 1 (tag 7, 12
 * s), at solver.c:212 in exchange()". The site is omitted for several threads. */
void esi_wait_describe(const struct esi_wait_words *words, char out[ES_WAIT_WORDS]);

/* Presents an incomplete request as an operation of its process. */
void esi_pending_read(const struct esi_facts *facts,
                      const struct esi_fact_process *process,
                      const struct esi_ledger_request *request,
                      struct esi_activity *ret_activity);

#endif
