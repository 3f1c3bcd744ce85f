/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * array.h - growing arrays.
 *
 * An array consists of three members of its owner: the items, their number, and the
 * capacity.  Zero is an empty array; free it with free(items).
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
 * Arrays of the same length can share a capacity: see ESI_ARRAY_RESERVE_PAIR().  The
 * capacity doubles, so appending takes amortized constant time.  Memory comes from
 * realloc().  Not thread safe.
 */
#ifndef ES_BASE_ARRAY_H
#define ES_BASE_ARRAY_H

#include <stddef.h>

/* Makes room for `needed` items in total, of `item_bytes` each.  `items` is the address
 * of the pointer to the items.  New room is not initialized.  Returns 0; or -ENOMEM,
 * and then changes nothing. */
int esi_array_grow(void *items, size_t *capacity, size_t needed, size_t item_bytes);

/* Like esi_array_grow(), for two arrays that share a capacity. */
int esi_array_grow_pair(void *items,
                        size_t item_bytes,
                        void *others,
                        size_t other_bytes,
                        size_t *capacity,
                        size_t needed);

/* Makes room for `needed` items in total in the array described by the lvalues `items`
 * and `capacity` (a size_t).  Returns 0 or -ENOMEM. */
#define ESI_ARRAY_RESERVE(items, capacity, needed)                                     \
    ((needed) <= (capacity)                                                            \
         ? 0                                                                           \
         : esi_array_grow(&(items), &(capacity), (needed), sizeof *(items)))

/* Makes room for `needed` items in total in both arrays.  Returns 0 or -ENOMEM. */
#define ESI_ARRAY_RESERVE_PAIR(items, others, capacity, needed)                        \
    ((needed) <= (capacity)                                                            \
         ? 0                                                                           \
         : esi_array_grow_pair(&(items), sizeof *(items), &(others), sizeof *(others), \
                               &(capacity), (needed)))

#endif
