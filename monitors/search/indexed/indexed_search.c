/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_search.c - the search by ranges itself, and the choice of the next variable.
 *
 * One witness is enough for variables that are not returned.  A witness is searched for
 * as soon as its variable is unrelated to all unbound variables.  A variable with few
 * remaining values is bound before a next variable with many, because it may restrict
 * that one strongly, as b does in A --> ~b --> C.  The same returned events may then be
 * found with several of its values; they are reported once, by remembering the results
 * for each value of the first variable.  All other variables that are not returned come
 * last.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/indexed/indexed.h"
#include "monitors/search/indexed/indexed_search.h"

enum {
    NODES_BETWEEN_QUESTIONS = 256, /* checks of the time limit */
    NOTHING = -1,                  /* some variable has no values left */
    NO_VARIABLE = -1,
};

enum {
    EARLY_VALUES = 8, /* maximum, since the rest may be repeated for each of them */
    EARLY_GAIN = 8,   /* the next variable has at least this many times more values */
};

/* --- Start and end ---------------------------------------------------------------- */

int esi_indexed_create_for(const struct esi_indexed_plan *plan,
                           struct esi_indexed **ret_search)
{
    struct esi_indexed *search = calloc(1, sizeof *search);
    int result[3];

    if (!search)
        return -ENOMEM;
    search->takes_any_witness = !plan->all_witnesses;
    result[0] = esi_bound_init(&search->bound, plan);
    result[1] = esi_universal_init(&search->universal, &search->bound);
    result[2] =
        esi_candidate_sets_init(&search->sets, &search->bound, &search->universal);
    if (result[0] < 0 || result[1] < 0 || result[2] < 0) {
        esi_indexed_destroy(search);
        return -ENOMEM;
    }
    *ret_search = search;
    return 0;
}

int esi_indexed_create(const struct esi_indexed_config *config,
                       struct esi_indexed **ret_search,
                       struct es_error *error)
{
    struct esi_indexed_plan *plan;
    int result = esi_indexed_plan_create(config, true, &plan, error);

    if (result < 0)
        return result;
    result = esi_indexed_create_for(plan, ret_search);
    if (result < 0)
        esi_indexed_plan_destroy(plan);
    else
        (*ret_search)->own_plan = plan;
    return result;
}

void esi_indexed_destroy(struct esi_indexed *search)
{
    if (!search)
        return;
    esi_candidate_sets_fini(&search->sets);
    esi_universal_fini(&search->universal);
    esi_bound_fini(&search->bound);
    esi_tuple_set_fini(&search->reported);
    esi_indexed_plan_destroy(search->own_plan);
    free(search);
}

void esi_indexed_statistics(const struct esi_indexed *search,
                            struct esi_indexed_statistics *ret_statistics)
{
    *ret_statistics = (struct esi_indexed_statistics){
        .comparisons = search->bound.precedence.comparisons,
        .unknown = search->bound.precedence.unknown,
        .backtracks = search->backtracks,
        .bytes = sizeof *search + esi_bound_bytes(&search->bound) +
                 esi_universal_bytes(&search->universal) +
                 esi_candidate_sets_bytes(&search->sets) +
                 esi_tuple_set_bytes(&search->reported),
    };
}

uint64_t esi_indexed_unknown(const struct esi_indexed *search)
{
    return search->bound.precedence.unknown;
}

uint64_t esi_indexed_never_last(const struct esi_indexed *search)
{
    return search->bound.plan->never_last;
}

/* --- Tests of values -------------------------------------------------------------- */

static bool fails_clause(struct esi_indexed *search, const struct esi_clause *clause)
{
    const struct esi_clause_facts *facts =
        esi_clause_facts_of(search->bound.plan, clause);

    if (clause->existential & ~search->bound.check.bound)
        return clause->has_formula && esi_bound_refutes(&search->bound, clause);
    search->sets.compared +=
        facts->is_equality || facts->alternatives || facts->bounded;
    return !esi_universal_clause_holds(&search->universal, clause);
}

/* Whether v, which was just bound, satisfies the clauses that ranges do not
 * represent. */
