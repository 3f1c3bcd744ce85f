/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order_private.h - what a store of the order does; order.c does the rest alike for
 * all.
 *
 * order.c checks arguments, counts events and publishes the counts: a store sees valid
 * traces and partners only, and never a query about an event that was not appended.
 */
#ifndef ES_MONITORS_ORDER_ORDER_PRIVATE_H
#define ES_MONITORS_ORDER_ORDER_PRIVATE_H

#include <stdatomic.h>

#include "monitors/order/order.h"

struct esi_store_ops {
    const char *name;
    size_t store_bytes;
    /* The store is all zero.  0; -EINVAL with words; -ENOMEM. */
    int (*init)(void *store,
                const struct esi_order_config *config,
                struct es_error *error);
    void (*fini)(void *store); /* also when init failed */
    int (*add_trace)(void *store);
    /* The event `id` is the next of its trace.  0 or -ENOMEM: the store is as it was.
     */
    int (*append)(void *store,
                  struct es_event_id id,
                  enum es_event_kind kind,
                  const struct es_event_id *partners,
                  size_t partner_count);
    int (*append_sync)(void *store, struct es_event_id id, struct es_event_id other);
    /* Of events on different traces, which are not the halves of one sync (order.c does
     * not know: the store sees to that).  1, 0, -ESTALE or -EIO. */
    int (*precedes)(const void *store, struct es_event_id a, struct es_event_id b);
    /* Of an event on another trace. */
    int64_t (*greatest_predecessor)(const void *store,
                                    struct es_event_id event,
                                    uint32_t trace);
    /* What it has forgotten of a trace: events up to this index; NULL = nothing ever.
     * No event that is kept may precede one that is forgotten. */
    uint32_t (*forgotten)(const void *store, uint32_t trace);
    /* Adds its own to what order.c has filled in: all but events and traces. */
    void (*statistics)(const void *store, struct esi_order_statistics *statistics);
};

/* Adds to a figure of the writer's that readers may ask for meanwhile. */
static inline void esi_store_add(_Atomic uint64_t *figure, uint64_t more)
{
    atomic_store_explicit(figure,
                          atomic_load_explicit(figure, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

extern const struct esi_store_ops esi_store_dense;
extern const struct esi_store_ops esi_store_cluster;
extern const struct esi_store_ops esi_store_epoch;

#endif
