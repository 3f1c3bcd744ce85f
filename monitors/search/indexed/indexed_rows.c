/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_rows.c - where in a column an event's predecessors end and where its
 * successors begin.
 *
 * Predecessors take one comparison: the entry of the event's stamp; its place in the
 * column is found by indexes.  The first successor is found with one comparison for
 * each step of a gallop, from the end of the predecessors, or from the first successor
 * of an earlier event of the same trace: along a trace it only moves forward.
 *
 * What was found holds as long as the variable is bound to the value; of small domains
 * that do not grow it is kept for each value.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/indexed/indexed_searcher.h"

enum {
    MEMORY_ENTRIES = 1 << 18, /* of what is remembered of two domains, at most */
};

/* Positions whose index is `index` or less. */
static uint32_t position_after(const struct es_domain_column *column, uint32_t index)
{
    return index == UINT32_MAX ? column->count : esi_column_position(column, index + 1);
}

/* --- Single events ---------------------------------------------------------------- */

uint32_t esi_event_before_end(struct esi_searcher *searcher,
                              struct es_event_id event,
                              const struct es_domain_column *column)
{
    if (column->count == 0)
        return 0;
    if (event.trace == column->trace)
        return esi_column_position(column, event.index);
    return position_after(
        column, es_precedence_greatest(&searcher->precedence, event, column->trace));
}

static bool precedes(struct esi_searcher *searcher,
                     struct es_event_id event,
                     const struct es_domain_column *column,
                     uint32_t position)
{
    struct es_event_id other = {column->trace, column->indexes[position]};

    return es_precedence_before(&searcher->precedence, event, other);
}

/* `low` is not above the first successor; by steps that double, then by halves. */
static uint32_t gallop(struct esi_searcher *searcher,
                       struct es_event_id event,
                       const struct es_domain_column *column,
                       struct esi_span within)
{
    uint32_t low = within.begin;
    uint32_t high = within.end;

