/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_universal.c - clauses with universal variables.
 *
 * The values of a universal variable u that bound variables do not satisfy are
 * intervals of its columns.  If nothing else can satisfy them, each of them is a
 * violation.  If one variable v of the clause is unbound, they restrict it, and in each
 * column of u only the first or the last of them matters, since predecessors and
 * successors along a trace only move forward:
 *
 *   u -> v    v succeeds the last          v -> u    v precedes the first
 *   u !-> v   v does not succeed the first v !-> u   v does not precede the last
 *
 * The columns of u that recently left no values are tested first, after that of v's own
 * trace, which takes no comparison.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_universal.h"

#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/indexed/indexed_lookup.h"

enum { FEW_VALUES = 4 };

/* --- Start and end ---------------------------------------------------------------- */

int esi_universal_init(struct esi_universal *universal, struct esi_bound *bound)
{
    *universal = (struct esi_universal){
        .bound = bound,
        .orders = calloc(bound->plan->clause_count + 1u, sizeof *universal->orders),
    };
    return universal->orders ? 0 : -ENOMEM;
}

void esi_universal_fini(struct esi_universal *universal)
{
    for (size_t i = 0; universal->orders && i < universal->bound->plan->clause_count;
         i++)
        free(universal->orders[i].slots);
    free(universal->orders);
    free(universal->past);
    esi_intervals_fini(&universal->allowed);
    esi_intervals_fini(&universal->kept);
    esi_intervals_fini(&universal->open);
    esi_intervals_fini(&universal->satisfied);
}

uint64_t esi_universal_bytes(const struct esi_universal *universal)
{
    uint64_t bytes = universal->traces * sizeof *universal->past;

    for (size_t i = 0; i < universal->bound->plan->clause_count; i++)
        bytes += universal->orders[i].capacity * sizeof *universal->orders->slots;
    return bytes;
}

/* --- The order of columns --------------------------------------------------------- */

static struct esi_slot_order *order_of(struct esi_universal *universal,
                                       const struct esi_clause *clause,
                                       uint32_t slots)
{
    struct esi_slot_order *order =
        &universal->orders[esi_clause_number(universal->bound->plan, clause)];

    if (ESI_ARRAY_RESERVE(order->slots, order->capacity, slots) < 0) {
        universal->bound->error = -ENOMEM;
        return order;
    }
    for (; order->count < slots; order->count++)
        order->slots[order->count] = (uint32_t)order->count;
    return order;
}

static void put_first(struct esi_slot_order *order, size_t place)
{
    uint32_t slot = order->slots[place];

    for (; place > 0; place--)
        order->slots[place] = order->slots[place - 1];
    order->slots[0] = slot;
}

/* --- Values not satisfied yet ----------------------------------------------------- */

static bool is_between(const struct esi_bound *bound,
                       const struct esi_literal *literal,
                       unsigned u)
{
    return (literal->kind <= ES_LITERAL_EQUAL ||
            literal->kind == ES_LITERAL_RELATION) &&
           literal->variables & esi_program_bit(u) && literal->x != literal->y &&
           (literal->variables & ~bound->check.bound) == esi_program_bit(u);
}

/* Stores in universal->open the values of single u in a column that no relation with a
 * bound variable satisfies. */
static void find_open(struct esi_universal *universal,
                      const struct esi_clause *clause,
                      unsigned u,
                      uint32_t slot)
{
    struct esi_bound *bound = universal->bound;
    struct esi_domain_column column = esi_domain_column(bound->plan->domains[u], slot);

    universal->satisfied.count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (is_between(bound, &clause->literals[i], u))
            esi_bound_add_literal(bound, &clause->literals[i], u, slot,
                                  &universal->satisfied);
    esi_intervals_sort(&universal->satisfied);
    universal->open.count = 0;
    esi_intervals_add_others(&universal->open, &universal->satisfied, column.count);
    esi_bound_check(bound, &universal->satisfied);
    esi_bound_check(bound, &universal->open);
}

/* --- All existential variables are bound ------------------------------------------ */

static bool holds_for(struct esi_universal *universal,
                      const struct esi_clause *clause,
                      uint64_t variables);

/* Whether there are literals that intervals of u do not represent. */
static bool has_others(const struct esi_bound *bound,
                       const struct esi_clause *clause,
                       unsigned u)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & esi_program_bit(u) &&
            !is_between(bound, &clause->literals[i], u))
            return true;
    return false;
}

static bool holds_for_value(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned u,
                            uint64_t others,
                            struct esi_domain_value value)
{
    struct esi_bound *bound = universal->bound;
    bool holds;

