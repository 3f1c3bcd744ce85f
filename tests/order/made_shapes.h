/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_shapes.h - creates the events of a computation; for made_computation.c. */
#ifndef ES_TESTS_ORDER_MADE_SHAPES_H
#define ES_TESTS_ORDER_MADE_SHAPES_H

#include "tests/order/made_computation.h"

/* A message that is not received yet. */
struct made_message {
    struct es_event_id send;
    uint32_t to;
};

struct made_maker {
    struct made_computation *made;
    uint64_t draw;
    uint32_t capacity; /* of the array of events */
    struct made_message *messages;
    uint32_t message_count, message_capacity;
    uint32_t *begins, *ends; /* numbers of events at which a process begins and ends */
    uint32_t processes;      /* traces that are not of communicators */
    uint32_t *process;       /* their numbers, then those of communicators */
    uint32_t tokens;         /* steps of the ring so far */
    bool *is_member;         /* [communicator][process] */
    enum made_shape step;    /* current shape of MADE_MIXED */
};

/* Appends an event; copies the partners.  Defined in made_computation.c. */
struct es_event_id made_maker_add(struct made_maker *maker,
                                  uint32_t trace,
                                  enum es_event_kind kind,
                                  const struct es_event_id *partners,
                                  uint32_t partner_count);

/* How many of `traces` a shape uses for communicators. */
uint32_t made_shape_communicators(enum made_shape shape, uint32_t traces);
/* Adds some more events. */
void made_shape_step(struct made_maker *maker);

/* Reallocates; ends the program if there is no memory. */
void *made_memory(void *old, size_t count, size_t bytes);

#endif
