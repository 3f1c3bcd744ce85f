/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_candidates.c - the remaining values of an unbound variable, given the bound
 * ones. */
#include "config.h"

#include "monitors/search/indexed/indexed_candidates.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/lower_bound.h"

enum { LAST_ROWS = 8 }; /* of a column, tested for their times */

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

/* Whether all predecessors of the pinned event on a trace are refused. */
static bool is_beyond_limit(struct esi_candidate_sets *sets,
                            const struct esi_restriction *restriction,
                            uint32_t trace)
{
    struct esi_universal_past past =
        esi_universal_past_of(sets->universal, restriction->limit, trace);

    return past.refused >= past.known;
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

/* The first row that may have happened at `from` or later, if it is among the last
 * LAST_ROWS; otherwise the first row. */
static inline uint32_t first_since(const struct esi_column *column, int64_t from)
{
    uint32_t row = column->end;

    if (from == INT64_MIN || !column->latest)
        return column->first;
    while (row > column->first && column->latest[row - 1] >= from)
        if (column->end - --row == LAST_ROWS)
            return column->first;
    return row;
}

/* Looks up the row of the first event that the values must precede. */
static void find_known(struct esi_walk *walk)
{
    struct esi_stamp_cache *stamps = walk->sets->bound->plan->stamps;

    walk->stamp = stamps ? esi_stamp_cache_use(stamps, walk->known) : NULL;
    walk->stamped = stamps ? stamps->next : 0;
}

/* The greatest predecessor of that event on a trace. */
static uint32_t known_on(struct esi_walk *walk, unsigned x, uint32_t trace)
{
    struct esi_bound *bound = walk->sets->bound;

    if (trace == walk->known.trace)
        return walk->known.index - 1;
    if (!walk->stamp || walk->stamp[trace] == ESI_STAMP_UNKNOWN)
        return esi_bound_greatest(bound, x, trace);
    bound->precedence.comparisons++;
    return walk->stamp[trace];
}

static bool is_any_after(struct esi_bound *bound,
                         const struct esi_column *column,
                         uint64_t afters)
{
    struct es_event_id last = {column->trace, column->indexes[column->end - 1]};

    for (; afters; afters &= afters - 1) {
        unsigned x = (unsigned)__builtin_ctzll(afters);

        if (esi_bound_is_last(bound, x) ||
            !esi_precedence_of(&bound->precedence, esi_bound_event(bound, x), last))
            return false;
    }
    return true;
}

/* For growing domains: skips columns whose last rows tell that no values remain. */
static void skip_columns(struct esi_walk *walk)
{
    const struct esi_restriction *restriction = &walk->restriction;
    struct esi_bound *bound = walk->sets->bound;
    const struct esi_stamp_cache *stamps = bound->plan->stamps;
    int64_t from = restriction->is_timed ? restriction->times.from : INT64_MIN;
    unsigned x = (unsigned)__builtin_ctzll(restriction->befores | UINT64_C(1) << 63);

    for (; walk->next < walk->end; walk->next++) {
        const struct esi_column *column = &walk->domain->columns[walk->next];
        uint32_t first;

        if (restriction->limit &&
            is_beyond_limit(walk->sets, restriction, column->trace))
            continue;
        first = first_since(column, from);
        if (first == column->end)
            continue;
        /* A new row may have replaced the one of the event. */
        if (restriction->befores && stamps && walk->stamped != stamps->next)
            find_known(walk);
        if (restriction->befores &&
            column->indexes[first] > known_on(walk, x, column->trace))
            continue;
        if (!restriction->afters || is_any_after(bound, column, restriction->afters))
            return;
    }
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
    esi_restriction_find(sets, v, limit, &walk->restriction);
    if (restriction->befores)
        walk->known = esi_bound_event(sets->bound,
                                      (unsigned)__builtin_ctzll(restriction->befores));
    walk->end = walk->source ? walk->source->count : esi_domain_slots(walk->domain);
    walk->is_growing =
        sets->bound->plan->is_growing && sets->bound->plan->single >> v & 1;
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

/* Tests what keep_interval() keeps of a column, for one value.  While events arrive,
 * lists are short. */
static bool passes_interval(const struct esi_walk *walk,
                            const struct esi_bound_target *target,
                            uint32_t position)
{
    const struct esi_restriction *restriction = &walk->restriction;
    struct esi_bound *bound = walk->sets->bound;
    struct es_event_id event = {target->column.trace, target->column.indexes[position]};

    return esi_walk_takes(walk, (struct esi_domain_value){target->slot, position}) &&
           esi_bound_allows(bound, event, target->v,
                            restriction->masked & ~bound->plan->holed[target->v]);
}

/* Adds the listed values of one column that the source contains. */
static void take_listed(struct esi_walk *walk,
                        const struct esi_bound_target *target,
                        struct esi_intervals *intervals)
{
    const struct esi_candidates *source = walk->source;
    uint32_t slot = target->slot;
    size_t range = source ? range_of(source, slot) : 0;

    for (; walk->next < walk->end && walk->listed[walk->next].slot == slot;
         walk->next++) {
        uint32_t position = walk->listed[walk->next].position;

        if ((!source || has_position(source, slot, position, &range)) &&
            (!walk->is_growing || passes_interval(walk, target, position)))
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
 * extent; without list and source, that of the whole column. */
static struct esi_interval take_column(struct esi_walk *walk,
                                       const struct esi_bound_target *target,
                                       struct esi_intervals *intervals)
{
    intervals->count = 0;
    if (walk->listed) {
        take_listed(walk, target, intervals);
    } else if (walk->source) {
        take_ranges(walk, target->slot, intervals);
    } else {
        walk->next++;
        return (struct esi_interval){0, target->column.count};
    }
    return intervals->count > 0 ? esi_intervals_extent(intervals)
                                : (struct esi_interval){0, 0};
}

bool esi_walk_next(struct esi_walk *walk,
                   uint32_t *ret_slot,
                   struct esi_intervals *intervals)
{
    const struct esi_restriction *restriction = &walk->restriction;
    struct esi_candidate_sets *sets = walk->sets;

    while (walk->next < walk->end && !sets->bound->error) {
        struct esi_bound_target target;
        struct esi_interval kept;

        if (walk->is_growing && !walk->listed && !walk->source) {
            skip_columns(walk);
            if (walk->next == walk->end)
                break;
        }
        target = esi_bound_target_of(sets->bound, restriction->v, next_slot(walk));
        kept = take_column(walk, &target, intervals);
        esi_bound_check(sets->bound, intervals);

        if (kept.begin == kept.end ||
            (restriction->limit &&
             is_beyond_limit(sets, restriction, target.column.trace)) ||
            (!(walk->listed && walk->is_growing) &&
             !keep_interval(sets, restriction, &target, &kept)))
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
    } else if (!esi_restriction_is_any(&walk.restriction)) {
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

int esi_candidates_send(const struct esi_candidate_sets *sets,
                        unsigned v,
                        struct esi_domain_value *ret_value)
{
    struct esi_bound *bound = sets->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    uint64_t receivers = plan->receivers[v] & bound->check.bound;
    struct esi_near_times times = ESI_NEAR_ALL_TIMES;
    const struct es_event_id *partners;
    size_t count;
    unsigned y;

    if (!(plan->named >> v & 1) || receivers == 0 || receivers & (receivers - 1) ||
        plan->senders[v] & bound->check.bound || sets->source[v])
        return -1;
    y = (unsigned)__builtin_ctzll(receivers);
    count = esi_domain_partners(plan->domains[y], bound->values[y], &partners);
    if (count > 1)
        return -1;
    if (count == 0 || !esi_domain_find(plan->domains[v], partners[0], ret_value))
        return 0;
    esi_near_keep_times(bound, v, plan->near[v] & bound->check.bound, &times);
    return !times.is_empty && esi_near_has(&times, plan->domains[v], *ret_value) &&
           esi_bound_allows(bound, partners[0], v,
                            plan->masked[v] & bound->check.bound);
}

void esi_candidates_share(struct esi_candidate_sets *sets, unsigned v)
{
    struct esi_bound *bound = sets->bound;
    uint64_t others = esi_groups_members(&bound->plan->groups, v) & ~bound->check.bound;

    for (; sets->source[v] && others; others &= others - 1)
        sets->source[__builtin_ctzll(others)] = sets->source[v];
}
