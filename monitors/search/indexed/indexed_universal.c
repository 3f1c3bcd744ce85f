/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_universal.c - clauses with universal variables.
 *
 * The values of a universal variable u that bound variables do not satisfy are spans of
 * its columns.  If nothing else can satisfy them, one of them is a violation.  If one
 * variable v of the clause is not bound, they restrict it, and of each column of u only
 * the first or the last of them matters, since predecessors and successors along a
 * trace only move forward:
 *
 *   u -> v    v succeeds the last          v -> u    v precedes the first
 *   u !-> v   v does not succeed the first v !-> u   v does not precede the last
 *
 * The columns of u that left nothing lately are looked at first, after that of v's own
 * trace, which takes no comparison.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/indexed/indexed_searcher.h"

/* --- The order of columns --------------------------------------------------------- */

static struct esi_slot_order *order_of(struct esi_searcher *searcher,
                                       const struct esi_clause *clause,
                                       uint32_t slots)
{
    struct esi_slot_order *order =
        &searcher->orders[esi_clause_number(searcher->plan, clause)];

    if (order->count < slots) {
        uint32_t *larger = realloc(order->slots, slots * sizeof *larger);

        if (!larger) {
            searcher->error = -ENOMEM;
            return order;
        }
        order->slots = larger;
        while (order->count < slots) {
            larger[order->count] = order->count;
            order->count++;
        }
    }
    return order;
}

static void put_first(const struct esi_searcher *searcher,
                      struct esi_slot_order *order,
                      uint32_t place)
{
    uint32_t slot = order->slots[place];

    if (searcher->plan->without & ES_INDEXED_FAILED)
        return;
    for (; place > 0; place--)
        order->slots[place] = order->slots[place - 1];
    order->slots[0] = slot;
}

/* --- Values that nothing satisfies yet -------------------------------------------- */

static bool is_between(const struct esi_searcher *searcher,
                       const struct esi_literal *literal,
                       unsigned u)
{
    return (literal->kind <= ES_LITERAL_EQUAL ||
            literal->kind == ES_LITERAL_RELATION) &&
           literal->variables & esi_program_bit(u) && literal->x != literal->y &&
           (literal->variables & ~searcher->check.bound) == esi_program_bit(u);
}

/* Into searcher->open: of a column of single u, what no relation with a bound variable
 * satisfies. */
static void find_open(struct esi_searcher *searcher,
                      const struct esi_clause *clause,
                      unsigned u,
                      uint32_t slot)
{
    struct esi_domain_column column =
        esi_domain_column(searcher->plan->domains[u], slot);

    searcher->satisfied.count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (is_between(searcher, &clause->literals[i], u))
            esi_literal_spans(searcher, &clause->literals[i], u, slot,
                              &searcher->satisfied);
    esi_spans_sort(&searcher->satisfied);
    searcher->open.count = 0;
    esi_spans_add_others(&searcher->open, &searcher->satisfied, column.count);
    esi_searcher_check(searcher, &searcher->satisfied);
    esi_searcher_check(searcher, &searcher->open);
}

/* --- All existential variables are bound ------------------------------------------ */

static bool holds_for(struct esi_searcher *searcher,
                      const struct esi_clause *clause,
                      uint64_t universal);

/* Literals that spans of u do not tell. */
static bool has_others(const struct esi_searcher *searcher,
                       const struct esi_clause *clause,
                       unsigned u)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & esi_program_bit(u) &&
            !is_between(searcher, &clause->literals[i], u))
            return true;
    return false;
}

static bool holds_for_value(struct esi_searcher *searcher,
                            const struct esi_clause *clause,
                            unsigned u,
                            uint64_t others,
                            struct esi_domain_value value)
{
    bool holds;

    searcher->compared_to_all++;
    if (searcher->over_countdown > 0) /* values take time as nodes do */
        searcher->over_countdown--;
    esi_searcher_bind(searcher, u, value);
    holds = esi_clause_is_satisfied(searcher, clause) ||
            (others && holds_for(searcher, clause, others));
    esi_searcher_unbind(searcher, u);
    return holds;
}

static bool holds_in_column(struct esi_searcher *searcher,
                            const struct esi_clause *clause,
                            unsigned u,
                            bool are_all_told,
                            uint32_t slot)
{
    find_open(searcher, clause, u, slot);
    if (are_all_told || searcher->open.count == 0)
        return searcher->open.count == 0;
    /* Testing a value makes no use of `open`: u is the last universal variable. */
    for (uint32_t i = 0; i < searcher->open.count; i++)
        for (uint32_t p = searcher->open.items[i].begin;
             p < searcher->open.items[i].end; p++)
            if (!holds_for_value(searcher, clause, u, 0,
                                 (struct esi_domain_value){slot, p}))
                return false;
    return true;
}

static bool holds_by_columns(struct esi_searcher *searcher,
                             const struct esi_clause *clause,
                             unsigned u)
{
    uint32_t slots = esi_domain_slots(searcher->plan->domains[u]);
    struct esi_slot_order *order = order_of(searcher, clause, slots);
    bool are_all_told = !has_others(searcher, clause, u);

    for (uint32_t i = 0; i < order->count; i++)
        if (order->slots[i] < slots &&
            !holds_in_column(searcher, clause, u, are_all_told, order->slots[i])) {
            put_first(searcher, order, i);
            return false;
        }
    return true;
}

