/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Queries of the order by engines.  Each query counts as one comparison per entry
 * compared, as the thesis counts comparisons of timestamps (Nichols, 5.6).
 *
 * One record per thread.  Events that the order has forgotten are counted as unknown
 * and treated as unordered.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_PRECEDENCE_H
#define ES_MONITORS_SEARCH_DOMAINS_PRECEDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/order.h"
#include "monitors/search/domains/stamp_cache.h"

struct esi_precedence {
    const struct es_order *order;
    struct esi_stamp_cache *stamps; /* borrowed; NULL: no cache */
    uint64_t comparisons;
    uint64_t unknown;
};

static inline int64_t esi_precedence_ask(const struct esi_precedence *precedence,
                                         struct es_event_id event,
                                         uint32_t trace)
{
    return precedence->stamps
               ? esi_stamp_cache_greatest(precedence->stamps, precedence->order, event,
                                          trace)
               : es_order_greatest_predecessor(precedence->order, event, trace);
}

static inline bool esi_precedence_before(struct esi_precedence *precedence,
                                         struct es_event_id a,
                                         struct es_event_id b)
{
    int64_t known = precedence->stamps && a.trace != b.trace
                        ? esi_precedence_ask(precedence, b, a.trace)
                        : -1;
    int result =
        known < 0 ? es_order_precedes(precedence->order, a, b) : known >= a.index;

    precedence->comparisons++;
    precedence->unknown += result < 0;
    return result > 0;
}

/* The same for events that may be on one trace, which takes no comparison. */
static inline bool esi_precedence_of(struct esi_precedence *precedence,
                                     struct es_event_id a,
                                     struct es_event_id b)
{
    return a.trace == b.trace ? a.index < b.index
                              : esi_precedence_before(precedence, a, b);
}

/* Index of the greatest predecessor on `trace`, 0 = none: an entry of the timestamp. */
static inline uint32_t esi_precedence_greatest(struct esi_precedence *precedence,
                                               struct es_event_id event,
                                               uint32_t trace)
{
    int64_t index = esi_precedence_ask(precedence, event, trace);

    precedence->comparisons++;
    precedence->unknown += index < 0;
    return index > 0 ? (uint32_t)index : 0;
}

/* Compares by trace, then index: < 0, 0 or > 0. */
static inline int esi_event_compare(struct es_event_id a, struct es_event_id b)
{
    if (a.trace != b.trace)
        return a.trace < b.trace ? -1 : 1;
    return (a.index > b.index) - (a.index < b.index);
}

static inline bool esi_event_is(struct es_event_id a, struct es_event_id b)
{
    return a.trace == b.trace && a.index == b.index;
}

#endif
