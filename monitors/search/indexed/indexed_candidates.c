/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_candidates.c - the columns in which a variable may have values, one after the
 * other, and lists of all values that are left to it. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/indexed/indexed_searcher.h"

/* --- Walking columns -------------------------------------------------------------- */

struct esi_walk esi_walk_begin(const struct esi_searcher *searcher,
                               const struct esi_restriction *restriction)
{
    struct esi_walk walk = {.source = searcher->source[restriction->v],
                            .domain = searcher->plan->domains[restriction->v]};

    walk.end = walk.source ? walk.source->count : es_domain_slots(walk.domain);
    if (restriction->is_listed && (walk.source || !restriction->is_lone)) {
        walk.listed = restriction->listed.values;
        walk.end = restriction->listed.count;
    } else if (!walk.source && restriction->is_lone) {
        walk.next = restriction->slot == ES_PATTERN_NONE ? walk.end : restriction->slot;
        if (walk.next < walk.end)
            walk.end = walk.next + 1;
    }
    return walk;
}

/* The first range of a slot, or behind it. */
static size_t range_of(const struct esi_candidates *source, uint32_t slot)
{
    size_t low = 0;
    size_t high = source->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (source->ranges[middle].slot < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the source has a position; `range` is where to look, and rises. */
static bool has_position(const struct esi_candidates *source,
                         uint32_t slot,
                         uint32_t position,
                         size_t *range)
{
    const struct esi_range *ranges = source->ranges;

    while (*range < source->count && ranges[*range].slot == slot &&
           ranges[*range].end <= position)
        ++*range;
    return *range < source->count && ranges[*range].slot == slot &&
           ranges[*range].begin <= position;
}

/* Of the values that are listed those of one column that the source has. */
static void take_listed(struct esi_walk *walk, uint32_t slot, struct esi_spans *spans)
{
    const struct esi_candidates *source = walk->source;
    size_t range = source ? range_of(source, slot) : 0;

    for (; walk->next < walk->end && walk->listed[walk->next].slot == slot;
         walk->next++) {
        uint32_t position = walk->listed[walk->next].position;

        if (!source || has_position(source, slot, position, &range))
            esi_spans_add(spans, position, position + 1);
    }
}

bool esi_walk_next(struct esi_walk *walk, uint32_t *ret_slot, struct esi_spans *spans)
{
    const struct esi_candidates *source = walk->source;
    size_t i = walk->next;

    spans->count = 0;
    if (walk->listed) {
        if (i == walk->end)
            return false;
        *ret_slot = walk->listed[i].slot;
        take_listed(walk, *ret_slot, spans);
        return true;
    }
    if (!source) {
        if (i == walk->end)
            return false;
        esi_spans_add(spans, 0, es_domain_column(walk->domain, (uint32_t)i).count);
        *ret_slot = (uint32_t)i;
        walk->next++;
        return true;
    }
    if (i == walk->end)
        return false;
    *ret_slot = source->ranges[i].slot;
    for (; i < source->count && source->ranges[i].slot == *ret_slot; i++)
        esi_spans_add(spans, source->ranges[i].begin, source->ranges[i].end);
    walk->next = i;
    return true;
}

/* --- All columns ------------------------------------------------------------------ */

static void add_column(struct esi_searcher *searcher,
                       struct esi_candidates *candidates,
                       uint32_t slot,
                       const struct esi_spans *spans)
{
    if (candidates->count + spans->count > candidates->capacity) {
        size_t capacity = 2 * (candidates->count + spans->count) + 16;
        struct esi_range *larger =
            realloc(candidates->ranges, capacity * sizeof *larger);

        if (!larger) {
            searcher->error = -ENOMEM;
            return;
        }
        candidates->ranges = larger;
        candidates->capacity = capacity;
    }
    for (uint32_t i = 0; i < spans->count; i++)
        candidates->ranges[candidates->count++] =
            (struct esi_range){slot, spans->items[i].begin, spans->items[i].end};
    candidates->total += esi_spans_total(spans);
    candidates->slots += spans->count > 0;
}

static bool fill(struct esi_searcher *searcher,
                 const struct esi_restriction *restriction,
                 unsigned depth,
                 uint64_t limit,
                 struct esi_candidates *candidates)
{
    struct esi_walk walk = esi_walk_begin(searcher, restriction);
    struct esi_spans *spans = &searcher->spans[depth];
    uint32_t slot;

    candidates->count = 0;
    candidates->total = 0;
    candidates->slots = 0;
    while (esi_walk_next(&walk, &slot, spans)) {
        esi_restriction_apply(searcher, restriction, slot, spans);
        add_column(searcher, candidates, slot, spans);
        if (candidates->total > limit)
            return false;
    }
    candidates->applied = searcher->check.bound;
    return true;
}

bool esi_candidates_make(struct esi_searcher *searcher,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit)
{
    struct esi_restriction restriction = esi_restriction_begin(searcher, v);
    struct esi_candidates *candidates =
        &searcher->candidates[(size_t)depth * searcher->plan->variable_count + v];
    const struct esi_candidates *source = searcher->source[v];
    bool result;

    if (!restriction.masked && restriction.floor < 0 && restriction.sender < 0 &&
        !restriction.is_listed && restriction.clause_count == 0) {
        esi_restriction_end(searcher, &restriction);
        return (source ? source->total : es_domain_count(searcher->plan->domains[v])) <=
               limit;
    }
    result = fill(searcher, &restriction, depth, limit, candidates);
    esi_restriction_end(searcher, &restriction);
    if (result)
        searcher->source[v] = candidates;
    return result;
}
