/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A cache of the timestamps of recent events: while events arrive, all patterns query
 * the same few events.  One thread.
 *
 * A row is shared by the events of a trace from one receive to the next.  It is
 * computed from the rows of the previous event and of the sends, as by Fidge and
 * Mattern, as long as the cache is queried.  Entries not known this way are queried
 * from the order.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_STAMP_CACHE_H
#define ES_MONITORS_SEARCH_DOMAINS_STAMP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/order/order.h"

#define ESI_STAMP_UNKNOWN UINT32_MAX

/* An empty cache is all zeros.  The fields are private. */
struct esi_stamp_cache {
    struct esi_stamp_row {
        uint64_t older; /* number of the previous row of its trace */
        uint32_t first; /* row of the events [first, end) */
        uint32_t end;
    } * rows; /* owned: the last row_count rows, by the lower bits of their numbers */
    uint32_t *entries; /* owned: [row][trace], the greatest predecessor or unknown */
    struct esi_stamp_trace {
        uint64_t newest; /* number of its newest row */
        uint32_t learnt; /* learnt nothing new since this event */
        uint32_t last;   /* last event noted */
        bool is_sync;    /* whether the last event is a sync */
    } * heads;           /* owned: [trace] */
    uint64_t next;       /* number of the next row; the first is not 0 - row_count */
    uint32_t row_count;  /* a power of two */
    uint32_t traces;
    uint32_t unasked; /* receives since the last query */
};

/* Makes room for this many traces; cached entries may be lost.  Returns 0 or
 * -ENOMEM. */
int esi_stamp_cache_reserve(struct esi_stamp_cache *stamps, uint32_t traces);
void esi_stamp_cache_fini(struct esi_stamp_cache *stamps);
uint64_t esi_stamp_cache_bytes(const struct esi_stamp_cache *stamps);

/* Notes an event that the order has taken, or the first half of a sync.  Must be called
 * for all events. */
void esi_stamp_cache_note(struct esi_stamp_cache *stamps,
                          const struct es_set_event *event);

/* Queries the order for an entry that is not cached, and caches it. */
int64_t esi_stamp_cache_ask(struct esi_stamp_cache *stamps,
                            const struct es_order *order,
                            struct es_event_id event,
                            uint32_t trace);

/* The row of an event; NULL if there is none. */
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

/* The row of an event that is queried for traces below `stamps->traces`; NULL if there
 * is none.  Valid until the cache is asked or reserved, or an event is noted. */
static inline const uint32_t *esi_stamp_cache_use(struct esi_stamp_cache *stamps,
                                                  struct es_event_id event)
{
    if (event.trace >= stamps->traces)
        return NULL;
    stamps->unasked = 0;
    return esi_stamp_cache_row(stamps, event);
}

/* The greatest predecessor of an event on a trace, or ESI_STAMP_UNKNOWN if it is not
 * cached. */
static inline uint32_t esi_stamp_cache_known(struct esi_stamp_cache *stamps,
                                             struct es_event_id event,
                                             uint32_t trace)
{
    const uint32_t *row;

    if (trace == event.trace)
        return event.index - 1;
    if (trace >= stamps->traces)
        return ESI_STAMP_UNKNOWN;
    row = esi_stamp_cache_use(stamps, event);
    return row ? row[trace] : ESI_STAMP_UNKNOWN;
}

/* Like es_order_greatest_predecessor(). */
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
