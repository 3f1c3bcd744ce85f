/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lower_bound.h - binary search. */
#ifndef ES_BASE_LOWER_BOUND_H
#define ES_BASE_LOWER_BOUND_H

#include <stdbool.h>
#include <stddef.h>

/* The number of items that are before `sought`, of `count` items of `item_bytes` each.
 * Those must come first.  Inline, so that `is_before` can be inlined. */
static inline size_t esi_lower_bound(const void *items,
                                     size_t count,
                                     size_t item_bytes,
                                     bool (*is_before)(const void *item,
                                                       const void *sought),
                                     const void *sought)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (is_before((const char *)items + middle * item_bytes, sought))
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

#endif
