/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * chrome_slices.h - tracks which operations of a thread can be shown as nested slices,
 * and which collective operations have been entered and not left.  One per thread.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_CHROME_SLICES_H
#define ES_MONITORS_EVENTSET_FORMATS_CHROME_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esi_chrome_span {
    int64_t start_ns;
    int64_t stop_ns; /* not before start_ns */
};

enum { ESI_CHROME_NAME_BYTES = 48 }; /* longer names are compared by this prefix */

/* An operation that was written as a slice, or that has been entered. */
struct esi_chrome_slice {
    struct esi_chrome_span span;
    uint32_t index; /* of its event */
    bool shown;     /* for entered ones: as the start of an asynchronous pair */
    char name[ESI_CHROME_NAME_BYTES];
};

struct esi_chrome_list {
    struct esi_chrome_slice *slices;
    size_t count;
    size_t capacity;
};

/* Caller's memory, initially all zero; its fields are private. */
struct esi_chrome_slices {
    struct esi_chrome_list around;  /* slices that may contain the next one,
                                       outermost first */
    struct esi_chrome_list entered; /* and not left */
    int64_t last_start_ns;
    bool any;
};

void esi_chrome_slices_fini(struct esi_chrome_slices *slices);

/* Adds a slice if it nests with all slices before: it starts no earlier than the last
 * one, and ends no later than those in which it starts.  Returns false if it does not
 * nest, or if out of memory. */
bool esi_chrome_slices_add(struct esi_chrome_slices *slices,
                           const char *name,
                           const struct esi_chrome_span *span);
/* Whether the operation was already added as a slice, for another of its events. */
bool esi_chrome_slices_has(const struct esi_chrome_slices *slices,
                           const char *name,
                           const struct esi_chrome_span *span);

/* Records that an operation is entered.  Returns 0 or -ENOMEM. */
int esi_chrome_slices_enter(struct esi_chrome_slices *slices,
                            const char *name,
                            uint32_t index,
                            int64_t start_ns);
/* The last entered operation, if it is not shown yet; otherwise NULL. Borrowed until
 * the next call. */
struct esi_chrome_slice *esi_chrome_slices_pending(
    const struct esi_chrome_slices *slices);
/* The last operation entered and not left, or NULL; and its removal. */
struct esi_chrome_slice *esi_chrome_slices_last(const struct esi_chrome_slices *slices);
void esi_chrome_slices_drop_last(struct esi_chrome_slices *slices);
/* The first entered operation with this name, or NULL. Borrowed until the next call. */
const struct esi_chrome_slice *esi_chrome_slices_entered(
    const struct esi_chrome_slices *slices,
    const char *name);
/* Removes this operation.  Returns false if there is none. */
bool esi_chrome_slices_leave(struct esi_chrome_slices *slices,
                             const char *name,
                             struct esi_chrome_slice *ret_slice);

/* Whether an operation of this name continues after its call has returned. */
bool esi_chrome_is_nonblocking(const char *name);

#endif
