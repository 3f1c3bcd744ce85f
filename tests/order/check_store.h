/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Checks a store of the order against the truth, for tests of every store:
 *
 *   static void stamps_tell_the_order(void **state)
 *   {
 *       struct esi_order_config config;
 *
 *       esi_order_config_init(&config);
 *       config.store = "cluster";
 *       config.max_sizes[0] = 3;
 *       check_store_widely(&config, 1000, 120, NULL);
 *   }
 *
 * or, where the configuration depends on the computation (as communications that
 * "static" needs), made_computation_create() and check_store() in a loop of one's own.
 *
 * A test program that uses it names $(check_store_sources) among its sources
 * (stores.am) and links $(ES_ORDER) $(CMOCKA_LIBS).  A failure names the computation
 * (shape, seed, sizes), the seed of the order of appending, the question and both
 * answers.
 */
#ifndef ES_TESTS_ORDER_CHECK_STORE_H
#define ES_TESTS_ORDER_CHECK_STORE_H

#include "monitors/order/order.h"
#include "tests/order/made_computation.h"

struct check_options {
    uint64_t seed;     /* of the order of appending and of what is asked meanwhile */
    bool is_canonical; /* events are appended as they were made, not at random */
    bool may_forget;   /* -ESTALE is a right answer, too */
};

/* Appends the computation to a new order, all traces first or each when it is needed.
 * Meanwhile each new event is asked about, and pairs of old ones again: their answers
 * have to be the final truth already.  At the end precedes and relation of all pairs,
 * and greatest predecessor, least successor and greatest concurrent of all events on
 * all traces are compared.  `options` NULL: a seed from the computation, at random. */
void check_store(const struct esi_order_config *config,
                 const struct made_computation *made,
                 const struct check_options *options);

/* check_store() of `rounds` computations of all shapes in turn, up to `events` large
 * and with 2 to 24 traces, some sparse, some lossy, with seeds from made_seed(). */
void check_store_widely(const struct esi_order_config *config,
                        unsigned rounds,
                        uint32_t events,
                        const struct check_options *options);

/* Appends while two more threads ask; then as check_store() at the end. */
void check_store_threads(const struct esi_order_config *config,
                         const struct made_computation *made,
                         const struct check_options *options);

/* Who communicates with whom in all of a computation; for the caller to destroy. */
struct esi_communications *check_store_communications(
    const struct made_computation *made);

/* An order with all of a computation in it, as it was made; the caller destroys it. */
struct es_order *check_store_fill(const struct esi_order_config *config,
                                  const struct made_computation *made);

#endif
