/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* formula_check.c - evaluates parts of conditions for bound values. */
#include "config.h"

#include "monitors/search/truth/formula_check.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/truth/count_rows.h"
#include "monitors/search/truth/event_sets.h"

/* Number of values, or columns of them, counted between two checks of the clock. */
enum { COUNTED_PER_LOOK = 64 };

int esi_formula_check_init(struct esi_formula_check *check)
{
    check->bindings =
        calloc(check->program->variable_count + 1u, sizeof *check->bindings);
    return check->bindings ? 0 : -ENOMEM;
}

void esi_formula_check_fini(struct esi_formula_check *check)
{
    free(check->bindings);
    esi_event_list_fini(&check->sides[0]);
    esi_event_list_fini(&check->sides[1]);
    esi_intervals_fini(&check->members);
}

void esi_formula_check_bind(struct esi_formula_check *check,
                            unsigned variable,
                            struct esi_domain_value value)
{
    struct esi_formula_binding *binding = &check->bindings[variable];

    binding->value = value;
    binding->has_value = true;
    binding->count = esi_domain_events(check->domains[variable], value, &binding->one,
                                       &binding->events);
    check->bound |= UINT64_C(1) << variable;
}

static enum esi_formula_truth told_truth(bool holds)
{
    return holds ? ES_FORMULA_HOLDS : ES_FORMULA_FAILS;
}

/* --- Sides of relations ----------------------------------------------------------- */

/* Returns the number of events in the union of these variables' values, or in its
 * replacement. */
static size_t unite_events(struct esi_formula_check *check,
                           uint64_t variables,
                           struct esi_event_list *side,
                           const struct es_event_id **ret_events)
{
    size_t count = 0;

    if (check->side) {
        int result = check->side(check->side_data, variables, ret_events, &count);

        check->failure = result < 0 ? result : check->failure;
        return count;
    }
    if (variables && !(variables & (variables - 1))) {
        const struct esi_formula_binding *only =
            &check->bindings[__builtin_ctzll(variables)];

        *ret_events = only->events;
        return only->count;
    }
    side->count = 0;
    for (; variables; variables &= variables - 1) {
        const struct esi_formula_binding *binding =
            &check->bindings[__builtin_ctzll(variables)];

        if (esi_event_list_add(side, binding->events, binding->count) < 0)
            check->failure = -ENOMEM;
    }
    esi_event_list_sort(side);
    *ret_events = side->events;
    return side->count;
}

/* --- Relations -------------------------------------------------------------------- */

/* Whether some event of these variables was received by an event of a value, or the
 * reverse. */
static bool are_received(const struct esi_formula_check *check,
                         uint64_t variables,
                         const struct esi_domain *domain,
                         struct esi_domain_value value,
                         bool is_reversed)
{
    for (; variables; variables &= variables - 1) {
        int v = __builtin_ctzll(variables);
        const struct esi_formula_binding *binding = &check->bindings[v];

        if (binding->has_value &&
            (is_reversed ? esi_domain_is_received(domain, value, check->domains[v],
                                                  binding->value)
                         : esi_domain_is_received(check->domains[v], binding->value,
                                                  domain, value)))
            return true;
    }
    return false;
}

static bool is_any_received(const struct esi_formula_check *check,
                            const struct esi_atom *atom)
{
    for (uint64_t right = atom->right; right; right &= right - 1) {
        int v = __builtin_ctzll(right);

        if (check->bindings[v].has_value &&
            are_received(check, atom->left, check->domains[v], check->bindings[v].value,
                         false))
            return true;
    }
    return false;
}

static bool relation_holds(struct esi_formula_check *check, const struct esi_atom *atom)
{
    const struct es_event_id *a = NULL;
    const struct es_event_id *b = NULL;
    size_t a_count;
    size_t b_count;

    if (atom->op == ES_OPERATOR_RECEIVED)
        return is_any_received(check, atom) != atom->is_negated;
    a_count = unite_events(check, atom->left, &check->sides[0], &a);
    b_count = unite_events(check, atom->right, &check->sides[1], &b);
    if (check->failure)
        return false;
    return esi_set_relation_holds(check->precedence, atom->op, a, a_count, b,
                                  b_count) != atom->is_negated;
}

