/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The immediate successors of events on other traces: receives of a send, and what
 * comes next to the other half of a sync.  Only walking forward needs them (Nichols,
 * algorithm 4.7); the order itself looks back.
 *
 *   es_successors_create(&successors);
 *   stream events into es_successors_sink(successors);   ordered (event.h)
 *   es_successors_finish(successors);
 *   es_successors_from(successors, event) ...
 *   es_successors_destroy(successors);
 *
 * 16 bytes for each message, 48 for a sync.  Any number of threads may read what is
 * finished.
 */
#ifndef ES_MONITORS_SEARCH_THESIS_SUCCESSORS_H
#define ES_MONITORS_SEARCH_THESIS_SUCCESSORS_H

#include <stddef.h>

#include "monitors/eventset/event.h"

struct es_successors;

struct es_successor {
    struct es_event_id from;
    struct es_event_id to; /* of a sync: perhaps behind the end of its trace */
};

/* 0 or -ENOMEM. */
int es_successors_create(struct es_successors **ret_successors);
/* Accepts NULL. */
void es_successors_destroy(struct es_successors *successors);

struct es_set_sink es_successors_sink(struct es_successors *successors);
/* After the stream: sorts. */
void es_successors_finish(struct es_successors *successors);

/* All rows, sorted by `from`, then `to`; borrowed. */
const struct es_successor *es_successors_rows(const struct es_successors *successors,
                                              size_t *ret_count);
/* The first row whose `from` is this event or comes behind it.  O(log rows). */
size_t es_successors_from(const struct es_successors *successors,
                          struct es_event_id event);

#endif
