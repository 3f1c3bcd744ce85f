/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * order_private.h - the interface of a store of the order.
 *
 * order.c does what is common to all stores: it checks arguments, counts events and
 * publishes the counts.  A store therefore sees only valid traces and partners, and
 * only queries about events that were appended.
 */
#ifndef ES_MONITORS_ORDER_ORDER_PRIVATE_H
#define ES_MONITORS_ORDER_ORDER_PRIVATE_H

#include <stdatomic.h>

#include "monitors/order/order.h"

struct esi_store_ops {
    const char *name;
    const void *defaults; /* of its tuning; NULL = it has none */
    size_t store_bytes;
    /* The memory of the store is zeroed; `tuning` of the configuration is set.
     * Returns 0, -EINVAL with a message, or -ENOMEM. */
    int (*init)(void *store,
                const struct esi_order_config *config,
                struct es_error *error);
    void (*fini)(void *store); /* also called if init failed */
    int (*add_trace)(void *store);
    /* Appends `id`, the next event of its trace.  Returns 0, or -ENOMEM, which leaves
     * the store unchanged. */
    int (*append)(void *store,
                  struct es_event_id id,
                  enum es_event_kind kind,
                  const struct es_event_id *partners,
                  size_t partner_count);
    int (*append_sync)(void *store, struct es_event_id id, struct es_event_id other);
    /* `a` and `b` are events on different traces, and not the halves of one sync
     * (order.c does not know these; the store handles them).  Returns 1, 0, -ESTALE or
     * -EIO. */
    int (*precedes)(const void *store, struct es_event_id a, struct es_event_id b);
    /* `event` is on another trace. */
    int64_t (*greatest_predecessor)(const void *store,
                                    struct es_event_id event,
                                    uint32_t trace);
    /* Index of the last forgotten event of a trace; NULL if the store never forgets.  A
     * forgotten event may not be preceded by an event that is kept. */
    uint32_t (*forgotten)(const void *store, uint32_t trace);
    /* Adds the store's figures.  order.c has set the numbers of events and traces. */
    void (*statistics)(const void *store, struct esi_order_statistics *statistics);
};

/* Adds to a counter that only the writer changes and readers may read concurrently. */
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
