/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * chrome_slices.h - which operations of a thread can be shown as slices that nest, and
 * which collective operations are entered and not left yet.  One for each thread.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_CHROME_SLICES_H
#define ES_MONITORS_EVENTSET_FORMATS_CHROME_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esi_chrome_span {
    int64_t start_ns;
    int64_t stop_ns; /* not before */
};

enum {
    ESI_CHROME_NAME_BYTES = 48
}; /* longer names are told apart by their beginning */

/* Of an operation that was written as a slice, or that has been entered. */
struct esi_chrome_slice {
    struct esi_chrome_span span;
    uint32_t index; /* of its event */
    bool shown;     /* of one entered: as the beginning of an asynchronous pair */
    char name[ESI_CHROME_NAME_BYTES];
};

struct esi_chrome_list {
    struct esi_chrome_slice *slices;
    size_t count;
    size_t capacity;
};

/* Caller's memory, all zeros at first; its fields are private. */
struct esi_chrome_slices {
    struct esi_chrome_list around;  /* that may hold the next one, outermost first */
    struct esi_chrome_list entered; /* and not left */
    int64_t last_start_ns;
    bool any;
};

void esi_chrome_slices_fini(struct esi_chrome_slices *slices);

/* Whether a slice that nests with all before it, and now is one of them: it starts no
 * earlier than the one before, and ends no later than those that it starts in.  Without
 * memory false, too. */
bool esi_chrome_slices_add(struct esi_chrome_slices *slices,
                           const char *name,
                           const struct esi_chrome_span *span);
/* Whether the operation is a slice already: it has several events. */
bool esi_chrome_slices_has(const struct esi_chrome_slices *slices,
                           const char *name,
                           const struct esi_chrome_span *span);

/* An operation is entered.  0 or -ENOMEM. */
int esi_chrome_slices_enter(struct esi_chrome_slices *slices,
                            const char *name,
                            uint32_t index,
                            int64_t start_ns);
/* The one entered last, if it is not shown yet; else NULL.  Borrowed until the next
 * call. */
struct esi_chrome_slice *esi_chrome_slices_pending(
    const struct esi_chrome_slices *slices);
/* The one entered last that was not left, and takes it away; NULL: there is none. */
struct esi_chrome_slice *esi_chrome_slices_last(const struct esi_chrome_slices *slices);
void esi_chrome_slices_drop_last(struct esi_chrome_slices *slices);
/* The first one entered that has this name; NULL: there is none.  Borrowed until the
 * next call. */
const struct esi_chrome_slice *esi_chrome_slices_entered(
    const struct esi_chrome_slices *slices,
    const char *name);
/* Leaves it.  false: there is none. */
bool esi_chrome_slices_leave(struct esi_chrome_slices *slices,
                             const char *name,
                             struct esi_chrome_slice *ret_slice);

/* Whether an operation of this name goes on after its call has returned. */
bool esi_chrome_is_nonblocking(const char *name);

#endif
