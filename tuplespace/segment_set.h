/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * segment_set.h - the segments of a run on this host, each attached once, for any
 * number of runs (struct es_run) in this process.
 *
 * A tuple server has one set.  Each of its connections opens a run on it, which has a
 * list of its own and counts as a reference to each segment in it.  What a segment is
 * (mapping, header, elements) is shared and never changes; elements are only added.  A
 * segment is detached when its file is gone and no run has it.  Cursors are the
 * readers' own.
 *
 * Any thread may use any function at any time, but one list belongs to one thread.
 */
#ifndef ES_TUPLESPACE_SEGMENT_SET_H
#define ES_TUPLESPACE_SEGMENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/run.h"

struct esi_segment_set;

/* An empty set; the first update attaches what there is.  -ENOMEM. */
int esi_segment_set_create(const char *run, struct esi_segment_set **ret_set);
/* The run's name.  Borrowed. */
const char *esi_segment_set_run(const struct esi_segment_set *set);
/* Once all runs on it are closed.  Accepts NULL. */
void esi_segment_set_destroy(struct esi_segment_set *set);

/* Opens a run on the set, as es_run_open_empty() does with a set of its own.  The set
 * has to live longer.  Without `reads` neither tuples nor communicators nor clocks may
 * be read from it: it keeps no index of a communicator from being used again. */
int esi_run_open_shared(struct esi_segment_set *set,
                        bool reads,
                        struct es_error *error,
                        struct es_run **ret_run);

/* --- For run.c ------------------------------------------------------------------ */

/* A segment in a list, and what was known of it when the list was updated last. */
struct esi_listed_segment {
    struct es_segment_view *view; /* a reference */
    uint32_t elements;
    uint32_t scanned; /* directory entries looked at */
};

/* The segments that one run has.  All zero is an empty list. */
struct esi_segment_list {
    struct esi_listed_segment *items; /* owned; the run chooses the order */
    size_t count;
    size_t capacity;
    uint64_t serial; /* of the newest segment that was taken */
    bool reads;
    struct es_error *unreadable; /* owned: what could not be attached, and why */
    size_t unreadable_count;
    size_t unreadable_capacity;
};

/* Looks for segments and elements, unless another thread has done so since this call
 * began, and adds the new ones to the list.  The number of new segments and elements,
 * or -errno. */
int esi_segment_set_update(struct esi_segment_set *set, struct esi_segment_list *list);

/* Gives all references back and empties the list. */
void esi_segment_set_release(struct esi_segment_set *set,
                             struct esi_segment_list *list);

/* Borrowed until the run's next refresh. */
const struct esi_segment_list *esi_run_segments(const struct es_run *run);

#endif
