/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The batch: what one pull carries up a gather tree.
 *
 * Tuples and their marks (origin and position) are two parallel arrays, so that
 * elements are read directly into the batch and tuples can be sent without copying.
 * All stages of a tree append to the same batch and work in place: a stage owns the
 * range appended since it was called.
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

/* A trace element as a source of tuples, as known to a scope.  A value type: plans are
 * built from arrays of it. */
struct es_origin {
    const char *name; /* path of the element; borrowed, like the next two */
    const char *collector;
    const char *host;
    int pid;
    int rank;
    int thread;
    uint32_t classes;
    int peer;
    uint16_t communicator;
    uint64_t missed;              /* tuples lost before the scope found the element */
    const struct es_clock *clock; /* converts its ticks; borrowed */
    const struct es_host_clock *host_clock; /* relates the host's clock to
                                               the home server's; NULL
                                               without servers; borrowed */
    const struct es_element_view *element;  /* NULL if it is on another
                                               host; borrowed */
};

/* Converts a tick count of the origin's process to run time in nanoseconds.
 * *ret_error_ns (may be NULL) receives the error bound, UINT64_MAX if none is known.
 * Run time starts as CLOCK_REALTIME of the home server's host when that server started,
 * and advances like CLOCK_MONOTONIC there.  Without servers, or while the clock of the
 * host is not known, it is CLOCK_REALTIME of the origin's own host.  Thread safe. */
ES_API uint64_t es_origin_run_ns(const struct es_origin *origin,
                                 uint64_t ticks,
                                 uint64_t *ret_error_ns);

/* The origins of a scope.  Refreshing appends to it; indices stay valid. */
struct es_origins {
    struct es_origin *items;
    size_t count;
};

/* Bits of es_mark.flags. */
enum es_mark_flag {
    ES_MARK_SUMMARY = 1, /* the tuple summarizes others: see summary.h */
    /* The tuple was computed from several; the mark names one of them.  As for a
     * summary, the mark does not tell how far an element was read. */
    ES_MARK_DERIVED = 2
};

struct es_mark {
    uint64_t position; /* in its element; for an open tuple, once published */
    uint32_t origin;   /* index into the scope's origins */
    uint32_t flags;    /* bits of enum es_mark_flag */
    uint64_t site;     /* return address of the call in the origin's process;
                          0 if not known or not requested by the scope */
};

/* Bits of es_report.flags. */
enum es_report_flag {
    ES_REPORT_OFF = 1 /* the element is disabled: operations are not recorded */
};

/* Additional information about an element, reported when tuples were lost or on
 * request. */
struct es_report {
    uint32_t origin;
    uint32_t flags; /* bits of enum es_report_flag */
    uint64_t lost;  /* tuples lost since the previous pull */
    uint64_t head;  /* tuples published since creation */
    uint64_t polls; /* polls that found nothing, since creation */
};

/* Tells a consumer that a part of its tree did not deliver. */
struct es_notice {
    char part[64];      /* label of the stage: "host a" */
    int code;           /* -ETIMEDOUT: no answer; -EPIPE: no connection; ... */
    uint32_t reserved;  /* 0 */
    uint64_t silent_ns; /* duration of the silence */
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
    bool more; /* stopped at the limit: the next pull returns more at once */
};

/* Initializes an empty batch. */
ES_API void es_batch_init(struct es_batch *batch);
/* Frees the memory of the batch. */
ES_API void es_batch_fini(struct es_batch *batch);
/* Removes all entries but keeps the memory. */
ES_API void es_batch_clear(struct es_batch *batch);
/* Makes room for `extra` more tuples.  Returns 0, or -ENOMEM and leaves the batch
 * unchanged. */
ES_API int es_batch_grow(struct es_batch *batch, size_t extra);
/* Appends a copy of a report or notice.  Returns 0 or -ENOMEM. */
ES_API int es_batch_report(struct es_batch *batch, const struct es_report *report);
ES_API int es_batch_notice(struct es_batch *batch, const struct es_notice *notice);

/* Like es_batch_grow(), but fast if there is room. */
static inline int es_batch_reserve(struct es_batch *batch, size_t extra)
{
    if (__builtin_expect(batch->capacity - batch->count >= extra, 1))
        return 0;
    return es_batch_grow(batch, extra);
}

/* Moves an entry within the batch. */
static inline void es_batch_move(struct es_batch *batch, size_t to, size_t from)
{
    batch->tuples[to] = batch->tuples[from];
    batch->marks[to] = batch->marks[from];
}

/* Returns whether the tuple at `index` is an operation under way. */
static inline bool es_batch_is_open(const struct es_batch *batch, size_t index)
{
    return batch->tuples[index].stop == 0;
}

#endif