static bool passes_clauses(struct esi_indexed *search, unsigned v)
{
    const struct esi_indexed_plan *plan = search->bound.plan;

    if (search->pinned_excluded >> v & plan->single >> v & 1 &&
        esi_event_is(esi_bound_event(&search->bound, v), search->bound.pinned_event))
        return false;
    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];

        if (!(esi_clause_facts_of(plan, clause)->exact >> v & 1) &&
            fails_clause(search, clause))
            return false;
    }
    return !search->is_refused || !search->is_refused(search->refused_data, v);
}

/* --- Choice of the next variable -------------------------------------------------- */

/* Whether v must succeed a bound variable, which leaves few values while events
 * arrive. */
static bool is_recent(const struct esi_indexed *search, unsigned v)
{
    const struct esi_indexed_plan *plan = search->bound.plan;

    for (uint64_t left = plan->is_growing ? plan->masked[v] & search->bound.check.bound
                                          : 0;
         left; left &= left - 1)
        if (plan->masks[v][__builtin_ctzll(left)] == ESI_IS_AFTER)
            return true;
    return false;
}

/* Whether a bound variable provides a list of values, which is probably short; then
 * other variables are not counted further. */
static bool is_listed(const struct esi_indexed *search, unsigned v)
{
    return search->bound.plan->linked[v] & search->bound.check.bound;
}

static bool is_before(const struct esi_indexed *search, unsigned v, unsigned w)
{
    bool is_v_recent = is_recent(search, v);
    bool is_v_listed = is_listed(search, v);

    if (is_v_recent != is_recent(search, w))
        return is_v_recent;
    if (is_v_listed != is_listed(search, w))
        return is_v_listed;
    return esi_candidates_total(&search->sets, v) <
           esi_candidates_total(&search->sets, w);
}

/* Sorts the variables that may be next by the known number of remaining values. */
static unsigned sort_eligible(const struct esi_indexed *search,
                              uint64_t eligible,
                              uint8_t *ret_variables)
{
    unsigned count = 0;

    for (; eligible; eligible &= eligible - 1) {
        unsigned v = (unsigned)__builtin_ctzll(eligible);
        unsigned at = count;

        if (!esi_groups_is_next(&search->bound.plan->groups, search->bound.check.bound,
                                v))
            continue;
        for (; at > 0 && is_before(search, v, ret_variables[at - 1]); at--)
            ret_variables[at] = ret_variables[at - 1];
        ret_variables[at] = (uint8_t)v;
        count++;
    }
    return count;
}

/* Number of unbound members of v's group that must be on separate traces. */
static unsigned traces_needed(const struct esi_indexed *search, unsigned v)
{
    const struct esi_indexed_group *group =
        esi_groups_of(&search->bound.plan->groups, v);

    return group && group->is_concurrent
               ? (unsigned)__builtin_popcountll(group->members &
                                                ~search->bound.check.bound)
               : 1;
}

static bool has_too_few(const struct esi_indexed *search, unsigned v)
{
    const struct esi_candidates *source = search->sets.source[v];

    return esi_candidates_total(&search->sets, v) == 0 ||
           (source && source->slots < traces_needed(search, v));
}

/* While events arrive: a variable that is a partner of a bound one has few values,
 * which are found without comparisons. */
static int partner_of_bound(const struct esi_indexed *search, uint64_t eligible)
{
    const struct esi_indexed_plan *plan = search->bound.plan;

    for (; plan->is_growing && eligible; eligible &= eligible - 1) {
        unsigned v = (unsigned)__builtin_ctzll(eligible);

        if (esi_has_partner(&search->bound, v))
            return (int)v;
    }
    return NOTHING;
}

/* While events arrive: whether binding one of two variables leaves one value of the
 * other, which need not be counted. */
static bool is_partner(const struct esi_indexed_plan *plan, unsigned v, unsigned other)
{
    return (plan->senders[v] | plan->receivers[v]) >> other & 1;
}

