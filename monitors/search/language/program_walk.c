/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* program_walk.c - computes the outcomes of each node of a predicate's tree
 * (docs/decisions.md, D7).
 *
 * A predicate that is replaced by its variables is walked like a part of the tree, in a
 * scope of its own, so that each use has separate variables. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "monitors/search/language/program_private.h"

/* A predicate being walked: the program's own or one named in it. */
struct scope {
    const struct esi_pattern_predicate *predicate;
    const char *prefix;  /* prefix of its variables' names */
    uint32_t occurrence; /* in the program's predicate; NONE for that predicate
                            itself */
    bool is_returned;    /* its events are returned, unless they are hidden in it */
    unsigned nested;
    struct esi_outcome *met; /* by occurrence; outcomes of those already visited */
    bool *is_met;
};

/* Position of the walk. */
struct outcome_place {
    struct scope *scope;
    unsigned depth;
    bool is_below_or;
    bool is_timed; /* below a `within` */
};

static void walk_tree(struct esi_program_builder *builder,
                      const struct esi_pattern_node *node,
                      struct outcome_place at,
                      struct esi_outcomes *ret_outcomes);

/* --- Lists of outcomes ------------------------------------------------------------ */

static struct esi_outcome *find_like(const struct esi_outcomes *outcomes,
                                     const struct esi_outcome *outcome)
{
    for (size_t i = 0; i < outcomes->count; i++) {
        struct esi_outcome *other = &outcomes->items[i];

        if (other->passed == outcome->passed && other->own == outcome->own &&
            other->needed == outcome->needed &&
            (!outcomes->is_timed || other->inside == outcome->inside))
            return other;
    }
    return NULL;
}

static bool grow_outcomes(struct esi_program_builder *builder,
                          struct esi_outcomes *outcomes,
                          const struct esi_pattern_place *place)
{
    size_t capacity = outcomes->capacity ? 2 * outcomes->capacity : 2;
    struct esi_outcome *items;

    if (outcomes->count == ESI_OUTCOMES) {
        esi_builder_fail(builder, -EINVAL, place,
                         "the pattern has more than 256 choices of sides of '|'");
        return false;
    }
    if (outcomes->count < outcomes->capacity)
        return true;
    items = esi_builder_alloc(builder, capacity * sizeof *items);
    if (!items)
        return false;
    if (outcomes->count)
        memcpy(items, outcomes->items, outcomes->count * sizeof *items);
    outcomes->items = items;
    outcomes->capacity = capacity;
    return true;
}

/* Adds an outcome, or merges it with one that differs only in its condition. */
static void add_outcome(struct esi_program_builder *builder,
                        struct esi_outcomes *outcomes,
                        const struct esi_outcome *outcome,
                        const struct esi_pattern_place *place)
{
    struct esi_outcome *like;

    if (builder->failure || outcome->condition->kind == ES_FORMULA_FALSE)
        return;
    like = find_like(outcomes, outcome);
    if (like)
        like->condition =
            esi_formula_either(builder, like->condition, outcome->condition);
    else if (grow_outcomes(builder, outcomes, place))
        outcomes->items[outcomes->count++] = *outcome;
}

/* --- Occurrences ------------------------------------------------------------------ */

static uint32_t outer_occurrence(const struct scope *scope, uint32_t occurrence)
{
    return scope->occurrence == ES_PATTERN_NONE ? occurrence : scope->occurrence;
}

static bool is_replaced(const struct esi_program_builder *builder,
                        const struct esi_pattern_occurrence *occurrence,
                        struct outcome_place at)
{
    const struct esi_replaceable *replaceable;

    if (occurrence->predicate == ES_PATTERN_NONE ||
        occurrence->sign == ES_SIGN_UNIVERSAL)
        return false;
    replaceable = &builder->replaceable[occurrence->predicate];
    return replaceable->has_one_disjunct &&
           !(replaceable->has_universal && at.is_below_or) &&
           at.scope->nested + replaceable->nested < ESI_NESTED_NAMES &&
           builder->variable_count + replaceable->variables + builder->pending <=
               ES_PROGRAM_VARIABLES;
}

/* The outcomes of a predicate differ only in what they pass up; its name passes up all
 * events that a match returns. */
