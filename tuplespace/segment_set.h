/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * segment_set.h - the segments of a run on this host, attached once and shared by any
 * number of runs (struct es_run) in this process.
 *
 * A tuple server has one set.  Each of its connections opens a run on it, which has its
 * own list and holds a reference to each segment in it.  The contents of a segment
 * (mapping, header, elements) are shared and immutable; elements are only added.  A
 * segment is detached when its file is gone and no run refers to it.  Cursors belong to
 * the readers.
 *
 * Thread safe, but each list must be used by one thread only.
 */
#ifndef ES_TUPLESPACE_SEGMENT_SET_H
#define ES_TUPLESPACE_SEGMENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/run.h"

struct esi_segment_set;

/* Creates an empty set; the first update attaches the segments.  Returns 0 or
 * -ENOMEM. */
int esi_segment_set_create(const char *run, struct esi_segment_set **ret_set);
/* The run's name.  Borrowed. */
const char *esi_segment_set_run(const struct esi_segment_set *set);
/* Frees the set, after all runs on it are closed.  Accepts NULL. */
void esi_segment_set_destroy(struct esi_segment_set *set);

/* Opens a run on the set, which must outlive it, like es_run_open_empty().  Without
 * `reads`, no tuples, communicators or clocks may be read from the run, and it does not
 * prevent the reuse of communicator indices. */
int esi_run_open_shared(struct esi_segment_set *set,
                        bool reads,
                        struct es_error *error,
                        struct es_run **ret_run);

/* --- For run.c ------------------------------------------------------------------ */

/* A segment in a list, and its state at the last update of the list. */
struct esi_listed_segment {
    struct es_segment_view *view; /* holds a reference */
    uint32_t elements;
    uint32_t scanned; /* directory entries examined */
};

/* The segments of one run.  Zero is an empty list. */
struct esi_segment_list {
    struct esi_listed_segment *items; /* owned; the run determines the order */
    size_t count;
    size_t capacity;
    uint64_t serial; /* of the newest segment added */
    bool reads;
    struct es_error *unreadable; /* owned: errors of segments
                                    that could not be attached */
    size_t unreadable_count;
    size_t unreadable_capacity;
};

/* Finds new segments and elements, unless another thread has done so since this call
 * began, and adds them to the list.  Returns the number of new segments and elements,
 * or -errno. */
int esi_segment_set_update(struct esi_segment_set *set, struct esi_segment_list *list);

/* Releases all references and empties the list. */
void esi_segment_set_release(struct esi_segment_set *set,
                             struct esi_segment_list *list);

/* Borrowed until the run's next refresh. */
const struct esi_segment_list *esi_run_segments(const struct es_run *run);

#endif
