/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as they lie on disk: files of JSON Lines (docs/event-sets.md), and
 * archives that `eventspace record` wrote (docs/archive.md).
 *
 *   es_event_set_open("ring-archive", &error, &set);
 *   es_event_set_read(set, sinks, 2, false, &error);
 *   es_event_set_trace_name(set, id.trace);
 *   es_event_set_close(set);
 *
 * An object is used by one thread at a time; different ones by any.
 */
#ifndef EVENTSPACE_EVENT_SET_H
#define EVENTSPACE_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/event.h"

struct es_event_set;

/* Finds out what `path` (copied) is: a file, "-" for the standard input, or the folder
 * of an archive.  Nothing is read yet.  The caller closes the set; `error` may be NULL.
 * 0; -EINVAL with words: a folder that is no archive; -ENOENT and other -errno with
 * words; -ENOMEM. */
ES_API int es_event_set_open(const char *path,
                             struct es_error *error,
                             struct es_event_set **ret_set);
/* Accepts NULL. */
ES_API void es_event_set_close(struct es_event_set *set);

/* Reads all of it, and passes each trace and event to all of `count` sinks in turn, in
 * one ordered stream (event.h): sends come before their receives.  A call of a sink
 * that is NULL is left out.  Messages of an archive are matched on the way
 * (docs/causality.md; the EventSpace paper, section 2, has the tuples).  `attributes`:
 * events have their attributes.  May be called again, but for the standard input.
 *
 * 0; -EINVAL with words, and of a file with its line: no event set; another -errno: it
 * cannot be read; or what a sink returned.  What sinks got before an error is to be
 * thrown away. */
ES_API int es_event_set_read(struct es_event_set *set,
                             const struct es_set_sink *sinks,
                             size_t count,
                             bool attributes,
                             struct es_error *error);

/* --- After reading ---------------------------------------------------------------- */

/* Number of traces: threads of the processes of a run. */
ES_API uint32_t es_event_set_traces(const struct es_event_set *set);
/* Such as "0.1": thread 1 of rank 0.  Borrowed until the set is read again or closed.
 * NULL: there is no such trace. */
ES_API const char *es_event_set_trace_name(const struct es_event_set *set,
                                           uint32_t trace);
/* The number of a trace, by its name, else by that number in decimal digits; -ENOENT.
 * O(log traces). */
ES_API int64_t es_event_set_find_trace(const struct es_event_set *set,
                                       const char *name);

/* What an archive lacks; all 0 for a file. */
struct es_event_set_losses {
    uint64_t tuples;      /* overwritten before they were recorded */
    uint64_t sends;       /* that nobody was seen to receive */
    uint64_t receives;    /* without their sends */
    uint64_t unnumbered;  /* ends of messages that cannot be matched */
    uint64_t collectives; /* operations of which members are missing */
};

/* 1: something is missing, so the order is a lower bound of the true one; 0: nothing
 * is.  `ret_losses` may be NULL. */
ES_API int es_event_set_losses(const struct es_event_set *set,
                               struct es_event_set_losses *ret_losses);

#endif
