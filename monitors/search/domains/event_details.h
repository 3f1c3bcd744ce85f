/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What is shown of the events in matches, besides trace and index: of events of program
 * runs, whose attributes say who communicated with whom, when, and how much.
 *
 *   esi_details_create(0, &details);
 *   esi_details_add(details, event);
 *   esi_details_find(details, id, &detail);
 *   esi_details_destroy(details);
 *
 * Added is each event that may come to be in a match, those of a trace in its order.
 * An event takes some 10 bytes: what is as in the event before it on the trace takes
 * none, numbers are kept as differences, texts once.  One thread.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_EVENT_DETAILS_H
#define ES_MONITORS_SEARCH_DOMAINS_EVENT_DETAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/event.h"

/* Attributes of events of runs (docs/causality.md), and the type.  Those that differ
 * from one event to the next stand first, which keeps them small. */
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

/* What an event says.  Texts are borrowed as long as the details. */
struct esi_detail {
    uint32_t present; /* bits of names */
    struct {
        const char *text; /* NULL: `number` */
        int64_t number;
    } values[ES_DETAILS];
};

struct esi_details;

static inline bool esi_detail_has(const struct esi_detail *detail,
                                  enum esi_detail_name name)
{
    return (detail->present >> name & 1) != 0;
}

/* Beyond `most_bytes` the oldest are forgotten; 0: none is.  0 or -ENOMEM. */
int esi_details_create(uint64_t most_bytes, struct esi_details **ret_details);
/* Accepts NULL. */
void esi_details_destroy(struct esi_details *details);

/* Keeps what an event says; nothing of one without the attribute `operation`, which all
 * events of runs have.  Of a trace in rising order.  0 or -errno. */
int esi_details_add(struct esi_details *details, const struct es_set_event *event);
/* Of an event that cannot come to be in a match only when it began counts. */
void esi_details_pass(struct esi_details *details, const struct es_set_event *event);

/* When the earliest event began that had come when this was first asked: from where
 * times of the run are counted.  0: none has said. */
int64_t esi_details_begin(struct esi_details *details);

/* False: nothing is kept of it. */
bool esi_details_find(const struct esi_details *details,
                      struct es_event_id id,
                      struct esi_detail *ret_detail);

/* Bytes that are held. */
uint64_t esi_details_bytes(const struct esi_details *details);

#endif
