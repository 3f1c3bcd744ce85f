/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The order as engines ask it: each question counts as the thesis counts comparisons of
 * timestamps (Nichols, 5.6), one for each entry that is compared.
 *
 * One record for each thread.  Events that the order has forgotten are counted and
 * taken for not ordered.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_PRECEDENCE_H
#define ES_MONITORS_SEARCH_DOMAINS_PRECEDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/order.h"

struct esi_precedence {
    const struct es_order *order;
    uint64_t comparisons;
    uint64_t unknown;
};

static inline bool esi_precedence_before(struct esi_precedence *precedence,
                                         struct es_event_id a,
                                         struct es_event_id b)
{
    int result = es_order_precedes(precedence->order, a, b);

    precedence->comparisons++;
    precedence->unknown += result < 0;
    return result > 0;
}

/* Index of the greatest predecessor on `trace`, 0 = none: an entry of the timestamp. */
static inline uint32_t esi_precedence_greatest(struct esi_precedence *precedence,
                                               struct es_event_id event,
                                               uint32_t trace)
{
    int64_t index = es_order_greatest_predecessor(precedence->order, event, trace);

    precedence->comparisons++;
    precedence->unknown += index < 0;
    return index > 0 ? (uint32_t)index : 0;
}

/* By trace, then index: < 0, 0, > 0. */
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
