/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_candidates.c - the remaining values of an unbound variable, given the bound
 * ones. */
#include "config.h"

#include "monitors/search/indexed/indexed_candidates.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/lower_bound.h"
#include "monitors/search/indexed/indexed_implied.h"

enum {
    LOOKUP_ORDINAL = 4, /* values of the first variable before indexes are created */
    SORTED_SHARE = 64,
};

/* --- Start and end ---------------------------------------------------------------- */

static size_t depths_of(const struct esi_indexed_plan *plan)
{
    return (size_t)__builtin_popcountll(plan->existential) + 1;
}

int esi_candidate_sets_init(struct esi_candidate_sets *sets,
                            struct esi_bound *bound,
                            struct esi_universal *universal)
{
    const struct esi_indexed_plan *plan = bound->plan;
    size_t variables = plan->variable_count + 1u;

    *sets = (struct esi_candidate_sets){
        .bound = bound,
        .universal = universal,
        .source = calloc(variables, sizeof *sets->source),
        .made = calloc(depths_of(plan) * variables, sizeof *sets->made),
        .columns = calloc(depths_of(plan), sizeof *sets->columns),
        .lists = calloc(variables, sizeof *sets->lists),
        .partners = calloc(variables, sizeof *sets->partners),
    };
    if (plan->is_growing)
        sets->few = calloc(variables * ESI_LISTED_FEW, sizeof *sets->few);
    if (!sets->source || !sets->made || !sets->columns || !sets->lists ||
        !sets->partners || (plan->is_growing && !sets->few))
        return -ENOMEM;
    return 0;
}

void esi_candidate_sets_fini(struct esi_candidate_sets *sets)
{
    struct esi_bound *bound = sets->bound;
    size_t depths = depths_of(bound->plan);

    for (size_t i = 0; sets->made && i < depths * bound->plan->variable_count; i++)
        free(sets->made[i].ranges);
    for (size_t i = 0; sets->columns && i < depths; i++)
        esi_intervals_fini(&sets->columns[i]);
    free(sets->source);
    free(sets->made);
    free(sets->columns);
    free(sets->few);
    free(sets->partners);
    for (size_t i = 0; sets->lists && i < bound->plan->variable_count; i++)
        free(sets->lists[i].values);
    free(sets->lists);
    free(sets->work);
    esi_intervals_fini(&sets->allowed);
    esi_intervals_fini(&sets->scratch);
}

uint64_t esi_candidate_sets_bytes(const struct esi_candidate_sets *sets)
{
    struct esi_bound *bound = sets->bound;
    size_t depths = depths_of(bound->plan);
    size_t count = depths * bound->plan->variable_count;
    uint64_t bytes =
        count * sizeof *sets->made + sets->work_capacity * sizeof *sets->work;

    for (size_t i = 0; i < count; i++)
        bytes += sets->made[i].capacity * sizeof *sets->made->ranges;
    for (size_t i = 0; i < depths; i++)
        bytes += sets->columns[i].capacity * sizeof *sets->columns->items;
    for (size_t i = 0; i < bound->plan->variable_count; i++)
        bytes += sets->lists[i].capacity * sizeof *sets->lists->values;
    return bytes;
}

/* --- Collecting constraints ------------------------------------------------------- */

static void push_work(struct esi_candidate_sets *sets, uint32_t number)
{
    if (ESI_ARRAY_RESERVE(sets->work, sets->work_capacity, sets->work_count + 1) < 0)
        sets->bound->error = -ENOMEM;
    else
        sets->work[sets->work_count++] = number;
}

/* The member of v's group that was bound last; members are bound in order. */
static int floor_of(const struct esi_bound *bound, unsigned v)
{
    const struct esi_indexed_plan *plan = bound->plan;
    uint64_t members = esi_groups_members(&plan->groups, v) & bound->check.bound;

    return members ? 63 - __builtin_clzll(members) : -1;
}

/* The newest event is not named by earlier events, except the other half of a sync,
 * which it names as well.  So only its partners can receive it; whether they do is
 * tested. */
static int sender_of(const struct esi_bound *bound, unsigned v, uint64_t applied)
{
    const struct esi_indexed_plan *plan = bound->plan;
    int pinned = bound->pinned;

    return pinned >= 0 && plan->senders[v] & plan->prompt & ~applied &
                              esi_program_bit((unsigned)pinned)
               ? pinned
               : -1;
}

