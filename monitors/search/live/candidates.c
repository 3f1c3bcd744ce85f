/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* candidates.c - matches that are not decided yet: stored, and decided again when a
 * value joins that may decide them. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/live/live_private.h"

enum { SWEEP_MIN = 1024 };

/* The values of a match's variables, and what is undecided about it. */
struct esi_live_candidate {
    struct esi_live_disjunct *disjunct;
    bool is_held;     /* its own condition is decided to hold; lesser disjuncts are
                         not decided */
    bool *is_open;    /* by lesser disjunct: it may still come to hold */
    uint64_t *counts; /* by atom: values counted so far, or ES_FORMULA_UNCOUNTED;
                         NULL: nothing is counted */
    struct es_event_id *ids; /* by variable; for a set: NONE and its number */
};

static void destroy_candidate(struct esi_live_candidate *candidate)
{
    free(candidate->ids);
    free(candidate->is_open);
    free(candidate->counts);
}

static void remove_candidate(struct esi_live_query *query, size_t at)
{
    struct esi_live_candidates *candidates = &query->candidates;

    candidates->eager_count -= !candidates->items[at].disjunct->is_lazy;
    destroy_candidate(&candidates->items[at]);
    candidates->items[at] = candidates->items[--candidates->count];
    query->live->candidates--;
}

void esi_live_candidates_fini(struct esi_live_query *query)
{
    while (query->candidates.count > 0)
        remove_candidate(query, query->candidates.count - 1);
    free(query->candidates.items);
    query->candidates.items = NULL;
    query->candidates.capacity = 0;
}

uint64_t esi_live_candidates_bytes(const struct esi_live_query *query)
{
    const struct esi_live_candidates *candidates = &query->candidates;
    uint64_t one =
        query->program->variable_count * sizeof(struct es_event_id) +
        query->program->disjunct_count * sizeof(bool) +
        (candidates->has_counts ? query->program->atom_count : 0u) * sizeof(uint64_t);

    return candidates->capacity * sizeof *candidates->items + candidates->count * one;
}

/* --- The variables of a candidate ------------------------------------------------- */

/* Binds the variables to their values.  False if a value that is needed was evicted. */
static bool bind_variables(struct esi_live_query *query,
                           const struct esi_live_candidate *candidate)
{
    struct esi_live_assignment *assignment = &query->assignment;
    uint64_t left = candidate->disjunct->condition.disjunct->variables;

    assignment->check.counts = candidate->counts;
    for (; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        struct es_event_id id = candidate->ids[v];
        struct esi_domain_value value = {0, id.index};
        bool has_value;

        if (id.trace == ES_PATTERN_NONE) {
            esi_formula_check_bind(&assignment->check, v, value);
            continue;
        }
        has_value = assignment->needs_rows & esi_program_bit(v);
        if (has_value && !esi_domain_find(query->domains[v], id, &value))
            return false;
        esi_formula_check_bind_event(&assignment->check, v, value, id);
        assignment->check.bindings[v].has_value = has_value;
    }
    return true;
}

/* --- Counts ----------------------------------------------------------------------- */

/* Counts the values searched for so far; those in the queue follow one by one. */
static uint64_t count_now(struct esi_live_query *query, uint32_t number)
{
    struct esi_formula_check *check = &query->assignment.check;
    const struct esi_joined_queue *queue = &query->live->queue;
    uint64_t most = (uint64_t)query->program->atoms[number].node->number + 1 +
                    queue->count - queue->from;
    uint64_t found = esi_formula_count(check, number, most);

    for (size_t i = queue->from; i < queue->count; i++) {
        const struct esi_joined *joined = &queue->items[i];
        struct esi_domain_value value;

        if (joined->domain == query->counted[number] &&
            esi_live_find_value(joined->domain, joined->id, &value))
            found -= esi_formula_is_counted(check, number, value);
    }
    return found;
}

/* The variables of the candidate must be bound. */
static void count_all(struct esi_live_query *query,
                      struct esi_live_candidate *candidate)
{
    uint64_t variables = candidate->disjunct->condition.disjunct->variables;

    for (uint32_t a = 0; a < query->program->atom_count; a++)
        candidate->counts[a] =
            query->counted[a] && !(query->program->atoms[a].left & ~variables)
                ? count_now(query, a)
                : ES_FORMULA_UNCOUNTED;
}

/* Counts one more value for the atoms that it may belong to.  Returns whether a count
 * may have changed. */
