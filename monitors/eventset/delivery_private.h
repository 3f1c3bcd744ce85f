/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delivery_private.h - what delivery.c and delivery_cycle.c share.
 */
#ifndef ES_MONITORS_EVENTSET_DELIVERY_PRIVATE_H
#define ES_MONITORS_EVENTSET_DELIVERY_PRIVATE_H

#include "monitors/eventset/delivery.h"
#include "monitors/eventset/delivery_record.h"
#include "monitors/eventset/set_spool.h"

#define ESI_NO_TRACE UINT32_MAX

struct esi_delivery_trace {
    uint32_t read;  /* events that came */
    uint32_t given; /* events that went on */
    struct esi_spool_queue waiting;
    uint32_t partners_seen; /* of the first that waits: given already */
    /* The event which the first that waits waits for, and its node in the skew heap of
     * that event's trace. */
    struct es_event_id awaited; /* index 0: for none */
    uint32_t left;
    uint32_t right;
    uint32_t waiters; /* root of the heap of traces that wait for events of this one */
};

/* A unit that can be given: by the trace whose event places it. */
struct esi_ready {
    uint64_t position;
    uint32_t trace;
};

struct es_delivery {
    struct es_delivery_config config;
    struct esi_delivery_trace *traces;
    uint32_t trace_count;
    uint32_t trace_capacity;
    struct esi_ready *ready; /* binary heap, as large as there is room for traces */
    uint32_t ready_count;
    uint64_t position; /* of the last event that came */
    struct esi_spool spool;
    struct esi_record_room rooms[2]; /* for the halves of a sync */
    struct es_delivery_statistics statistics;
};

/* The first event of a trace that waits; there is one. */
int esi_delivery_front(struct es_delivery *delivery,
                       uint32_t trace,
                       const struct esi_record **ret_record);

/* Says why events still wait.  -EINVAL, or what kept it from finding out. */
int esi_delivery_explain(struct es_delivery *delivery, struct es_error *error);

#endif
