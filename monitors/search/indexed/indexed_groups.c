/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_groups.c - groups of exchangeable variables.
 *
 * Two variables are exchangeable if they have the same domain and the rewritten
 * pattern, as a set of clauses that are sets of literals, is unchanged by exchanging
 * them.  They form groups: if all adjacent members of a sequence are exchangeable, any
 * two are.  Assignments that differ by an exchange return the same events; the
 * multiplicity is their number.  Groups are only used if there is one disjunct, because
 * assignments of other disjuncts would not have increasing values.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_groups.h"

#include "monitors/search/indexed/indexed_plan.h"

/* Beyond this limit the check takes longer than it may save. */
enum { MOST_LITERALS = 4096 };

/* --- Exchanging ------------------------------------------------------------------- */

static unsigned exchanged_variable(unsigned variable, unsigned a, unsigned b)
{
    return variable == a ? b : variable == b ? a : variable;
}

static bool are_exchanged(uint64_t set, unsigned a, unsigned b)
{
    return (set >> a & 1) == (set >> b & 1);
}

static bool is_symmetric(enum esi_literal_kind kind)
{
    return kind == ES_LITERAL_EQUAL || kind == ES_LITERAL_NEAR;
}

/* Whether the exchange turns a literal into the other one. */
static bool becomes_literal(const struct esi_program *program,
                            const struct esi_literal *literal,
                            const struct esi_literal *other,
                            unsigned a,
                            unsigned b)
{
    unsigned x = exchanged_variable(literal->x, a, b);
    unsigned y = exchanged_variable(literal->y, a, b);

    if (literal->kind != other->kind || literal->is_negated != other->is_negated)
        return false;
    /* A part that was not expanded is unchanged if it names neither variable. */
    if (literal->kind == ES_LITERAL_FORMULA)
        return literal->formula == other->formula &&
               !(literal->variables & (esi_program_bit(a) | esi_program_bit(b)));
    if (literal->kind == ES_LITERAL_COUNT)
        return literal->atom == other->atom &&
               are_exchanged(program->atoms[literal->atom].left, a, b);
    if (literal->kind == ES_LITERAL_COMPARE && literal->atom != other->atom)
        return false;
    if (literal->kind == ES_LITERAL_NEAR &&
        program->atoms[literal->atom].node->within_ns !=
            program->atoms[other->atom].node->within_ns)
        return false;
    return (x == other->x && y == other->y) ||
           (is_symmetric(literal->kind) && x == other->y && y == other->x);
}

/* Whether the exchange turns each literal of a clause into one of the other. */
static bool becomes_part(const struct esi_program *program,
                         const struct esi_clause *clause,
                         const struct esi_clause *other,
                         unsigned a,
                         unsigned b)
{
    for (size_t i = 0; i < clause->count; i++) {
        size_t j = 0;

        while (j < other->count && !becomes_literal(program, &clause->literals[i],
                                                    &other->literals[j], a, b))
            j++;
        if (j == other->count)
            return false;
    }
    return true;
}

static bool is_there(const struct esi_program *program,
                     const struct esi_cnf *cnf,
                     const struct esi_clause *clause,
                     unsigned a,
                     unsigned b)
{
    for (size_t i = 0; i < cnf->count; i++)
        if (clause->count == cnf->clauses[i].count &&
            becomes_part(program, clause, &cnf->clauses[i], a, b) &&
            becomes_part(program, &cnf->clauses[i], clause, a, b))
            return true;
    return false;
}

/* An exchange is its own inverse, so it is enough that each clause becomes one of the
 * set. */
static bool may_exchange(const struct esi_program *program,
                         const struct esi_cnf *cnf,
                         unsigned a,
                         unsigned b)
{
    for (size_t i = 0; i < cnf->count; i++)
        if (!is_there(program, cnf, &cnf->clauses[i], a, b))
            return false;
    return true;
}

/* --- Groups ----------------------------------------------------------------------- */

