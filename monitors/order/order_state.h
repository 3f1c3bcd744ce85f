/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order_state.h - what an order consists of besides its store; for order.c,
 * order_query.c and order_sink.c.
 */
#ifndef ES_MONITORS_ORDER_ORDER_STATE_H
#define ES_MONITORS_ORDER_ORDER_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "monitors/order/order_private.h"
#include "monitors/eventset/segmented.h"

struct es_order {
    const struct esi_store_ops *ops;
    struct esi_store *store;
    /* _Atomic uint32_t of each trace: events that may be asked for; and the number of
     * traces.  The writer releases them when the store is ready; readers acquire them.
     */
    struct esi_segmented counts;
    _Atomic uint32_t traces;
    _Atomic uint64_t events; /* the writer's; relaxed, only for statistics */
    _Atomic uint64_t communication_events;
    uint32_t fixed_vector;

    /* Of the sink: the first half of a sync, whose other half comes next. */
    bool is_half;
    struct es_event_id half;
    struct es_event_id half_partner;
};

#endif
