/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The immediate successors of events on other traces: the receives of a send, and the
 * event after the other half of a sync.  Only walking forward needs them (Nichols,
 * algorithm 4.7); the order itself finds predecessors.
 *
 *   esi_successors_create(&successors);
 *   stream events into esi_successors_sink(successors);   ordered (event.h)
 *   esi_successors_finish(successors);
 *   esi_successors_from(successors, event) ...
 *   esi_successors_destroy(successors);
 *
 * 16 bytes per message, 48 per sync.  After esi_successors_finish() any number of
 * threads may read.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_SUCCESSORS_H
#define ES_MONITORS_SEARCH_THESIS_SUCCESSORS_H

#include <stddef.h>

#include "eventspace/event.h"

struct esi_successors;

struct esi_successor {
    struct es_event_id from;
    struct es_event_id to; /* for a sync possibly beyond the end of its trace */
};

/* Returns 0 or -ENOMEM. */
int esi_successors_create(struct esi_successors **ret_successors);
/* Accepts NULL. */
void esi_successors_destroy(struct esi_successors *successors);

struct es_set_sink esi_successors_sink(struct esi_successors *successors);
/* Call after the stream: sorts the rows. */
void esi_successors_finish(struct esi_successors *successors);

/* All rows, sorted by `from`, then `to`; borrowed. */
const struct esi_successor *esi_successors_rows(const struct esi_successors *successors,
                                                size_t *ret_count);
/* The first row whose `from` is this event or a later one.  O(log rows). */
size_t esi_successors_from(const struct esi_successors *successors,
                           struct es_event_id event);

#endif