static bool count_joined(struct esi_live_query *query,
                         struct esi_live_candidate *candidate,
                         const struct esi_joined *joined)
{
    bool has_changed = false;

    for (uint32_t a = 0; candidate->counts && a < query->program->atom_count; a++) {
        if (query->counted[a] != joined->domain)
            continue;
        if (candidate->counts[a] == ES_FORMULA_UNCOUNTED) {
            has_changed = true;
        } else if (esi_formula_is_counted(&query->assignment.check, a, joined->value)) {
            candidate->counts[a]++;
            has_changed = true;
        }
    }
    return has_changed;
}

/* --- Storing ---------------------------------------------------------------------- */

/* The variables of the match must be bound. */
static int keep_candidate(struct esi_live_query *query,
                          struct esi_live_disjunct *disjunct,
                          bool is_held,
                          const bool *is_open)
{
    const struct esi_program_disjunct *of = disjunct->condition.disjunct;
    struct esi_live_candidates *candidates = &query->candidates;
    struct esi_live_candidate candidate = {.disjunct = disjunct, .is_held = is_held};

    if (query->live->candidates >= query->live->config.kept_candidates) {
        candidates->lost++;
        return 0;
    }
    candidate.ids = calloc(query->program->variable_count + 1u, sizeof *candidate.ids);
    candidate.is_open = calloc(of->lesser_count + 1, sizeof *candidate.is_open);
    if (candidates->has_counts)
        candidate.counts = calloc(query->program->atom_count, sizeof *candidate.counts);
    if (!candidate.ids || !candidate.is_open ||
        (candidates->has_counts && !candidate.counts) ||
        ESI_ARRAY_RESERVE(candidates->items, candidates->capacity,
                          candidates->count + 1) < 0) {
        destroy_candidate(&candidate);
        return -ENOMEM;
    }
    if (candidates->has_counts)
        count_all(query, &candidate);
    for (uint64_t left = of->variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);

        candidate.ids[v] = esi_live_query_id(query, v);
    }
    for (size_t i = 0; i < of->lesser_count; i++)
        candidate.is_open[i] = is_open[i];
    candidates->items[candidates->count++] = candidate;
    candidates->eager_count += !disjunct->is_lazy;
    query->live->candidates++;
    return 0;
}

/* Evaluates the lesser disjuncts: if one of them holds, there is no match (FAILS).
 * With `is_end` only the open ones are evaluated, whose certain clauses hold. */
static enum esi_formula_truth lesser_truth(struct esi_live_query *query,
                                           const struct esi_live_disjunct *disjunct,
                                           bool is_end,
                                           bool *is_open)
{
    const struct esi_program_disjunct *of = disjunct->condition.disjunct;
    enum esi_formula_truth all = ES_FORMULA_HOLDS;

    for (size_t i = 0; i < of->lesser_count; i++) {
        enum esi_formula_truth one;

        if (is_end && !is_open[i])
            continue;
        one = esi_live_condition_truth(&query->assignment,
                                       &query->disjuncts[of->lesser[i]].condition,
                                       is_end, is_end);
        if (one == ES_FORMULA_HOLDS)
            return ES_FORMULA_FAILS;
        is_open[i] = one == ES_FORMULA_OPEN;
        if (is_open[i])
            all = ES_FORMULA_OPEN;
    }
    return all;
}

/* Forgotten events are treated as unordered.  Once a search has met one, its results
 * are decided again, and rejected if they depend on unknown relations. */
int esi_live_candidates_add(struct esi_live_query *query, uint32_t number)
{
    struct esi_live_disjunct *disjunct = &query->disjuncts[number];
    bool is_sure = !disjunct->search || esi_indexed_unknown(disjunct->search) == 0;
    uint64_t unknown = query->live->precedence.unknown;
    bool is_open[ES_PROGRAM_DISJUNCTS];
    enum esi_formula_truth own, lesser;

    if (is_sure && disjunct->is_decided)
        return esi_live_query_emit(query, disjunct->condition.disjunct->variables);
    query->assignment.check.counts = NULL;
    own = esi_live_condition_truth(&query->assignment, &disjunct->condition, is_sure,
                                   false);
    if (own == ES_FORMULA_FAILS)
        return 0;
    lesser = lesser_truth(query, disjunct, false, is_open);
    if (lesser == ES_FORMULA_FAILS || query->live->precedence.unknown != unknown)
        return 0;
    if (own == ES_FORMULA_HOLDS && lesser == ES_FORMULA_HOLDS)
        return esi_live_query_emit(query, disjunct->condition.disjunct->variables);
    return keep_candidate(query, disjunct, own == ES_FORMULA_HOLDS, is_open);
}

