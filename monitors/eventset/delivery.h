/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The canonical order: takes events in any order that a file may contain and delivers
 * them as an ordered stream (event.h).
 *
 *   esi_delivery_create(&config, &delivery);
 *   ... events to esi_delivery_sink(delivery)
 *   esi_delivery_finish(delivery, &error);
 *   esi_delivery_destroy(delivery);
 *
 * Kahn's algorithm; of the units that are ready, it delivers the one that arrived
 * first.  A unit is an event, or both halves of a sync, which are delivered together at
 * the position of the earlier half.  In a stream that is already ordered, no event
 * waits.
 *
 * An event is delivered as soon as no later arrival can come before it: a receive waits
 * only for its sends.  A sync that is ready except that its other half has not arrived
 * holds up everything that arrived later.
 *
 * Only the first waiting event of each trace is examined.  It waits for one event at a
 * time, in a heap of that event's trace.  So an event costs O(partners + log traces),
 * and each trace has at most one node in a heap.
 */
#ifndef ES_MONITORS_EVENTSET_DELIVERY_H
#define ES_MONITORS_EVENTSET_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_delivery_config {
    struct es_set_sink sink;
    /* For errors, if events come from a file: its name, and the line of the current
     * event (borrowed for the life of the delivery). NULL = none. */
    const char *source;
    const uint64_t *line;
    uint64_t memory_bytes;    /* for waiting events; beyond it they are spilled to a
                                 file */
    const char *spill_folder; /* folder of the spill file; NULL = $TMPDIR or /var/tmp */
};

struct esi_delivery;

/* Sets the defaults: 512 MiB in memory, no source. */
void esi_delivery_config_init(struct esi_delivery_config *config,
                              struct es_set_sink sink);

/* Texts of the configuration are borrowed for the life of the delivery.  Returns 0 or
 * -ENOMEM. */
int esi_delivery_create(const struct esi_delivery_config *config,
                        struct esi_delivery **ret_delivery);
/* Accepts NULL. */
void esi_delivery_destroy(struct esi_delivery *delivery);

/* The sink that takes the events.  Its calls return -EINVAL for an event out of turn,
 * of an unknown trace, or that is a sync without partner; -ENOMEM; -EIO or -ENOSPC if
 * waiting events cannot be written; or the error of the next sink.  After an error the
 * delivery can only be destroyed. */
struct es_set_sink esi_delivery_sink(struct esi_delivery *delivery);

/* Call at the end of the stream.  Returns 0, or -EINVAL if events still wait: on a
 * cycle, or for an event that did not arrive.  The error names such an event. */
int esi_delivery_finish(struct esi_delivery *delivery, struct es_error *error);

/* Whether the next sink has ended the stream.  Accepts NULL. */
bool esi_delivery_is_refused(const struct esi_delivery *delivery);

#endif