static int choose_variable(struct esi_indexed *search,
                           unsigned depth,
                           uint64_t eligible)
{
    uint8_t variables[ES_PROGRAM_VARIABLES];
    unsigned count;
    uint64_t limit = UINT64_MAX;
    int best = partner_of_bound(search, eligible);

    if (best != NOTHING)
        return best;
    count = sort_eligible(search, eligible, variables);
    if (count > 0 && esi_candidates_total(&search->sets, variables[0]) == 0)
        return NOTHING;
    if (count == 1 && traces_needed(search, variables[0]) == 1)
        return variables[0];
    for (unsigned i = 0; i < count; i++) {
        unsigned v = variables[i];

        if ((best != NOTHING && is_partner(search->bound.plan, v, (unsigned)best)) ||
            !esi_candidates_make(&search->sets, depth, v, limit))
            continue;
        if (has_too_few(search, v))
            return NOTHING;
        best = (int)v;
        limit = esi_candidates_total(&search->sets, v) - 1;
        if (limit == 0) /* binding it leaves fewer values to others */
            break;
    }
    return best;
}

/* --- Witnesses -------------------------------------------------------------------- */

static bool has_witness_in(struct esi_indexed *search,
                           const struct esi_walk *walk,
                           uint32_t slot,
                           const struct esi_intervals *intervals)
{
    unsigned v = walk->restriction.v;

    for (uint32_t i = 0; i < intervals->count; i++)
        for (uint32_t p = intervals->items[i].begin; p < intervals->items[i].end; p++) {
            struct esi_domain_value value = {slot, p};
            bool passes;

            if (!esi_walk_takes(walk, value))
                continue;
            esi_bound_bind(&search->bound, v, value);
            passes = passes_clauses(search, v);
            esi_bound_unbind(&search->bound, v);
            if (passes)
                return true;
        }
    return false;
}

static bool has_witness(struct esi_indexed *search, unsigned v)
{
    struct esi_intervals *intervals =
        &search->sets.columns[__builtin_popcountll(search->bound.check.bound)];
    struct esi_walk walk;
    bool result = false;
    uint32_t slot;

    esi_walk_begin(&walk, &search->sets, v, UINT64_MAX);
    while (!result && esi_walk_next(&walk, &slot, intervals))
        result = has_witness_in(search, &walk, slot, intervals);
    esi_walk_end(&walk);
    return result;
}

/* Searches for variables that are unrelated to all other unbound ones.  False if one
 * has no witness. */
static bool find_witnesses(struct esi_indexed *search)
{
    const struct esi_indexed_plan *plan = search->bound.plan;
    uint64_t left = plan->existential & ~plan->returned & ~search->bound.check.bound;

    for (left &= ~search->witnessed; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        if (plan->neighbours[v] & ~search->bound.check.bound)
            continue;
        if (!has_witness(search, v))
            return false;
        search->witnessed |= esi_program_bit(v);
    }
    return true;
}

/* --- Early witnesses -------------------------------------------------------------- */

/* A variable that is not returned and has so few values left that it should be bound
 * before v, which is returned; NO_VARIABLE if there is none. */
static int witness_before(struct esi_indexed *search, unsigned depth, unsigned v)
{
    const struct esi_indexed_plan *plan = search->bound.plan;
    uint64_t left = plan->existential & ~plan->returned & ~search->bound.check.bound;
    uint64_t most = esi_candidates_total(&search->sets, v) / EARLY_GAIN;
    int best = NO_VARIABLE;

    if (plan->all_witnesses || most == 0)
        return NO_VARIABLE;
    if (most > EARLY_VALUES)
        most = EARLY_VALUES;
    for (left &= ~search->witnessed; left; left &= left - 1) {
        unsigned w = (unsigned)__builtin_ctzll(left);

        if (!(plan->neighbours[w] & search->bound.check.bound) ||
            !esi_candidates_make(&search->sets, depth, w, most))
            continue;
        best = (int)w;
        most = esi_candidates_total(&search->sets, w);
        if (most == 0)
            break;
        most--;
    }
    return best;
}

/* Whether the returned values were reported already, with other values of variables
 * that were bound early. */
