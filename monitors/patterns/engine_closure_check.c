/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* engine_closure_check.c - whether a condition holds for the values that are bound, and
 * for all values of universal variables. */
#include "config.h"

#include "monitors/patterns/engine_closure_private.h"
#include "monitors/patterns/event_sets.h"

/* --- Atoms -------------------------------------------------------------------------
 */

static bool sets_are(struct esi_closure_search *search,
                     enum es_pattern_operator op,
                     uint64_t left,
                     uint64_t right)
{
    const struct es_event_id *a = NULL, *b = NULL;
    size_t a_count = 0, b_count = 0;
    int result = esi_closure_operand_events(search, left, &a, &a_count);

    if (result == 0)
        result = esi_closure_operand_events(search, right, &b, &b_count);
    if (result < 0) {
        search->result = result;
        return false;
    }
    return es_set_relation_holds(&search->precedence, op, a, a_count, b, b_count);
}

/* Whether some event of a variable's value was received by one of a value. */
static bool are_received(const struct esi_closure_search *search,
                         uint64_t left,
                         const struct es_domain *right,
                         struct es_domain_value value)
{
    for (; left; left &= left - 1) {
        int v = __builtin_ctzll(left);

        if (es_domain_is_received(search->task->domains[v], search->bindings[v].value,
                                  right, value))
            return true;
    }
    return false;
}

static bool have_received(const struct esi_closure_search *search,
                          const struct es_domain *left,
                          struct es_domain_value value,
                          uint64_t right)
{
    for (; right; right &= right - 1) {
        int v = __builtin_ctzll(right);

        if (es_domain_is_received(left, value, search->task->domains[v],
                                  search->bindings[v].value))
            return true;
    }
    return false;
}

static bool relation_holds(struct esi_closure_search *search,
                           const struct es_atom *atom)
{
    uint64_t right = atom->right;

    if (atom->op != ES_OPERATOR_RECEIVED)
        return sets_are(search, atom->op, atom->left, atom->right) != atom->is_negated;
    for (; right; right &= right - 1) {
        int v = __builtin_ctzll(right);

        if (are_received(search, atom->left, search->task->domains[v],
                         search->bindings[v].value))
            return !atom->is_negated;
    }
    return atom->is_negated;
}

/* Whether one of the values that are counted is in the relation. */
static bool is_counted(struct esi_closure_search *search,
                       const struct es_atom *atom,
                       const struct es_domain *counted,
                       const struct esi_closure_binding *binding,
                       const struct es_event_id *events,
                       size_t count)
{
    bool holds;

    if (atom->op == ES_OPERATOR_RECEIVED)
        holds = atom->is_reversed
                    ? have_received(search, counted, binding->value, atom->left)
                    : are_received(search, atom->left, counted, binding->value);
    else if (atom->is_reversed)
        holds = es_set_relation_holds(&search->precedence, atom->op, binding->events,
                                      binding->count, events, count);
    else
        holds = es_set_relation_holds(&search->precedence, atom->op, events, count,
                                      binding->events, binding->count);
    return holds != atom->is_negated;
}

/* Counts until it is clear whether there are enough, or too many. */
static bool count_holds(struct esi_closure_search *search, uint32_t number)
{
    const struct es_atom *atom = &search->task->program->atoms[number];
    const struct es_domain *counted = search->task->counted[number];
    const struct es_event_id *events = NULL;
    struct esi_closure_binding binding;
    struct esi_closure_cursor cursor;
    size_t count = 0;
    uint64_t found = 0;

    if (atom->op != ES_OPERATOR_RECEIVED) {
        int result = esi_closure_operand_events(search, atom->left, &events, &count);

        if (result < 0) {
            search->result = result;
            return false;
        }
    }
    esi_closure_cursor_init(counted, &cursor);
    while (found < (uint64_t)atom->node->number + atom->node->at_most &&
           esi_closure_bind(search, &cursor, &binding))
        found += is_counted(search, atom, counted, &binding, events, count);
    return atom->node->at_most ? found <= atom->node->number
                               : found >= atom->node->number;
}

static bool within_holds(const struct esi_closure_search *search,
                         const struct es_atom *atom,
                         uint64_t variables)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (; variables; variables &= variables - 1) {
        int v = __builtin_ctzll(variables);

        if (!es_domain_widen(search->task->domains[v], search->bindings[v].value,
                             &first, &last))
            return false;
    }
    return es_times_are_within(first, last, atom->node->within_ns);
}