static struct esi_outcome join_outcomes(struct esi_program_builder *builder,
                                        const struct esi_outcomes *outcomes)
{
    struct esi_outcome joined = {.condition = esi_formula_false()};

    for (size_t i = 0; i < outcomes->count; i++) {
        joined.needed |= outcomes->items[i].needed;
        joined.condition =
            esi_formula_either(builder, joined.condition, outcomes->items[i].condition);
    }
    return joined;
}

static uint64_t returned_among(const struct esi_pattern_predicate *predicate,
                               const struct esi_outcome *met)
{
    uint64_t variables = 0;

    for (uint32_t i = 0; i < predicate->occurrence_count; i++)
        if (esi_pattern_is_returned(&predicate->occurrences[i]))
            variables |= met[i].own;
    return variables;
}

static bool open_scope(struct esi_program_builder *builder, struct scope *scope)
{
    uint32_t count = scope->predicate->occurrence_count;

    scope->met = esi_builder_alloc(builder, count * sizeof *scope->met);
    scope->is_met = esi_builder_alloc(builder, count * sizeof *scope->is_met);
    for (uint32_t i = 0; i < count; i++)
        builder->pending += scope->predicate->occurrences[i].sign != ES_SIGN_COUNTED;
    return scope->met && scope->is_met;
}

static struct esi_outcome replace_outcomes(
    struct esi_program_builder *builder,
    const struct esi_pattern_occurrence *occurrence,
    uint32_t number,
    struct outcome_place at)
{
    struct scope scope = {
        .predicate = esi_pattern_predicate(builder->file, occurrence->predicate),
        .prefix = esi_builder_name(builder, at.scope->prefix, occurrence->name),
        .occurrence = outer_occurrence(at.scope, number),
        .is_returned = at.scope->is_returned && occurrence->sign != ES_SIGN_HIDDEN,
        .nested = at.scope->nested + 1,
    };
    struct outcome_place inner = {
        .scope = &scope, .depth = at.depth + 1, .is_below_or = at.is_below_or};
    struct esi_outcomes outcomes;
    struct esi_outcome outcome = {.condition = esi_formula_false()};

    if (scope.nested > builder->nested)
        builder->nested = scope.nested;
    if (!open_scope(builder, &scope))
        return outcome;
    walk_tree(builder, scope.predicate->root, inner, &outcomes);
    outcome = join_outcomes(builder, &outcomes);
    /* Excludes sides of `|` that can never hold. */
    outcome.own = returned_among(scope.predicate, scope.met) & outcome.needed;
    return outcome;
}

static struct esi_outcome add_variable(struct esi_program_builder *builder,
                                       const struct esi_pattern_occurrence *occurrence,
                                       uint32_t number,
                                       struct outcome_place at)
{
    bool is_universal = occurrence->sign == ES_SIGN_UNIVERSAL;
    struct esi_program_variable variable = {
        .name = esi_builder_name(builder, at.scope->prefix, occurrence->name),
        .is_universal = is_universal,
        .is_returned = at.scope->is_returned && !is_universal &&
                       occurrence->sign != ES_SIGN_HIDDEN,
        .class_number = occurrence->class_number,
        .predicate = occurrence->predicate,
        .occurrence = outer_occurrence(at.scope, number),
    };
    uint64_t bit = UINT64_C(1)
                   << esi_builder_variable(builder, &variable, &occurrence->place);

    return (struct esi_outcome){
        .own = bit, .needed = is_universal ? 0 : bit, .condition = esi_formula_true()};
}

/* The outcome of an occurrence, which is the same at each use. */
static struct esi_outcome meet_outcomes(struct esi_program_builder *builder,
                                        uint32_t number,
                                        struct outcome_place at)
{
    struct scope *scope = at.scope;
    const struct esi_pattern_occurrence *occurrence =
        &scope->predicate->occurrences[number];
    struct esi_outcome outcome;

    if (scope->is_met[number])
        return scope->met[number];
    builder->pending--;
    outcome = is_replaced(builder, occurrence, at)
                  ? replace_outcomes(builder, occurrence, number, at)
                  : add_variable(builder, occurrence, number, at);
    outcome.inside = outcome.own;
    outcome.passed = esi_pattern_is_returned(occurrence) ? outcome.own : 0;
    scope->met[number] = outcome;
    scope->is_met[number] = true;
    return outcome;
}

/* --- Nodes ------------------------------------------------------------------------ */