static bool is_repeated(struct esi_indexed *search)
{
    uint32_t numbers[2 * ES_PROGRAM_VARIABLES];
    uint32_t length = 0;
    int is_new;

    if (search->early == 0)
        return false;
    for (uint64_t left = search->bound.plan->returned; left; left &= left - 1) {
        struct esi_domain_value value = search->bound.values[__builtin_ctzll(left)];

        numbers[length++] = value.slot;
        numbers[length++] = value.position;
    }
    is_new = esi_tuple_set_add(&search->reported, numbers, length);
    if (is_new < 0)
        search->bound.error = is_new;
    return is_new <= 0;
}

/* --- Descent ---------------------------------------------------------------------- */

/* Universal values take time like nodes. */
static bool is_time_over(struct esi_indexed *search)
{
    uint64_t steps = ++search->nodes + search->universal.tested;

    if (steps < search->asked_at)
        return false;
    search->asked_at = steps + NODES_BETWEEN_QUESTIONS;
    return search->is_over && search->is_over(search->over_data);
}

static int descend_from(struct esi_indexed *search, unsigned depth);

/* Binds v to a value, tests it and continues. */
static int try_value(struct esi_indexed *search,
                     unsigned depth,
                     unsigned v,
                     struct esi_domain_value value)
{
    int result = 0;

    if (depth == 0) {
        search->sets.compared = 0;
        esi_tuple_set_fini(&search->reported);
    }
    esi_bound_bind(&search->bound, v, value);
    if (passes_clauses(search, v))
        result = descend_from(search, depth + 1);
    else if (is_time_over(search)) /* values that fail may take long, too */
        result = 1;
    esi_bound_unbind(&search->bound, v);
    search->backtracks++;
    search->sets.ordinal += depth == 0;
    return result;
}

static int report_assignment(struct esi_indexed *search)
{
    search->complete_count++;
    if (is_repeated(search))
        return search->bound.error;
    return search->found(search->found_data, search->bound.values);
}

/* Tries the values of a column.  With `is_enough`, stops after the first assignment. */
static int try_column(struct esi_indexed *search,
                      unsigned depth,
                      const struct esi_walk *walk,
                      uint32_t slot,
                      bool is_enough)
{
    uint64_t before = search->complete_count;
    int result = 0;

    for (uint32_t i = 0; i < search->sets.columns[depth].count; i++) {
        struct esi_interval interval = search->sets.columns[depth].items[i];

        for (uint32_t p = interval.begin; p < interval.end; p++) {
            struct esi_domain_value value = {slot, p};

            if (!esi_walk_takes(walk, value))
                continue;
            result = try_value(search, depth, walk->restriction.v, value);
            if (result != 0 || (is_enough && search->complete_count > before))
                return result;
        }
    }
    return result;
}

static int try_all(struct esi_indexed *search,
                   unsigned depth,
                   unsigned v,
                   bool is_enough)
{
    uint64_t before = search->complete_count;
    struct esi_walk walk;
    int result = 0;
    uint32_t slot;

    esi_walk_begin(&walk, &search->sets, v, UINT64_MAX);
    while (result == 0 && !(is_enough && search->complete_count > before) &&
           esi_walk_next(&walk, &slot, &search->sets.columns[depth]))
        result = search->bound.error
                     ? search->bound.error
                     : try_column(search, depth, &walk, slot, is_enough);
    esi_walk_end(&walk);
    return result;
}

/* While events arrive: tries the event that a bound variable received, if that is the
 * only one for some variable.  False if there is none. */
static bool try_send(struct esi_indexed *search,
                     unsigned depth,
                     uint64_t unbound,
                     int *ret_result)
{
    int v = partner_of_bound(search, unbound);
    struct esi_domain_value value;
    int sends =
        v == NOTHING ? -1 : esi_candidates_send(&search->sets, (unsigned)v, &value);

    if (sends < 0)
        return false;
    *ret_result = sends > 0 ? try_value(search, depth, (unsigned)v, value) : 0;
    return true;
}

