/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What events know that came lately: while events arrive all patterns ask for the same
 * few.  One thread.
 *
 * A row is of the events of a trace from one that received to the next.  It is taken
 * over from the rows of the event before and of the sends, as Fidge and Mattern do, as
 * long as somebody asks; entries that are not known by that are asked of the order.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_STAMP_CACHE_H
#define ES_MONITORS_SEARCH_DOMAINS_STAMP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/order/order.h"

#define ESI_STAMP_UNKNOWN UINT32_MAX

/* Zeros are empty; fields are private. */
struct esi_stamp_cache {
    struct esi_stamp_row {
        uint64_t older; /* number of the row before it on its trace */
        uint32_t first; /* it is of the events [first, end) */
        uint32_t end;
    } * rows;          /* owned: the last so many, by the lower bits of their numbers */
    uint32_t *entries; /* owned: [row][trace], the greatest predecessor or unknown */
    struct esi_stamp_trace {
        uint64_t newest; /* number of its newest row */
        uint32_t learnt; /* it has learnt nothing since this event */
        uint32_t last;   /* event that was noted */
        bool is_sync;    /* that one */
    } * heads;           /* owned: [trace] */
    uint64_t next;       /* number of a row; the first is not 0 - row_count */
    uint32_t row_count;  /* a power of two */
    uint32_t traces;
    uint32_t unasked; /* receives since somebody asked */
};

/* Room for so many traces; what was remembered may go.  0 or -ENOMEM. */
int esi_stamp_cache_reserve(struct esi_stamp_cache *stamps, uint32_t traces);
void esi_stamp_cache_fini(struct esi_stamp_cache *stamps);
uint64_t esi_stamp_cache_bytes(const struct esi_stamp_cache *stamps);

/* An event that the order has taken, or the first half of a sync.  All are told. */
void esi_stamp_cache_note(struct esi_stamp_cache *stamps,
                          const struct es_set_event *event);

/* What is not remembered: asks, and remembers it. */
int64_t esi_stamp_cache_ask(struct esi_stamp_cache *stamps,
                            const struct es_order *order,
                            struct es_event_id event,
                            uint32_t trace);

/* The row of an event; NULL: none. */
static inline uint32_t *esi_stamp_cache_row(const struct esi_stamp_cache *stamps,
                                            struct es_event_id event)
{
    uint64_t number = stamps->heads[event.trace].newest;

    while (number + stamps->row_count >= stamps->next) {
        uint32_t at = (uint32_t)number & (stamps->row_count - 1);
        const struct esi_stamp_row *row = &stamps->rows[at];

        if (event.index >= row->first)
            return event.index < row->end
                       ? &stamps->entries[(size_t)at * stamps->traces]
                       : NULL;
        number = row->older;
    }
    return NULL;
}

/* The greatest predecessor of an event on a trace as far as it is remembered. */
static inline uint32_t esi_stamp_cache_known(struct esi_stamp_cache *stamps,
                                             struct es_event_id event,
                                             uint32_t trace)
{
    const uint32_t *row;

    if (trace == event.trace)
        return event.index - 1;
    if (trace >= stamps->traces || event.trace >= stamps->traces)
        return ESI_STAMP_UNKNOWN;
    stamps->unasked = 0;
    row = esi_stamp_cache_row(stamps, event);
    return row ? row[trace] : ESI_STAMP_UNKNOWN;
}

/* As es_order_greatest_predecessor(). */
static inline int64_t esi_stamp_cache_greatest(struct esi_stamp_cache *stamps,
                                               const struct es_order *order,
                                               struct es_event_id event,
                                               uint32_t trace)
{
    uint32_t known = esi_stamp_cache_known(stamps, event, trace);

    return known != ESI_STAMP_UNKNOWN
               ? known
               : esi_stamp_cache_ask(stamps, order, event, trace);
}

#endif
