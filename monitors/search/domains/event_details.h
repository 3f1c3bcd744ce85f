/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The attributes of events to be shown with matches, in addition to trace and index.
 * Only for events of program runs, whose attributes say who communicated with whom,
 * when, and how much.
 *
 *   esi_details_create(0, &details);
 *   esi_details_add(details, event);
 *   esi_details_find(details, id, &detail);
 *   esi_details_destroy(details);
 *
 * Add each event that may be in a match, the events of a trace in order.  An event
 * takes some 10 bytes: values equal to those of the previous event on the trace take
 * none, numbers are stored as differences, and texts once.  One thread.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_EVENT_DETAILS_H
#define ES_MONITORS_SEARCH_DOMAINS_EVENT_DETAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/event.h"

/* Attributes of events of runs (docs/event-sets.md), and the type.  Attributes that
 * often change between events come first, which keeps the encoding small. */
enum esi_detail_name {
    ES_DETAIL_START,
    ES_DETAIL_STOP,
    ES_DETAIL_TYPE,
    ES_DETAIL_PEER,
    ES_DETAIL_BYTES,
    ES_DETAIL_TAG,
    ES_DETAIL_CLASS,
    ES_DETAIL_INSTANCE,
    ES_DETAIL_COMMUNICATOR,
    ES_DETAIL_SOURCE,
    ES_DETAIL_WINDOW,
    ES_DETAIL_STATE,
    ES_DETAIL_RANK,
    ES_DETAIL_HOST,
    ES_DETAILS,
};

/* The attributes of an event.  Texts are borrowed; valid as long as the details. */
struct esi_detail {
    uint32_t present; /* bit set of names */
    struct {
        const char *text; /* NULL: the value is `number` */
        int64_t number;
    } values[ES_DETAILS];
};

struct esi_details;

static inline bool esi_detail_has(const struct esi_detail *detail,
                                  enum esi_detail_name name)
{
    return (detail->present >> name & 1) != 0;
}

/* When more than `most_bytes` are used, the oldest events are forgotten; 0 = no limit.
 * Returns 0 or -ENOMEM. */
int esi_details_create(uint64_t most_bytes, struct esi_details **ret_details);
/* Accepts NULL. */
void esi_details_destroy(struct esi_details *details);

/* Stores the attributes of an event; nothing if it lacks the attribute `operation`,
 * which all events of runs have.  Events of a trace must be added in increasing order.
 * Returns 0 or -errno. */
int esi_details_add(struct esi_details *details, const struct es_set_event *event);
/* Call for events that cannot be in a match; only their start time is used. */
void esi_details_pass(struct esi_details *details, const struct es_set_event *event);

/* The earliest start of the events so far, as of the first call: the origin of times in
 * a run.  0 if no event had a start time. */
int64_t esi_details_begin(struct esi_details *details);

/* False if nothing is stored for the event. */
bool esi_details_find(const struct esi_details *details,
                      struct es_event_id id,
                      struct esi_detail *ret_detail);

/* Memory used, in bytes. */
uint64_t esi_details_bytes(const struct esi_details *details);

#endif