    universal->tested++;
    esi_bound_bind(bound, u, value);
    holds = esi_bound_satisfies(bound, clause) ||
            (others && holds_for(universal, clause, others));
    esi_bound_unbind(bound, u);
    return holds;
}

static bool holds_in_column(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned u,
                            bool are_all_told,
                            uint32_t slot)
{
    find_open(universal, clause, u, slot);
    if (are_all_told || universal->open.count == 0)
        return universal->open.count == 0;
    /* Testing a value does not change `open`, because u is the last universal
     * variable. */
    for (uint32_t i = 0; i < universal->open.count; i++)
        for (uint32_t p = universal->open.items[i].begin;
             p < universal->open.items[i].end; p++)
            if (!holds_for_value(universal, clause, u, 0,
                                 (struct esi_domain_value){slot, p}))
                return false;
    return true;
}

static bool holds_by_columns(struct esi_universal *universal,
                             const struct esi_clause *clause,
                             unsigned u)
{
    struct esi_bound *bound = universal->bound;
    uint32_t slots = esi_domain_slots(bound->plan->domains[u]);
    struct esi_slot_order *order = order_of(universal, clause, slots);
    bool are_all_told = !has_others(bound, clause, u);

    for (size_t i = 0; i < order->count; i++)
        if (order->slots[i] < slots &&
            !holds_in_column(universal, clause, u, are_all_told, order->slots[i])) {
            put_first(order, i);
            return false;
        }
    return true;
}

static bool holds_by_values(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned u,
                            uint64_t others)
{
    const struct esi_domain *domain = universal->bound->plan->domains[u];
    uint32_t slots = esi_domain_slots(domain);

    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++)
            if (!holds_for_value(universal, clause, u, others,
                                 (struct esi_domain_value){slot, p}))
                return false;
    }
    return true;
}

/* Lists the values of u that may violate a clause, by one of its literals: all receives
 * of a bound x for "x !=> u", all that have x's tag for "x.tag != u.tag". */
static bool find_violators(const struct esi_universal *universal,
                           const struct esi_literal *literal,
                           unsigned u,
                           struct esi_listed ret_listed[2])
{
    struct esi_bound *bound = universal->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    const struct esi_sorted_index *received = plan->received[plan->distinct_of[u]];

    ret_listed[1] = (struct esi_listed){NULL, 0};
    if (literal->x == literal->y ||
        (literal->variables & ~bound->check.bound) != esi_program_bit(u))
        return false;
    if (literal->kind == ES_LITERAL_RECEIVED && received && literal->is_negated &&
        literal->y == u && plan->single >> literal->x & 1) {
        ret_listed[0] = esi_sorted_index_find(
            received, esi_send_key(esi_bound_event(bound, literal->x)));
        return true;
    }
    return universal->tested >=
               plan->tuning.index_comparisons * esi_domain_count(plan->domains[u]) &&
           esi_lookup_violators(bound, literal, u, ret_listed);
}

static bool hold_listed(struct esi_universal *universal,
                        const struct esi_clause *clause,
                        unsigned u,
                        const struct esi_listed *listed)
{
    for (size_t i = 0; i < listed->count; i++)
        if (!holds_for_value(universal, clause, u, 0, listed->values[i]))
            return false;
    return true;
}

static bool is_short(const struct esi_bound *bound,
                     unsigned u,
                     const struct esi_listed listed[2])
{
    return listed[0].count + listed[1].count <=
           esi_domain_count(bound->plan->domains[u]) / bound->plan->tuning.listed_share;
}

static bool holds_for_last(struct esi_universal *universal,
                           const struct esi_clause *clause,
                           unsigned u)
{
    struct esi_bound *bound = universal->bound;
    struct esi_listed listed[2];

    for (uint32_t i = 0; i < clause->count; i++)
        if (find_violators(universal, &clause->literals[i], u, listed) &&
            is_short(bound, u, listed))
            return hold_listed(universal, clause, u, &listed[0]) &&
                   hold_listed(universal, clause, u, &listed[1]);
    return holds_by_columns(universal, clause, u);
}

/* The universal variable with the most values comes last, because its intervals are
 * used as a whole. */
static unsigned pick_value(const struct esi_bound *bound, uint64_t variables)
{
    unsigned best = (unsigned)__builtin_ctzll(variables);

    for (uint64_t left = variables; left; left &= left - 1) {
        unsigned u = (unsigned)__builtin_ctzll(left);

        if (esi_domain_count(bound->plan->domains[u]) <
            esi_domain_count(bound->plan->domains[best]))
            best = u;
    }
    return best;
}

