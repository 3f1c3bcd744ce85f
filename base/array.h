/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * array.h - arrays that grow.
 *
 * An array is three members of its owner: the items, their number, and how many there
 * is room for.  All zero is an empty array; free(items) ends it.
 *
 *     struct list {
 *         struct entry *items; (owned)
 *         size_t count;
 *         size_t capacity;
 *     };
 *
 *     if (ESI_ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
 *         return -ENOMEM;
 *     list->items[list->count++] = entry;
 *
 * Several arrays of one length keep one capacity: see ESI_ARRAY_RESERVE_PAIR().
 * The capacity doubles, so that appending costs constant time.  Memory comes from
 * realloc().  No locks: one thread at a time may use an array.
 */
#ifndef ES_BASE_ARRAY_H
#define ES_BASE_ARRAY_H

#include <stddef.h>

/* Makes room for `needed` items of `item_bytes` each in all.  `items` is the address of
 * the pointer to the items.  New room is not initialised.  0, or -ENOMEM, when nothing
 * has changed. */
int esi_array_grow(void *items, size_t *capacity, size_t needed, size_t item_bytes);

/* The same, for two arrays of one capacity. */
int esi_array_grow_pair(void *items,
                        size_t item_bytes,
                        void *others,
                        size_t other_bytes,
                        size_t *capacity,
                        size_t needed);

/* Makes room for `needed` items in all in the array that the lvalues `items` and
 * `capacity` (a size_t) describe.  0 or -ENOMEM. */
#define ESI_ARRAY_RESERVE(items, capacity, needed)                                     \
    ((needed) <= (capacity)                                                            \
         ? 0                                                                           \
         : esi_array_grow(&(items), &(capacity), (needed), sizeof *(items)))

/* Makes room for `needed` items in all in both arrays.  0 or -ENOMEM. */
#define ESI_ARRAY_RESERVE_PAIR(items, others, capacity, needed)                        \
    ((needed) <= (capacity)                                                            \
         ? 0                                                                           \
         : esi_array_grow_pair(&(items), sizeof *(items), &(others), sizeof *(others), \
                               &(capacity), (needed)))

#endif
