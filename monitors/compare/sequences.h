/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * sequences.h - the communication of each thread in call order: sends, receives with
 * their actual sender, and collective operations.
 *
 * Where two runs of a program first differ in these, either a wildcard receive matched
 * another message, or the program took another path.  Completion calls, probes and
 * one-sided accesses are not included.  56 bytes per operation.
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
    uint64_t given;     /* position in the order of the run */
    uint16_t operation; /* code */
    bool any;           /* wildcard source */
    int32_t peer;
    int32_t tag;
    const char *communicator; /* owned by the texts, like `site` */
    const char *site;
};

struct esi_sequence {
    int rank;
    int thread;
    struct esi_sequence_step *steps; /* owned */
    size_t count, capacity;
};

struct esi_sequences {
    struct esi_sequence *threads; /* by trace; rank INT_MIN = not a thread */
    size_t count, capacity;
    struct esi_texts texts;
    uint64_t given;
};

void esi_sequences_init(struct esi_sequences *sequences);
void esi_sequences_fini(struct esi_sequences *sequences);

/* An esi_causal_listener callback; `data` is a struct esi_sequences *. */
int esi_sequences_told(void *data,
                       const struct es_set_event *event,
                       const struct esi_causal_call *call);
/* Call at the end of the events. */
void esi_sequences_sort(struct esi_sequences *sequences);

struct esi_sequence_difference {
    int rank;
    int thread;
    size_t number; /* step number, from 1 */
    /* NULL: the run has no more steps; borrowed. */
    const struct esi_sequence_step *a;
    const struct esi_sequence_step *b;
};

/* Finds the first difference in the order of `a` (of `b` if `a` has no more steps).
 * *ret_count is the number of compared steps that are equal.  Returns false if there is
 * no difference. */
bool esi_sequences_compare(const struct esi_sequences *a,
                           const struct esi_sequences *b,
                           struct esi_sequence_difference *ret_difference,
                           uint64_t *ret_count);

#endif
