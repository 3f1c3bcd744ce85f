/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_show.h - what an order holds and what it takes, for people and programs. */
#ifndef ES_CLI_ORDER_SHOW_H
#define ES_CLI_ORDER_SHOW_H

#include "cli/command.h"
#include "monitors/causality/set_source.h"
#include "monitors/eventset/set_messages.h"
#include "monitors/eventset/trace_names.h"
#include "monitors/order/order.h"

/* The channels on which messages were left without their other end; zeros are none. */
struct esi_unmatched {
    struct esi_causal_channel *items; /* owned, as their names are */
    size_t count;
    size_t capacity;
    bool lacks_memory;
};

/* Replaces what is there by the channels of a search, those first that lack most; for
 * `found` of an event source, `data` is a struct esi_unmatched *. */
void esi_unmatched_take(void *data, const struct esi_causality *causality);
void esi_unmatched_fini(struct esi_unmatched *unmatched);

/* What is known of an order's events; all borrowed. */
struct esi_order_origin {
    struct esi_set_source_facts facts;
    const struct esi_unmatched *unmatched;   /* of an archive or a run */
    const struct esi_set_messages *messages; /* of a file */
    const struct esi_trace_names *names;
    uint64_t time_ns; /* that building the order took */
};

/* `config` is what the order was made with.  `has_figures`: people are also told what
 * the store holds and takes; JSON has it always. */
void esi_order_show(const struct es_order *order,
                    const struct esi_order_config *config,
                    const struct esi_order_origin *origin,
                    bool has_figures,
                    enum esi_format format);

#endif
