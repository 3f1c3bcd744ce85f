/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Events of an event set as they stream from one part to the next: from files, archives
 * and live runs to the order, to searches, to event sets in memory and to exports.
 *
 * An event set is a finite partial order of events on traces (Nichols, chapter 2).  An
 * event precedes another one by the transitive closure of the order on each trace and
 * of messages, with both halves of a sync merged (docs/event-sets.md).
 *
 * Types only; part of libeventspace-order, as are event_set.h, order.h, pattern.h and
 * search.h.
 */
#ifndef EVENTSPACE_EVENT_H
#define EVENTSPACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum es_event_kind {
    ES_EVENT_UNARY,
    ES_EVENT_SEND,
    ES_EVENT_RECEIVE, /* its partners are sends, none or several */
    ES_EVENT_SYNC, /* its one partner is a sync on another trace that names it back */
};

/* Which event: traces are counted from 0, events of a trace from 1. */
struct es_event_id {
    uint32_t trace;
    uint32_t index;
};

/* A named value of an event.  `text` NULL: the value is `number`, which a file shows as
 * a decimal string.  Times are in nanoseconds, sizes in bytes (docs/event-sets.md). */
struct es_event_attribute {
    const char *name;
    const char *text;
    int64_t number;
};

/* One event.  Everything it points to is borrowed for the call that hands it over. */
struct es_set_event {
    struct es_event_id id;
    enum es_event_kind kind;
    uint32_t partner_count;
    const struct es_event_id *partners; /* of a receive and a sync; of a send NULL */
    const char *type;                   /* never NULL, as the next */
    const char *text;
    const struct es_event_attribute *attributes;
    size_t attribute_count;
};

/*
 * Where events go.  Each trace is announced before its first event, in the order of
 * their numbers, and may be announced late.  The events of one trace come in order and
 * without a gap.  A negative result (-errno) ends the stream and is passed on; of
 * several sinks of one stream, a positive one keeps the event from those behind.  All
 * calls come from the thread that reads the stream.
 *
 * A stream is *ordered* when a receive comes after the sends that it names and the
 * halves of a sync come one directly after the other.
 */
struct es_set_sink {
    int (*trace)(void *data, uint32_t trace, const char *name);
    int (*event)(void *data, const struct es_set_event *event);
    void *data;
};

#endif
