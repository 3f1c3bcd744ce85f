/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_restriction.c - the constraints of an unbound variable, given the bound ones:
 * masks, times and clauses, and the shortest list of values. */
#include "config.h"

#include "monitors/search/indexed/indexed_candidates.h"

#include "base/array.h"
#include "monitors/search/indexed/indexed_implied.h"

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
    const struct esi_indexed_plan *plan = sets->bound->plan;

    return plan->is_growing || sets->ordinal >= plan->tuning.index_ordinal ||
           sets->compared >=
               plan->tuning.index_comparisons * esi_domain_count(plan->domains[v]);
}

/* Uses the shortest list of values, if it is short enough. */
static void note_listed(const struct esi_candidate_sets *sets,
                        struct esi_listed listed,
                        struct esi_restriction *restriction)
{
    uint64_t most = restriction->is_listed
                        ? restriction->listed.count
                        : esi_candidates_total(sets, restriction->v) /
                              sets->bound->plan->tuning.listed_share;

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
    const struct esi_indexed_plan *plan = sets->bound->plan;
    unsigned v = restriction->v;
    const struct esi_candidates *source = sets->source[v];
    uint64_t total = esi_candidates_total(sets, v);
    uint64_t most = total / plan->tuning.listed_share;
    uint64_t quick = source ? source->count : esi_domain_slots(plan->domains[v]);

    if (quick < total / plan->tuning.sorted_share)
        quick = total / plan->tuning.sorted_share;
    if (most > quick)
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
 * whether the list represents the clause completely; only the first such clause is
 * listed. */
static bool note_partner(struct esi_candidate_sets *sets,
                         const struct esi_clause *clause,
                         struct esi_restriction *restriction)
{
    const struct esi_literal *literal = clause->literals;

    if (clause->count != 1 || literal->kind != ES_LITERAL_RECEIVED ||
        literal->is_negated ||
        (restriction->is_listed &&
         restriction->listed.values == &sets->partners[restriction->v]))
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

void esi_restriction_find(struct esi_candidate_sets *sets,
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
    restriction->befores = plan->befores[v] & restriction->masked;
    restriction->afters = plan->afters[v] & restriction->masked;
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
    if (plan->implied[v] && esi_restriction_is_any(restriction))
        restriction->implied = esi_implied_of(bound, v, applied);
    restriction->is_told = !(restriction->masked & plan->holed[v]) &&
                           restriction->sender < 0 && restriction->floor < 0 &&
                           restriction->clause_count == 0;
}
