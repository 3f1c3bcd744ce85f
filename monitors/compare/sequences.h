/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sequences.h - what each thread communicates, in the order in which it was called:
 * sends, receives with the sender that they got, and collective operations.
 *
 * Where two runs of a program first differ in these, something was decided otherwise: a
 * receive from any source got another message, or the program took another way.
 * Completion calls, probes and one-sided accesses are no part of it.  56 bytes for each
 * operation.
 */
#ifndef ES_MONITORS_COMPARE_SEQUENCES_H
#define ES_MONITORS_COMPARE_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/causality/causality.h"
#include "monitors/eventset/set_texts.h"

struct esi_sequence_step {
    uint64_t start_ns;
    uint64_t given;     /* place in the order of the run */
    uint16_t operation; /* code */
    bool any;           /* source */
    int32_t peer;
    int32_t tag;
    const char *communicator; /* owned by the texts, as the next */
    const char *site;
};

struct esi_sequence {
    int rank;
    int thread;
    struct esi_sequence_step *steps; /* owned */
    size_t count, capacity;
};

struct esi_sequences {
    struct esi_sequence *threads; /* by trace; rank INT_MIN = no thread's */
    size_t count, capacity;
    struct esi_texts texts;
    uint64_t given;
};

void esi_sequences_init(struct esi_sequences *sequences);
void esi_sequences_fini(struct esi_sequences *sequences);

/* As esi_causal_listener has it; `data` is a struct esi_sequences *. */
int esi_sequences_told(void *data,
                       const struct es_set_event *event,
                       const struct esi_causal_call *call);
/* All was told. */
void esi_sequences_sort(struct esi_sequences *sequences);

struct esi_sequence_difference {
    int rank;
    int thread;
    size_t number; /* of the step, from 1 */
    /* NULL: it has no more; borrowed. */
    const struct esi_sequence_step *a;
    const struct esi_sequence_step *b;
};

/* The first place where they differ, by the order of `a` (of `b` where `a` has no more
 * steps).  `ret_count` gets how many steps were compared and are alike.  false: none.
 */
bool esi_sequences_compare(const struct esi_sequences *a,
                           const struct esi_sequences *b,
                           struct esi_sequence_difference *ret_difference,
                           uint64_t *ret_count);

#endif
