/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_search.c - the search by ranges itself: which variable is bound next.
 *
 * Of variables that are not returned one witness is enough.  One that has nothing to do
 * with what is still unbound is looked for as soon as that is so.  One that has few
 * values left, when the next variable has many, is bound before it: it may leave much
 * fewer to that one, as b does in A --> ~b --> C.  What is returned may then be found
 * with several of its values, and is told once: for a value of the first variable it is
 * remembered what was told.  All others come last.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "monitors/search/indexed/indexed_searcher.h"

enum {
    NODES_BETWEEN_QUESTIONS = 256, /* whether the time is over */
    NOTHING = -1,                  /* some variable has no value left */
};

enum {
    EARLY_VALUES = 8, /* at most, as all that follows may be done for each of them */
    EARLY_GAIN = 8,   /* the next variable has at least so many times more */
};

/* --- Values that are tested ------------------------------------------------------- */

static bool fails_clause(struct esi_searcher *searcher, const struct esi_clause *clause)
{
    if (clause->existential & ~searcher->check.bound)
        return clause->has_formula && esi_clause_is_refuted(searcher, clause);
    searcher->compared += esi_clause_facts_of(searcher->plan, clause)->is_equality;
    return !esi_clause_holds(searcher, clause);
}

/* Whether v, which was just bound, satisfies the clauses that ranges do not tell. */
static bool passes_clauses(struct esi_searcher *searcher, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    if (searcher->pinned_excluded >> v & plan->single >> v & 1 &&
        esi_event_is(esi_event_of(searcher, v), searcher->pinned_event))
        return false;
    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];

        if (!(esi_clause_facts_of(plan, clause)->exact >> v & 1) &&
            fails_clause(searcher, clause))
            return false;
    }
    return !searcher->is_refused || !searcher->is_refused(searcher->refused_data, v);
}

/* --- Which variable is next ------------------------------------------------------- */

/* Whether it succeeds a bound variable: while events arrive that leaves few. */
static bool is_recent(const struct esi_searcher *searcher, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    for (uint64_t left = plan->is_growing ? plan->masked[v] & searcher->check.bound : 0;
         left; left &= left - 1)
        if (plan->masks[v][__builtin_ctzll(left)] == ESI_IS_AFTER)
            return true;
    return false;
}

static bool is_before(const struct esi_searcher *searcher, unsigned v, unsigned w)
{
    bool is_v_recent = is_recent(searcher, v);

    if (is_v_recent != is_recent(searcher, w))
        return is_v_recent;
    return esi_known_total(searcher, v) < esi_known_total(searcher, w);
}

/* Those that may be next, the ones of which fewest values are known to be left first.
 */
static unsigned sort_eligible(const struct esi_searcher *searcher,
                              uint64_t eligible,
                              uint8_t *ret_variables)
{
    unsigned count = 0;

    for (; eligible; eligible &= eligible - 1) {
        unsigned v = (unsigned)__builtin_ctzll(eligible);
        unsigned at = count;

        if (!esi_indexed_is_next(searcher->plan, searcher->check.bound, v))
            continue;
        for (; at > 0 && is_before(searcher, v, ret_variables[at - 1]); at--)
            ret_variables[at] = ret_variables[at - 1];
        ret_variables[at] = (uint8_t)v;
        count++;
    }
    return count;
}

/* Members of v's group that are unbound and have to be on traces of their own. */
static unsigned traces_needed(const struct esi_searcher *searcher, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    const struct esi_indexed_group *group;

    if (plan->group_of[v] < 0)
        return 1;
    group = &plan->groups[plan->group_of[v]];
    return group->is_concurrent
               ? (unsigned)__builtin_popcountll(group->members & ~searcher->check.bound)
               : 1;
}

static bool has_too_few(const struct esi_searcher *searcher, unsigned v)
{
    const struct esi_candidates *source = searcher->source[v];

    return esi_known_total(searcher, v) == 0 ||
           (source && source->slots < traces_needed(searcher, v));
}

/* While events arrive: one that a bound variable names, or that names it, has few
 * values, and what they are takes no comparison. */