/* v must be one of the partners of y: a list of one value, or empty. */
static bool note_sends(const struct esi_candidate_sets *sets,
                       unsigned y,
                       struct esi_restriction *restriction)
{
    const struct esi_bound *bound = sets->bound;
    const struct esi_domain *const *domains = bound->plan->domains;
    struct esi_domain_value *value = &sets->partners[restriction->v];
    const struct es_event_id *partners;
    size_t count = esi_domain_partners(domains[y], bound->values[y], &partners);

    if (count > 1)
        return false;
    count = count == 1 && esi_domain_find(domains[restriction->v], partners[0], value);
    restriction->is_listed = true;
    restriction->listed = (struct esi_listed){value, count};
    return true;
}

/* Whether an index by attributes is worth its creation: with the first few values of
 * the first variable, only once all values of v might have been compared. */
static bool are_lookups_due(const struct esi_candidate_sets *sets, unsigned v)
{
    struct esi_bound *bound = sets->bound;

    return bound->plan->is_growing || bound->plan->without & ES_INDEXED_THRIFT ||
           sets->ordinal >= LOOKUP_ORDINAL ||
           sets->compared >= esi_domain_count(bound->plan->domains[v]);
}

/* Uses the shortest list of values, if it is short enough. */
static void note_listed(const struct esi_candidate_sets *sets,
                        struct esi_listed listed,
                        struct esi_restriction *restriction)
{
    uint64_t most = restriction->is_listed
                        ? restriction->listed.count
                        : esi_candidates_total(sets, restriction->v) /
                              esi_listed_share(sets->bound->plan);

    if (listed.count >= most && listed.count > 0)
        return;
    restriction->is_listed = true;
    restriction->listed = listed;
}

static void note_equal(struct esi_candidate_sets *sets,
                       const struct esi_clause *clause,
                       uint64_t applied,
                       struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    unsigned v = restriction->v;
    struct esi_listed listed;

    /* With growing domains there is room for one list; partners are known without
     * it. */
    if (bound->plan->is_growing &&
        (restriction->is_listed || esi_has_partner(bound, v)))
        return;
    if (!(clause->existential & ~esi_program_bit(v) & bound->check.bound & ~applied) ||
        !are_lookups_due(sets, v) ||
        !esi_lookup_equal(bound, clause->literals, v,
                          sets->few ? &sets->few[v * ESI_LISTED_FEW] : NULL, &listed))
        return;
    note_listed(sets, listed, restriction);
}

/* Maximum length of a list that must be sorted: sorting it takes no longer than
 * iterating over the columns, or a tenth of the time to test all values. */
static uint64_t most_sorted(const struct esi_candidate_sets *sets,
                            const struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    unsigned v = restriction->v;
    const struct esi_candidates *source = sets->source[v];
    uint64_t total = esi_candidates_total(sets, v);
    uint64_t most = total / esi_listed_share(bound->plan);
    uint64_t quick = source ? source->count : esi_domain_slots(bound->plan->domains[v]);

    if (quick < total / SORTED_SHARE)
        quick = total / SORTED_SHARE;
    if (most > quick && !(bound->plan->without & ES_INDEXED_THRIFT))
        most = quick;
    if (restriction->is_listed && most > restriction->listed.count)
        most = restriction->listed.count;
    return most;
}

/* Like note_listed(), for values with attributes between bounds. */
static void note_bounds(struct esi_candidate_sets *sets,
                        uint64_t applied,
                        struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    unsigned v = restriction->v;
    uint64_t most = most_sorted(sets, restriction);
    struct esi_listed listed;

    if (most > 1 && are_lookups_due(sets, v) &&
        esi_lookup_bounds(bound, v, applied, most - 1, &sets->lists[v], &listed))
        note_listed(sets, listed, restriction);
}

/* Like note_listed(), for values near bound variables in growing domains. */
static void note_near(struct esi_candidate_sets *sets,
                      uint64_t limit,
                      struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    unsigned v = restriction->v;
    struct esi_listed listed;

    if (!bound->plan->is_growing || !restriction->is_timed || restriction->is_listed ||
        !esi_near_find(bound, v, restriction->masked, &restriction->times, limit,
                       &sets->lists[v], &listed))
        return;
    restriction->is_beyond = listed.count > limit;
    if (!restriction->is_beyond)
        note_listed(sets, listed, restriction);
    if (restriction->is_listed)
        restriction->masked = 0;
}

