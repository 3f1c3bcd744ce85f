/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* intervals.h - lists of intervals of positions in a column; for the search by ranges.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_INTERVALS_H
#define ES_MONITORS_SEARCH_TRUTH_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct esi_interval {
    uint32_t begin; /* positions in a column */
    uint32_t end;
};

/* Rising and apart, but between esi_intervals_add() and esi_intervals_sort(). */
struct esi_intervals {
    struct esi_interval *items; /* owned */
    uint32_t count;
    size_t capacity;
    bool has_failed; /* no memory: some are missing */
};

/* Of some that there are. */
static inline struct esi_interval esi_intervals_extent(
    const struct esi_intervals *intervals)
{
    return (struct esi_interval){intervals->items[0].begin,
                                 intervals->items[intervals->count - 1].end};
}

void esi_intervals_fini(struct esi_intervals *intervals);
/* Nothing where begin >= end.  Joins the last one if it begins at or in that. */
void esi_intervals_add(struct esi_intervals *intervals, uint32_t begin, uint32_t end);
void esi_intervals_sort(struct esi_intervals *intervals);
/* Leaves only what is in [begin, end). */
void esi_intervals_keep(struct esi_intervals *intervals, uint32_t begin, uint32_t end);
/* What is in both; `to` is neither of them. */
void esi_intervals_intersect(struct esi_intervals *to,
                             const struct esi_intervals *a,
                             const struct esi_intervals *b);
/* Adds what is in [0, end) but not in `of`. */
void esi_intervals_add_others(struct esi_intervals *to,
                              const struct esi_intervals *of,
                              uint32_t end);
uint64_t esi_intervals_total(const struct esi_intervals *intervals);

#endif