/* The domain and the value of a side of a comparison, if it is a variable. */
static const struct es_domain *side(const struct esi_closure_search *search,
                                    uint64_t variable,
                                    struct es_domain_value *ret_value)
{
    if (!variable)
        return NULL;
    *ret_value = search->bindings[__builtin_ctzll(variable)].value;
    return search->task->domains[__builtin_ctzll(variable)];
}

static bool comparison_holds(const struct esi_closure_search *search,
                             const struct es_atom *atom)
{
    struct es_domain_value values[2] = {{0, 0}, {0, 0}};
    const struct es_domain *left = side(search, atom->left, &values[0]);
    const struct es_domain *right = side(search, atom->right, &values[1]);

    return es_domain_compare(atom->node, left, values[0], right, values[1]);
}

static bool atom_holds(struct esi_closure_search *search, uint32_t number)
{
    const struct es_atom *atom = &search->task->program->atoms[number];

    /* For all values of a variable that has none (D8). */
    if (atom->kind != ES_ATOM_WITHIN && ((atom->left | atom->right) & search->empty))
        return true;
    switch (atom->kind) {
    case ES_ATOM_RELATION:
        return relation_holds(search, atom);
    case ES_ATOM_COUNT:
        return count_holds(search, number);
    case ES_ATOM_WITHIN:
        return within_holds(search, atom, atom->left & ~search->empty);
    case ES_ATOM_COMPARE:
        return comparison_holds(search, atom);
    }
    return false;
}

/* --- Formulas ----------------------------------------------------------------------
 */

static bool formula_holds(struct esi_closure_search *search,
                          const struct es_formula *formula)
{
    bool is_and = formula->kind == ES_FORMULA_AND;

    if (formula->kind == ES_FORMULA_ATOM)
        return atom_holds(search, formula->atom);
    if (formula->kind != ES_FORMULA_AND && formula->kind != ES_FORMULA_OR)
        return formula->kind == ES_FORMULA_TRUE;
    for (size_t i = 0; i < formula->part_count; i++)
        if (formula_holds(search, formula->parts[i]) != is_and)
            return !is_and;
    return is_and;
}

/* Whether it fails whatever is bound beside these variables. */
static bool is_refuted(struct esi_closure_search *search,
                       const struct es_formula *formula,
                       uint64_t bound)
{
    bool is_and = formula->kind == ES_FORMULA_AND;

    if (formula->kind == ES_FORMULA_ATOM) {
        const struct es_atom *atom = &search->task->program->atoms[formula->atom];

        if (atom->kind == ES_ATOM_WITHIN)
            return !within_holds(search, atom, atom->left & bound);
        return !((atom->left | atom->right) & ~bound) &&
               !atom_holds(search, formula->atom);
    }
    if (formula->kind != ES_FORMULA_AND && formula->kind != ES_FORMULA_OR)
        return formula->kind == ES_FORMULA_FALSE;
    for (size_t i = 0; i < formula->part_count; i++)
        if (is_refuted(search, formula->parts[i], bound) == is_and)
            return is_and;
    return !is_and;
}

/* For all values of the universal variables. */
static bool holds_for_all(struct esi_closure_search *search,
                          const struct es_formula *formula,
                          uint64_t universal)
{
    struct esi_closure_cursor cursor;
    int v;

    if (!universal)
        return formula_holds(search, formula);
    v = __builtin_ctzll(universal);
    esi_closure_cursor_init(search->task->domains[v], &cursor);
    while (esi_closure_bind(search, &cursor, &search->bindings[v]))
        if (!holds_for_all(search, formula, universal & (universal - 1)))
            return false;
    return search->result == 0;
}

bool esi_closure_check_holds(struct esi_closure_search *search,
                             const struct esi_closure_check *check)
{
    bool holds = true;

    if (check->early)
        return !is_refuted(search, check->parts->formula, check->early);
    for (size_t i = 0; i < check->part_count && holds; i++)
        holds =
            holds_for_all(search, check->parts[i].formula, check->parts[i].universal);
    return check->lesser == ES_PATTERN_NONE ? holds : !holds;
}
