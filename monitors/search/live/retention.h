/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Retention: which events of classes a live search keeps.
 *
 * Those go that no match can take any more, and the oldest beyond a limit.
 */
#ifndef ES_MONITORS_SEARCH_LIVE_RETENTION_H
#define ES_MONITORS_SEARCH_LIVE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"

struct esi_live;

/* All is owned; fields are private, but what was dropped and evicted. */
struct esi_live_retention {
    struct retention_rule *rules; /* by class */
    uint32_t class_count;
    struct retention_mark *marks; /* by trace, then class */
    size_t mark_capacity;
    uint32_t *settled; /* by trace: all that comes is after events up to here */
    size_t settled_capacity;
    uint32_t traces;
    int64_t newest_ns; /* when the latest event happened */
    bool knows_time;
    bool asks_time;
    bool asks_settled;
    uint64_t next;    /* when this event has come it is looked for what can go */
    uint64_t dropped; /* events that no match could take any more */
    uint64_t evicted; /* beyond the limit */
    uint64_t missed;  /* sends that had gone when they were received */
};

/* When the queries are there.  0 or -ENOMEM. */
int esi_live_retention_init(struct esi_live *live);
void esi_live_retention_fini(struct esi_live_retention *retention);

/* A trace more.  0 or -ENOMEM. */
int esi_live_retention_add_trace(struct esi_live *live);
void esi_live_retention_on_event(struct esi_live *live,
                                 const struct es_set_event *event);
/* After each event; now and then it drops what no match can take, and evicts what is
 * beyond the limit. */
void esi_live_retention_apply(struct esi_live *live);

/* Values that are kept, of all classes and predicates. */
uint64_t esi_live_retention_kept(const struct esi_live *live);
/* A receive named an event that is not in this class: it may have been, and have
 * gone. */
void esi_live_retention_note_missing(struct esi_live *live,
                                     uint32_t class_number,
                                     struct es_event_id id);

#endif
