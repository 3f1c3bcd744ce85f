/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Events of an event set, as they are streamed between parts of the program: from
 * files, archives and live runs to orders, searches, event sets in memory and exports.
 *
 * An event set is a finite partial order of events on traces (Nichols, chapter 2).  The
 * relation "precedes" is the transitive closure of the order on each trace and of the
 * messages, where both halves of a sync count as one event (docs/event-sets.md).
 *
 * Types only.  Part of libeventspace-order, like event_set.h, order.h, pattern.h and
 * search.h.
 */
#ifndef EVENTSPACE_EVENT_H
#define EVENTSPACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum es_event_kind {
    ES_EVENT_UNARY,
    ES_EVENT_SEND,
    ES_EVENT_RECEIVE, /* its partners are zero or more sends */
    ES_EVENT_SYNC,    /* its only partner is a sync on another
                         trace, whose partner it is */
};

/* Identifies an event.  Traces are numbered from 0, the events of a trace from 1. */
struct es_event_id {
    uint32_t trace;
    uint32_t index;
};

/* A named value of an event.  If `text` is NULL, the value is `number`, which files
 * show as a decimal string.  Times are in nanoseconds, sizes in bytes
 * (docs/event-sets.md). */
struct es_event_attribute {
    const char *name;
    const char *text;
    int64_t number;
};

/* One event.  All pointers are borrowed and valid only during the call that passes
 * it. */
struct es_set_event {
    struct es_event_id id;
    enum es_event_kind kind;
    uint32_t partner_count;
    const struct es_event_id *partners; /* of a receive or a sync; NULL for a send */
    const char *type;                   /* never NULL; nor is `text` */
    const char *text;
    const struct es_event_attribute *attributes;
    size_t attribute_count;
};

/*
 * A consumer of a stream of events.  Each trace is announced before its first event.
 * Traces are announced in the order of their numbers, possibly in the middle of the
 * stream.  The events of one trace arrive in order and without gaps.  A negative result
 * (-errno) ends the stream and is returned to its caller.  If a stream has several
 * sinks, a positive result hides the event from the sinks after this one.  All calls
 * are made by the thread that reads the stream.
 *
 * A stream is *ordered* if each receive follows all sends that it names, and the two
 * halves of a sync are adjacent.
 */
struct es_set_sink {
    int (*trace)(void *data, uint32_t trace, const char *name);
    int (*event)(void *data, const struct es_set_event *event);
    void *data;
};

#endif