static int partner_of_bound(const struct esi_searcher *searcher, uint64_t eligible)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    for (; plan->is_growing && eligible; eligible &= eligible - 1) {
        unsigned v = (unsigned)__builtin_ctzll(eligible);

        if (esi_has_partner(searcher, v))
            return (int)v;
    }
    return NOTHING;
}

static int first_of(const uint8_t *variables, unsigned count)
{
    int first = variables[0];

    for (unsigned i = 1; i < count; i++)
        if (variables[i] < first)
            first = variables[i];
    return first;
}

static int choose_variable(struct esi_searcher *searcher,
                           unsigned depth,
                           uint64_t eligible)
{
    uint8_t variables[ES_PROGRAM_VARIABLES];
    unsigned count = sort_eligible(searcher, eligible, variables);
    uint64_t limit = UINT64_MAX;
    int best = partner_of_bound(searcher, eligible);

    if (best != NOTHING)
        return best;
    if (count > 0 && esi_known_total(searcher, variables[0]) == 0)
        return NOTHING;
    if (count > 0 && searcher->plan->without & ES_INDEXED_FEWEST)
        return first_of(variables, count);
    if (count == 1 && traces_needed(searcher, variables[0]) == 1)
        return variables[0];
    for (unsigned i = 0; i < count; i++) {
        unsigned v = variables[i];

        if (!esi_candidates_make(searcher, depth, v, limit))
            continue;
        if (has_too_few(searcher, v))
            return NOTHING;
        best = (int)v;
        limit = esi_known_total(searcher, v) - 1;
    }
    return best;
}

/* --- Witnesses -------------------------------------------------------------------- */

static bool has_witness_in(struct esi_searcher *searcher,
                           unsigned v,
                           uint32_t slot,
                           const struct esi_spans *spans)
{
    for (uint32_t i = 0; i < spans->count; i++)
        for (uint32_t p = spans->items[i].begin; p < spans->items[i].end; p++) {
            bool passes;

            esi_searcher_bind(searcher, v, (struct esi_domain_value){slot, p});
            passes = passes_clauses(searcher, v);
            esi_searcher_unbind(searcher, v);
            if (passes)
                return true;
        }
    return false;
}

static bool has_witness(struct esi_searcher *searcher, unsigned v)
{
    struct esi_restriction restriction = esi_restriction_begin(searcher, v);
    struct esi_walk walk = esi_walk_begin(searcher, &restriction);
    struct esi_spans *spans =
        &searcher->spans[__builtin_popcountll(searcher->check.bound)];
    bool result = false;
    uint32_t slot;

    while (!result && esi_walk_next(&walk, &slot, spans)) {
        esi_restriction_apply(searcher, &restriction, slot, spans);
        result = has_witness_in(searcher, v, slot, spans);
    }
    esi_restriction_end(searcher, &restriction);
    return result;
}

bool esi_searcher_settle(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    uint64_t hidden = plan->existential & ~plan->returned & ~searcher->check.bound;

    for (hidden &= ~searcher->settled; hidden; hidden &= hidden - 1) {
        unsigned v = (unsigned)__builtin_ctzll(hidden);

        if (plan->neighbours[v] & ~searcher->check.bound)
            continue;
        if (!has_witness(searcher, v))
            return false;
        searcher->settled |= esi_program_bit(v);
    }
    return true;
}

/* --- Before what is returned ------------------------------------------------------ */

/* A hidden variable of which so few values are left that it is better bound before v,
 * which is returned; ESI_NO_VARIABLE: none. */
static int hidden_before(struct esi_searcher *searcher, unsigned depth, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    uint64_t left = plan->existential & ~plan->returned & ~searcher->check.bound;
    uint64_t most = esi_known_total(searcher, v) / EARLY_GAIN;
    int best = ESI_NO_VARIABLE;

    if (plan->all_witnesses || most == 0)
        return ESI_NO_VARIABLE;
    if (most > EARLY_VALUES)
        most = EARLY_VALUES;
    for (left &= ~searcher->settled; left; left &= left - 1) {
        unsigned w = (unsigned)__builtin_ctzll(left);

        if (!(plan->neighbours[w] & searcher->check.bound) ||
            !esi_candidates_make(searcher, depth, w, most))
            continue;
        best = (int)w;
        most = esi_known_total(searcher, w);
        if (most == 0)
            break;
        most--;
    }
    return best;
}