static struct esi_outcome unite_outcomes(struct esi_program_builder *builder,
                                         const struct esi_outcome *left,
                                         const struct esi_outcome *right)
{
    uint64_t passed = left->passed | right->passed;

    return (struct esi_outcome){
        .passed = passed,
        .own = passed,
        .needed = left->needed | right->needed,
        .inside = left->inside | right->inside,
        .condition = esi_formula_both(builder, left->condition, right->condition),
    };
}

static const struct esi_formula *relate_outcomes(struct esi_program_builder *builder,
                                                 const struct esi_atom *like,
                                                 uint64_t left,
                                                 uint64_t right)
{
    struct esi_atom atom = *like;

    atom.left = left;
    atom.right = right;
    return esi_formula_atom(builder, &atom);
}

/* L --> R, and no value of the limit between them. */
static const struct esi_formula *limit_outcomes(struct esi_program_builder *builder,
                                                const struct esi_pattern_node *node,
                                                uint64_t left,
                                                uint64_t right,
                                                uint64_t between)
{
    struct esi_atom before = {
        .kind = ES_ATOM_RELATION, .op = ES_OPERATOR_BEFORE, .node = node};
    struct esi_atom not_before = before;

    not_before.is_negated = true;
    return esi_formula_both(
        builder, relate_outcomes(builder, &before, left, right),
        esi_formula_either(builder,
                           relate_outcomes(builder, &not_before, left, between),
                           relate_outcomes(builder, &not_before, between, right)));
}

/* Adds the outcome for a pair of outcomes of the operands. */
static void add_pair(struct esi_program_builder *builder,
                     const struct esi_pattern_node *node,
                     const struct esi_outcome *left,
                     const struct esi_outcome *right,
                     struct outcome_place at,
                     struct esi_outcomes *outcomes)
{
    struct esi_outcome outcome = unite_outcomes(builder, left, right);
    const struct esi_formula *extra = esi_formula_true();

    if (node->kind == ES_NODE_RELATION) {
        struct esi_atom atom = {.kind = ES_ATOM_RELATION,
                                .op = node->op,
                                .is_negated = node->is_negated,
                                .node = node};

        extra = relate_outcomes(builder, &atom, left->own, right->own);
    } else if (node->kind == ES_NODE_LIMITED) {
        struct esi_outcome between = meet_outcomes(builder, node->occurrence, at);

        extra = limit_outcomes(builder, node, left->own, right->own, between.own);
        outcome.inside |= between.own;
    }
    outcome.condition = esi_formula_both(builder, outcome.condition, extra);
    add_outcome(builder, outcomes, &outcome, &node->place);
}

static void walk_pairs(struct esi_program_builder *builder,
                       const struct esi_pattern_node *node,
                       struct outcome_place at,
                       struct esi_outcomes *outcomes)
{
    struct esi_outcomes left;
    struct esi_outcomes right;

    walk_tree(builder, node->left, at, &left);
    walk_tree(builder, node->right, at, &right);
    for (size_t i = 0; i < left.count; i++)
        for (size_t k = 0; k < right.count && !builder->failure; k++)
            add_pair(builder, node, &left.items[i], &right.items[k], at, outcomes);
}

/* A side of `|` passes up its own variables, but is no longer an operand itself. */
static void walk_sides(struct esi_program_builder *builder,
                       const struct esi_pattern_node *node,
                       struct outcome_place at,
                       struct esi_outcomes *outcomes)
{
    struct esi_outcomes sides[2];

    at.is_below_or = true;
    walk_tree(builder, node->left, at, &sides[0]);
    walk_tree(builder, node->right, at, &sides[1]);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side].count; i++) {
            struct esi_outcome outcome = sides[side].items[i];

            outcome.own = outcome.passed;
            add_outcome(builder, outcomes, &outcome, &node->place);
        }
}

static void walk_count(struct esi_program_builder *builder,
                       const struct esi_pattern_node *node,
                       struct outcome_place at,
                       struct esi_outcomes *outcomes)
{
    bool is_reversed = node->left->kind == ES_NODE_COUNT;
    const struct esi_pattern_node *count = is_reversed ? node->left : node->right;
    const struct esi_pattern_occurrence *counted =
        &at.scope->predicate->occurrences[count->occurrence];
    struct esi_atom atom = {
        .kind = ES_ATOM_COUNT,
        .op = node->op,
        .is_negated = node->is_negated,
        .node = count,
        .is_reversed = is_reversed,
        .counted = counted->class_number,
        .counted_predicate = counted->predicate,
    };
    struct esi_outcomes others;

