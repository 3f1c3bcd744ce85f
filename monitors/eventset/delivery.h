/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The canonical order: takes events in any order that a file may have and gives them as
 * an ordered stream (event.h).
 *
 *   esi_delivery_create(&config, &delivery);
 *   ... events to esi_delivery_sink(delivery)
 *   esi_delivery_finish(delivery, &error);
 *   esi_delivery_destroy(delivery);
 *
 * Kahn's algorithm taking, among the units that are ready, the one that came first.  A
 * unit is an event, or both halves of a sync, placed by the half that came first and
 * given together.  Of a stream that is ordered already nothing waits.
 *
 * An event is given as soon as nothing that is yet to come could be given before it: a
 * receive waits for its sends alone.  A sync that is ready but for its other half,
 * which did not come yet, holds up everything that came later.
 *
 * Only the first event that waits of a trace is looked at; it waits for one event at a
 * time, in a heap of that event's trace.  So an event costs O(partners + log traces),
 * and at most one node of each trace is in a heap.
 */
#ifndef ES_MONITORS_EVENTSET_DELIVERY_H
#define ES_MONITORS_EVENTSET_DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_delivery_config {
    struct es_set_sink sink;
    /* For errors, where events come from a file: its name, and the line of the event
     * that is being told (borrowed for the delivery's life).  NULL = none. */
    const char *source;
    const uint64_t *line;
    uint64_t memory_bytes;    /* of events that wait; beyond, they do so in a file */
    const char *spill_folder; /* of that file; NULL = $TMPDIR or /var/tmp */
};

struct esi_delivery;

/* 512 MiB in memory, no source. */
void esi_delivery_config_init(struct esi_delivery_config *config,
                              struct es_set_sink sink);

/* Texts of the configuration are borrowed for the delivery's life.  0 or -ENOMEM. */
int esi_delivery_create(const struct esi_delivery_config *config,
                        struct esi_delivery **ret_delivery);
/* Accepts NULL. */
void esi_delivery_destroy(struct esi_delivery *delivery);

/* Where the events go in.  Its calls give -EINVAL for an event out of turn, of a trace
 * that was not told or that is a sync of nothing, -ENOMEM, -EIO or -ENOSPC when what
 * waits cannot be written, and what the sink behind gave; then the delivery is only
 * good for destroying. */
struct es_set_sink esi_delivery_sink(struct esi_delivery *delivery);

/* Nothing more comes.  0; -EINVAL when events wait still: on a cycle, or for one that
 * did not come.  The error names such an event. */
int esi_delivery_finish(struct esi_delivery *delivery, struct es_error *error);

/* Whether the sink behind has ended the stream.  Accepts NULL. */
bool esi_delivery_is_refused(const struct esi_delivery *delivery);

#endif