    for (uint32_t step = 1; low < high; step *= 2) {
        uint32_t probe = high - low <= step ? high - 1 : low + step - 1;

        if (precedes(searcher, event, column, probe)) {
            high = probe;
            break;
        }
        low = probe + 1;
        if (step > UINT32_MAX / 4)
            break;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (precedes(searcher, event, column, middle))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The same from the end: while events arrive, what is bound is recent, and most columns
 * have no successor of it at all. */
static uint32_t gallop_back(struct esi_searcher *searcher,
                            struct es_event_id event,
                            const struct es_domain_column *column)
{
    uint32_t high = column->count;

    for (uint64_t step = 1; high > 0; step *= 2) {
        uint32_t probe = high > step ? high - (uint32_t)step : 0;

        if (!precedes(searcher, event, column, probe))
            return gallop(searcher, event, column, (struct esi_span){probe + 1, high});
        high = probe;
    }
    return 0;
}

uint32_t esi_event_after_begin(struct esi_searcher *searcher,
                               struct es_event_id event,
                               const struct es_domain_column *column,
                               struct esi_span within)
{
    uint32_t position;

    if (event.trace != column->trace)
        return gallop(searcher, event, column, within);
    position = position_after(column, event.index);
    if (position < within.begin)
        return within.begin;
    return position > within.end ? within.end : position;
}

uint32_t esi_greatest_of(struct esi_searcher *searcher, unsigned x, uint32_t trace)
{
    struct esi_stamp *stamp = &searcher->stamps[x];

    if (trace >= stamp->capacity) {
        uint32_t capacity = trace < 32 ? 64 : 2 * trace;
        uint64_t *bindings =
            realloc(stamp->bindings, capacity * sizeof *stamp->bindings);
        uint32_t *greatest;

        if (bindings)
            stamp->bindings = bindings;
        greatest =
            bindings ? realloc(stamp->greatest, capacity * sizeof *greatest) : NULL;
        if (!greatest) {
            searcher->error = -ENOMEM;
            return 0;
        }
        stamp->greatest = greatest;
        for (uint32_t i = stamp->capacity; i < capacity; i++)
            stamp->bindings[i] = 0;
        stamp->capacity = capacity;
    }
    if (stamp->bindings[trace] != searcher->bindings[x]) {
        stamp->greatest[trace] = es_precedence_greatest(
            &searcher->precedence, esi_event_of(searcher, x), trace);
        stamp->bindings[trace] = searcher->bindings[x];
    }
    return stamp->greatest[trace];
}

/* --- Bound variables -------------------------------------------------------------- */

static bool is_single(const struct esi_searcher *searcher, unsigned x)
{
    return searcher->plan->single >> x & 1;
}

static uint32_t find_before_end(struct esi_searcher *searcher,
                                unsigned x,
                                const struct es_domain_column *column)
{
    struct es_event_id event = esi_event_of(searcher, x);
    const struct es_formula_binding *set = &searcher->check.bindings[x];
    uint32_t end = 0;

    if (is_single(searcher, x))
        return event.trace == column->trace
                   ? esi_column_position(column, event.index)
                   : position_after(column,
                                    esi_greatest_of(searcher, x, column->trace));
    for (size_t i = 0; i < set->count; i++) {
        uint32_t one = esi_event_before_end(searcher, set->events[i], column);

        if (one > end)
            end = one;
    }
    return end;
}

static uint32_t find_after_begin(struct esi_searcher *searcher,
                                 unsigned x,
                                 const struct es_domain_column *column,
                                 uint32_t low)
{
    struct esi_span within = {low, column->count};
    const struct es_formula_binding *set = &searcher->check.bindings[x];

    if (is_single(searcher, x) && searcher->plan->is_growing &&
        esi_event_of(searcher, x).trace != column->trace)
        return gallop_back(searcher, esi_event_of(searcher, x), column);
    if (is_single(searcher, x))
        return esi_event_after_begin(searcher, esi_event_of(searcher, x), column,
                                     within);
    within.begin = 0;
    for (size_t i = 0; i < set->count; i++)
        within.end = esi_event_after_begin(searcher, set->events[i], column, within);
    return within.end;
}

static struct esi_end_entry *entry_of(struct esi_searcher *searcher,
                                      unsigned x,
                                      unsigned distinct,
                                      uint32_t slot)
{
    struct esi_end_row *row =
        &searcher->rows[(size_t)x * searcher->plan->distinct_count + distinct];

    if (slot >= row->capacity) {
        uint32_t capacity = slot < 8 ? 16 : 2 * slot;
        struct esi_end_entry *entries =
            realloc(row->entries, capacity * sizeof *entries);

        if (!entries) {
            searcher->error = -ENOMEM;
            return NULL;
        }
        for (uint32_t i = row->capacity; i < capacity; i++)
            entries[i] = (struct esi_end_entry){.before_binding = 0};
        row->entries = entries;
        row->capacity = capacity;
    }
    return &row->entries[slot];
}

/* Room for what is known of all values of one domain in all columns of another. Without
 * it things only take longer. */
static void create_memo(const struct esi_indexed_plan *plan,
                        unsigned of,
                        unsigned on,
                        struct esi_memo *memo)
{
    uint64_t entries =
        es_domain_count(plan->distinct[of]) * es_domain_slots(plan->distinct[on]);

    memo->is_decided = true;
    if (!plan->offsets[of] || !es_domain_is_single(plan->distinct[on]) ||
        entries > MEMORY_ENTRIES)
        return;
    memo->ends = malloc(2 * entries * sizeof *memo->ends);
    if (memo->ends)
        memset(memo->ends, 0xff, 2 * entries * sizeof *memo->ends);
}

/* Where a value's place is in the memory of small domains; NULL: it has none. */
static uint32_t *remembered(struct esi_searcher *searcher,
                            unsigned x,
                            unsigned distinct,
                            uint32_t slot)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned of = plan->distinct_of[x];
    struct esi_memo *memo =
        &searcher->memos[(size_t)of * plan->distinct_count + distinct];
    struct es_domain_value value = searcher->values[x];
    uint64_t row;

    if (!memo->is_decided)
        create_memo(plan, of, distinct, memo);
    if (!memo->ends)
        return NULL;
    row = plan->offsets[of][value.slot] + value.position;
    return &memo->ends[2 * (row * es_domain_slots(plan->distinct[distinct]) + slot)];
}

static uint32_t before_end(struct esi_searcher *searcher,
                           unsigned x,
                           unsigned distinct,
                           uint32_t slot,
                           const struct es_domain_column *column)
{
    uint32_t *memory = remembered(searcher, x, distinct, slot);
    struct esi_end_entry *entry;

    if (memory) {
        if (memory[0] == UINT32_MAX)
            memory[0] = find_before_end(searcher, x, column);
        return memory[0];
    }
    entry = entry_of(searcher, x, distinct, slot);
    if (!entry)
        return 0;
    if (entry->before_binding != searcher->bindings[x]) {
        entry->before_end = find_before_end(searcher, x, column);
        entry->before_binding = searcher->bindings[x];
    }
    return entry->before_end;
}

uint32_t esi_row_before_end(struct esi_searcher *searcher,
                            unsigned x,
                            unsigned distinct,
                            uint32_t slot)
{
    struct es_domain_column column =
        es_domain_column(searcher->plan->distinct[distinct], slot);

    return before_end(searcher, x, distinct, slot, &column);
}

/* A place below which no successor of x can be: of single events. */
static uint32_t lowest_successor(struct esi_searcher *searcher,
                                 unsigned x,
                                 const struct esi_end_entry *entry,
                                 uint32_t before)
{
    struct es_event_id event = esi_event_of(searcher, x);

    if (searcher->plan->without & ES_INDEXED_FORWARD)
        return before;
    if (entry && entry->after_binding > searcher->hints_from[x] &&
        entry->after_of.trace == event.trace && entry->after_of.index <= event.index &&
        entry->after_begin > before)
        return entry->after_begin;
    return before;
}

uint32_t esi_row_after_begin(struct esi_searcher *searcher,
                             unsigned x,
                             unsigned distinct,
                             uint32_t slot)
{
    struct es_domain_column column =
        es_domain_column(searcher->plan->distinct[distinct], slot);
    uint32_t *memory = remembered(searcher, x, distinct, slot);
    struct esi_end_entry *entry = entry_of(searcher, x, distinct, slot);
    uint32_t low = 0;

    /* Nothing has come after what came last. */
    if ((int)x == searcher->pinned && searcher->plan->prompt >> x & 1)
        return column.count;
    if (column.count == 0)
        return 0;
    if (memory && memory[1] != UINT32_MAX)
        return memory[1];
    if (!entry)
        return 0;
    if (!memory && entry->after_binding == searcher->bindings[x])
        return entry->after_begin;
    if (is_single(searcher, x) && !searcher->plan->is_growing)
        low = lowest_successor(searcher, x, entry,
                               before_end(searcher, x, distinct, slot, &column));
    entry->after_begin = find_after_begin(searcher, x, &column, low);
    entry->after_binding = searcher->bindings[x];
    entry->after_of = esi_event_of(searcher, x);
    if (memory)
        memory[1] = entry->after_begin;
    return entry->after_begin;
}
