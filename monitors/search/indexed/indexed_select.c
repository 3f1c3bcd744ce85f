/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_select.c - conditions on the attributes of a single variable.
 *
 *   $a.tag = 3 | $a.tag = 5    a clause of its own: only such values are searched
 *   *u.tag != 3 | ...          in all clauses of *u: the others satisfy them all
 *
 * Each value is tested once, before the search.  The remaining values form a separate
 * domain, so that counts, ranges and indexes only cover these.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_select.h"

#include <errno.h>

#include "monitors/search/indexed/indexed_plan.h"
#include "monitors/search/truth/cnf_clauses.h"

/* --- Conditions ------------------------------------------------------------------- */

static bool is_of_one(const struct esi_literal *literal)
{
    return literal->kind == ES_LITERAL_COMPARE &&
           !(literal->variables & (literal->variables - 1));
}

static bool selects_alone(const struct esi_indexed_plan *plan,
                          const struct esi_clause *clause)
{
    if (clause->universal || clause->existential & (clause->existential - 1) ||
        !(clause->existential & plan->single))
        return false;
    for (uint32_t i = 0; i < clause->count; i++)
        if (!is_of_one(&clause->literals[i]))
            return false;
    return true;
}

/* Moves clauses that select to the end. */
static void part_clauses(struct esi_indexed_plan *plan)
{
    uint32_t count = plan->clause_count;

    for (uint32_t i = 0; i < plan->clause_count;) {
        struct esi_clause clause = plan->clauses[i];

        if (!selects_alone(plan, &clause)) {
            i++;
            continue;
        }
        for (uint32_t k = i + 1; k < count; k++)
            plan->clauses[k - 1] = plan->clauses[k];
        plan->clauses[count - 1] = clause;
        plan->clause_count--;
    }
    plan->selecting_count = count - plan->clause_count;
}

/* --- Universal variables ---------------------------------------------------------- */

static bool is_same_literal(const struct esi_literal *a, const struct esi_literal *b)
{
    return a->kind == b->kind && a->atom == b->atom && a->is_negated == b->is_negated;
}

static bool has_literal(const struct esi_clause *clause,
                        const struct esi_literal *literal)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if (is_same_literal(&clause->literals[i], literal))
            return true;
    return false;
}

/* Whether all clauses of a universal variable contain a literal. */
static bool is_common(const struct esi_indexed_plan *plan,
                      uint64_t variable,
                      const struct esi_literal *literal)
{
    if (!is_of_one(literal) || literal->variables != variable)
        return false;
    for (uint32_t i = 0; i < plan->clause_count; i++)
        if (plan->clauses[i].universal & variable &&
            !has_literal(&plan->clauses[i], literal))
            return false;
    return true;
}

static struct esi_clause *first_clause_of(const struct esi_indexed_plan *plan,
                                          uint64_t variable)
{
    for (uint32_t i = 0; i < plan->clause_count; i++)
        if (plan->clauses[i].universal & variable)
            return &plan->clauses[i];
    return NULL;
}

/* Moves the common literals of a clause to the front; returns their number. */
static uint32_t gather_common(const struct esi_indexed_plan *plan,
                              uint64_t variable,
                              struct esi_clause *clause)
{
    uint32_t common = 0;

    for (uint32_t i = 0; i < clause->count; i++) {
        struct esi_literal literal = clause->literals[i];

        if (!is_common(plan, variable, &literal))
            continue;
        clause->literals[i] = clause->literals[common];
        clause->literals[common++] = literal;
    }
    return common;
}

/* Whether a clause names the variable outside the common literals; without this it
 * would no longer name it. */
static bool names_beside(const struct esi_clause *clause,
                         uint64_t variable,
                         const struct esi_clause *common)
{
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables & variable &&
            !has_literal(common, &clause->literals[i]))
            return true;
    return false;
}

static void take_out(const struct esi_indexed_plan *plan,
                     struct esi_clause *clause,
                     const struct esi_clause *common)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < clause->count; i++)
        if (!has_literal(common, &clause->literals[i]))
            clause->literals[kept++] = clause->literals[i];
    clause->count = kept;
    esi_clause_measure(plan->program, clause);
}

/* Splits the literals common to all clauses of a universal variable off into a clause
 * of their own, which describes the values that need not be searched. */