static bool holds_for(struct esi_universal *universal,
                      const struct esi_clause *clause,
                      uint64_t variables)
{
    struct esi_bound *bound = universal->bound;
    unsigned u = pick_value(bound, variables);
    uint64_t others = variables & ~esi_program_bit(u);

    if (!others && bound->plan->single >> u & 1)
        return holds_for_last(universal, clause, u);
    return holds_by_values(universal, clause, u, others);
}

bool esi_universal_clause_holds(struct esi_universal *universal,
                                const struct esi_clause *clause)
{
    return esi_bound_satisfies(universal->bound, clause) ||
           (clause->universal && holds_for(universal, clause, clause->universal));
}

/* --- One existential variable is unbound ------------------------------------------ */

/* The open values of one column of u, and the required relation of v to each of
 * them. */
struct demand {
    struct es_event_id first;
    struct es_event_id last;
    bool is_one;
    uint8_t mask;
};

/* Restricts v's column on u's own trace. */
static void restrict_own(const struct demand *demand,
                         const struct esi_domain_column *column,
                         struct esi_intervals *intervals)
{
    bool is_same = demand->mask & ESI_IS_SAME;
    uint32_t begin = 0;
    uint32_t end = column->count;

    /* Events on one trace are not concurrent. */
    if (demand->mask & ESI_IS_BEFORE)
        end = esi_column_position(column, demand->first.index + is_same);
    else if (demand->mask & ESI_IS_AFTER)
        begin = esi_column_position(column, demand->last.index + !is_same);
    else if (is_same && demand->is_one) {
        begin = esi_column_position(column, demand->first.index);
        end = esi_column_position(column, demand->first.index + 1);
    } else
        end = 0;
    esi_intervals_keep(intervals, begin, end);
}

static void restrict_other(struct esi_bound *bound,
                           const struct demand *demand,
                           const struct esi_domain_column *column,
                           struct esi_intervals *intervals)
{
    bool before = demand->mask & ESI_IS_BEFORE;
    bool between = demand->mask & ESI_IS_CONCURRENT;
    bool after = demand->mask & ESI_IS_AFTER;

    if (!before && !between && !after)
        intervals->count = 0;
    if (before && !between)
        esi_intervals_keep(intervals, 0,
                           esi_bound_before_end(bound, demand->first, column));
    if (between && !before)
        esi_intervals_keep(intervals, esi_bound_before_end(bound, demand->last, column),
                           column->count);
    if (intervals->count > 0 && between && !after)
        esi_intervals_keep(intervals, 0,
                           esi_bound_after_begin(bound, demand->first, column,
                                                 esi_intervals_extent(intervals)));
    if (intervals->count > 0 && after && !between)
        esi_intervals_keep(intervals,
                           esi_bound_after_begin(bound, demand->last, column,
                                                 esi_intervals_extent(intervals)),
                           column->count);
}

/* Finds the required relation of v to u.  False if no literal names both, so that open
 * values cannot be satisfied. */
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

/* Restricts v by the open values of one column of u. */
static void restrict_by(struct esi_universal *universal,
                        const struct esi_clause *clause,
                        unsigned u,
                        uint32_t u_slot,
                        unsigned v,
                        uint32_t slot,
                        struct esi_intervals *intervals)
{
    struct esi_bound *bound = universal->bound;
    struct esi_domain_column of_u = esi_domain_column(bound->plan->domains[u], u_slot);
    struct esi_domain_column of_v = esi_domain_column(bound->plan->domains[v], slot);
    struct demand demand = {.is_one = false};
    struct esi_interval open;

    find_open(universal, clause, u, u_slot);
    if (universal->open.count == 0)
        return;
    if (!find_mask(clause, u, v, &demand.mask)) {
        intervals->count = 0;
        return;
    }
    open = esi_intervals_extent(&universal->open);
    demand.first = (struct es_event_id){of_u.trace, of_u.indexes[open.begin]};
    demand.last = (struct es_event_id){of_u.trace, of_u.indexes[open.end - 1]};
    demand.is_one = open.end - open.begin == 1;
    if (of_u.trace == of_v.trace)
        restrict_own(&demand, &of_v, intervals);
    else
        restrict_other(bound, &demand, &of_v, intervals);
}

/* Whether a literal is false only if `first` is before `last`. */
static bool forbids_order(const struct esi_literal *literal,
                          unsigned first,
                          unsigned last)
{
    uint8_t mask = literal->x == first ? literal->mask : esi_mask_turned(literal->mask);

    return literal->kind == ES_LITERAL_RELATION &&
           literal->variables == (esi_program_bit(first) | esi_program_bit(last)) &&
           mask == (ESI_IS_ANY & ~ESI_IS_BEFORE);
}

