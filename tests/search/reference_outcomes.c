/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_outcomes.c - evaluates a clause for given values (D7, D8), and the
 * relations of sets of events (D11). */
#include "config.h"

#include "tests/search/reference_outcomes.h"

#include <stdlib.h>

#include "tests/search/reference_value.h"

static void demand(bool is_true)
{
    if (!is_true)
        abort();
}

static bool has(uint64_t events, uint32_t number)
{
    return events >> number & 1;
}

/* --- Relations of sets (D11) ------------------------------------------------------ */

/* Whether some event of a precedes some event of b. */
static bool some_precedes(const struct small_set *set, uint64_t a, uint64_t b)
{
    for (uint32_t x = 0; x < set->count; x++)
        for (uint32_t y = 0; has(a, x) && y < set->count; y++)
            if (has(b, y) && has(set->before[y], x))
                return true;
    return false;
}

static bool overlap(uint64_t a, uint64_t b)
{
    return (a & b) != 0;
}

static bool cross(const struct small_set *set, uint64_t a, uint64_t b)
{
    return !overlap(a, b) && some_precedes(set, a, b) && some_precedes(set, b, a);
}

/* Whether some event of b has an event of a as its partner, by a receive or a sync. */
static bool received(const struct small_set *set, uint64_t a, uint64_t b)
{
    for (uint32_t y = 0; y < set->count; y++)
        if (has(b, y) && (set->events[y].partners & a))
            return true;
    return false;
}

bool reference_related(const struct small_set *set,
                       enum reference_operator op,
                       uint64_t a,
                       uint64_t b)
{
    bool is_entangled = overlap(a, b) || cross(set, a, b);

    switch (op) {
    case REFERENCE_BEFORE:
        return some_precedes(set, a, b) && !is_entangled;
    case REFERENCE_CONCURRENT:
        return !overlap(a, b) && !some_precedes(set, a, b) && !some_precedes(set, b, a);
    case REFERENCE_ENTANGLED:
        return is_entangled;
    case REFERENCE_RECEIVED:
        return received(set, a, b);
    }
    abort();
}

/* --- Outcomes (D7) ---------------------------------------------------------------- */

enum { OUTCOMES = 64 };

/* One way in which a clause is satisfied. */
struct outcome {
    uint64_t counts; /* operand events for a relation directly above */
    uint64_t passed; /* operand events for clauses further above */
    uint64_t inside; /* events of all values involved */
    bool is_void;    /* a universal variable without values (D8) */
};

struct outcomes {
    struct outcome of[OUTCOMES];
    int count;
};

static void add_outcome(struct outcomes *outcomes, struct outcome outcome)
{
    for (int i = 0; i < outcomes->count; i++) {
        const struct outcome *old = &outcomes->of[i];

        if (old->counts == outcome.counts && old->passed == outcome.passed &&
            old->inside == outcome.inside && old->is_void == outcome.is_void)
            return;
    }
    demand(outcomes->count < OUTCOMES);
    outcomes->of[outcomes->count++] = outcome;
}

/* The events passed up by a compound clause are also its operand. */
static void pass_up(struct outcomes *outcomes, uint64_t passed, uint64_t inside)
{
    add_outcome(outcomes, (struct outcome){passed, passed, inside, false});
}

static bool is_void(const struct reference_state *search, int occurrence)
{
    return search->predicate->occurrences[occurrence].sign == REFERENCE_UNIVERSAL &&
           search->values[occurrence].count == 0;
}

static void satisfy(const struct reference_state *search,
                    int node,
                    struct outcomes *outcomes);

static void satisfy_term(const struct reference_state *search,
                         const struct reference_node *node,
                         struct outcomes *outcomes)
{
    enum reference_sign sign = search->predicate->occurrences[node->occurrence].sign;
    bool is_shown = sign == REFERENCE_PLAIN || sign == REFERENCE_RETURNED;
    uint64_t value = reference_value_set(search, node->occurrence);

    if (is_void(search, node->occurrence))
        add_outcome(outcomes, (struct outcome){.is_void = true});
    else if (reference_is_bound(search, node->occurrence))
        add_outcome(outcomes,
                    (struct outcome){value, is_shown ? value : 0, value, false});
}

static bool relation_holds(const struct reference_state *search,
                           const struct reference_node *node,
                           const struct outcome *left,
                           const struct outcome *right)
{
    return left->is_void || right->is_void ||
           reference_related(search->set, node->op, left->counts, right->counts) !=
               node->is_negated;
}

/* Whether the relation holds with the required number of values. */
static bool count_holds(const struct reference_state *search,
                        const struct reference_node *node,
                        const struct outcome *outcome)
{
    const struct reference_node *nodes = search->predicate->nodes;
    bool is_left = nodes[node->left].kind == REFERENCE_COUNT;
    const struct reference_node *counted = &nodes[is_left ? node->left : node->right];
    const struct reference_values *values = &search->values[counted->occurrence];
    int found = 0;

    if (outcome->is_void)
        return true;
    for (int i = 0; i < values->count; i++) {
        struct outcome value = {.counts = values->of[i]};
        found += relation_holds(search, node, is_left ? &value : outcome,
                                is_left ? outcome : &value);
    }
    return counted->at_most ? found <= counted->number : found >= counted->number;
}

static void satisfy_count(const struct reference_state *search,
                          const struct reference_node *node,
                          struct outcomes *outcomes)
{
    const struct reference_node *nodes = search->predicate->nodes;
    bool is_left = nodes[node->left].kind == REFERENCE_COUNT;
    struct outcomes others = {.count = 0};

    satisfy(search, is_left ? node->right : node->left, &others);
    for (int i = 0; i < others.count; i++)
        if (count_holds(search, node, &others.of[i]))
            pass_up(outcomes, others.of[i].passed, others.of[i].inside);
}

