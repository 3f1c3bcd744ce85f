/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* gaps.c - when operations of a run are missing. */
#include "config.h"

#include "monitors/causality/gaps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/quantity.h"

void esi_gaps_fini(struct esi_gaps *gaps)
{
    free(gaps->items);
    *gaps = (struct esi_gaps){.count = 0};
}

/* Number of gaps that begin before `ns`. */
static size_t count_before(const struct esi_gaps *gaps, uint64_t ns)
{
    size_t low = 0, high = gaps->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (gaps->items[middle].begin_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int esi_gaps_add(struct esi_gaps *gaps, uint64_t begin_ns, uint64_t end_ns)
{
    struct esi_gap *items;
    size_t first, after;

    if (end_ns <= begin_ns)
        return 0;
    if (ESI_ARRAY_RESERVE(gaps->items, gaps->capacity, gaps->count + 1) < 0)
        return -ENOMEM;
    items = gaps->items;
    first = count_before(gaps, begin_ns);
    if (first > 0 && items[first - 1].end_ns >= begin_ns)
        first--;
    for (after = first; after < gaps->count && items[after].begin_ns <= end_ns;
         after++) {
        if (items[after].begin_ns < begin_ns)
            begin_ns = items[after].begin_ns;
        if (items[after].end_ns > end_ns)
            end_ns = items[after].end_ns;
    }
    memmove(items + first + 1, items + after, (gaps->count - after) * sizeof *items);
    items[first] = (struct esi_gap){begin_ns, end_ns};
    gaps->count = gaps->count + 1 + first - after;
    return 0;
}

uint64_t esi_gaps_end_before(const struct esi_gaps *gaps, uint64_t ns)
{
    size_t before = count_before(gaps, ns);

    return before > 0 ? gaps->items[before - 1].end_ns : 0;
}

uint64_t esi_gaps_overlap(const struct esi_gaps *gaps,
                          uint64_t begin_ns,
                          uint64_t end_ns)
{
    size_t number = count_before(gaps, begin_ns);
    uint64_t sum = 0;

    number -= number > 0;
    for (; number < gaps->count && gaps->items[number].begin_ns < end_ns; number++) {
        const struct esi_gap *gap = &gaps->items[number];
        uint64_t begin = gap->begin_ns > begin_ns ? gap->begin_ns : begin_ns;
        uint64_t end = gap->end_ns < end_ns ? gap->end_ns : end_ns;

        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

/* --- Reports ---------------------------------------------------------------------- */

struct esi_coverage esi_gaps_coverage(const struct esi_gaps *gaps,
                                      uint64_t begin_ns,
                                      uint64_t end_ns)
{
    struct esi_coverage seen = {.begin_ns = begin_ns, .from_ns = begin_ns};

    if (gaps->count > 0) {
        const struct esi_gap *first = &gaps->items[0];
        const struct esi_gap *last = &gaps->items[gaps->count - 1];

        if (begin_ns == 0 || first->begin_ns < begin_ns)
            seen.begin_ns = first->begin_ns;
        if (first->begin_ns <= seen.begin_ns)
            seen.from_ns = first->end_ns;
        if (last->end_ns > end_ns)
            end_ns = last->end_ns;
    }
    seen.end_ns = end_ns;
    if (end_ns > seen.begin_ns)
        seen.seen_ns =
            end_ns - seen.begin_ns - esi_gaps_overlap(gaps, seen.begin_ns, end_ns);
    return seen;
}

bool esi_coverage_describe(const struct esi_coverage *seen,
                           char ret_text[ESI_COVERAGE_BYTES])
{
    uint64_t run_ns = seen->end_ns - seen->begin_ns;
    bool is_last = seen->end_ns - seen->from_ns == seen->seen_ns;
    char part[32], whole[32] = "", number[24];

    ret_text[0] = '\0';
    if (seen->seen_ns >= run_ns)
        return false;
    if (seen->begin_ns > 0)
        snprintf(whole, sizeof whole, " of %s",
                 esi_quantity_time(number, sizeof number, (double)run_ns));
    snprintf(ret_text, ESI_COVERAGE_BYTES,
             "%s%s%s: %s operations were overwritten before they were read; "
             "`record` keeps all, `profile` sums up the whole run",
             is_last ? "the last " : "",
             esi_quantity_time(part, sizeof part, (double)seen->seen_ns), whole,
             is_last ? "earlier" : "in the rest,");
    return true;
}