    walk_tree(builder, is_reversed ? node->right : node->left, at, &others);
    for (size_t i = 0; i < others.count && !builder->failure; i++) {
        struct esi_outcome outcome = others.items[i];

        atom.left = outcome.own;
        outcome.own = outcome.passed;
        outcome.condition = esi_formula_both(builder, outcome.condition,
                                             esi_formula_atom(builder, &atom));
        add_outcome(builder, outcomes, &outcome, &node->place);
    }
}

static void walk_within(struct esi_program_builder *builder,
                        const struct esi_pattern_node *node,
                        struct outcome_place at,
                        struct esi_outcomes *outcomes)
{
    struct esi_atom atom = {.kind = ES_ATOM_WITHIN, .node = node};
    struct esi_outcomes inner;

    at.is_timed = true;
    walk_tree(builder, node->left, at, &inner);
    for (size_t i = 0; i < inner.count && !builder->failure; i++) {
        struct esi_outcome outcome = inner.items[i];

        atom.left = outcome.inside;
        outcome.condition = esi_formula_both(builder, outcome.condition,
                                             esi_formula_atom(builder, &atom));
        add_outcome(builder, outcomes, &outcome, &node->place);
    }
}

static void walk_compare(struct esi_program_builder *builder,
                         const struct esi_pattern_node *node,
                         struct outcome_place at,
                         struct esi_outcomes *outcomes)
{
    struct esi_atom atom = {.kind = ES_ATOM_COMPARE, .node = node};
    struct esi_outcome outcome = {.passed = 0};

    for (size_t side = 0; side < 2; side++) {
        struct esi_outcome operand = {.passed = 0};

        if (node->operands[side].occurrence != ES_PATTERN_NONE)
            operand = meet_outcomes(builder, node->operands[side].occurrence, at);
        *(side ? &atom.right : &atom.left) = operand.own;
        outcome.needed |= operand.needed;
        outcome.inside |= operand.own;
    }
    outcome.condition = esi_formula_atom(builder, &atom);
    add_outcome(builder, outcomes, &outcome, &node->place);
}

static void walk_node(struct esi_program_builder *builder,
                      const struct esi_pattern_node *node,
                      struct outcome_place at,
                      struct esi_outcomes *outcomes)
{
    struct esi_outcome outcome;

    switch (node->kind) {
    case ES_NODE_TERM:
        outcome = meet_outcomes(builder, node->occurrence, at);
        add_outcome(builder, outcomes, &outcome, &node->place);
        break;
    case ES_NODE_RELATION:
        if (node->left->kind == ES_NODE_COUNT || node->right->kind == ES_NODE_COUNT)
            walk_count(builder, node, at, outcomes);
        else
            walk_pairs(builder, node, at, outcomes);
        break;
    case ES_NODE_LIMITED:
    case ES_NODE_AND:
        walk_pairs(builder, node, at, outcomes);
        break;
    case ES_NODE_OR:
        walk_sides(builder, node, at, outcomes);
        break;
    case ES_NODE_WITHIN:
        walk_within(builder, node, at, outcomes);
        break;
    case ES_NODE_COMPARE:
        walk_compare(builder, node, at, outcomes);
        break;
    case ES_NODE_COUNT:
        esi_builder_fail(builder, -EINVAL, &node->place,
                         "a count must be the operand of a relation");
        break;
    }
}

static void walk_tree(struct esi_program_builder *builder,
                      const struct esi_pattern_node *node,
                      struct outcome_place at,
                      struct esi_outcomes *ret_outcomes)
{
    *ret_outcomes = (struct esi_outcomes){.is_timed = at.is_timed};
    if (++at.depth > ESI_DEPTH)
        esi_builder_fail(builder, -EINVAL, &node->place,
                         "more than 1000 operators are nested in one another");
    if (!builder->failure)
        walk_node(builder, node, at, ret_outcomes);
}

void esi_program_walk(struct esi_program_builder *builder,
                      const struct esi_pattern_predicate *predicate,
                      struct esi_outcomes *ret_outcomes)
{
    struct scope scope = {.predicate = predicate,
                          .prefix = "",
                          .occurrence = ES_PATTERN_NONE,
                          .is_returned = true};

    *ret_outcomes = (struct esi_outcomes){.count = 0};
    if (open_scope(builder, &scope))
        walk_tree(builder, predicate->root, (struct outcome_place){.scope = &scope},
                  ret_outcomes);
}