/* Like note_listed(), for the values that each alternative of a clause leaves. */
static void note_alternatives(struct esi_candidate_sets *sets,
                              const struct esi_clause *clause,
                              struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    unsigned v = restriction->v;
    uint64_t most = most_sorted(sets, restriction);
    struct esi_listed listed;

    if (clause->existential & ~esi_program_bit(v) & ~bound->check.bound || most <= 1 ||
        !are_lookups_due(sets, v) || esi_bound_satisfies(bound, clause))
        return;
    if (esi_lookup_alternatives(bound, clause, v, most - 1, &sets->lists[v], &listed))
        note_listed(sets, listed, restriction);
}

/* Like note_listed(), for the receives that name the event of x. */
static bool note_receives(struct esi_candidate_sets *sets,
                          unsigned x,
                          struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    const struct esi_domain *domain = plan->domains[restriction->v];
    struct es_event_id send = esi_bound_event(bound, x);
    struct esi_domain_value *value = &sets->partners[restriction->v], other;
    uint32_t at = 0;
    int result;

    if (!plan->is_growing) {
        note_listed(
            sets,
            esi_sorted_index_find(plan->received[plan->distinct_of[restriction->v]],
                                  esi_send_key(send)),
            restriction);
        return false;
    }
    result = esi_domain_next_receive(domain, send, &at, value);
    if (result < 0)
        bound->error = result;
    if (result > 0 && esi_domain_next_receive(domain, send, &at, &other) > 0)
        return false;
    restriction->is_listed = true;
    restriction->listed = (struct esi_listed){value, result > 0};
    return true;
}

/* For a clause in which one variable receives from the other, one of them v.  Returns
 * whether the list represents the clause completely. */
static bool note_partner(struct esi_candidate_sets *sets,
                         const struct esi_clause *clause,
                         struct esi_restriction *restriction)
{
    const struct esi_literal *literal = clause->literals;

    if (clause->count != 1 || literal->kind != ES_LITERAL_RECEIVED ||
        literal->is_negated)
        return false;
    return literal->x == restriction->v ? note_sends(sets, literal->y, restriction)
                                        : note_receives(sets, literal->x, restriction);
}

/* Notes a clause that refuses most predecessors of the pinned event. */
static void note_limit(const struct esi_bound *bound,
                       const struct esi_clause *clause,
                       struct esi_restriction *restriction)
{
    unsigned v = restriction->v;

    if (!restriction->limit && esi_universal_refuses(bound, clause, v) &&
        bound->plan->masks[v][bound->pinned] == ESI_IS_BEFORE)
        restriction->limit = clause;
}

/* Whether all predecessors of the pinned event on a trace are refused. */
static bool is_beyond_limit(struct esi_candidate_sets *sets,
                            const struct esi_restriction *restriction,
                            uint32_t trace)
{
    struct esi_universal_past past =
        esi_universal_past_of(sets->universal, restriction->limit, trace);

    return past.refused >= past.known;
}

static bool is_restricted(const struct esi_restriction *restriction)
{
    return restriction->is_empty || restriction->masked || restriction->floor >= 0 ||
           restriction->sender >= 0 || restriction->is_listed ||
           restriction->is_timed || restriction->clause_count > 0;
}

/* Collects the clauses to apply, and the lists that some of them provide. */
static void note_clauses(struct esi_candidate_sets *sets,
                         uint64_t applied,
                         struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    unsigned v = restriction->v;

    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];
        const struct esi_clause_facts *facts = esi_clause_facts_of(plan, clause);
        uint64_t others = clause->existential & ~esi_program_bit(v);

        if (facts->is_equality)
            note_equal(sets, clause, applied, restriction);
        if (facts->alternatives >> v & 1 && others & ~applied)
            note_alternatives(sets, clause, restriction);
        if (!(facts->exact >> v & 1) || others & ~bound->check.bound ||
            (sets->source[v] && !(others & ~applied)) ||
            esi_bound_satisfies(bound, clause) ||
            note_partner(sets, clause, restriction))
            continue;
        push_work(sets, esi_clause_number(plan, clause));
        note_limit(bound, clause, restriction);
    }
    restriction->clause_count = sets->work_count - restriction->clauses;
}

static void find_restriction(struct esi_candidate_sets *sets,
                             unsigned v,
                             uint64_t limit,
                             struct esi_restriction *restriction)
{
    struct esi_bound *bound = sets->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    const struct esi_candidates *source = sets->source[v];
    uint64_t applied = source ? source->applied : 0;
    uint64_t near = plan->near[v] & bound->check.bound & ~applied;

