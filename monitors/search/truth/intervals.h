/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* intervals.h - lists of intervals of positions in a column, for the search by
 * ranges. */
#ifndef ES_MONITORS_SEARCH_TRUTH_INTERVALS_H
#define ES_MONITORS_SEARCH_TRUTH_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esi_interval {
    uint32_t begin; /* positions in a column */
    uint32_t end;
};

/* Sorted and disjoint, except between esi_intervals_add() and esi_intervals_sort(). */
struct esi_intervals {
    struct esi_interval *items; /* owned */
    uint32_t count;
    size_t capacity;
    bool has_failed; /* out of memory: some intervals are missing */
};

/* From the first to the last position of a non-empty list. */
static inline struct esi_interval esi_intervals_extent(
    const struct esi_intervals *intervals)
{
    return (struct esi_interval){intervals->items[0].begin,
                                 intervals->items[intervals->count - 1].end};
}

void esi_intervals_fini(struct esi_intervals *intervals);
/* Appends an interval, unless begin >= end.  Merges it into the last one if it begins
 * inside or at the end of that. */
void esi_intervals_add(struct esi_intervals *intervals, uint32_t begin, uint32_t end);
void esi_intervals_sort(struct esi_intervals *intervals);
/* Clips all intervals to [begin, end). */
void esi_intervals_keep(struct esi_intervals *intervals, uint32_t begin, uint32_t end);
/* Computes the intersection; `to` must be neither of the operands. */
void esi_intervals_intersect(struct esi_intervals *to,
                             const struct esi_intervals *a,
                             const struct esi_intervals *b);
/* Adds the parts of [0, end) that are not in `of`. */
void esi_intervals_add_others(struct esi_intervals *to,
                              const struct esi_intervals *of,
                              uint32_t end);
uint64_t esi_intervals_total(const struct esi_intervals *intervals);

#endif