/* Continues with the unbound variables, of which there is at least one. */
static int go_on(struct esi_indexed *search, unsigned depth, uint64_t unbound)
{
    const struct esi_indexed_plan *plan = search->bound.plan;
    uint64_t returned = unbound & plan->returned;
    int v = depth == 0 && search->first >= 0
                ? search->first
                : choose_variable(search, depth, returned ? returned : unbound);
    int witness = returned && v != NOTHING ? witness_before(search, depth, (unsigned)v)
                                           : NO_VARIABLE;
    int result;

    if (search->bound.error)
        return search->bound.error;
    if (v == NOTHING)
        return 0;
    if (witness == NO_VARIABLE) {
        esi_candidates_share(&search->sets, (unsigned)v);
        return try_all(search, depth, (unsigned)v, !returned && !plan->all_witnesses);
    }
    search->early++;
    result = try_all(search, depth, (unsigned)witness, false);
    search->early--;
    return result;
}

/* Searches for witnesses, and then continues with the other variables; afterwards the
 * candidates are those from before. */
static int choose_and_go_on(struct esi_indexed *search, unsigned depth)
{
    const struct esi_indexed_plan *plan = search->bound.plan;
    const struct esi_candidates *source[ES_PROGRAM_VARIABLES];
    size_t bytes = plan->variable_count * sizeof source[0];
    uint64_t witnessed = search->witnessed;
    int result = 0;
    uint64_t unbound;

    memcpy(source, search->sets.source, bytes);
    if (!search->takes_any_witness || find_witnesses(search)) {
        unbound = plan->existential & ~search->bound.check.bound & ~search->witnessed;
        result = unbound ? go_on(search, depth, unbound) : report_assignment(search);
    }
    memcpy(search->sets.source, source, bytes);
    search->witnessed = witnessed;
    return result;
}

/* Finds all assignments from the current bindings on.  Returns 0, 1 or -errno. */
static int descend_from(struct esi_indexed *search, unsigned depth)
{
    const struct esi_indexed_plan *plan = search->bound.plan;
    uint64_t unbound =
        plan->existential & ~search->bound.check.bound & ~search->witnessed;
    int result;

    if (search->bound.error)
        return search->bound.error;
    if (is_time_over(search))
        return 1;
    if (!unbound)
        return report_assignment(search);
    if (!(unbound & ~plan->returned) && try_send(search, depth, unbound, &result))
        return result;
    return choose_and_go_on(search, depth);
}

/* --- Start of a search ------------------------------------------------------------ */

/* Whether the clauses without existential variables hold. */
static bool clauses_hold(struct esi_indexed *search)
{
    const struct esi_indexed_plan *plan = search->bound.plan;

    if (plan->is_false)
        return false;
    for (uint32_t i = 0; plan->has_closed && i < plan->clause_count; i++)
        if (!plan->clauses[i].existential &&
            !esi_universal_clause_holds(&search->universal, &plan->clauses[i]))
            return false;
    return true;
}

/* Restricts variables by clauses that name no other existential variable. */
static void narrow_domains(struct esi_indexed *search)
{
    const struct esi_indexed_plan *plan = search->bound.plan;

    for (uint32_t i = 0; i < plan->clause_count; i++) {
        uint64_t variable = plan->clauses[i].existential;

        if (variable && !(variable & (variable - 1)) && plan->facts[i].exact & variable)
            esi_candidates_make(&search->sets, 0, (unsigned)__builtin_ctzll(variable),
                                UINT64_MAX);
    }
}

/* Discards facts about earlier states of the domains. */
static void begin_search(struct esi_indexed *search)
{
    esi_bound_reset(&search->bound);
    memset(search->sets.source, 0,
           search->bound.plan->variable_count * sizeof *search->sets.source);
    search->universal.past_of = NULL;
    search->witnessed = 0;
    if (search->reported.capacity > 0)
        esi_tuple_set_fini(&search->reported);
    search->pinned_excluded = 0;
    search->first = NO_VARIABLE;
}

int esi_indexed_prepare(struct esi_indexed *search)
{
    bool may_match;

    begin_search(search);
    may_match = clauses_hold(search);
    if (may_match && !search->bound.error) {
        narrow_domains(search);
        may_match = !search->takes_any_witness || find_witnesses(search);
    }
    return search->bound.error ? search->bound.error : may_match;
}