    restriction->v = v;
    restriction->masked = plan->masked[v] & bound->check.bound & ~applied;
    restriction->sender = sender_of(bound, v, applied);
    restriction->floor = floor_of(bound, v);
    restriction->times = source ? source->times : ESI_NEAR_ALL_TIMES;
    esi_near_keep_times(bound, v, near, &restriction->times);
    restriction->is_timed = near != 0;
    restriction->clauses = sets->work_count;
    restriction->is_empty =
        restriction->times.is_empty ||
        (!plan->is_growing && esi_implied_is_empty(bound, v, applied));
    if (restriction->is_empty)
        return;
    if (restriction->sender >= 0)
        note_sends(sets, (unsigned)restriction->sender, restriction);
    if (restriction->floor >= 0 && applied >> restriction->floor & 1)
        restriction->floor = -1;
    note_clauses(sets, applied, restriction);
    if (bound->plan->bounded >> v & 1)
        note_bounds(sets, applied, restriction);
    note_near(sets, limit, restriction);
    /* Without other restrictions this may cost more than it saves. */
    if (plan->implied[v] && is_restricted(restriction))
        restriction->implied = esi_implied_of(bound, v, applied);
    restriction->is_told = !(restriction->masked & plan->holed[v]) &&
                           restriction->sender < 0 && restriction->floor < 0 &&
                           restriction->clause_count == 0;
}

/* --- Applying constraints to a column --------------------------------------------- */

/* Intersects with sets->allowed. */
static void keep_allowed(struct esi_candidate_sets *sets,
                         struct esi_intervals *intervals)
{
    struct esi_bound *bound = sets->bound;
    struct esi_intervals *allowed = &sets->allowed;
    struct esi_intervals exchanged;

    esi_intervals_sort(allowed);
    esi_bound_check(bound, allowed);
    if (allowed->count == 0) {
        intervals->count = 0;
    } else if (allowed->count == 1) {
        esi_intervals_keep(intervals, allowed->items[0].begin, allowed->items[0].end);
    } else {
        esi_intervals_intersect(&sets->scratch, intervals, allowed);
        esi_bound_check(bound, &sets->scratch);
        exchanged = *intervals;
        *intervals = sets->scratch;
        sets->scratch = exchanged;
    }
}

/* Values in a group are increasing. */
static void keep_above(struct esi_bound *bound,
                       const struct esi_restriction *restriction,
                       uint32_t slot,
                       struct esi_intervals *intervals)
{
    const struct esi_indexed_plan *plan = bound->plan;
    struct esi_domain_value value = bound->values[restriction->floor];
    bool is_distinct = esi_groups_of(&plan->groups, restriction->v)->is_distinct;

    if (slot < value.slot)
        intervals->count = 0;
    else if (slot == value.slot)
        esi_intervals_keep(intervals, value.position + is_distinct, UINT32_MAX);
}

static void keep_partners(struct esi_candidate_sets *sets,
                          const struct esi_restriction *restriction,
                          uint32_t slot,
                          struct esi_intervals *intervals)
{
    struct esi_bound *bound = sets->bound;
    unsigned sender = (unsigned)restriction->sender;
    const struct esi_indexed_plan *plan = bound->plan;
    struct esi_domain_column column =
        esi_domain_column(plan->domains[restriction->v], slot);
    const struct es_event_id *partners;
    size_t count =
        esi_domain_partners(plan->domains[sender], bound->values[sender], &partners);

    sets->allowed.count = 0;
    esi_column_add_events(&column, partners, count, &sets->allowed);
    keep_allowed(sets, intervals);
}

static void apply_clause(struct esi_candidate_sets *sets,
                         const struct esi_clause *clause,
                         unsigned v,
                         uint32_t slot,
                         struct esi_intervals *intervals)
{
    struct esi_bound *bound = sets->bound;

    if (clause->universal) {
        esi_universal_restrict(sets->universal, clause, v, slot, intervals);
        return;
    }
    sets->allowed.count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & esi_program_bit(v))
            esi_bound_add_literal(bound, &clause->literals[i], v, slot, &sets->allowed);
    keep_allowed(sets, intervals);
}

static void apply_masks(struct esi_candidate_sets *sets,
                        uint64_t masked,
                        const struct esi_bound_target *target,
                        struct esi_intervals *intervals)
{
    for (uint64_t left = masked; left && intervals->count > 0; left &= left - 1) {
        unsigned x = (unsigned)__builtin_ctzll(left);

        sets->allowed.count = 0;
        esi_bound_add_mask(sets->bound, x, sets->bound->plan->masks[target->v][x],
                           target, &sets->allowed);
        keep_allowed(sets, intervals);
    }
}