/* --- Deciding --------------------------------------------------------------------- */

typedef enum esi_formula_truth (*candidate_fn)(struct esi_live_query *query,
                                               struct esi_live_candidate *candidate,
                                               const struct esi_joined *joined);

/* Decides a candidate: reports it if it is a match, and removes it unless it is open.
 * A candidate that cannot be decided because events were evicted or forgotten is
 * lost. */
static int decide_candidate(struct esi_live_query *query,
                            size_t at,
                            candidate_fn truth_of,
                            const struct esi_joined *joined)
{
    struct esi_live_candidate *candidate = &query->candidates.items[at];
    uint64_t variables = candidate->disjunct->condition.disjunct->variables;
    uint64_t unknown = query->live->precedence.unknown;
    bool is_bound = bind_variables(query, candidate);
    enum esi_formula_truth truth =
        is_bound ? truth_of(query, candidate, joined) : ES_FORMULA_FAILS;
    int result = 0;

    if (!is_bound || query->live->precedence.unknown != unknown) {
        query->candidates.lost++;
        truth = ES_FORMULA_FAILS;
    }
    if (truth == ES_FORMULA_HOLDS)
        result = esi_live_query_emit(query, variables);
    if (truth != ES_FORMULA_OPEN)
        remove_candidate(query, at);
    return result;
}

/* Whether existing values refuse the candidate; never returns HOLDS. */
static enum esi_formula_truth refused_truth(struct esi_live_query *query,
                                            struct esi_live_candidate *candidate,
                                            const struct esi_joined *joined)
{
    (void)joined;
    return esi_live_condition_truth(&query->assignment, &candidate->disjunct->condition,
                                    true, false) == ES_FORMULA_FAILS
               ? ES_FORMULA_FAILS
               : ES_FORMULA_OPEN;
}

/* Decides a candidate after a value joined. */
static enum esi_formula_truth joined_truth(struct esi_live_query *query,
                                           struct esi_live_candidate *candidate,
                                           const struct esi_joined *joined)
{
    struct esi_live_condition *condition = &candidate->disjunct->condition;
    bool is_counted = count_joined(query, candidate, joined);
    bool is_any_open = false;

    if (!candidate->is_held) {
        enum esi_formula_truth own = esi_live_condition_update(
            &query->assignment, condition, joined, is_counted);

        if (own == ES_FORMULA_FAILS)
            return own;
        candidate->is_held = own == ES_FORMULA_HOLDS;
    }
    for (size_t i = 0; i < condition->disjunct->lesser_count; i++) {
        uint32_t number = condition->disjunct->lesser[i];
        enum esi_formula_truth lesser;

        if (!candidate->is_open[i])
            continue;
        lesser = esi_live_condition_update(&query->assignment,
                                           &query->disjuncts[number].condition, joined,
                                           is_counted);
        if (lesser == ES_FORMULA_HOLDS)
            return ES_FORMULA_FAILS;
        candidate->is_open[i] = lesser == ES_FORMULA_OPEN;
        is_any_open |= candidate->is_open[i];
    }
    return candidate->is_held && !is_any_open ? ES_FORMULA_HOLDS : ES_FORMULA_OPEN;
}

/* Decides a candidate at the end of the events. */
static enum esi_formula_truth last_truth(struct esi_live_query *query,
                                         struct esi_live_candidate *candidate,
                                         const struct esi_joined *joined)
{
    (void)joined;
    return esi_live_condition_truth(&query->assignment, &candidate->disjunct->condition,
                                    true, true) == ES_FORMULA_HOLDS &&
                   lesser_truth(query, candidate->disjunct, true, candidate->is_open) ==
                       ES_FORMULA_HOLDS
               ? ES_FORMULA_HOLDS
               : ES_FORMULA_FAILS;
}

void esi_live_candidates_sweep(struct esi_live_query *query)
{
    struct esi_live_candidates *candidates = &query->candidates;

    for (size_t i = candidates->count; i > 0; i--)
        if (candidates->items[i - 1].disjunct->is_lazy)
            decide_candidate(query, i - 1, refused_truth, NULL);
    candidates->next_sweep = 2 * candidates->count + SWEEP_MIN;
}

/* Sweeps when the number has doubled, and at the limit after every limit / 4 events. */
static void sweep_if_many(struct esi_live_query *query)
{
    const struct esi_live *live = query->live;
    uint64_t limit = live->config.kept_candidates;

    if (query->candidates.count < query->candidates.next_sweep &&
        (live->candidates < limit || live->events < query->candidates.next_room))
        return;
    esi_live_candidates_sweep(query);
    query->candidates.next_room = live->events + limit / 4;
}