int esi_indexed_all(struct esi_indexed *search, esi_indexed_found_fn found, void *data)
{
    int result = esi_indexed_prepare(search);

    if (result <= 0)
        return result;
    search->found = found;
    search->found_data = data;
    if (search->bound.plan->existential)
        search->first = (int)esi_indexed_plan_first(search->bound.plan);
    result = descend_from(search, 0);
    return result != 0 ? result : search->bound.error;
}

/* Tests the clauses that name only the pinned variable, because its value was not
 * chosen by them. */
static bool pin_holds(struct esi_indexed *search, unsigned variable)
{
    const struct esi_indexed_plan *plan = search->bound.plan;

    for (uint32_t i = 0; i < plan->clause_counts[variable]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[variable][i]];

        if (clause->existential == esi_program_bit(variable) &&
            !esi_universal_clause_holds(&search->universal, clause))
            return false;
    }
    return true;
}

int esi_indexed_pinned(struct esi_indexed *search,
                       uint32_t variable,
                       struct esi_domain_value value,
                       uint64_t excluded,
                       esi_indexed_found_fn found,
                       void *data)
{
    struct esi_bound *bound = &search->bound;
    int result = 0;

    begin_search(search);
    search->found = found;
    search->found_data = data;
    if (!clauses_hold(search))
        return bound->error;
    esi_bound_bind(bound, variable, value);
    bound->pinned = (int)variable;
    bound->pinned_event = esi_bound_event(bound, variable);
    search->pinned_excluded = excluded & ~esi_program_bit(variable);
    if (pin_holds(search, variable))
        result = descend_from(search, 1);
    return result != 0 ? result : bound->error;
}

void esi_indexed_inherit(struct esi_indexed *search,
                         const struct esi_indexed *prepared,
                         unsigned first)
{
    begin_search(search);
    memcpy(search->sets.source, prepared->sets.source,
           search->bound.plan->variable_count * sizeof *search->sets.source);
    /* The values of witnesses are part of assignments. */
    memcpy(search->bound.values, prepared->bound.values,
           search->bound.plan->variable_count * sizeof *search->bound.values);
    search->witnessed = prepared->witnessed;
    esi_candidates_share(&search->sets, first);
}

int esi_indexed_try_first(struct esi_indexed *search,
                          unsigned first,
                          struct esi_domain_value value,
                          uint64_t ordinal)
{
    int result;

    search->sets.ordinal = ordinal;
    result = try_value(search, 0, first, value);
    return result != 0 ? result : search->bound.error;
}

/* --- Given assignments ------------------------------------------------------------ */

static bool masks_hold(struct esi_bound *bound)
{
    const struct esi_indexed_plan *plan = bound->plan;

    for (unsigned x = 0; x < plan->variable_count; x++)
        for (uint64_t left = plan->masked[x] & ~(esi_program_bit(x) - 1); left;
             left &= left - 1) {
            unsigned y = (unsigned)__builtin_ctzll(left);
            struct esi_literal literal = {.kind = ES_LITERAL_RELATION,
                                          .mask = plan->masks[x][y],
                                          .x = (uint8_t)x,
                                          .y = (uint8_t)y};

            if (esi_bound_truth(bound, &literal) != ES_FORMULA_HOLDS)
                return false;
        }
    return true;
}

static bool is_asked(const struct esi_clause *clause, enum esi_indexed_clauses clauses)
{
    return clauses == ESI_INDEXED_ALL ||
           (clauses == ESI_INDEXED_UNIVERSAL) == (clause->universal != 0);
}

int esi_indexed_holds(struct esi_indexed *search,
                      const struct esi_domain_value *values,
                      enum esi_indexed_clauses clauses)
{
    struct esi_bound *bound = &search->bound;
    const struct esi_indexed_plan *plan = bound->plan;
    bool result = !plan->is_false;

    esi_bound_reset(bound);
    for (uint64_t left = plan->existential; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        esi_bound_bind(bound, v, values[v]);
    }
    if (clauses != ESI_INDEXED_UNIVERSAL)
        result = result && masks_hold(bound);
    for (uint32_t i = 0; result && i < plan->clause_count; i++)
        if (is_asked(&plan->clauses[i], clauses))
            result = esi_universal_clause_holds(&search->universal, &plan->clauses[i]);
    return bound->error ? bound->error : result;
}
