/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_shapes.h - how the events of a computation are made; for made_computation.c. */
#ifndef ES_TESTS_ORDER_MADE_SHAPES_H
#define ES_TESTS_ORDER_MADE_SHAPES_H

#include "tests/order/made_computation.h"

/* A message on its way. */
struct made_message {
    struct es_event_id send;
    uint32_t to;
};

struct made_maker {
    struct made_computation *made;
    struct made_draw draw;
    uint32_t capacity; /* of the computation's events */
    struct made_message *messages;
    uint32_t message_count, message_capacity;
    uint32_t *begins, *ends; /* number of events made when a trace comes and goes */
    uint32_t processes;      /* traces that are not of communicators */
    uint32_t *process;       /* their numbers, then those of communicators */
    uint32_t tokens;         /* steps that the ring has made */
    bool *is_member;         /* [communicator][process] */
    enum made_shape step;    /* which shape MADE_MIXED is in */
};

/* For made_computation.c: appends an event; partners are copied. */
struct es_event_id made_maker_add(struct made_maker *maker,
                                  uint32_t trace,
                                  enum es_event_kind kind,
                                  const struct es_event_id *partners,
                                  uint32_t partner_count);

/* Traces of communicators that a shape takes of `traces`. */
uint32_t made_shape_communicators(enum made_shape shape, uint32_t traces);
/* Makes some more events. */
void made_shape_step(struct made_maker *maker);

/* Ends the program when there is no memory. */
void *made_memory(void *old, size_t count, size_t bytes);

#endif