/* Applies the constraints that may leave several intervals of a column. */
static void apply_restriction(struct esi_candidate_sets *sets,
                              const struct esi_restriction *restriction,
                              const struct esi_bound_target *target,
                              struct esi_intervals *intervals)
{
    struct esi_bound *bound = sets->bound;
    const struct esi_indexed_plan *plan = bound->plan;

    if (restriction->floor >= 0)
        keep_above(bound, restriction, target->slot, intervals);
    if (restriction->sender >= 0)
        keep_partners(sets, restriction, target->slot, intervals);
    apply_masks(sets, restriction->masked & plan->holed[target->v], target, intervals);
    for (size_t i = 0; i < restriction->clause_count && intervals->count > 0; i++)
        apply_clause(sets, &plan->clauses[sets->work[restriction->clauses + i]],
                     target->v, target->slot, intervals);
    esi_bound_check(bound, intervals);
}

/* Applies the constraints that leave one interval.  Returns whether it is not empty. */
static bool keep_interval(struct esi_candidate_sets *sets,
                          const struct esi_restriction *restriction,
                          const struct esi_bound_target *target,
                          struct esi_interval *kept)
{
    struct esi_bound *bound = sets->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    unsigned v = target->v;

    if (restriction->limit && is_beyond_limit(sets, restriction, target->column.trace))
        return false;
    if (restriction->is_timed)
        esi_domain_keep_within(plan->domains[v], target->slot, restriction->times.from,
                               restriction->times.to, &kept->begin, &kept->end);
    for (uint64_t left = (restriction->masked & ~plan->holed[v]) | restriction->implied;
         left && kept->begin < kept->end; left &= left - 1) {
        unsigned x = (unsigned)__builtin_ctzll(left);
        bool is_implied = restriction->implied >> x & 1;

        esi_bound_keep_mask(
            bound, x, is_implied ? plan->known[v][x] : plan->masks[v][x], target, kept);
    }
    return kept->begin < kept->end;
}

/* --- Iteration -------------------------------------------------------------------- */

void esi_walk_begin(struct esi_walk *walk,
                    struct esi_candidate_sets *sets,
                    unsigned v,
                    uint64_t limit)
{
    const struct esi_restriction *restriction = &walk->restriction;

    *walk = (struct esi_walk){.sets = sets,
                              .source = sets->source[v],
                              .domain = sets->bound->plan->domains[v]};
    find_restriction(sets, v, limit, &walk->restriction);
    walk->end = walk->source ? walk->source->count : esi_domain_slots(walk->domain);
    if (restriction->is_empty) {
        walk->end = 0;
    } else if (restriction->is_listed) {
        walk->listed = restriction->listed.values;
        walk->end = restriction->listed.count;
    }
}

void esi_walk_end(struct esi_walk *walk)
{
    walk->sets->work_count = walk->restriction.clauses;
}

static bool is_range_before(const void *range, const void *slot)
{
    return ((const struct esi_range *)range)->slot < *(const uint32_t *)slot;
}

/* The first range of a slot, or the position after it. */
static size_t range_of(const struct esi_candidates *source, uint32_t slot)
{
    return esi_lower_bound(source->ranges, source->count, sizeof *source->ranges,
                           is_range_before, &slot);
}

/* Whether the source contains a position; `range` is where to start, and only
 * increases. */
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

/* Adds the listed values of one column that the source contains. */
static void take_listed(struct esi_walk *walk,
                        uint32_t slot,
                        struct esi_intervals *intervals)
{
    const struct esi_candidates *source = walk->source;
    size_t range = source ? range_of(source, slot) : 0;

    for (; walk->next < walk->end && walk->listed[walk->next].slot == slot;
         walk->next++) {
        uint32_t position = walk->listed[walk->next].position;

        if (!source || has_position(source, slot, position, &range))
            esi_intervals_add(intervals, position, position + 1);
    }
}

static void take_ranges(struct esi_walk *walk,
                        uint32_t slot,
                        struct esi_intervals *intervals)
{
    const struct esi_range *ranges = walk->source->ranges;

    for (; walk->next < walk->end && ranges[walk->next].slot == slot; walk->next++)
        esi_intervals_add(intervals, ranges[walk->next].begin, ranges[walk->next].end);
}

static uint32_t next_slot(const struct esi_walk *walk)
{
    if (walk->listed)
        return walk->listed[walk->next].slot;
    return walk->source ? walk->source->ranges[walk->next].slot : (uint32_t)walk->next;
}

