/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* intervals.c - lists of intervals of positions in a column. */
#include "config.h"

#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/truth/intervals.h"

void esi_intervals_fini(struct esi_intervals *intervals)
{
    free(intervals->items);
    *intervals = (struct esi_intervals){.items = NULL};
}

void esi_intervals_add(struct esi_intervals *intervals, uint32_t begin, uint32_t end)
{
    if (begin >= end)
        return;
    if (intervals->count > 0) {
        struct esi_interval *last = &intervals->items[intervals->count - 1];

        if (begin >= last->begin && begin <= last->end) {
            if (end > last->end)
                last->end = end;
            return;
        }
    }
    if (ESI_ARRAY_RESERVE(intervals->items, intervals->capacity,
                          intervals->count + 1u) < 0)
        intervals->has_failed = true;
    else
        intervals->items[intervals->count++] = (struct esi_interval){begin, end};
}

static int compare_intervals(const void *left, const void *right)
{
    const struct esi_interval *a = left;
    const struct esi_interval *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool is_sorted(const struct esi_intervals *intervals)
{
    for (uint32_t i = 1; i < intervals->count; i++)
        if (intervals->items[i].begin <= intervals->items[i - 1].end)
            return false;
    return true;
}

void esi_intervals_sort(struct esi_intervals *intervals)
{
    uint32_t count = intervals->count;

    if (is_sorted(intervals))
        return;
    qsort(intervals->items, count, sizeof *intervals->items, compare_intervals);
    intervals->count = 0;
    for (uint32_t i = 0; i < count; i++)
        esi_intervals_add(intervals, intervals->items[i].begin,
                          intervals->items[i].end);
}

void esi_intervals_keep(struct esi_intervals *intervals, uint32_t begin, uint32_t end)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < intervals->count; i++) {
        struct esi_interval interval = intervals->items[i];

        if (interval.begin < begin)
            interval.begin = begin;
        if (interval.end > end)
            interval.end = end;
        if (interval.begin < interval.end)
            intervals->items[kept++] = interval;
    }
    intervals->count = kept;
}

void esi_intervals_intersect(struct esi_intervals *to,
                             const struct esi_intervals *a,
                             const struct esi_intervals *b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    to->count = 0;
    while (i < a->count && j < b->count) {
        struct esi_interval one = a->items[i];
        struct esi_interval two = b->items[j];

        esi_intervals_add(to, one.begin > two.begin ? one.begin : two.begin,
                          one.end < two.end ? one.end : two.end);
        if (one.end < two.end)
            i++;
        else
            j++;
    }
}

void esi_intervals_add_others(struct esi_intervals *to,
                              const struct esi_intervals *of,
                              uint32_t end)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < of->count; i++) {
        esi_intervals_add(to, at, of->items[i].begin);
        at = of->items[i].end;
    }
    esi_intervals_add(to, at, end);
}

uint64_t esi_intervals_total(const struct esi_intervals *intervals)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < intervals->count; i++)
        total += intervals->items[i].end - intervals->items[i].begin;
    return total;
}