/* (L --> R) & ((L !--> *c) | (*c !--> R)), with the same outcomes everywhere. */
static bool limited_holds(const struct reference_state *search,
                          const struct reference_node *node,
                          const struct outcome *left,
                          const struct outcome *right)
{
    struct reference_node before = {.op = REFERENCE_BEFORE};
    struct reference_node not_before = {.op = REFERENCE_BEFORE, .is_negated = true};
    struct outcome limit = {.counts = reference_value_set(search, node->occurrence),
                            .is_void = is_void(search, node->occurrence)};

    return relation_holds(search, &before, left, right) &&
           (relation_holds(search, &not_before, left, &limit) ||
            relation_holds(search, &not_before, &limit, right));
}

static void satisfy_pairs(const struct reference_state *search,
                          const struct reference_node *node,
                          struct outcomes *outcomes)
{
    struct outcomes lefts = {.count = 0}, rights = {.count = 0};
    uint64_t limit = node->kind == REFERENCE_LIMITED
                         ? reference_value_set(search, node->occurrence)
                         : 0;

    satisfy(search, node->left, &lefts);
    satisfy(search, node->right, &rights);
    for (int i = 0; i < lefts.count; i++)
        for (int j = 0; j < rights.count; j++) {
            const struct outcome *left = &lefts.of[i], *right = &rights.of[j];

            if (node->kind == REFERENCE_RELATION &&
                !relation_holds(search, node, left, right))
                continue;
            if (node->kind == REFERENCE_LIMITED &&
                !limited_holds(search, node, left, right))
                continue;
            pass_up(outcomes, left->passed | right->passed,
                    left->inside | right->inside | limit);
        }
}

static void satisfy_one_side(const struct reference_state *search,
                             const struct reference_node *node,
                             struct outcomes *outcomes)
{
    struct outcomes sides = {.count = 0};

    satisfy(search, node->left, &sides);
    satisfy(search, node->right, &sides);
    for (int i = 0; i < sides.count; i++)
        pass_up(outcomes, sides.of[i].passed, sides.of[i].inside);
}

static bool is_within(const struct reference_state *search,
                      uint64_t events,
                      int64_t within_ns)
{
    for (uint32_t x = 0; x < search->set->count; x++)
        for (uint32_t y = 0; has(events, x) && y < search->set->count; y++) {
            int64_t first, last;

            if (!has(events, y))
                continue;
            if (!reference_time(search->set, x, &first) ||
                !reference_time(search->set, y, &last) || last - first > within_ns)
                return false;
        }
    return true;
}

/* Adds a condition only: a variable alone in the brackets counts as without them. */
static void satisfy_within(const struct reference_state *search,
                           const struct reference_node *node,
                           struct outcomes *outcomes)
{
    struct outcomes inner = {.count = 0};

    satisfy(search, node->left, &inner);
    for (int i = 0; i < inner.count; i++)
        if (is_within(search, inner.of[i].inside, node->within_ns))
            add_outcome(outcomes, inner.of[i]);
}

static struct reference_value attribute_of(const struct reference_state *search,
                                           int occurrence,
                                           const char *name)
{
    uint64_t value = reference_value_set(search, occurrence);
    uint32_t number = 0;

    while (!has(value, number))
        number++;
    return reference_value_of(search->set, number, name);
}

static bool compare_holds(const struct reference_state *search,
                          const struct reference_node *node)
{
    struct reference_value left =
        attribute_of(search, node->occurrence, node->attribute);
    struct reference_value right;

    if (node->right_occurrence == REFERENCE_NONE)
        return reference_condition_holds(&node->constant, &left);
    right = attribute_of(search, node->right_occurrence, node->other);
    return reference_values_compare(node->test, node->is_negated, &left, &right);
}

static void satisfy_compare(const struct reference_state *search,
                            const struct reference_node *node,
                            struct outcomes *outcomes)
{
    int occurrences[2] = {node->occurrence, node->right_occurrence};
    bool holds = false;
    uint64_t inside = 0;

    for (int i = 0; i < 2 && occurrences[i] != REFERENCE_NONE; i++) {
        if (is_void(search, occurrences[i]))
            holds = true;
        else if (!reference_is_bound(search, occurrences[i]))
            return;
        inside |= reference_value_set(search, occurrences[i]);
    }
    if (holds || compare_holds(search, node))
        pass_up(outcomes, 0, inside);
}

static void satisfy(const struct reference_state *search,
                    int number,
                    struct outcomes *outcomes)
{
    const struct reference_node *nodes = search->predicate->nodes;
    const struct reference_node *node = &nodes[number];

    switch (node->kind) {
    case REFERENCE_TERM:
        satisfy_term(search, node, outcomes);
        break;
    case REFERENCE_COMPARE:
        satisfy_compare(search, node, outcomes);
        break;
    case REFERENCE_WITHIN:
        satisfy_within(search, node, outcomes);
        break;
    case REFERENCE_OR:
        satisfy_one_side(search, node, outcomes);
        break;
    case REFERENCE_COUNT:
        abort(); /* evaluated with its relation */
    default:
        if (node->kind == REFERENCE_RELATION &&
            (nodes[node->left].kind == REFERENCE_COUNT ||
             nodes[node->right].kind == REFERENCE_COUNT))
            satisfy_count(search, node, outcomes);
        else
            satisfy_pairs(search, node, outcomes);
    }
}

bool reference_is_satisfied(const struct reference_state *search)
{
    struct outcomes outcomes = {.count = 0};

    satisfy(search, search->predicate->root, &outcomes);
    return outcomes.count > 0;
}
