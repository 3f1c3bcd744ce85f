/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random computations for which the truth is known, for tests of everything that orders
 * events.
 *
 *   uint64_t seed = random_seed();
 *   struct made_config config = {.shape = MADE_SYNCS, .seed = seed, .traces = 9,
 *                                .events = 200};
 *   struct made_computation *made = made_computation_create(&config);
 *   check_store(&order_config, made, NULL);              check_store.h
 *   made_computation_destroy(made);
 *
 * Events are numbered from 0 in the order of creation. This order is a linear extension
 * in which the halves of a sync are adjacent.  Precedence is computed by transitive
 * closure over bit sets, which takes events^2 / 8 bytes; 200 events are enough for a
 * test of all pairs.
 *
 * The same configuration gives the same computation everywhere.  The test program ends
 * if there is no memory.
 */
#ifndef ES_TESTS_ORDER_MADE_COMPUTATION_H
#define ES_TESTS_ORDER_MADE_COMPUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "tests/random.h"

enum made_shape {
    MADE_UNIFORM,       /* messages from any trace to any trace */
    MADE_CHANNELS,      /* in order on a few channels of each trace */
    MADE_CLIENTS,       /* requests to servers and their answers */
    MADE_RING,          /* tokens that circulate */
    MADE_TREE,          /* down and up a binary tree of messages */
    MADE_STENCIL,       /* exchange with neighbours in steps */
    MADE_NEAR,          /* mostly within blocks of traces, sometimes outside */
    MADE_SYNCS,         /* synchronous communication, and messages */
    MADE_MANY_PARTNERS, /* receives of 0 to many sends, sends with many receives */
    MADE_COLLECTIVES,   /* all-to-all as MPI makes it (event-sets.md), with messages in
                           between */
    MADE_ROOTED,        /* bcast, reduce, scan, and reduce followed by bcast */
    MADE_COMMUNICATORS, /* all-to-all on several overlapping communicators */
    MADE_MIXED,         /* steps of any of these */
    MADE_SHAPES
};

const char *made_shape_name(enum made_shape shape);

struct made_config {
    enum made_shape shape;
    uint64_t seed;
    uint32_t traces; /* at least 2; includes those of communicators */
    uint32_t events; /* minimum; the last step is completed */
    bool is_sparse;  /* some traces begin late, end early or have no events */
    bool is_lossy;   /* some partners are missing, also of joins and exits */
};

struct made_event {
    struct es_event_id id;
    enum es_event_kind kind;
    uint32_t partner_count;
    struct es_event_id *partners; /* of receives and syncs */
};

struct made_computation {
    struct made_config config;
    uint32_t traces;
    uint32_t count;
    struct made_event *events; /* by number */
    uint32_t *counts;          /* events of each trace */
    uint32_t **numbers;        /* [trace][index - 1] */
    uint64_t *before;          /* bit j of row i: number j precedes number i */
    size_t row_words;
};

/* --- Computations ----------------------------------------------------------------- */

/* Never returns NULL; caller destroys. */
struct made_computation *made_computation_create(const struct made_config *config);
void made_computation_destroy(struct made_computation *made);

/* Shape, seed and sizes, for messages.  Valid until the next call. */
const char *made_computation_name(const struct made_computation *made);

/* The numbers in a random linear extension; caller frees. */
uint32_t *made_computation_extension(const struct made_computation *made,
                                     uint64_t seed);

/* Passes one event to a sink and returns its result. */
int made_computation_give(const struct made_computation *made,
                          uint32_t number,
                          const struct es_set_sink *sink);
/* Passes all traces, then all events in order of an extension; NULL = of creation. */
int made_computation_stream(const struct made_computation *made,
                            const uint32_t *extension,
                            const struct es_set_sink *sink);

/* --- The truth -------------------------------------------------------------------- */

uint32_t made_number(const struct made_computation *made, struct es_event_id id);
bool made_precedes(const struct made_computation *made,
                   struct es_event_id a,
                   struct es_event_id b);

/* Like es_order_greatest_predecessor() etc., for the trace's first `count` events. */
uint32_t made_greatest_predecessor(const struct made_computation *made,
                                   struct es_event_id event,
                                   uint32_t trace);
uint32_t made_least_successor(const struct made_computation *made,
                              struct es_event_id event,
                              uint32_t trace,
                              uint32_t count);
uint32_t made_greatest_concurrent(const struct made_computation *made,
                                  struct es_event_id event,
                                  uint32_t trace,
                                  uint32_t count);

#endif
