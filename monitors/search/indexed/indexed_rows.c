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
#include "monitors/search/truth/event_sets.h"

enum {
    MEMORY_ENTRIES = 1 << 18, /* of what is remembered of two domains, at most */
};

/* Positions whose index is `index` or less. */
static uint32_t position_after(const struct esi_domain_column *column, uint32_t index)
{
    return index == UINT32_MAX ? column->count : esi_column_position(column, index + 1);
}

/* --- Single events ---------------------------------------------------------------- */

uint32_t esi_event_before_end(struct esi_searcher *searcher,
                              struct es_event_id event,
                              const struct esi_domain_column *column)
{
    if (column->count == 0)
        return 0;
    if (event.trace == column->trace)
        return esi_column_position(column, event.index);
    return position_after(
        column, esi_precedence_greatest(&searcher->precedence, event, column->trace));
}

static bool precedes_row(struct esi_searcher *searcher,
                         struct es_event_id event,
                         const struct esi_domain_column *column,
                         uint32_t position)
{
    struct es_event_id other = {column->trace, column->indexes[position]};

    return esi_precedence_before(&searcher->precedence, event, other);
}

/* `low` is not above the first successor; by steps that double, then by halves. */
static uint32_t gallop_rows(struct esi_searcher *searcher,
                            struct es_event_id event,
                            const struct esi_domain_column *column,
                            struct esi_span within)
{
    uint32_t low = within.begin;
    uint32_t high = within.end;

    for (uint32_t step = 1; low < high; step *= 2) {
        uint32_t probe = high - low <= step ? high - 1 : low + step - 1;

        if (precedes_row(searcher, event, column, probe)) {
            high = probe;
            break;
        }
        low = probe + 1;
        if (step > UINT32_MAX / 4)
            break;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (precedes_row(searcher, event, column, middle))
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
                            const struct esi_domain_column *column)
{
    uint32_t high = column->count;

    for (uint64_t step = 1; high > 0; step *= 2) {
        uint32_t probe = high > step ? high - (uint32_t)step : 0;

        if (!precedes_row(searcher, event, column, probe))
            return gallop_rows(searcher, event, column,
                               (struct esi_span){probe + 1, high});
        high = probe;
    }
    return 0;
}

uint32_t esi_event_after_begin(struct esi_searcher *searcher,
                               struct es_event_id event,
                               const struct esi_domain_column *column,
                               struct esi_span within)
{
    uint32_t position;

    if (event.trace != column->trace)
        return gallop_rows(searcher, event, column, within);
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
        stamp->greatest[trace] = esi_precedence_greatest(
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
                                const struct esi_domain_column *column)
{
    struct es_event_id event = esi_event_of(searcher, x);
    const struct esi_formula_binding *set = &searcher->check.bindings[x];
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
                                 const struct esi_domain_column *column,
                                 uint32_t low)
{
    struct esi_span within = {low, column->count};
    const struct esi_formula_binding *set = &searcher->check.bindings[x];

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
        esi_domain_count(plan->distinct[of]) * esi_domain_slots(plan->distinct[on]);

    memo->is_decided = true;
    if (!plan->offsets[of] || !esi_domain_is_single(plan->distinct[on]) ||
        entries > MEMORY_ENTRIES)
        return;
    memo->ends = malloc(2 * entries * sizeof *memo->ends);
    if (memo->ends)
        memset(memo->ends, 0xff, 2 * entries * sizeof *memo->ends);
}

/* Where a value's place is in the memory of small domains; NULL: it has none. */
static uint32_t *remembered_row(struct esi_searcher *searcher,
                                unsigned x,
                                unsigned distinct,
                                uint32_t slot)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned of = plan->distinct_of[x];
    struct esi_memo *memo =
        &searcher->memos[(size_t)of * plan->distinct_count + distinct];
    struct esi_domain_value value = searcher->values[x];
    uint64_t row;

