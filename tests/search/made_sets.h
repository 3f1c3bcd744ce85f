/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_sets.h - random sets of events of a random computation, and its order, for tests
 * of relations and convex closures. */
#ifndef ES_TESTS_SEARCH_MADE_SETS_H
#define ES_TESTS_SEARCH_MADE_SETS_H

#include "monitors/order/order.h"
#include "tests/order/made_computation.h"

enum { MADE_SET = 24 }; /* maximum number of events */

struct made_set_of_events {
    size_t count;
    struct es_event_id events[MADE_SET]; /* sorted, distinct */
};

/* The computation of a round: all shapes in turn, some sparse or lossy. */
struct made_computation *made_for_round(unsigned round, uint64_t seed);
/* Its order; the store changes with the round. */
struct es_order *made_order(const struct made_computation *made, unsigned round);

/* Draws 1 to `limit` events: anywhere, or near each other, so that
 * all relations occur. */
void made_set_draw(const struct made_computation *made,
                   uint64_t *draw,
                   uint32_t limit,
                   struct made_set_of_events *ret_set);

#endif