static bool is_universal(const struct esi_live_query *query,
                         const struct esi_joined *joined)
{
    for (uint64_t left = query->assignment.universal; left; left &= left - 1)
        if (query->domains[__builtin_ctzll(left)] == joined->domain)
            return true;
    return false;
}

/* Whether an atom counts the events after that of one variable. */
static bool counts_after(const struct esi_live_query *query, uint32_t number)
{
    const struct esi_atom *atom = &query->program->atoms[number];

    return atom->op == ES_OPERATOR_BEFORE && !atom->is_reversed && !atom->is_negated &&
           atom->left && !(atom->left & (atom->left - 1)) &&
           esi_domain_is_single(query->counted[number]) &&
           esi_domain_is_single(query->domains[__builtin_ctzll(atom->left)]);
}

/* The possible effect of a new value on candidates. */
enum joined_effect { DOES_NOTHING, COUNTS_AFTER, MAY_DECIDE };

static enum joined_effect effect_of(const struct esi_live_query *query,
                                    const struct esi_joined *joined)
{
    enum joined_effect effect = DOES_NOTHING;

    if (is_universal(query, joined))
        return MAY_DECIDE;
    for (uint32_t a = 0; a < query->program->atom_count; a++)
        if (query->counted[a] == joined->domain) {
            if (!counts_after(query, a))
                return MAY_DECIDE;
            effect = COUNTS_AFTER;
        }
    return effect;
}

/* A new event that is compared with all candidates. */
struct new_event {
    struct es_event_id id;
    const uint32_t *row; /* its cached timestamp, NULL if there is none; valid while the
                            next row of the cache is `stamped` */
    uint64_t stamped;
};

static bool is_before_new(struct esi_live *live,
                          struct es_event_id event,
                          struct new_event *other)
{
    if (other->stamped != live->stamps.next) {
        other->row = esi_stamp_cache_use(&live->stamps, other->id);
        other->stamped = live->stamps.next;
    }
    if (!other->row || event.trace == other->id.trace ||
        other->row[event.trace] == ESI_STAMP_UNKNOWN)
        return esi_precedence_of(&live->precedence, event, other->id);
    live->precedence.comparisons++;
    return other->row[event.trace] >= event.index;
}

/* Whether no atom of a candidate counts an event, where all atoms count later
 * events. */
static bool is_uncounted(struct esi_live_query *query,
                         const struct esi_live_candidate *candidate,
                         const struct esi_domain *domain,
                         struct new_event *joined)
{
    uint64_t unknown = query->live->precedence.unknown;

    for (uint32_t a = 0; a < query->program->atom_count; a++) {
        uint64_t left = query->program->atoms[a].left;

        if (query->counted[a] == domain &&
            (candidate->counts[a] == ES_FORMULA_UNCOUNTED ||
             is_before_new(query->live, candidate->ids[__builtin_ctzll(left)], joined)))
            return false;
    }
    return query->live->precedence.unknown == unknown;
}

int esi_live_candidates_update(struct esi_live_query *query,
                               const struct esi_joined *joined)
{
    struct esi_live_candidates *candidates = &query->candidates;
    struct new_event event = {.id = joined->id};
    enum joined_effect effect;
    bool is_many;
    int result = 0;

    sweep_if_many(query);
    is_many = candidates->count > query->live->config.asked_candidates;
    effect = effect_of(query, joined);
    if (effect == DOES_NOTHING || (is_many && candidates->eager_count == 0))
        return 0;
    for (size_t i = candidates->count; result == 0 && i > 0; i--) {
        const struct esi_live_candidate *candidate = &candidates->items[i - 1];

        if (!(is_many && candidate->disjunct->is_lazy) &&
            (effect == MAY_DECIDE ||
             !is_uncounted(query, candidate, joined->domain, &event)))
            result = decide_candidate(query, i - 1, joined_truth, joined);
    }
    return result;
}

int esi_live_candidates_end(struct esi_live_query *query)
{
    int result = 0;

    while (result == 0 && query->candidates.count > 0)
        result = decide_candidate(query, query->candidates.count - 1, last_truth, NULL);
    return result < 0 ? result : query->assignment.check.failure;
}

void esi_live_candidates_prune(struct esi_live_query *query)
{
    for (size_t i = query->candidates.count; i > 0; i--)
        if (!bind_variables(query, &query->candidates.items[i - 1])) {
            query->candidates.lost++;
            remove_candidate(query, i - 1);
        }
}