    if (!memo->is_decided)
        create_memo(plan, of, distinct, memo);
    if (!memo->ends)
        return NULL;
    row = plan->offsets[of][value.slot] + value.position;
    return &memo->ends[2 * (row * esi_domain_slots(plan->distinct[distinct]) + slot)];
}

static uint32_t before_end(struct esi_searcher *searcher,
                           unsigned x,
                           unsigned distinct,
                           uint32_t slot,
                           const struct esi_domain_column *column)
{
    uint32_t *memory = remembered_row(searcher, x, distinct, slot);
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

/* Positions of the column below which all precede the bound variable x, and from which
 * on all succeed it; of sets: precede some event, succeed some event. */
static uint32_t row_before_end(struct esi_searcher *searcher,
                               unsigned x,
                               unsigned distinct,
                               uint32_t slot)
{
    struct esi_domain_column column =
        esi_domain_column(searcher->plan->distinct[distinct], slot);

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

static uint32_t row_after_begin(struct esi_searcher *searcher,
                                unsigned x,
                                unsigned distinct,
                                uint32_t slot)
{
    struct esi_domain_column column =
        esi_domain_column(searcher->plan->distinct[distinct], slot);
    uint32_t *memory = remembered_row(searcher, x, distinct, slot);
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

/* --- Literals --------------------------------------------------------------------- */

enum esi_formula_truth esi_searcher_literal_truth(struct esi_searcher *searcher,
                                                  const struct esi_literal *literal)
{
    enum esi_formula_truth truth = esi_literal_truth(&searcher->check, literal);

    if (searcher->check.failure)
        searcher->error = searcher->check.failure;
    return truth;
}

/* --- Clauses ---------------------------------------------------------------------- */

bool esi_clause_is_satisfied(struct esi_searcher *searcher,
                             const struct esi_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if ((clause->literals[i].variables & ~searcher->check.bound) == 0 &&
            esi_searcher_literal_truth(searcher, &clause->literals[i]) ==
                ES_FORMULA_HOLDS)
            return true;
    return false;
}

bool esi_clause_is_refuted(struct esi_searcher *searcher,
                           const struct esi_clause *clause)
{
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (literal->kind != ES_LITERAL_FORMULA &&
            literal->variables & ~searcher->check.bound)
            return false;
    }
    for (uint32_t i = 0; i < clause->count; i++)
        if (esi_searcher_literal_truth(searcher, &clause->literals[i]) !=
            ES_FORMULA_FAILS)
            return false;
    return true;
}

bool esi_clause_holds(struct esi_searcher *searcher, const struct esi_clause *clause)
{
    return esi_clause_is_satisfied(searcher, clause) ||
           (clause->universal && esi_universal_holds(searcher, clause));
}

/* --- Spans ------------------------------------------------------------------------ */

void esi_mask_spans(struct esi_searcher *searcher,
                    unsigned x,
                    uint8_t mask,
                    unsigned distinct,
                    uint32_t slot,
                    struct esi_spans *spans)
{
    struct esi_domain_column column =
        esi_domain_column(searcher->plan->distinct[distinct], slot);
    bool is_own = column.trace == esi_event_of(searcher, x).trace;
    bool between = mask & (is_own ? ESI_IS_SAME : ESI_IS_CONCURRENT);
    bool before = mask & ESI_IS_BEFORE;
    bool after = mask & ESI_IS_AFTER;
    uint32_t before_end = 0;
    uint32_t after_begin = column.count;

    if (before == between && between == after) {
        if (before)
            esi_spans_add(spans, 0, column.count);
        return;
    }
    if (before != between)
        before_end = row_before_end(searcher, x, distinct, slot);
    if (after != between)
        after_begin = row_after_begin(searcher, x, distinct, slot);
    if (before && before != between)
        esi_spans_add(spans, 0, before_end);
    if (between)
        esi_spans_add(spans, before_end, after_begin);
    if (after && after != between)
        esi_spans_add(spans, after_begin, column.count);
}

static void add_position(const struct esi_domain_column *column,
                         uint32_t index,
                         struct esi_spans *spans)
{
    uint32_t position = esi_column_position(column, index);

    if (position < column->count && column->indexes[position] == index)
        esi_spans_add(spans, position, position + 1);
}

void esi_column_spans(const struct esi_domain_column *column,
                      const struct es_event_id *events,
                      size_t count,
                      struct esi_spans *spans)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].trace == column->trace)
            add_position(column, events[i].index, spans);
}