/* --- Counts ----------------------------------------------------------------------- */

/* The events on the other side of a COUNT; not needed for RECEIVED. */
static size_t side_of(struct esi_formula_check *check,
                      const struct esi_atom *atom,
                      const struct es_event_id **ret_side)
{
    *ret_side = NULL;
    return atom->op == ES_OPERATOR_RECEIVED
               ? 0
               : unite_events(check, atom->left, &check->sides[0], ret_side);
}

static bool is_counted(struct esi_formula_check *check,
                       uint32_t number,
                       struct esi_domain_value value,
                       const struct es_event_id *side,
                       size_t side_count)
{
    const struct esi_atom *atom = &check->program->atoms[number];
    const struct esi_domain *counted = check->counted[number];
    struct es_event_id one;
    const struct es_event_id *events;
    size_t count;
    bool holds;

    if (atom->op == ES_OPERATOR_RECEIVED)
        return are_received(check, atom->left, counted, value, atom->is_reversed) !=
               atom->is_negated;
    count = esi_domain_events(counted, value, &one, &events);
    holds = atom->is_reversed ? esi_set_relation_holds(check->precedence, atom->op,
                                                       events, count, side, side_count)
                              : esi_set_relation_holds(check->precedence, atom->op,
                                                       side, side_count, events, count);
    return holds != atom->is_negated;
}

bool esi_formula_is_counted(struct esi_formula_check *check,
                            uint32_t number,
                            struct esi_domain_value value)
{
    const struct es_event_id *side;
    size_t side_count = side_of(check, &check->program->atoms[number], &side);

    return is_counted(check, number, value, side, side_count);
}

/* The first row, from `low` on, whose event succeeds `event`, which is on another
 * trace. */
