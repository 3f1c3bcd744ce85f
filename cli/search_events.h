/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_events.h - the events that a command searches: their order, their classes, and
 * what is shown of them. */
#ifndef ES_CLI_SEARCH_EVENTS_H
#define ES_CLI_SEARCH_EVENTS_H

#include <stdint.h>

#include "cli/search_file.h"
#include "cli/search_options.h"
#include "monitors/order/order.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/domains/event_details.h"

struct esi_search_events {
    struct es_order *order;
    struct esi_domains *domains;
    struct esi_details *details; /* NULL: nothing is shown of them */
    struct esi_set_source_facts facts;
    uint64_t read_ns;
};

/* Reads all events once, and says what is missing of them.  0, or the exit status after
 * the message.  To be ended with _fini in each case. */
int esi_search_events_read(const struct esi_search_options *given,
                           const struct esi_search_file *file,
                           struct esi_search_events *ret_events);
void esi_search_events_fini(struct esi_search_events *events);

#endif
