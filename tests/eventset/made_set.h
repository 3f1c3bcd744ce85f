/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creates event sets of random computations (made_computation.h), in any order that a
 * file may have, with types, texts and attributes. Computes their canonical order by
 * brute force.
 */
#ifndef ES_TESTS_ORDER_MADE_SET_H
#define ES_TESTS_ORDER_MADE_SET_H

#include <stdio.h>

#include "tests/order/made_computation.h"

/* Returns a computation of up to `events` events for a round of a test; the rounds use
 * all shapes in turn.  Never NULL; the caller destroys it. */
struct made_computation *made_set_computation(uint64_t seed,
                                              unsigned round,
                                              uint32_t events,
                                              uint64_t *draw);

enum made_order {
    MADE_ORDER_GIVEN,    /* as it was made: a linear extension */
    MADE_ORDER_SHUFFLED, /* traces interleaved at random */
    MADE_ORDER_BURSTS,   /* traces interleaved, several events at a time */
    MADE_ORDER_TRACES,   /* one trace after the other, the last one first */
    MADE_ORDERS
};

/* Returns the numbers of all events in this order; the events of each trace are in
 * their order. The caller frees. */
uint32_t *made_set_order(const struct made_computation *made,
                         enum made_order order,
                         uint64_t *draw);

/* Returns the canonical order of a file with its events in `order`, by searching again
 * and again for the first unit that is ready.  The caller frees. */
uint32_t *made_set_canonical(const struct made_computation *made,
                             const uint32_t *order);

/* Passes all traces to the sink. */
int made_set_traces(const struct made_computation *made,
                    const struct es_set_sink *sink);
/* Passes an event to the sink; its type, text and attributes depend on its number. */
int made_set_event(const struct made_computation *made,
                   uint32_t number,
                   const struct es_set_sink *sink);

/* Whether the event equals the one of made_set_event(). */
bool made_set_is(const struct made_computation *made,
                 uint32_t number,
                 const struct es_set_event *event);

/* Writes a file in our format. With `lists_partners`, some sends list some of their
 * receives. */
void made_set_write(const struct made_computation *made,
                    const uint32_t *order,
                    bool lists_partners,
                    FILE *stream);

#endif