/* Whether a clause requires that no u is between a bound variable and v. */
static bool forbids_between(const struct esi_clause *clause,
                            unsigned x,
                            unsigned u,
                            unsigned v)
{
    for (int i = 0; i < 2; i++)
        if (clause->count == 2 && forbids_order(&clause->literals[i], x, u) &&
            forbids_order(&clause->literals[1 - i], u, v))
            return true;
    return false;
}

/* Whether there is no event between a bound variable and each remaining value of v, if
 * these are few; then u need not be searched. */
static bool are_adjacent(struct esi_bound *bound,
                         const struct esi_clause *clause,
                         unsigned v,
                         uint32_t slot,
                         const struct esi_intervals *intervals)
{
    uint64_t others = clause->existential & ~esi_program_bit(v);
    unsigned u = (unsigned)__builtin_ctzll(clause->universal);
    unsigned x = others ? (unsigned)__builtin_ctzll(others) : v;

    if (bound->plan->is_growing || !others || others & (others - 1) ||
        !(bound->plan->single >> x & 1) || !forbids_between(clause, x, u, v) ||
        esi_intervals_total(intervals) > FEW_VALUES)
        return false;
    for (uint32_t i = 0; i < intervals->count; i++)
        for (uint32_t p = intervals->items[i].begin; p < intervals->items[i].end; p++)
            if (!esi_bound_are_adjacent(bound, esi_bound_event(bound, x), v,
                                        (struct esi_domain_value){slot, p}))
                return false;
    return true;
}

/* --- While events arrive ---------------------------------------------------------- */

bool esi_universal_refuses(const struct esi_bound *bound,
                           const struct esi_clause *clause,
                           unsigned v)
{
    return bound->pinned >= 0 && bound->plan->single >> bound->pinned & 1 &&
           clause->universal &&
           forbids_between(clause, v, (unsigned)__builtin_ctzll(clause->universal),
                           (unsigned)bound->pinned);
}

/* Whether some events of a trace are not refused. */
static bool is_open(const struct esi_universal *universal, uint32_t trace)
{
    return universal->past[trace].refused < universal->past[trace].known;
}

/* The cached timestamp of an event; NULL if there is none. */
static const uint32_t *row_of(const struct esi_bound *bound, struct es_event_id event)
{
    return bound->plan->stamps ? esi_stamp_cache_row(bound->plan->stamps, event) : NULL;
}

/* The greatest predecessor of an event on a trace; `row` is its cached timestamp. */
static uint32_t greatest_of(struct esi_bound *bound,
                            struct es_event_id event,
                            const uint32_t *row,
                            uint32_t trace)
{
    if (!row || trace == event.trace || row[trace] == ESI_STAMP_UNKNOWN)
        return esi_precedence_greatest(&bound->precedence, event, trace);
    bound->precedence.comparisons++;
    return row[trace];
}

/* Refuses the predecessors of a u; they are also predecessors of the pinned event. */
static void refuse_by_value(struct esi_universal *universal,
                            uint32_t traces,
                            struct es_event_id u,
                            const uint32_t *row)
{
    struct esi_universal_past *past = universal->past;

    for (uint32_t trace = 0; trace < traces; trace++) {
        uint32_t known = row ? row[trace] : ESI_STAMP_UNKNOWN;

        if (known == ESI_STAMP_UNKNOWN)
            known = is_open(universal, trace)
                        ? greatest_of(universal->bound, u, row, trace)
                        : 0;
        if (known > past[trace].refused)
            past[trace].refused = known;
    }
    universal->bound->precedence.comparisons += row ? traces : 0;
    if (past[u.trace].refused < u.index - 1) /* it is not in the row */
        past[u.trace].refused = u.index - 1;
}

/* Uses the last u of a trace that precedes the pinned event, if it refuses more.  With
 * `is_quick`, only if its timestamp is cached. */
static void refuse_by_trace(struct esi_universal *universal,
                            uint32_t traces,
                            uint32_t trace,
                            bool is_quick)
{
    const struct esi_indexed_plan *plan = universal->bound->plan;
    const struct esi_domain *domain =
        plan->domains[__builtin_ctzll(universal->past_of->universal)];
    uint32_t slot = esi_domain_slot_of(domain, trace);
    struct esi_universal_past past = universal->past[trace];
    struct es_event_id u = {trace, 0};
    struct esi_domain_column column;
    const uint32_t *row;
    uint32_t end;

    if (slot == ES_PATTERN_NONE)
        return;
    column = esi_domain_column(domain, slot);
    end = esi_column_position(&column, past.known + 1);
    u.index = end > 0 ? column.indexes[end - 1] : 0;
    if (u.index <= past.refused)
        return;
    row = row_of(universal->bound, u);
    if (row || !is_quick)
        refuse_by_value(universal, traces, u, row);
}

