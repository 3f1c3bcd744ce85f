/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What the order said of events that were asked for lately: while events arrive all
 * patterns ask for the same few.  One thread.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_STAMP_CACHE_H
#define ES_MONITORS_SEARCH_DOMAINS_STAMP_CACHE_H

#include <stdint.h>

#include "monitors/order/order.h"

/* Zeros are empty; fields are private. */
struct esi_stamp_cache {
    struct esi_cached_stamp {
        struct es_event_id event;
        uint32_t number; /* entries that have it are of this event */
    } * rows;            /* owned */
    struct esi_cached_entry {
        uint32_t row_number; /* 0: none */
        uint32_t greatest;
    } * entries;        /* owned: [row][trace] */
    uint32_t row_count; /* a power of two */
    uint32_t traces;
    uint32_t last_number;
};

/* Room for so many traces; what was remembered may go.  0 or -ENOMEM. */
int esi_stamp_cache_reserve(struct esi_stamp_cache *stamps, uint32_t traces);
void esi_stamp_cache_fini(struct esi_stamp_cache *stamps);
uint64_t esi_stamp_cache_bytes(const struct esi_stamp_cache *stamps);

/* What is not remembered: asks, and remembers it. */
int64_t esi_stamp_cache_ask(struct esi_stamp_cache *stamps,
                            const struct es_order *order,
                            struct es_event_id event,
                            uint32_t trace);

static inline uint32_t esi_stamp_cache_row(const struct esi_stamp_cache *stamps,
                                           struct es_event_id event)
{
    return (event.index * UINT32_C(37) + event.trace) & (stamps->row_count - 1);
}

/* As es_order_greatest_predecessor(). */
static inline int64_t esi_stamp_cache_greatest(struct esi_stamp_cache *stamps,
                                               const struct es_order *order,
                                               struct es_event_id event,
                                               uint32_t trace)
{
    if (trace < stamps->traces) {
        uint32_t at = esi_stamp_cache_row(stamps, event);
        const struct esi_cached_stamp *row = &stamps->rows[at];
        const struct esi_cached_entry *entry =
            &stamps->entries[(size_t)at * stamps->traces + trace];

        if (row->event.trace == event.trace && row->event.index == event.index &&
            entry->row_number == row->number)
            return entry->greatest;
    }
    return esi_stamp_cache_ask(stamps, order, event, trace);
}

#endif