static uint32_t first_successor(struct esi_formula_check *check,
                                struct es_event_id event,
                                const struct esi_domain_column *column,
                                uint32_t low)
{
    uint32_t high = column->count;

    while (low < high && !esi_event_is(event, check->newest)) {
        uint32_t middle = low + (high - low) / 2;
        struct es_event_id other = {column->trace, column->indexes[middle]};

        if (esi_precedence_before(check->precedence, event, other))
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static void widen_bounds(struct esi_formula_check *check,
                         struct es_event_id event,
                         const struct esi_domain_column *column,
                         struct esi_count_bounds *bounds)
{
    bool is_own = event.trace == column->trace;
    uint32_t last =
        is_own ? event.index - 1
               : esi_precedence_greatest(check->precedence, event, column->trace);
    uint32_t end = esi_column_position(column, last + 1), begin = end;

    if (is_own && end < column->count && column->indexes[end] == event.index)
        esi_intervals_add(&check->members, end, ++begin);
    else if (!is_own)
        begin = first_successor(check, event, column, end);
    if (end > bounds->before_end)
        bounds->before_end = end;
    if (begin < bounds->after_begin)
        bounds->after_begin = begin;
}

static uint64_t count_column(struct esi_formula_check *check,
                             const struct esi_atom *atom,
                             const struct esi_domain_column *column,
                             const struct es_event_id *side,
                             size_t side_count)
{
    struct esi_count_bounds bounds = {0, column->count};
    uint64_t count;

    if (column->count == 0)
        return 0;
    check->members.count = 0;
    for (size_t i = 0; i < side_count; i++)
        widen_bounds(check, side[i], column, &bounds);
    esi_intervals_sort(&check->members);
    if (check->members.has_failed)
        check->failure = -ENOMEM;
    count = esi_count_rows(atom, bounds, &check->members, column->count);
    return atom->is_negated ? column->count - count : count;
}

static bool may_count(struct esi_formula_check *check)
{
    if (check->config && ++check->counted_since % COUNTED_PER_LOOK == 0 &&
        esi_search_is_over(check->config) && !check->failure)
        check->failure = 1;
    return !check->failure;
}

uint64_t esi_formula_count(struct esi_formula_check *check,
                           uint32_t number,
                           uint64_t most)
{
    const struct esi_atom *atom = &check->program->atoms[number];
    const struct esi_domain *counted = check->counted[number];
    bool is_by_rows = esi_domain_is_single(counted) && atom->op != ES_OPERATOR_RECEIVED;
    uint32_t slots = esi_domain_slots(counted);
    const struct es_event_id *side;
    size_t side_count = side_of(check, atom, &side);
    uint64_t found = 0;

    if (is_by_rows && atom->op == ES_OPERATOR_BEFORE && !atom->is_reversed &&
        side_count == 1 && esi_event_is(side[0], check->newest))
        return atom->is_negated ? esi_domain_count(counted) : 0;
    for (uint32_t slot = 0; slot < slots && found < most && may_count(check); slot++) {
        struct esi_domain_column column = esi_domain_column(counted, slot);

        if (is_by_rows) {
            found += count_column(check, atom, &column, side, side_count);
            continue;
        }
        for (uint32_t row = 0; row < column.count && found < most && may_count(check);
             row++)
            found += is_counted(check, number, (struct esi_domain_value){slot, row},
                                side, side_count);
    }
    return found;
}

static enum esi_formula_truth count_truth(struct esi_formula_check *check,
                                          uint32_t number)
{
    const struct esi_pattern_node *node = check->program->atoms[number].node;
    bool is_known = check->counts && check->counts[number] != ES_FORMULA_UNCOUNTED;
    /* As many as needed to decide whether there are enough, or too many. */
    uint64_t most = (uint64_t)node->number + node->at_most;
    uint64_t found =
        is_known ? check->counts[number] : esi_formula_count(check, number, most);
    bool holds = node->at_most ? found <= node->number : found >= node->number;

    /* "At least" reached or "at most" exceeded is final. */
    return check->may_grow && holds == node->at_most ? ES_FORMULA_OPEN
                                                     : told_truth(holds);
}

/* --- Times and attributes --------------------------------------------------------- */

/* Evaluates the bound variables; a value without events has no times. */
static enum esi_formula_truth within_truth(const struct esi_formula_check *check,
                                           const struct esi_atom *atom,
                                           uint64_t variables)
{
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;

    for (uint64_t left = variables & check->bound; left; left &= left - 1) {
        int v = __builtin_ctzll(left);
        const struct esi_formula_binding *binding = &check->bindings[v];

        if (binding->count > 0 &&
            (!binding->has_value ||
             !esi_domain_widen(check->domains[v], binding->value, &first, &last)))
            return ES_FORMULA_FAILS;
    }
    if (!esi_times_are_within(first, last, atom->node->within_ns))
        return ES_FORMULA_FAILS;
    return variables & ~check->bound ? ES_FORMULA_OPEN : ES_FORMULA_HOLDS;
}

static bool comparison_holds(const struct esi_formula_check *check,
                             const struct esi_atom *atom)
{
    const struct esi_domain *domains[2] = {NULL, NULL};
    struct esi_domain_value values[2] = {{0, 0}, {0, 0}};
    uint64_t sides[2] = {atom->left, atom->right};

    for (int i = 0; i < 2; i++) {
        int v = sides[i] ? __builtin_ctzll(sides[i]) : 0;

        if (!sides[i])
            continue;
        if (!check->bindings[v].has_value)
            return false;
        domains[i] = check->domains[v];
        values[i] = check->bindings[v].value;
    }
    return esi_domain_compare(atom->node, domains[0], values[0], domains[1], values[1]);
}

/* --- Formulas --------------------------------------------------------------------- */

static enum esi_formula_truth atom_truth(struct esi_formula_check *check,
                                         uint32_t number,
                                         uint64_t variables)
{
    const struct esi_atom *atom = &check->program->atoms[number];
    uint64_t named = atom->left | atom->right;

    if (atom->kind == ES_ATOM_WITHIN)
        return within_truth(check, atom, named & variables);
    if (named & ~variables)
        return ES_FORMULA_HOLDS;
    if (named & ~check->bound)
        return ES_FORMULA_OPEN;
    switch (atom->kind) {
    case ES_ATOM_RELATION:
        return told_truth(relation_holds(check, atom));
    case ES_ATOM_COUNT:
        return count_truth(check, number);
    case ES_ATOM_COMPARE:
        return told_truth(comparison_holds(check, atom));
    case ES_ATOM_WITHIN:
        break;
    }
    return ES_FORMULA_FAILS;
}

/* Recursion is limited by the nesting of operators. */
enum esi_formula_truth esi_formula_check(struct esi_formula_check *check,
                                         const struct esi_formula *formula,
                                         uint64_t variables)
{
    bool is_and = formula->kind == ES_FORMULA_AND;
    enum esi_formula_truth truth = told_truth(is_and);

    if (formula->kind == ES_FORMULA_ATOM)
        return atom_truth(check, formula->atom, variables);
    if (formula->kind != ES_FORMULA_AND && formula->kind != ES_FORMULA_OR)
        return told_truth(formula->kind == ES_FORMULA_TRUE);
    for (size_t i = 0; i < formula->part_count && truth != told_truth(!is_and); i++) {
        enum esi_formula_truth one =
            esi_formula_check(check, formula->parts[i], variables);

        if (is_and ? one < truth : one > truth)
            truth = one;
    }
    return truth;
}

/* --- Literals --------------------------------------------------------------------- */

static uint8_t on_one_trace(struct es_event_id a, struct es_event_id b)
{
    if (a.index == b.index)
        return ESI_IS_SAME;
    return a.index < b.index ? ESI_IS_BEFORE : ESI_IS_AFTER;
}

/* Queries only what the mask depends on. */
static bool is_allowed(struct esi_precedence *precedence,
                       struct es_event_id a,
                       struct es_event_id b,
                       uint8_t mask)
{
    bool as_before = mask & ESI_IS_BEFORE;
    bool as_after = mask & ESI_IS_AFTER;
    bool otherwise = mask & ESI_IS_CONCURRENT;

    if (a.trace == b.trace)
        return mask & on_one_trace(a, b);
    if (as_before != otherwise && esi_precedence_before(precedence, a, b))
        return as_before;
    if (as_after != otherwise && esi_precedence_before(precedence, b, a))
        return as_after;
    return otherwise;
}

static bool is_before(struct esi_precedence *precedence,
                      const struct esi_formula_binding *a,
                      const struct esi_formula_binding *b)
{
    if (a->count == 1 && b->count == 1)
        return esi_precedence_before(precedence, a->events[0], b->events[0]);
    return esi_sets_any_before(precedence, a->events, a->count, b->events, b->count);
}

/* Evaluates the literal without its negation. */
static enum esi_formula_truth plain_truth(struct esi_formula_check *check,
                                          const struct esi_literal *literal)
{
    const struct esi_formula_binding *a = &check->bindings[literal->x];
    const struct esi_formula_binding *b = &check->bindings[literal->y];

    switch (literal->kind) {
    case ES_LITERAL_RELATION:
        return told_truth(
            is_allowed(check->precedence, a->events[0], b->events[0], literal->mask));
    case ES_LITERAL_BEFORE:
        return told_truth(is_before(check->precedence, a, b));
    case ES_LITERAL_EQUAL:
        return told_truth(esi_sets_share(a->events, a->count, b->events, b->count));
    case ES_LITERAL_RECEIVED:
        return told_truth(a->has_value && b->has_value &&
                          esi_domain_is_received(check->domains[literal->x], a->value,
                                                 check->domains[literal->y], b->value));
    case ES_LITERAL_NEAR:
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
        return atom_truth(check, literal->atom, literal->variables);
    case ES_LITERAL_FORMULA:
        return esi_formula_check(check, literal->formula, literal->variables);
    }
    return ES_FORMULA_FAILS;
}

enum esi_formula_truth esi_literal_truth(struct esi_formula_check *check,
                                         const struct esi_literal *literal)
{
    enum esi_formula_truth truth = plain_truth(check, literal);

    if (!literal->is_negated || truth == ES_FORMULA_OPEN)
        return truth;
    return told_truth(truth == ES_FORMULA_FAILS);
}

/* --- Variables of formulas -------------------------------------------------------- */

uint64_t esi_formula_variables(const struct esi_program *program,
                               const struct esi_formula *formula)
{
    uint64_t variables = 0;

    if (formula->kind == ES_FORMULA_ATOM)
        return program->atoms[formula->atom].left | program->atoms[formula->atom].right;
    for (size_t i = 0; i < formula->part_count; i++)
        variables |= esi_formula_variables(program, formula->parts[i]);
    return variables;
}