/* Moves past a column.  Adds the values of the list or source in it, and returns their
 * extent; if there are none, that of the whole column. */
static struct esi_interval take_column(struct esi_walk *walk,
                                       const struct esi_bound_target *target,
                                       struct esi_intervals *intervals)
{
    intervals->count = 0;
    if (walk->listed)
        take_listed(walk, target->slot, intervals);
    else if (walk->source)
        take_ranges(walk, target->slot, intervals);
    else
        walk->next++;
    return intervals->count > 0 ? esi_intervals_extent(intervals)
                                : (struct esi_interval){0, target->column.count};
}

bool esi_walk_next(struct esi_walk *walk,
                   uint32_t *ret_slot,
                   struct esi_intervals *intervals)
{
    const struct esi_restriction *restriction = &walk->restriction;
    struct esi_candidate_sets *sets = walk->sets;

    while (walk->next < walk->end && !sets->bound->error) {
        struct esi_bound_target target =
            esi_bound_target_of(sets->bound, restriction->v, next_slot(walk));
        struct esi_interval kept = take_column(walk, &target, intervals);

        if (!keep_interval(sets, restriction, &target, &kept))
            continue;
        if (walk->listed || walk->source)
            esi_intervals_keep(intervals, kept.begin, kept.end);
        else
            esi_intervals_add(intervals, kept.begin, kept.end);
        if (!restriction->is_told)
            apply_restriction(sets, restriction, &target, intervals);
        esi_bound_check(sets->bound, intervals);
        if (intervals->count > 0) {
            *ret_slot = target.slot;
            return true;
        }
    }
    return false;
}

/* --- All columns ------------------------------------------------------------------ */

static void add_column(struct esi_candidate_sets *sets,
                       struct esi_candidates *candidates,
                       uint32_t slot,
                       const struct esi_intervals *intervals)
{
    if (ESI_ARRAY_RESERVE(candidates->ranges, candidates->capacity,
                          candidates->count + intervals->count) < 0) {
        sets->bound->error = -ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < intervals->count; i++)
        candidates->ranges[candidates->count++] = (struct esi_range){
            slot, intervals->items[i].begin, intervals->items[i].end};
    candidates->total += esi_intervals_total(intervals);
    candidates->slots += intervals->count > 0;
}

/* False if there are more than `limit`. */
static bool fill_columns(struct esi_walk *walk,
                         unsigned depth,
                         uint64_t limit,
                         struct esi_candidates *candidates)
{
    struct esi_candidate_sets *sets = walk->sets;
    struct esi_intervals *intervals = &sets->columns[depth];
    uint32_t slot;

    candidates->count = 0;
    candidates->total = 0;
    candidates->slots = 0;
    if (ESI_ARRAY_RESERVE(candidates->ranges, candidates->capacity,
                          walk->end - walk->next) < 0)
        sets->bound->error = -ENOMEM;
    while (esi_walk_next(walk, &slot, intervals)) {
        add_column(sets, candidates, slot, intervals);
        if (candidates->total > limit)
            return false;
    }
    candidates->applied = sets->bound->check.bound;
    candidates->times = walk->restriction.times;
    return true;
}

bool esi_candidates_make(struct esi_candidate_sets *sets,
                         unsigned depth,
                         unsigned v,
                         uint64_t limit)
{
    struct esi_candidates *candidates =
        &sets->made[(size_t)depth * sets->bound->plan->variable_count + v];
    struct esi_walk walk;
    bool result;

    esi_walk_begin(&walk, sets, v, limit);
    if (walk.restriction.is_beyond) {
        result = false;
    } else if (!is_restricted(&walk.restriction)) {
        result = esi_candidates_total(sets, v) <= limit;
    } else {
        result = fill_columns(&walk, depth, limit, candidates);
        if (result)
            sets->source[v] = candidates;
    }
    esi_walk_end(&walk);
    return result;
}

uint64_t esi_candidates_total(const struct esi_candidate_sets *sets, unsigned v)
{
    const struct esi_candidates *source = sets->source[v];

    return source ? source->total : esi_domain_count(sets->bound->plan->domains[v]);
}

void esi_candidates_share(struct esi_candidate_sets *sets, unsigned v)
{
    struct esi_bound *bound = sets->bound;
    uint64_t others = esi_groups_members(&bound->plan->groups, v) & ~bound->check.bound;

    for (; sets->source[v] && others; others &= others - 1)
        sets->source[__builtin_ctzll(others)] = sets->source[v];
}
