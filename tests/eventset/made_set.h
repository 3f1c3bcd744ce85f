/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets of random computations (made_computation.h): in any order that a file may
 * have, with types, texts and attributes, and the canonical order worked out by brute
 * force.
 */
#ifndef ES_TESTS_ORDER_MADE_SET_H
#define ES_TESTS_ORDER_MADE_SET_H

#include <stdio.h>

#include "tests/order/made_computation.h"

/* A computation of some size up to `events` for a round of a test, in which shapes take
 * turns.  Never NULL; the caller destroys it. */
struct made_computation *made_set_computation(uint64_t seed,
                                              unsigned round,
                                              uint32_t events,
                                              struct made_draw *draw);

enum made_order {
    MADE_ORDER_GIVEN,    /* as it was made: a linear extension */
    MADE_ORDER_SHUFFLED, /* the traces mixed */
    MADE_ORDER_BURSTS,   /* the traces mixed, some events of each at a time */
    MADE_ORDER_TRACES,   /* one trace after the other, the last one first */
    MADE_ORDERS
};

/* Numbers of all events, each trace's in their order; the caller frees. */
uint32_t *made_set_order(const struct made_computation *made,
                         enum made_order order,
                         struct made_draw *draw);

/* The canonical order of a file with its events in `order`: of the units that are ready
 * the first is searched for again and again.  The caller frees. */
uint32_t *made_set_canonical(const struct made_computation *made,
                             const uint32_t *order);

/* Gives all traces. */
int made_set_traces(const struct made_computation *made,
                    const struct es_set_sink *sink);
/* Gives an event with type, text and attributes that its number decides. */
int made_set_event(const struct made_computation *made,
                   uint32_t number,
                   const struct es_set_sink *sink);

/* Whether this is the event that made_set_event() gives. */
bool made_set_is(const struct made_computation *made,
                 uint32_t number,
                 const struct es_set_event *event);

/* Writes a file in our own words; `lists_partners`: some sends list some receives. */
void made_set_write(const struct made_computation *made,
                    const uint32_t *order,
                    bool lists_partners,
                    FILE *stream);

#endif