/* The existential variables of v's occurrence. */
static uint64_t occurrence_of(const struct esi_indexed_plan *plan, unsigned v)
{
    uint64_t variables = 0;

    for (unsigned w = 0; w < plan->variable_count; w++)
        if (plan->existential >> w & 1 && plan->program->variables[w].occurrence ==
                                              plan->program->variables[v].occurrence)
            variables |= esi_program_bit(w);
    return variables;
}

/* Whether both variables belong to one occurrence, or each to an occurrence of its own.
 * Then an exchange either leaves the assignment unchanged or yields a different one. */
static bool are_alike(const struct esi_indexed_plan *plan, unsigned v, unsigned w)
{
    uint64_t of_v = occurrence_of(plan, v);
    uint64_t of_w = occurrence_of(plan, w);

    return plan->domains[v] == plan->domains[w] && plan->single >> v & 1 &&
           plan->returned >> v & plan->returned >> w & 1 &&
           (of_v == of_w || (of_v == esi_program_bit(v) && of_w == esi_program_bit(w)));
}

static void describe_group(const struct esi_indexed_plan *plan,
                           struct esi_indexed_group *group)
{
    unsigned first = (unsigned)__builtin_ctzll(group->members);
    unsigned second = (unsigned)__builtin_ctzll(group->members & (group->members - 1));
    uint8_t mask = plan->masks[first][second];

    group->is_distinct = !(mask & ESI_IS_SAME);
    group->is_concurrent = mask == ESI_IS_CONCURRENT;
    group->is_multiplied = occurrence_of(plan, first) == esi_program_bit(first);
}

static void group_from(struct esi_indexed_groups *groups,
                       const struct esi_indexed_plan *plan,
                       const struct esi_cnf *cnf,
                       unsigned v)
{
    struct esi_indexed_group group = {.members = esi_program_bit(v)};

    for (unsigned w = v + 1; w < plan->variable_count; w++)
        if (plan->existential >> w & 1 && !groups->of[w] && are_alike(plan, v, w) &&
            may_exchange(plan->program, cnf, v, w))
            group.members |= esi_program_bit(w);
    if (group.members == esi_program_bit(v))
        return;
    describe_group(plan, &group);
    groups->items[groups->count++] = group;
    for (uint64_t left = group.members; left; left &= left - 1)
        groups->of[__builtin_ctzll(left)] = (uint8_t)groups->count;
}

void esi_groups_find(struct esi_indexed_groups *groups,
                     const struct esi_indexed_plan *plan,
                     const struct esi_cnf *cnf)
{
    if (plan->program->disjunct_count != 1 || cnf->literals > MOST_LITERALS ||
        plan->all_witnesses)
        return;
    for (unsigned v = 0; v < plan->variable_count; v++)
        if (plan->existential >> v & 1 && !groups->of[v])
            group_from(groups, plan, cnf, v);
}

/* Members with the same value are adjacent, because values are increasing. */
static uint64_t count_permutations(const struct esi_indexed_group *group,
                                   const struct esi_domain_value *values)
{
    uint64_t result = 1;
    uint64_t number = 0;
    uint64_t same = 0;
    const struct esi_domain_value *last = NULL;

    for (uint64_t left = group->members; left; left &= left - 1) {
        const struct esi_domain_value *value = &values[__builtin_ctzll(left)];

        same = last && last->slot == value->slot && last->position == value->position
                   ? same + 1
                   : 1;
        number++;
        if (result > UINT64_MAX / number)
            return UINT64_MAX;
        result = result * number / same;
        last = value;
    }
    return result;
}

uint64_t esi_groups_multiplicity(const struct esi_indexed_groups *groups,
                                 const struct esi_domain_value *values)
{
    uint64_t result = 1;

    for (unsigned i = 0; i < groups->count; i++)
        if (groups->items[i].is_multiplied) {
            uint64_t one = count_permutations(&groups->items[i], values);

            if (result > UINT64_MAX / one)
                return UINT64_MAX;
            result *= one;
        }
    return result;
}
