/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_show.h - prints the content and the cost of an order. */
#ifndef ES_CLI_ORDER_SHOW_H
#define ES_CLI_ORDER_SHOW_H

#include "cli/command.h"
#include "monitors/causality/set_source.h"
#include "monitors/eventset/set_messages.h"
#include "monitors/eventset/trace_names.h"
#include "monitors/order/order.h"

/* The channels with unmatched messages; a zeroed struct is empty. */
struct esi_unmatched {
    struct esi_causal_channel *items; /* owned, including their names */
    size_t count;
    size_t capacity;
    bool lacks_memory;
};

/* Replaces the content by the channels of a search, those with most unmatched messages
 * first.  For `found` of an event source; `data` is a struct esi_unmatched *. */
void esi_unmatched_take(void *data, const struct esi_causality *causality);
void esi_unmatched_fini(struct esi_unmatched *unmatched);

/* Facts about an order's events; all borrowed. */
struct esi_order_origin {
    struct esi_set_source_facts facts;
    const struct esi_unmatched *unmatched;   /* for an archive or a run */
    const struct esi_set_messages *messages; /* for a file */
    const struct esi_trace_names *names;
    uint64_t time_ns; /* time to build the order */
};

/* `has_figures`: text also shows the store's content and cost, which JSON always
 * contains. */
void esi_order_show(const struct es_order *order,
                    const struct esi_order_origin *origin,
                    bool has_figures,
                    enum esi_format format);

#endif