/* Whether what is returned was told already, with other values of variables that were
 * bound early. */
static bool is_repeated(struct esi_searcher *searcher)
{
    uint32_t numbers[2 * ES_PROGRAM_VARIABLES];
    uint32_t length = 0;
    int is_new;

    if (searcher->early == 0)
        return false;
    for (uint64_t left = searcher->plan->returned; left; left &= left - 1) {
        struct esi_domain_value value = searcher->values[__builtin_ctzll(left)];

        numbers[length++] = value.slot;
        numbers[length++] = value.position;
    }
    is_new = esi_tuple_set_add(&searcher->told, numbers, length);
    if (is_new < 0)
        searcher->error = is_new;
    return is_new <= 0;
}

/* --- Descending ------------------------------------------------------------------- */

static bool is_time_over(struct esi_searcher *searcher)
{
    if (searcher->over_countdown-- > 0)
        return false;
    searcher->over_countdown = NODES_BETWEEN_QUESTIONS;
    return searcher->is_over && searcher->is_over(searcher->over_data);
}

int esi_searcher_try(struct esi_searcher *searcher,
                     unsigned depth,
                     unsigned v,
                     struct esi_domain_value value)
{
    int result = 0;

    if (depth == 0) {
        searcher->compared = 0;
        esi_tuple_set_fini(&searcher->told);
    }
    esi_searcher_bind(searcher, v, value);
    if (passes_clauses(searcher, v))
        result = esi_searcher_descend(searcher, depth + 1);
    else if (is_time_over(searcher)) /* what does not pass may take long, too */
        result = 1;
    esi_searcher_unbind(searcher, v);
    searcher->backtracks++;
    searcher->ordinal += depth == 0;
    return result;
}

static int report_assignment(struct esi_searcher *searcher)
{
    searcher->complete_count++;
    if (is_repeated(searcher))
        return searcher->error;
    return searcher->found(searcher->found_data, searcher->values);
}

/* Tries the values of a column.  With `is_enough` one that leads to an assignment
 * does. */
static int try_column(struct esi_searcher *searcher,
                      unsigned depth,
                      unsigned v,
                      uint32_t slot,
                      bool is_enough)
{
    uint64_t before = searcher->complete_count;
    int result = 0;

    for (uint32_t i = 0; i < searcher->spans[depth].count; i++) {
        struct esi_span span = searcher->spans[depth].items[i];

        for (uint32_t p = span.begin; p < span.end; p++) {
            result = esi_searcher_try(searcher, depth, v,
                                      (struct esi_domain_value){slot, p});
            if (result != 0 || (is_enough && searcher->complete_count > before))
                return result;
        }
    }
    return result;
}

static int try_all(struct esi_searcher *searcher,
                   unsigned depth,
                   unsigned v,
                   bool is_enough)
{
    struct esi_restriction restriction = esi_restriction_begin(searcher, v);
    struct esi_walk walk = esi_walk_begin(searcher, &restriction);
    uint64_t before = searcher->complete_count;
    int result = 0;
    uint32_t slot;

    while (result == 0 && !(is_enough && searcher->complete_count > before) &&
           esi_walk_next(&walk, &slot, &searcher->spans[depth])) {
        esi_restriction_apply(searcher, &restriction, slot, &searcher->spans[depth]);
        result = searcher->error ? searcher->error
                                 : try_column(searcher, depth, v, slot, is_enough);
    }
    esi_restriction_end(searcher, &restriction);
    return result;
}

void esi_searcher_share(struct esi_searcher *searcher, unsigned v)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    if (plan->group_of[v] < 0 || !searcher->source[v])
        return;
    for (uint64_t left =
             plan->groups[plan->group_of[v]].members & ~searcher->check.bound;
         left; left &= left - 1)
        searcher->source[__builtin_ctzll(left)] = searcher->source[v];
}

