/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random computations with the truth about them, for tests of all that orders events.
 *
 *   uint64_t seed = made_seed();                         prints it
 *   struct made_config config = {.shape = MADE_SYNCS, .seed = seed, .traces = 9,
 *                                .events = 200};
 *   struct made_computation *made = made_computation_create(&config);
 *   check_store(&order_config, made, NULL);              check_store.h
 *   made_computation_destroy(made);
 *
 * Events have numbers in the order in which they were made, from 0: that is a linear
 * extension in which the halves of a sync are neighbours.  What precedes what is worked
 * out by transitive closure over sets of bits: it takes events^2 / 8 bytes, so 200
 * events are plenty for a test that asks for all pairs.
 *
 * The same configuration gives the same computation everywhere.  Memory that cannot be
 * had ends the test program.
 */
#ifndef ES_TESTS_ORDER_MADE_COMPUTATION_H
#define ES_TESTS_ORDER_MADE_COMPUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

enum made_shape {
    MADE_UNIFORM,       /* messages between any two traces, also to oneself */
    MADE_CHANNELS,      /* in order on a few channels of each trace */
    MADE_CLIENTS,       /* requests to servers and their answers */
    MADE_RING,          /* tokens that go round */
    MADE_TREE,          /* down and up a binary tree of messages */
    MADE_STENCIL,       /* exchange with neighbours, step by step */
    MADE_NEAR,          /* mostly within blocks of traces, now and then outside */
    MADE_SYNCS,         /* synchronous communication, and messages */
    MADE_MANY_PARTNERS, /* receives of none to many sends, sends of many receives */
    MADE_COLLECTIVES,   /* all-to-all ones as MPI gives them (event-sets.md), messages
                           between them */
    MADE_ROOTED,        /* bcast, reduce, scan, and reduce followed by bcast */
    MADE_COMMUNICATORS, /* all-to-all ones on several, which overlap */
    MADE_MIXED,         /* steps of any of these */
    MADE_SHAPES
};

const char *made_shape_name(enum made_shape shape);

struct made_config {
    enum made_shape shape;
    uint64_t seed;
    uint32_t traces; /* 2 or more; those of communicators are some of them */
    uint32_t events; /* some more are made, to the end of a step */
    bool is_sparse;  /* some traces begin late, end early or have no event */
    bool is_lossy;   /* some partners are missing: of joins and exits, too */
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

/* --- Chance ----------------------------------------------------------------------- */

struct made_draw {
    uint64_t state;
};

void made_draw_init(struct made_draw *draw, uint64_t seed);
/* Less than `limit`, which is not 0. */
uint32_t made_draw_below(struct made_draw *draw, uint32_t limit);
bool made_draw_percent(struct made_draw *draw, unsigned percent);

/* $ES_TEST_SEED, or the time; prints it as a TAP comment. */
uint64_t made_seed(void);

/* --- Computations ----------------------------------------------------------------- */

/* Never NULL; the caller destroys it. */
struct made_computation *made_computation_create(const struct made_config *config);
void made_computation_destroy(struct made_computation *made);

/* For messages: shape, seed and sizes.  Borrowed until the next call. */
const char *made_computation_name(const struct made_computation *made);

/* Numbers in another linear extension, at random; the caller frees. */
uint32_t *made_computation_extension(const struct made_computation *made,
                                     uint64_t seed);

/* Gives one event to a sink, whose result is returned. */
int made_computation_give(const struct made_computation *made,
                          uint32_t number,
                          const struct es_set_sink *sink);
/* Gives all traces, then all events in an extension; NULL = as they were made. */
int made_computation_stream(const struct made_computation *made,
                            const uint32_t *extension,
                            const struct es_set_sink *sink);

/* --- The truth -------------------------------------------------------------------- */

uint32_t made_number(const struct made_computation *made, struct es_event_id id);
bool made_precedes(const struct made_computation *made,
                   struct es_event_id a,
                   struct es_event_id b);

/* As es_order_greatest_predecessor() and its like, of the first `count` events of the
 * trace. */
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
