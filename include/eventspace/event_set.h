/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets on disk: files of JSON Lines (docs/event-sets.md), and archives written by
 * `eventspace record` (docs/archive.md).
 *
 *   es_event_set_open("ring-archive", &error, &set);
 *   es_event_set_read(set, sinks, 2, false, &error);
 *   es_event_set_trace_name(set, id.trace);
 *   es_event_set_close(set);
 *
 * Not thread safe: only one thread at a time may use an object.  Different objects are
 * independent.
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

/* Determines what `path` (copied) is: a file, "-" for standard input, or the directory
 * of an archive.  Does not read the events.  The caller closes the set with
 * es_event_set_close().  `error` may be NULL.  Returns 0; -EINVAL if it is a directory
 * without an archive; -ENOENT or another -errno of the file system; or -ENOMEM.  All
 * but -ENOMEM fill `error`. */
ES_API int es_event_set_open(const char *path,
                             struct es_error *error,
                             struct es_event_set **ret_set);
/* Frees the set.  Accepts NULL. */
ES_API void es_event_set_close(struct es_event_set *set);

/* Reads the whole set and passes each trace and event to each of the `count` sinks in
 * turn, as one ordered stream (event.h).  Callbacks that are NULL are skipped.
 * Messages of an archive are matched on the way (docs/event-sets.md; the EventSpace
 * paper, section 2, describes the tuples).  Events carry attributes only if
 * `attributes` is true.  May be called repeatedly, except for standard input.
 *
 * Returns 0; -EINVAL if the input is not an event set (`error` tells why, and for a
 * file on which line); another -errno if it cannot be read; or the result of a sink
 * that stopped the stream.  After an error, discard what the sinks have received. */
ES_API int es_event_set_read(struct es_event_set *set,
                             const struct es_set_sink *sinks,
                             size_t count,
                             bool attributes,
                             struct es_error *error);

/* --- After reading ---------------------------------------------------------------- */

/* Number of traces.  In an archive, each thread of each process is a trace. */
ES_API uint32_t es_event_set_traces(const struct es_event_set *set);
/* Name of a trace, such as "0.1" for thread 1 of rank 0.  Borrowed until the set is
 * read again or closed.  NULL if there is no such trace. */
ES_API const char *es_event_set_trace_name(const struct es_event_set *set,
                                           uint32_t trace);
/* Finds a trace by its name, or else by its number in decimal digits.  Returns its
 * number or -ENOENT.  O(log traces). */
ES_API int64_t es_event_set_find_trace(const struct es_event_set *set,
                                       const char *name);

/* What is missing from an archive; all 0 for a file. */
struct es_event_set_losses {
    uint64_t tuples;      /* overwritten before they were recorded */
    uint64_t sends;       /* sends without a recorded receive */
    uint64_t receives;    /* receives without a recorded send */
    uint64_t unnumbered;  /* halves of messages that cannot be matched */
    uint64_t collectives; /* collectives without the records of all members */
};

/* Returns 1 if something is missing, so that the order is a lower bound of the true
 * order; otherwise 0.  `ret_losses` may be NULL. */
ES_API int es_event_set_losses(const struct es_event_set *set,
                               struct es_event_set_losses *ret_losses);

#endif