/* What is unbound, of which something is. */
static int go_on(struct esi_searcher *searcher, unsigned depth, uint64_t unbound)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    uint64_t returned = unbound & plan->returned;
    int v = depth == 0 && searcher->first >= 0
                ? searcher->first
                : choose_variable(searcher, depth, returned ? returned : unbound);
    int hidden = returned && v != NOTHING ? hidden_before(searcher, depth, (unsigned)v)
                                          : ESI_NO_VARIABLE;
    int result;

    if (searcher->error)
        return searcher->error;
    if (v == NOTHING)
        return 0;
    if (hidden == ESI_NO_VARIABLE) {
        esi_searcher_share(searcher, (unsigned)v);
        return try_all(searcher, depth, (unsigned)v, !returned && !plan->all_witnesses);
    }
    searcher->early++;
    result = try_all(searcher, depth, (unsigned)hidden, false);
    searcher->early--;
    return result;
}

int esi_searcher_descend(struct esi_searcher *searcher, unsigned depth)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    const struct esi_candidates *source[ES_PROGRAM_VARIABLES];
    size_t bytes = plan->variable_count * sizeof source[0];
    uint64_t settled = searcher->settled;
    int result = 0;
    uint64_t unbound;

    if (searcher->error)
        return searcher->error;
    if (is_time_over(searcher))
        return 1;
    if (!(plan->existential & ~searcher->check.bound & ~settled))
        return report_assignment(searcher);
    memcpy(source, searcher->source, bytes);
    if (!searcher->may_settle || esi_searcher_settle(searcher)) {
        unbound = plan->existential & ~searcher->check.bound & ~searcher->settled;
        result =
            unbound ? go_on(searcher, depth, unbound) : report_assignment(searcher);
    }
    memcpy(searcher->source, source, bytes);
    searcher->settled = settled;
    return result;
}

/* --- Beginning -------------------------------------------------------------------- */

bool esi_searcher_may_begin(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    if (plan->is_false)
        return false;
    for (uint32_t i = 0; i < plan->clause_count; i++)
        if (!plan->clauses[i].existential &&
            !esi_clause_holds(searcher, &plan->clauses[i]))
            return false;
    return true;
}

void esi_searcher_narrow(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    for (uint32_t i = 0; i < plan->clause_count; i++) {
        uint64_t variable = plan->clauses[i].existential;

        if (variable && !(variable & (variable - 1)) && plan->facts[i].exact & variable)
            esi_candidates_make(searcher, 0, (unsigned)__builtin_ctzll(variable),
                                UINT64_MAX);
    }
}

int esi_searcher_all(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    bool may_begin = esi_searcher_may_begin(searcher);

    if (searcher->error || !may_begin)
        return searcher->error;
    esi_searcher_narrow(searcher);
    if (plan->existential)
        searcher->first = (int)esi_indexed_plan_first(plan);
    return esi_searcher_descend(searcher, 0);
}

/* --- Assignments from elsewhere --------------------------------------------------- */

static bool masks_hold(struct esi_searcher *searcher)
{
    const struct esi_indexed_plan *plan = searcher->plan;

    for (unsigned x = 0; x < plan->variable_count; x++)
        for (uint64_t left = plan->masked[x] & ~(esi_program_bit(x) - 1); left;
             left &= left - 1) {
            unsigned y = (unsigned)__builtin_ctzll(left);
            struct esi_literal literal = {.kind = ES_LITERAL_RELATION,
                                          .mask = plan->masks[x][y],
                                          .x = (uint8_t)x,
                                          .y = (uint8_t)y};

            if (esi_searcher_literal_truth(searcher, &literal) != ES_FORMULA_HOLDS)
                return false;
        }
    return true;
}

static bool is_asked(const struct esi_clause *clause, enum esi_indexed_clauses clauses)
{
    return clauses == ESI_INDEXED_ALL ||
           (clauses == ESI_INDEXED_UNIVERSAL) == (clause->universal != 0);
}

bool esi_searcher_holds(struct esi_searcher *searcher,
                        const struct esi_domain_value *values,
                        enum esi_indexed_clauses clauses)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    bool result = !plan->is_false;

    for (uint64_t left = plan->existential; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);

        esi_searcher_bind(searcher, v, values[v]);
    }
    if (clauses != ESI_INDEXED_UNIVERSAL)
        result = result && masks_hold(searcher);
    for (uint32_t i = 0; result && i < plan->clause_count; i++)
        if (is_asked(&plan->clauses[i], clauses))
            result = esi_clause_holds(searcher, &plan->clauses[i]);
    searcher->check.bound = 0;
    return result;
}