static void find_past(struct esi_universal *universal)
{
    struct esi_bound *bound = universal->bound;
    uint32_t traces = es_order_traces(bound->plan->order);
    const uint32_t *row = row_of(bound, bound->pinned_event);

    if (ESI_ARRAY_RESERVE(universal->past, universal->traces, traces) < 0) {
        bound->error = -ENOMEM;
        return;
    }
    for (uint32_t trace = 0; trace < traces; trace++) {
        uint32_t known =
            row && trace != bound->pinned_event.trace ? row[trace] : ESI_STAMP_UNKNOWN;

        if (known == ESI_STAMP_UNKNOWN)
            known = greatest_of(bound, bound->pinned_event, row, trace);
        universal->past[trace] = (struct esi_universal_past){known, 0};
    }
    bound->precedence.comparisons += row ? traces : 0;
    /* Its own trace determines most of the others. */
    refuse_by_trace(universal, traces, bound->pinned_event.trace, true);
    for (uint32_t trace = 0; trace < traces; trace++)
        if (is_open(universal, trace))
            refuse_by_trace(universal, traces, trace, true);
    for (uint32_t trace = 0; trace < traces; trace++)
        if (is_open(universal, trace))
            refuse_by_trace(universal, traces, trace, false);
}

struct esi_universal_past esi_universal_past_of(struct esi_universal *universal,
                                                const struct esi_clause *clause,
                                                uint32_t trace)
{
    if (universal->past_of != clause) {
        universal->past_of = clause;
        find_past(universal);
    }
    return trace < universal->traces ? universal->past[trace]
                                     : (struct esi_universal_past){0, 0};
}

/* --- One existential variable is unbound: all values of u ------------------------- */

/* Restricts v by all values of u. */
static void restrict_by_all(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_intervals *intervals)
{
    struct esi_bound *bound = universal->bound;
    unsigned u = (unsigned)__builtin_ctzll(clause->universal);
    const struct esi_domain *domain = bound->plan->domains[u];
    uint32_t trace = esi_domain_column(bound->plan->domains[v], slot).trace;
    uint32_t own = esi_domain_slot_of(domain, trace);
    struct esi_slot_order *order =
        order_of(universal, clause, esi_domain_slots(domain));

    if (own != ES_PATTERN_NONE)
        restrict_by(universal, clause, u, own, v, slot, intervals);
    if (are_adjacent(bound, clause, v, slot, intervals))
        return;
    for (size_t i = 0; intervals->count > 0 && i < order->count; i++) {
        if (order->slots[i] == own)
            continue;
        restrict_by(universal, clause, u, order->slots[i], v, slot, intervals);
        if (intervals->count == 0)
            put_first(order, i);
    }
}

void esi_universal_restrict(struct esi_universal *universal,
                            const struct esi_clause *clause,
                            unsigned v,
                            uint32_t slot,
                            struct esi_intervals *intervals)
{
    struct esi_bound *bound = universal->bound;
    struct esi_intervals *allowed = &universal->allowed;
    struct esi_domain_column column;

    if (esi_universal_refuses(bound, clause, v)) {
        column = esi_domain_column(bound->plan->domains[v], slot);
        esi_intervals_keep(
            intervals,
            esi_column_position(
                &column,
                esi_universal_past_of(universal, clause, column.trace).refused + 1),
            column.count);
        return;
    }
    /* Values of v that satisfy the clause for any u. */
    allowed->count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & esi_program_bit(v) &&
            !(clause->literals[i].variables & clause->universal))
            esi_bound_add_literal(bound, &clause->literals[i], v, slot, allowed);
    if (allowed->count == 0) {
        restrict_by_all(universal, clause, v, slot, intervals);
        return;
    }
    esi_intervals_sort(allowed);
    esi_intervals_intersect(&universal->kept, intervals, allowed);
    restrict_by_all(universal, clause, v, slot, intervals);
    for (uint32_t i = 0; i < universal->kept.count; i++)
        esi_intervals_add(intervals, universal->kept.items[i].begin,
                          universal->kept.items[i].end);
    esi_intervals_sort(intervals);
    esi_bound_check(bound, allowed);
    esi_bound_check(bound, &universal->kept);
    esi_bound_check(bound, intervals);
}
