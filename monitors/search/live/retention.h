/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Retention: which events of classes a live search keeps.
 *
 * It drops events that can no longer be in a match, and evicts the oldest beyond a
 * limit.
 */
#ifndef ES_MONITORS_SEARCH_LIVE_RETENTION_H
#define ES_MONITORS_SEARCH_LIVE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

struct esi_live;

/* All pointers are owned; the fields are private, except `dropped` and `evicted`. */
struct esi_live_retention {
    struct retention_rule *rules; /* by class */
    uint32_t class_count;
    struct retention_mark *marks; /* by trace, then class */
    size_t mark_capacity;
    uint32_t *settled; /* by trace: all later arrivals are after the events up to
                          here */
    size_t settled_capacity;
    uint32_t traces;
    int64_t newest_ns; /* time of the latest event */
    bool knows_time;
    bool asks_time;
    bool asks_settled;
    uint64_t next;    /* event number of the next attempt to drop events */
    uint64_t dropped; /* events dropped because no match could contain them any more */
    uint64_t evicted; /* events evicted because of the limit */
    uint64_t missed;  /* sends that had been dropped when they were received */
};

/* Call after the queries are created.  Returns 0 or -ENOMEM. */
int esi_live_retention_init(struct esi_live *live);
void esi_live_retention_fini(struct esi_live_retention *retention);

/* Adds a trace.  Returns 0 or -ENOMEM. */
int esi_live_retention_add_trace(struct esi_live *live);
void esi_live_retention_on_event(struct esi_live *live,
                                 const struct es_set_event *event);
/* Call after each event.  From time to time, drops events that no match can contain and
 * evicts those beyond the limit. */
void esi_live_retention_apply(struct esi_live *live);

/* Number of values kept, of all classes and predicates. */
uint64_t esi_live_retention_kept(const struct esi_live *live);
/* Notes that a receive names an event that is not in this class; the event may have
 * been dropped from it. */
void esi_live_retention_note_missing(struct esi_live *live,
                                     uint32_t class_number,
                                     struct es_event_id id);

#endif
