/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Passes one stream to several sinks.
 *
 *   const struct es_set_sink items[] = {es_order_sink(order), ...};
 *   struct esi_sinks sinks = {.items = items, .count = 2};
 *   stream events into esi_sinks_sink(&sinks);
 *
 * Each event goes to all sinks, in turn.  A negative result ends the stream; a positive
 * one hides the event from the remaining sinks.
 */
#ifndef ES_MONITORS_EVENTSET_SINKS_H
#define ES_MONITORS_EVENTSET_SINKS_H

#include <stdbool.h>

#include "eventspace/event.h"

struct esi_sinks {
    const struct es_set_sink *items; /* borrowed; a NULL call is skipped */
    size_t count;
    bool has_refused; /* one of them has ended the stream */
};

struct es_set_sink esi_sinks_sink(struct esi_sinks *sinks);

#endif