static bool holds_by_values(struct esi_searcher *searcher,
                            const struct esi_clause *clause,
                            unsigned u,
                            uint64_t others)
{
    const struct esi_domain *domain = searcher->plan->domains[u];
    uint32_t slots = esi_domain_slots(domain);

    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++)
            if (!holds_for_value(searcher, clause, u, others,
                                 (struct esi_domain_value){slot, p}))
                return false;
    }
    return true;
}

/* The values of u that may violate a clause, as one of its literals tells: all receives
 * of a bound x by "x !=> u", all that have x's tag by "x.tag != u.tag". */
static bool find_violators(const struct esi_searcher *searcher,
                           const struct esi_literal *literal,
                           unsigned u,
                           struct esi_listed ret_listed[2])
{
    const struct esi_indexed_plan *plan = searcher->plan;
    const struct esi_received_index *received = plan->received[plan->distinct_of[u]];

    ret_listed[1] = (struct esi_listed){NULL, 0};
    if (literal->x == literal->y ||
        (literal->variables & ~searcher->check.bound) != esi_program_bit(u))
        return false;
    if (literal->kind == ES_LITERAL_RECEIVED && received && literal->is_negated &&
        literal->y == u && plan->single >> literal->x & 1) {
        ret_listed[0] =
            esi_received_index_find(received, esi_event_of(searcher, literal->x));
        return true;
    }
    return (searcher->compared_to_all >= esi_domain_count(plan->domains[u]) ||
            plan->without & ES_INDEXED_THRIFT) &&
           esi_lookup_violators(searcher, literal, u, ret_listed);
}

static bool hold_listed(struct esi_searcher *searcher,
                        const struct esi_clause *clause,
                        unsigned u,
                        const struct esi_listed *listed)
{
    for (size_t i = 0; i < listed->count; i++)
        if (!holds_for_value(searcher, clause, u, 0, listed->values[i]))
            return false;
    return true;
}

static bool is_short(const struct esi_searcher *searcher,
                     unsigned u,
                     const struct esi_listed listed[2])
{
    return listed[0].count + listed[1].count <=
           esi_domain_count(searcher->plan->domains[u]) / esi_listed_share(searcher);
}

static bool holds_for_last(struct esi_searcher *searcher,
                           const struct esi_clause *clause,
                           unsigned u)
{
    struct esi_listed listed[2];

    for (uint32_t i = 0; i < clause->count; i++)
        if (find_violators(searcher, &clause->literals[i], u, listed) &&
            is_short(searcher, u, listed))
            return hold_listed(searcher, clause, u, &listed[0]) &&
                   hold_listed(searcher, clause, u, &listed[1]);
    return holds_by_columns(searcher, clause, u);
}

/* The universal variable with the most values comes last: its spans are not walked. */
static unsigned pick_value(const struct esi_searcher *searcher, uint64_t universal)
{
    unsigned best = (unsigned)__builtin_ctzll(universal);

    for (uint64_t left = universal; left; left &= left - 1) {
        unsigned u = (unsigned)__builtin_ctzll(left);

        if (esi_domain_count(searcher->plan->domains[u]) <
            esi_domain_count(searcher->plan->domains[best]))
            best = u;
    }
    return best;
}

static bool holds_for(struct esi_searcher *searcher,
                      const struct esi_clause *clause,
                      uint64_t universal)
{
    unsigned u = pick_value(searcher, universal);
    uint64_t others = universal & ~esi_program_bit(u);

    if (!others && searcher->plan->single >> u & 1)
        return holds_for_last(searcher, clause, u);
    return holds_by_values(searcher, clause, u, others);
}

bool esi_universal_holds(struct esi_searcher *searcher, const struct esi_clause *clause)
{
    return holds_for(searcher, clause, clause->universal);
}

/* --- One existential variable is not bound ---------------------------------------- */

/* Open values of one column of u, and what v is to each of them. */
struct demand {
    struct es_event_id first;
    struct es_event_id last;
    bool is_one;
    uint8_t mask;
};

/* Of v's column on u's own trace. */
static void restrict_own(const struct demand *demand,
                         const struct esi_domain_column *column,
                         struct esi_spans *spans)
{
    bool is_same = demand->mask & ESI_IS_SAME;
    uint32_t begin = 0;
    uint32_t end = column->count;

    /* What is on one trace is not concurrent. */
    if (demand->mask & ESI_IS_BEFORE)
        end = esi_column_position(column, demand->first.index + is_same);
    else if (demand->mask & ESI_IS_AFTER)
        begin = esi_column_position(column, demand->last.index + !is_same);
    else if (is_same && demand->is_one) {
        begin = esi_column_position(column, demand->first.index);
        end = esi_column_position(column, demand->first.index + 1);
    } else
        end = 0;
    esi_spans_keep(spans, begin, end);
}

static struct esi_span spans_extent(const struct esi_spans *spans)
{
    return (struct esi_span){spans->items[0].begin, spans->items[spans->count - 1].end};
}

