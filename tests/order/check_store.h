/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Compares a store of the order with the truth, for tests of every store:
 *
 *   static void stamps_tell_the_order(void **state)
 *   {
 *       const struct esi_order_config config = {.store = "cluster", .tuning = &tuning};
 *
 *       check_store_widely(&config, 1000, 120, NULL);
 *   }
 *
 * If the configuration depends on the computation ("static" needs its communications),
 * call made_computation_create() and check_store() in a loop instead.
 *
 * A test program that uses it lists $(check_store_sources) among its sources
 * (stores.am) and links $(ES_ORDER) $(CMOCKA_LIBS).  A failure names the computation
 * (shape, seed, sizes), the seed of the order of appending, the question and both
 * answers.
 */
#ifndef ES_TESTS_ORDER_CHECK_STORE_H
#define ES_TESTS_ORDER_CHECK_STORE_H

#include "monitors/order/order.h"
#include "tests/order/made_computation.h"

struct check_options {
    uint64_t seed;     /* of the order of appending and of the questions */
    bool is_canonical; /* events are appended in the order of creation, not at random */
    bool may_forget;   /* accepts the answer -ESTALE */
};

/* Appends the computation to a new order; traces are added at the beginning or when
 * they are needed.  After each event asks about it, and again about pairs of older
 * events: the answers must already equal the final truth.  At the end checks precedes
 * and relation of all pairs, and greatest predecessor, least successor and greatest
 * concurrent of all events on all traces.  `options` may be NULL: random order, seed of
 * the computation. */
void check_store(const struct esi_order_config *config,
                 const struct made_computation *made,
                 const struct check_options *options);

/* Calls check_store() for `rounds` computations of all shapes in turn, with up to
 * `events` events and 2 to 24 traces; some are sparse, some lossy.  Seeds come from
 * random_seed(). */
void check_store_widely(const struct esi_order_config *config,
                        unsigned rounds,
                        uint32_t events,
                        const struct check_options *options);

/* Appends while two threads ask, then checks all answers as check_store() does. */
void check_store_threads(const struct esi_order_config *config,
                         const struct made_computation *made,
                         const struct check_options *options);

/* The communications of a whole computation; caller destroys. */
struct esi_communications *check_store_communications(
    const struct made_computation *made);

/* An order with the whole computation, in the order of creation; caller destroys. */
struct es_order *check_store_fill(const struct esi_order_config *config,
                                  const struct made_computation *made);

#endif