/* Values of v that some event of x precedes, or that precede one. */
static void add_ordered(struct esi_searcher *searcher,
                        unsigned x,
                        unsigned v,
                        uint32_t slot,
                        bool is_after,
                        struct esi_spans *spans)
{
    unsigned distinct = searcher->plan->distinct_of[v];
    uint32_t count = esi_domain_column(searcher->plan->domains[v], slot).count;

    if (is_after)
        esi_spans_add(spans, row_after_begin(searcher, x, distinct, slot), count);
    else
        esi_spans_add(spans, 0, row_before_end(searcher, x, distinct, slot));
}

/* The receives that name bound x. */
static void add_receives(struct esi_searcher *searcher,
                         const struct esi_literal *literal,
                         unsigned v,
                         uint32_t slot,
                         struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct es_event_id send = esi_event_of(searcher, literal->x);
    struct esi_domain_value value;
    struct esi_listed listed;
    uint32_t at = 0;
    int result;

    if (!plan->is_growing) {
        listed = esi_received_index_find(plan->received[plan->distinct_of[v]], send);
        for (size_t i = 0; i < listed.count; i++)
            if (listed.values[i].slot == slot)
                esi_spans_add(spans, listed.values[i].position,
                              listed.values[i].position + 1);
        return;
    }
    while ((result = esi_domain_next_receive(plan->domains[v], send, &at, &value)) > 0)
        if (value.slot == slot)
            esi_spans_add(spans, value.position, value.position + 1);
    if (result < 0)
        searcher->error = result;
}

/* The sends that bound y names, or the receives that name bound x. */
static void add_received(struct esi_searcher *searcher,
                         const struct esi_literal *literal,
                         unsigned v,
                         uint32_t slot,
                         struct esi_spans *spans)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct esi_domain_column column = esi_domain_column(plan->domains[v], slot);
    const struct es_event_id *partners;
    size_t count;

    if (v != literal->x) {
        add_receives(searcher, literal, v, slot, spans);
        return;
    }
    count = esi_domain_partners(plan->domains[literal->y], searcher->values[literal->y],
                                &partners);
    esi_column_spans(&column, partners, count, spans);
}

/* As if the literal were not negated. */
static void add_plain(struct esi_searcher *searcher,
                      const struct esi_literal *literal,
                      unsigned v,
                      uint32_t slot,
                      struct esi_spans *spans)
{
    unsigned other = v == literal->x ? literal->y : literal->x;
    struct esi_domain_column column;

    switch (literal->kind) {
    case ES_LITERAL_RELATION:
        esi_mask_spans(searcher, other,
                       v == literal->x ? literal->mask : esi_mask_turned(literal->mask),
                       searcher->plan->distinct_of[v], slot, spans);
        break;
    case ES_LITERAL_BEFORE:
        add_ordered(searcher, other, v, slot, v == literal->y, spans);
        break;
    case ES_LITERAL_EQUAL:
        column = esi_domain_column(searcher->plan->domains[v], slot);
        esi_column_spans(&column, searcher->check.bindings[other].events,
                         searcher->check.bindings[other].count, spans);
        break;
    case ES_LITERAL_RECEIVED:
        add_received(searcher, literal, v, slot, spans);
        break;
    case ES_LITERAL_NEAR:
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
    case ES_LITERAL_FORMULA:
        break; /* never exact */
    }
}

void esi_literal_spans(struct esi_searcher *searcher,
                       const struct esi_literal *literal,
                       unsigned v,
                       uint32_t slot,
                       struct esi_spans *spans)
{
    uint32_t end = esi_domain_column(searcher->plan->domains[v], slot).count;

    if (literal->kind == ES_LITERAL_RELATION || !literal->is_negated) {
        add_plain(searcher, literal, v, slot, spans);
        return;
    }
    searcher->plain.count = 0;
    add_plain(searcher, literal, v, slot, &searcher->plain);
    esi_spans_sort(&searcher->plain);
    esi_searcher_check(searcher, &searcher->plain);
    esi_spans_add_others(spans, &searcher->plain, end);
}