static void restrict_other(struct esi_searcher *searcher,
                           const struct demand *demand,
                           const struct esi_domain_column *column,
                           struct esi_spans *spans)
{
    bool before = demand->mask & ESI_IS_BEFORE;
    bool between = demand->mask & ESI_IS_CONCURRENT;
    bool after = demand->mask & ESI_IS_AFTER;

    if (!before && !between && !after)
        spans->count = 0;
    if (before && !between)
        esi_spans_keep(spans, 0, esi_event_before_end(searcher, demand->first, column));
    if (between && !before)
        esi_spans_keep(spans, esi_event_before_end(searcher, demand->last, column),
                       column->count);
    if (spans->count > 0 && between && !after)
        esi_spans_keep(spans, 0,
                       esi_event_after_begin(searcher, demand->first, column,
                                             spans_extent(spans)));
    if (spans->count > 0 && after && !between)
        esi_spans_keep(
            spans,
            esi_event_after_begin(searcher, demand->last, column, spans_extent(spans)),
            column->count);
}

/* What v is to be to u.  False: no literal has both, so that nothing satisfies open
 * values. */
static bool find_mask(const struct esi_clause *clause,
                      unsigned u,
                      unsigned v,
                      uint8_t *ret_mask)
{
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (literal->variables == (esi_program_bit(u) | esi_program_bit(v))) {
            *ret_mask =
                literal->x == v ? literal->mask : esi_mask_turned(literal->mask);
            return true;
        }
    }
    return false;
}

/* By the open values of one column of u. */
static void restrict_by(struct esi_searcher *searcher,
                        const struct esi_clause *clause,
                        unsigned u,
                        uint32_t u_slot,
                        unsigned v,
                        uint32_t slot,
                        struct esi_spans *spans)
{
    struct esi_domain_column of_u =
        esi_domain_column(searcher->plan->domains[u], u_slot);
    struct esi_domain_column of_v = esi_domain_column(searcher->plan->domains[v], slot);
    struct demand demand = {.is_one = false};
    struct esi_span open;

    find_open(searcher, clause, u, u_slot);
    if (searcher->open.count == 0)
        return;
    if (!find_mask(clause, u, v, &demand.mask)) {
        spans->count = 0;
        return;
    }
    open = spans_extent(&searcher->open);
    demand.first = (struct es_event_id){of_u.trace, of_u.indexes[open.begin]};
    demand.last = (struct es_event_id){of_u.trace, of_u.indexes[open.end - 1]};
    demand.is_one = open.end - open.begin == 1;
    if (of_u.trace == of_v.trace)
        restrict_own(&demand, &of_v, spans);
    else
        restrict_other(searcher, &demand, &of_v, spans);
}

/* What all values of u leave. */
static void restrict_by_all(struct esi_searcher *searcher,
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_spans *spans)
{
    unsigned u = (unsigned)__builtin_ctzll(clause->universal);
    const struct esi_domain *domain = searcher->plan->domains[u];
    uint32_t trace = esi_domain_column(searcher->plan->domains[v], slot).trace;
    uint32_t own = esi_domain_slot_of(domain, trace);
    struct esi_slot_order *order = order_of(searcher, clause, esi_domain_slots(domain));
    uint32_t likely = ES_PATTERN_NONE;

    if (own != ES_PATTERN_NONE)
        restrict_by(searcher, clause, u, own, v, slot, spans);
    /* What the event that just came has on its own trace is the last that it knows. */
    if (searcher->pinned >= 0)
        likely = esi_domain_slot_of(domain, searcher->pinned_event.trace);
    if (likely != ES_PATTERN_NONE && likely != own && spans->count > 0)
        restrict_by(searcher, clause, u, likely, v, slot, spans);
    for (uint32_t i = 0; spans->count > 0 && i < order->count; i++) {
        if (order->slots[i] == own || order->slots[i] == likely)
            continue;
        restrict_by(searcher, clause, u, order->slots[i], v, slot, spans);
        if (spans->count == 0)
            put_first(searcher, order, i);
    }
}

void esi_universal_restrict(struct esi_searcher *searcher,
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_spans *spans)
{
    struct esi_spans *allowed = &searcher->allowed;

    /* What v satisfies whatever u is. */
    allowed->count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & esi_program_bit(v) &&
            !(clause->literals[i].variables & clause->universal))
            esi_literal_spans(searcher, &clause->literals[i], v, slot, allowed);
    if (allowed->count == 0) {
        restrict_by_all(searcher, clause, v, slot, spans);
        return;
    }
    esi_spans_sort(allowed);
    esi_spans_intersect(&searcher->kept, spans, allowed);
    restrict_by_all(searcher, clause, v, slot, spans);
    for (uint32_t i = 0; i < searcher->kept.count; i++)
        esi_spans_add(spans, searcher->kept.items[i].begin,
                      searcher->kept.items[i].end);
    esi_spans_sort(spans);
    esi_searcher_check(searcher, allowed);
    esi_searcher_check(searcher, &searcher->kept);
    esi_searcher_check(searcher, spans);
}