static void part_universal(struct esi_indexed_plan *plan, uint64_t variable)
{
    struct esi_clause *first = first_clause_of(plan, variable);
    struct esi_clause common;

    if (!first)
        return;
    common = (struct esi_clause){.literals = first->literals,
                                 .count = gather_common(plan, variable, first),
                                 .universal = variable};
    if (common.count == 0)
        return;
    for (uint32_t i = 0; i < plan->clause_count; i++)
        if (plan->clauses[i].universal & variable &&
            !names_beside(&plan->clauses[i], variable, &common))
            return;
    first->literals += common.count;
    first->count -= common.count;
    esi_clause_measure(plan->program, first);
    for (uint32_t i = 0; i < plan->clause_count; i++)
        if (plan->clauses[i].universal & variable)
            take_out(plan, &plan->clauses[i], &common);
    plan->clauses[plan->clause_count + plan->selecting_count++] = common;
}

/* --- Values ----------------------------------------------------------------------- */

struct selector {
    const struct esi_indexed_plan *plan;
    const struct esi_domain *domain;
    uint64_t variable;
};

static bool clause_holds(const struct selector *selector,
                         const struct esi_clause *clause,
                         struct esi_domain_value value)
{
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];
        const struct esi_atom *atom = &selector->plan->program->atoms[literal->atom];

        if (esi_domain_compare(atom->node, selector->domain, value, selector->domain,
                               value) != literal->is_negated)
            return true;
    }
    return false;
}

static bool takes_value(void *data, struct esi_domain_value value)
{
    const struct selector *selector = data;
    const struct esi_indexed_plan *plan = selector->plan;

    for (uint32_t i = 0; i < plan->selecting_count; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clause_count + i];

        if ((clause->existential | clause->universal) == selector->variable &&
            clause_holds(selector, clause, value) != (clause->existential != 0))
            return false;
    }
    return true;
}

/* Equal selections share one domain, so that variables can be exchangeable. */
static void keep_selection(struct esi_indexed_plan *plan,
                           unsigned v,
                           struct esi_domain *selection)
{
    unsigned i = 0;

    while (i < plan->selection_count &&
           !esi_domain_is_same_selection(plan->selections[i], selection))
        i++;
    if (i < plan->selection_count)
        esi_domain_destroy(selection);
    else
        plan->selections[plan->selection_count++] = selection;
    plan->selected[v] = plan->selections[i];
}

static int select_values(struct esi_indexed_plan *plan, unsigned v)
{
    struct selector selector = {
        .plan = plan, .domain = plan->domains[v], .variable = esi_program_bit(v)};
    struct esi_domain_choice choice = {takes_value, &selector};
    struct esi_domain *selection;
    int result = esi_domain_select(plan->domains[v], &choice, &selection);

    if (result == 0)
        keep_selection(plan, v, selection);
    return result;
}

int esi_indexed_select(struct esi_indexed_plan *plan)
{
    uint64_t variables = 0;
    int result = 0;

    if (plan->is_growing || plan->is_false)
        return 0;
    part_clauses(plan);
    for (uint64_t left = plan->universal & plan->single; left; left &= left - 1)
        part_universal(plan, left & -left);
    for (uint32_t i = 0; i < plan->selecting_count; i++)
        variables |= plan->clauses[plan->clause_count + i].existential |
                     plan->clauses[plan->clause_count + i].universal;
    for (unsigned v = 0; v < plan->variable_count; v++)
        plan->selected[v] = plan->domains[v];
    for (; result == 0 && variables; variables &= variables - 1)
        result = select_values(plan, (unsigned)__builtin_ctzll(variables));
    plan->domains = plan->selected;
    return result;
}

static bool find_value(const struct esi_domain *from,
                       const struct esi_domain *to,
                       struct esi_domain_value value,
                       struct esi_domain_value *ret_value)
{
    struct esi_domain_column column;

    *ret_value = value;
    if (from == to)
        return true;
    column = esi_domain_column(from, value.slot);
    return esi_domain_find(
        to, (struct es_event_id){column.trace, column.indexes[value.position]},
        ret_value);
}

bool esi_selected_values(const struct esi_domain *const *from,
                         const struct esi_domain *const *to,
                         uint64_t variables,
                         const struct esi_domain_value *values,
                         struct esi_domain_value *ret_values)
{
    for (; variables; variables &= variables - 1) {
        unsigned v = (unsigned)__builtin_ctzll(variables);

        if (!find_value(from[v], to[v], values[v], &ret_values[v]))
            return false;
    }
    return true;
}
