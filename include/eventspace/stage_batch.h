/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The batch: what one pull carries up a gather tree.
 *
 * Tuples and their marks (which element, which position in it) are two parallel arrays,
 * so that elements are read straight into place and the tuples can be sent as they lie.
 * All stages of one tree append to the same batch and work on it in place: a stage owns
 * the range that was appended since it was called.
 */
#ifndef EVENTSPACE_STAGE_BATCH_H
#define EVENTSPACE_STAGE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/clock.h"
#include "eventspace/tuple.h"

struct es_element_view;
struct es_host_clock;

/* Where tuples come from: one trace element, as a scope knows it.  A value type: plans
 * are made from arrays of it. */
struct es_origin {
    const char *name; /* path of the element; this and the next two borrowed */
    const char *collector;
    const char *host;
    int pid;
    int rank;
    int thread;
    uint32_t classes;
    int peer;
    uint16_t communicator;
    uint64_t missed; /* tuples that were gone before the scope knew the element */
    const struct es_clock *clock;           /* converts its ticks; borrowed */
    const struct es_host_clock *host_clock; /* of its host against the home server's;
                                               NULL = there are no servers; borrowed */
    const struct es_element_view *element;  /* NULL: not on this host; borrowed */
};

/* Nanoseconds of run time of a tick count of the origin's process; `ret_error_ns` (may
 * be NULL) gets the bound of the error, UINT64_MAX where none is known.  Run time is
 * what CLOCK_REALTIME of the home server's host showed when that server started, and
 * goes on as CLOCK_MONOTONIC there.  Where there are no servers, and of a host whose
 * clock is not known yet, it is CLOCK_REALTIME of the origin's own host.  Thread safe.
 */
ES_API uint64_t es_origin_run_ns(const struct es_origin *origin,
                                 uint64_t ticks,
                                 uint64_t *ret_error_ns);

/* The origins of one scope.  It grows at refresh; an index stays what it is. */
struct es_origins {
    struct es_origin *items;
    size_t count;
};

/* Bits of es_mark.flags. */
enum es_mark_flag {
    ES_MARK_SUMMARY = 1, /* the tuple sums up others: see summary.h */
    /* The tuple was made of several, of which the mark names one.  As with a summary,
     * the mark says nothing of how far an element was read. */
    ES_MARK_DERIVED = 2
};

struct es_mark {
    uint64_t
        position;    /* in its element; of an open tuple: where it will be published */
    uint32_t origin; /* index into the scope's origins */
    uint32_t flags;  /* bits of enum es_mark_flag */
    uint64_t site;   /* address behind the call, in the origin's process; 0 = not known,
                        or the scope does not ask for sites */
};

/* Bits of es_report.flags. */
enum es_report_flag {
    ES_REPORT_OFF = 1 /* the element is switched off: what happens is not recorded */
};

/* What else is to be said of an element: given when tuples were lost, or when asked
 * for. */
struct es_report {
    uint32_t origin;
    uint32_t flags; /* bits of enum es_report_flag */
    uint64_t lost;  /* tuples lost since the pull before */
    uint64_t head;  /* tuples ever published */
    uint64_t polls; /* polls that found nothing, ever */
};

/* What a consumer should know of a part of its tree that did not deliver. */
struct es_notice {
    char part[64];      /* label of the stage: "host a" */
    int code;           /* -ETIMEDOUT: does not answer; -EPIPE: no connection; ... */
    uint32_t reserved;  /* 0 */
    uint64_t silent_ns; /* since when */
};

struct es_batch {
    struct es_tuple *tuples;
    struct es_mark *marks;
    size_t count;
    size_t capacity;
    struct es_report *reports;
    size_t report_count;
    size_t report_capacity;
    struct es_notice *notices;
    size_t notice_count;
    size_t notice_capacity;
    bool more; /* the pull's limit was reached: another pull has more to give at once */
};

ES_API void es_batch_init(struct es_batch *batch);
ES_API void es_batch_fini(struct es_batch *batch);
/* Forgets the contents, keeps the memory. */
ES_API void es_batch_clear(struct es_batch *batch);
/* Makes room for `extra` more tuples.  0 or -ENOMEM; then nothing is changed. */
ES_API int es_batch_grow(struct es_batch *batch, size_t extra);
ES_API int es_batch_report(struct es_batch *batch, const struct es_report *report);
ES_API int es_batch_notice(struct es_batch *batch, const struct es_notice *notice);

static inline int es_batch_reserve(struct es_batch *batch, size_t extra)
{
    if (__builtin_expect(batch->capacity - batch->count >= extra, 1))
        return 0;
    return es_batch_grow(batch, extra);
}

/* Moves one entry within the batch. */
static inline void es_batch_move(struct es_batch *batch, size_t to, size_t from)
{
    batch->tuples[to] = batch->tuples[from];
    batch->marks[to] = batch->marks[from];
}

/* Whether the tuple at `index` is an operation under way. */
static inline bool es_batch_is_open(const struct es_batch *batch, size_t index)
{
    return batch->tuples[index].stop == 0;
}

#endif
