/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_lookup.c - comparisons of attributes that can be answered by an index, and
 * these indexes, each created on first use.
 *
 *   $a.tag = $b.tag     alone in a clause: with $a bound, it lists the values of $b, by
 *                       all attributes of the two that are compared in this way
 *   $a.start < $b.start alone in a clause: the same, by all bounds of an attribute
 *   ... | ...           each alternative that names $b being one of these, or such a
 *                       comparison with a number: the union of what they list
 *   $a.tag != *u.tag    with $a bound, it lists the values of *u that may violate it
 *
 * Listed values are tested like all others; values that an index omits cannot pass.
 * Growing domains have indexes of their own, which return a short list or none;
 * violators are not looked up then.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_lookup.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/domains/event_value.h"

/* --- Which comparisons ------------------------------------------------------------ */

/* An index created on first use. */
struct lookup {
    const struct esi_domain *domain;
    struct esi_key_form form;
    pthread_mutex_t lock;                     /* held while the index is created */
    bool has_failed;                          /* out of memory */
    _Atomic(struct esi_sorted_index *) index; /* owned */
};

/* For a COMPARE: positions in `items` for the values of x and of y. */
struct literal_lookups {
    bool is_there;
    uint32_t of_x;
    uint32_t of_y;
};

struct esi_lookups {
    struct lookup *items; /* owned */
    uint32_t count;
    struct literal_lookups *of_literals; /* owned: by literal of the plan */
};

static unsigned side_of(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal,
                        unsigned v)
{
    return plan->program->atoms[literal->atom].left >> v & 1 ? 0 : 1;
}

/* The number that a literal of one variable compares it with.  False for a text. */
static bool constant_of(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal,
                        int64_t *ret_number)
{
    const struct esi_atom *atom = &plan->program->atoms[literal->atom];
    const struct esi_pattern_constant *constant =
        &atom->node->operands[atom->left ? 1 : 0].constant;

    if (!constant->is_number)
        return esi_number_parse(constant->text, ret_number);
    *ret_number = constant->number;
    return true;
}

/* The kind of comparison, by whether an index can list its values. */
enum comparison { COMPARES_OTHERWISE, COMPARES_EQUAL, COMPARES_ORDER };

/* The comparison may be with another variable or a number.  Negated ones also hold if
 * the attribute is absent, and do not leave few values. */
static enum comparison comparison_of(const struct esi_indexed_plan *plan,
                                     const struct esi_literal *literal)
{
    const struct esi_atom *atom = &plan->program->atoms[literal->atom];
    int64_t number;

    if (literal->kind != ES_LITERAL_COMPARE || literal->is_negated ||
        atom->node->is_negated || atom->node->test < ES_TEST_EQUAL)
        return COMPARES_OTHERWISE;
    if (atom->left && atom->right ? atom->left == atom->right
                                  : !constant_of(plan, literal, &number))
        return COMPARES_OTHERWISE;
    return atom->node->test == ES_TEST_EQUAL ? COMPARES_EQUAL : COMPARES_ORDER;
}

static bool has_constant(const struct esi_literal *literal)
{
    return !(literal->variables & (literal->variables - 1));
}

static bool is_same_form(const struct esi_key_form *a, const struct esi_key_form *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (!esi_operands_are_same(&a->nodes[i]->operands[a->sides[i]],
                                   &b->nodes[i]->operands[b->sides[i]]))
            return false;
    return true;
}

/* Creates the index of v's values and returns its number. */
static int note_values(const struct esi_indexed_plan *plan,
                       const struct esi_key_form *form,
                       unsigned v,
                       uint32_t *ret_number)
{
    struct esi_lookups *lookups = plan->lookups;
    struct lookup *lookup = lookups->items;
    struct lookup *end = lookups->items + lookups->count;
    int result = 0;

    while (lookup < end &&
           (lookup->domain != plan->domains[v] || !is_same_form(&lookup->form, form)))
        lookup++;
    if (lookup == end) {
        result = -pthread_mutex_init(&lookup->lock, NULL);
        lookup->domain = plan->domains[v];
        lookup->form = *form;
        lookups->count += result == 0;
    }
    *ret_number = (uint32_t)(lookup - lookups->items);
    return result;
}

static void add_part(const struct esi_indexed_plan *plan,
                     const struct esi_literal *literal,
                     unsigned v,
                     struct esi_key_form *form)
{
    if (form->count == ESI_KEY_PARTS)
        return; /* the other comparisons are only tested */
    form->nodes[form->count] = plan->program->atoms[literal->atom].node;
    form->sides[form->count++] = (uint8_t)side_of(plan, literal, v);
}

/* The key of v for the comparisons between a literal's variables, in its own clause and
 * those after it. */
static struct esi_key_form form_of(const struct esi_indexed_plan *plan,
                                   const struct esi_clause *clause,
                                   const struct esi_literal *literal,
                                   unsigned v)
{
    uint32_t number = esi_clause_number(plan, clause);
    struct esi_key_form form = {.count = 0};

    add_part(plan, literal, v, &form);
    for (uint32_t i = number + 1;
         plan->facts[number].is_equality && i < plan->clause_count; i++)
        if (plan->facts[i].is_equality &&
            plan->clauses[i].existential == clause->existential)
            add_part(plan, plan->clauses[i].literals, v, &form);
    return form;
}

static int note_literal(const struct esi_indexed_plan *plan,
                        const struct esi_clause *clause,
                        const struct esi_literal *literal)
{
    struct literal_lookups *lookups =
        &plan->lookups->of_literals[literal - plan->literals];
    struct esi_key_form of_x = form_of(plan, clause, literal, literal->x);
    struct esi_key_form of_y = form_of(plan, clause, literal, literal->y);
    int result = note_values(plan, &of_x, literal->x, &lookups->of_x);

    if (result == 0)
        result = note_values(plan, &of_y, literal->y, &lookups->of_y);
    lookups->is_there = result == 0;
    return result;
}

static bool is_unequal(const struct esi_indexed_plan *plan,
                       const struct esi_literal *literal)
{
    const struct esi_pattern_node *node = plan->program->atoms[literal->atom].node;

    return literal->kind == ES_LITERAL_COMPARE && !has_constant(literal) &&
           literal->variables & plan->universal && node->test == ES_TEST_EQUAL &&
           node->is_negated != literal->is_negated;
}

/* The kind of comparison between two existential variables in a clause of one
 * literal. */
static enum comparison clause_comparison(const struct esi_indexed_plan *plan,
                                         const struct esi_clause *clause)
{
    return clause->count == 1 && !clause->universal && !has_constant(clause->literals)
               ? comparison_of(plan, clause->literals)
               : COMPARES_OTHERWISE;
}

/* For a clause of several literals, the variables named only by such literals. */
static uint64_t alternatives_of(const struct esi_indexed_plan *plan,
                                const struct esi_clause *clause)
{
    uint64_t variables = clause->existential & plan->single;

    if (clause->count == 1 || clause->universal || plan->is_growing)
        return 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (comparison_of(plan, &clause->literals[i]) == COMPARES_OTHERWISE)
            variables &= ~clause->literals[i].variables;
    return variables;
}

/* Whether an earlier clause is looked up together with this one. */
static bool is_led(const struct esi_indexed_plan *plan, const struct esi_clause *clause)
{
    for (uint32_t i = 0; i < esi_clause_number(plan, clause); i++)
        if (plan->facts[i].is_equality &&
            plan->clauses[i].existential == clause->existential)
            return true;
    return false;
}

static int note_clause(const struct esi_indexed_plan *plan,
                       const struct esi_clause *clause)
{
    const struct esi_clause_facts *facts = esi_clause_facts_of(plan, clause);
    int result = 0;

    if (facts->is_equality && is_led(plan, clause))
        return 0;
    for (uint32_t i = 0; result == 0 && i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (facts->is_equality || facts->bounded || facts->alternatives
                ? comparison_of(plan, literal) != COMPARES_OTHERWISE
                : is_unequal(plan, literal))
            result = note_literal(plan, clause, literal);
    }
    return result;
}

/* Returns the maximum number of compared values. */
static size_t note_comparisons(struct esi_indexed_plan *plan)
{
    size_t most = 0;

    for (uint32_t i = 0; i < plan->clause_count; i++) {
        const struct esi_clause *clause = &plan->clauses[i];
        enum comparison comparison = clause_comparison(plan, clause);

        plan->facts[i].is_equality = comparison == COMPARES_EQUAL;
        if (comparison == COMPARES_ORDER && !plan->is_growing)
            plan->facts[i].bounded = clause->existential;
        plan->bounded |= plan->facts[i].bounded;
        plan->facts[i].alternatives = alternatives_of(plan, clause);
        for (uint32_t j = 0; j < clause->count; j++)
            most += clause->literals[j].kind == ES_LITERAL_COMPARE ? 2 : 0;
    }
    return most;
}

int esi_lookups_create(struct esi_indexed_plan *plan)
{
    size_t most = note_comparisons(plan);
    struct esi_lookups *lookups;
    int result = 0;

    if (most == 0 || plan->is_growing)
        return 0;
    lookups = plan->lookups = calloc(1, sizeof *lookups);
    if (!lookups)
        return -ENOMEM;
    lookups->items = calloc(most, sizeof *lookups->items);
    lookups->of_literals = calloc(plan->literal_count, sizeof *lookups->of_literals);
    if (!lookups->items || !lookups->of_literals)
        return -ENOMEM;
    for (uint32_t i = 0; result == 0 && i < plan->clause_count; i++)
        result = note_clause(plan, &plan->clauses[i]);
    return result;
}

void esi_lookups_destroy(struct esi_lookups *lookups)
{
    if (!lookups)
        return;
    for (uint32_t i = 0; i < lookups->count; i++) {
        esi_sorted_index_destroy(atomic_load(&lookups->items[i].index));
        pthread_mutex_destroy(&lookups->items[i].lock);
    }
    free(lookups->items);
    free(lookups->of_literals);
    free(lookups);
}

uint64_t esi_lookups_bytes(const struct esi_lookups *lookups)
{
    uint64_t bytes = lookups ? lookups->count * sizeof *lookups->items : 0;

    for (uint32_t i = 0; lookups && i < lookups->count; i++) {
        const struct esi_sorted_index *index = atomic_load(&lookups->items[i].index);

        bytes += index ? esi_sorted_index_bytes(index) : 0;
    }
    return bytes;
}

/* --- Lookups ---------------------------------------------------------------------- */

/* NULL if there is no lookup or no memory for it; the search also works without it. */
static const struct esi_sorted_index *index_of(struct lookup *lookup)
{
    struct esi_sorted_index *index =
        lookup ? atomic_load_explicit(&lookup->index, memory_order_acquire) : NULL;

    if (index || !lookup)
        return index;
    pthread_mutex_lock(&lookup->lock);
    index = atomic_load(&lookup->index);
    if (!index && !lookup->has_failed &&
        esi_sorted_index_create(lookup->domain, &lookup->form, &index) < 0)
        lookup->has_failed = true;
    /* Pairs with the acquire above: a thread that sees the index sees its contents. */
    atomic_store_explicit(&lookup->index, index, memory_order_release);
    pthread_mutex_unlock(&lookup->lock);
    return index;
}

static unsigned other_of(const struct esi_literal *literal, unsigned v)
{
    return v == literal->x ? literal->y : literal->x;
}

/* The lookup of v's values; NULL if the literal has none. */
static struct lookup *lookup_of(const struct esi_indexed_plan *plan,
                                const struct esi_literal *literal,
                                unsigned v)
{
    const struct esi_lookups *lookups = plan->lookups;
    const struct literal_lookups *of =
        lookups ? &lookups->of_literals[literal - plan->literals] : NULL;

    if (!of || !of->is_there)
        return NULL;
    return &lookups->items[v == literal->x ? of->of_x : of->of_y];
}

bool esi_lookups_answer(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal)
{
    return lookup_of(plan, literal, literal->x);
}

/* The key of the other variable, which is bound.  False if it lacks an attribute. */
static bool key_of_other(const struct esi_bound *bound,
                         const struct esi_literal *literal,
                         unsigned v,
                         struct esi_domain_key *ret_key)
{
    unsigned other = other_of(literal, v);
    const struct lookup *lookup = lookup_of(bound->plan, literal, other);

    return esi_key_of(&lookup->form, lookup->domain, bound->values[other], ret_key);
}

/* Uses the index of a growing domain, if the list is short. */
static bool lookup_growing(struct esi_bound *bound,
                           const struct esi_literal *literal,
                           unsigned v,
                           struct esi_domain_value *few,
                           struct esi_listed *ret_listed)
{
    const struct esi_indexed_plan *plan = bound->plan;
    const struct esi_pattern_node *node = plan->program->atoms[literal->atom].node;
    unsigned other = other_of(literal, v);
    struct esi_domain_key key;
    unsigned count = 0;
    int result = 1;

    if (esi_domain_key(node, side_of(plan, literal, other), plan->domains[other],
                       bound->values[other], &key))
        result =
            esi_domain_list_equal(plan->domains[v], node, side_of(plan, literal, v),
                                  key, few, ESI_LISTED_FEW, &count);
    if (result < 0)
        bound->error = result;
    *ret_listed = (struct esi_listed){few, count};
    return result > 0;
}

bool esi_lookup_equal(struct esi_bound *bound,
                      const struct esi_literal *literal,
                      unsigned v,
                      struct esi_domain_value few[ESI_LISTED_FEW],
                      struct esi_listed *ret_listed)
{
    const struct esi_sorted_index *index;
    struct esi_domain_key key;

    if (bound->plan->is_growing)
        return lookup_growing(bound, literal, v, few, ret_listed);
    index = index_of(lookup_of(bound->plan, literal, v));
    if (!index)
        return false;
    *ret_listed = key_of_other(bound, literal, v, &key)
                      ? esi_sorted_index_find(index, key)
                      : (struct esi_listed){NULL, 0};
    return true;
}

/* --- Bounds ----------------------------------------------------------------------- */

/* Numbers from `low` to `high`. */
struct extent {
    int64_t low;
    int64_t high;
};

/* Restricts the range to numbers less than, greater than or equal to a number. */
static void narrow_extent(struct extent *extent,
                          bool is_low,
                          bool is_strict,
                          int64_t number)
{
    if (is_low) {
        if (is_strict && number == INT64_MAX)
            *extent = (struct extent){1, 0};
        else if (number + is_strict > extent->low)
            extent->low = number + is_strict;
    } else {
        if (is_strict && number == INT64_MIN)
            *extent = (struct extent){1, 0};
        else if (number - is_strict < extent->high)
            extent->high = number - is_strict;
    }
}

/* The number on the other side of a literal, which is bound or a constant.  False if it
 * has none. */
static bool number_of_other(const struct esi_bound *bound,
                            const struct esi_literal *literal,
                            unsigned v,
                            int64_t *ret_number)
{
    struct esi_domain_key key;

    if (has_constant(literal))
        return constant_of(bound->plan, literal, ret_number);
    if (!key_of_other(bound, literal, v, &key) || key.is_text)
        return false;
    *ret_number = key.number;
    return true;
}

static void narrow_by(const struct esi_bound *bound,
                      const struct esi_literal *literal,
                      unsigned v,
                      struct extent *extent)
{
    const struct esi_indexed_plan *plan = bound->plan;
    enum esi_pattern_test test = plan->program->atoms[literal->atom].node->test;
    bool is_less = test == ES_TEST_LESS || test == ES_TEST_LESS_EQUAL;
    bool is_strict = test == ES_TEST_LESS || test == ES_TEST_GREATER;
    bool is_left = side_of(plan, literal, v) == 0;
    int64_t number;

    if (!number_of_other(bound, literal, v, &number)) {
        *extent = (struct extent){1, 0};
        return;
    }
    if (test == ES_TEST_EQUAL || is_less != is_left)
        narrow_extent(extent, true, is_strict, number);
    if (test == ES_TEST_EQUAL || is_less == is_left)
        narrow_extent(extent, false, is_strict, number);
}

/* Whether the clause bounds v, and its other variable is bound. */
static bool is_bounding(const struct esi_bound *bound,
                        const struct esi_clause *clause,
                        unsigned v)
{
    return esi_clause_facts_of(bound->plan, clause)->bounded >> v & 1 &&
           !(clause->existential & ~esi_program_bit(v) & ~bound->check.bound);
}

/* Combines all bounds of the attribute that v's clause number `from` bounds.  False if
 * an earlier clause bounds the same attribute. */
static bool extent_of(const struct esi_bound *bound,
                      unsigned v,
                      uint32_t from,
                      struct extent *extent)
{
    const struct esi_indexed_plan *plan = bound->plan;
    const uint32_t *numbers = plan->clauses_of[v];
    const struct lookup *lookup =
        lookup_of(plan, plan->clauses[numbers[from]].literals, v);

    *extent = (struct extent){INT64_MIN, INT64_MAX};
    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[numbers[i]];

        if (!is_bounding(bound, clause, v) ||
            lookup_of(plan, clause->literals, v) != lookup)
            continue;
        if (i < from)
            return false;
        narrow_by(bound, clause->literals, v, extent);
    }
    return true;
}

/* --- Sorted lists ----------------------------------------------------------------- */

/* Appends to a list of `count` values. */
static bool append_listed(struct esi_listed listed,
                          struct esi_sorted_list *list,
                          size_t *count)
{
    if (ESI_ARRAY_RESERVE(list->values, list->capacity, *count + listed.count + 1) < 0)
        return false;
    for (size_t i = 0; i < listed.count; i++)
        list->values[(*count)++] = listed.values[i];
    return true;
}

bool esi_lookup_bounds(struct esi_bound *bound,
                       unsigned v,
                       uint64_t applied,
                       uint64_t most,
                       struct esi_sorted_list *list,
                       struct esi_listed *ret_listed)
{
    const struct esi_indexed_plan *plan = bound->plan;
    struct esi_listed best = {NULL, SIZE_MAX};
    struct extent extent;
    size_t count = 0;

    for (uint32_t i = 0; i < plan->clause_counts[v]; i++) {
        const struct esi_clause *clause = &plan->clauses[plan->clauses_of[v][i]];
        const struct esi_sorted_index *index;
        struct esi_listed one;

        if (!is_bounding(bound, clause, v) ||
            !(clause->existential & ~esi_program_bit(v) & ~applied) ||
            !extent_of(bound, v, i, &extent))
            continue;
        index = index_of(lookup_of(plan, clause->literals, v));
        if (!index)
            continue;
        one = esi_sorted_index_between(index, extent.low, extent.high);
        if (one.count < best.count)
            best = one;
    }
    if (best.count > most || !append_listed(best, list, &count))
        return false;
    *ret_listed =
        (struct esi_listed){list->values, esi_domain_values_sort(list->values, count)};
    return true;
}

/* Lists the values of v for one of several literals; all other variables are bound. */
static bool list_alternative(struct esi_bound *bound,
                             const struct esi_literal *literal,
                             unsigned v,
                             struct esi_listed *ret_listed)
{
    struct extent extent = {INT64_MIN, INT64_MAX};
    const struct esi_sorted_index *index;

    if (!has_constant(literal) && comparison_of(bound->plan, literal) == COMPARES_EQUAL)
        return esi_lookup_equal(bound, literal, v, NULL, ret_listed);
    index = index_of(lookup_of(bound->plan, literal, v));
    if (!index)
        return false;
    narrow_by(bound, literal, v, &extent);
    *ret_listed = esi_sorted_index_between(index, extent.low, extent.high);
    return true;
}

bool esi_lookup_alternatives(struct esi_bound *bound,
                             const struct esi_clause *clause,
                             unsigned v,
                             uint64_t most,
                             struct esi_sorted_list *list,
                             struct esi_listed *ret_listed)
{
    struct esi_listed one;
    size_t count = 0;

    /* Nothing is written until the list is known to be short, because another clause
     * may have its list there. */
    for (uint32_t i = 0; i < clause->count; i++) {
        if (!(clause->literals[i].variables >> v & 1))
            continue;
        if (!list_alternative(bound, &clause->literals[i], v, &one) ||
            one.count > most - count)
            return false;
        count += one.count;
    }
    count = 0;
    for (uint32_t i = 0; i < clause->count; i++)
        if (clause->literals[i].variables >> v & 1 &&
            (!list_alternative(bound, &clause->literals[i], v, &one) ||
             !append_listed(one, list, &count)))
            return false;
    *ret_listed =
        (struct esi_listed){list->values, esi_domain_values_sort(list->values, count)};
    return true;
}

bool esi_lookup_violators(const struct esi_bound *bound,
                          const struct esi_literal *literal,
                          unsigned u,
                          struct esi_listed ret_listed[2])
{
    const struct esi_sorted_index *index = index_of(lookup_of(bound->plan, literal, u));
    bool is_demanded = !literal->is_negated; /* for "!=": absent values violate it,
                                                too */
    struct esi_domain_key key;

    if (!index)
        return false;
    ret_listed[0] = ret_listed[1] = (struct esi_listed){NULL, 0};
    if (!key_of_other(bound, literal, u, &key))
        return !is_demanded;
    ret_listed[0] = esi_sorted_index_find(index, key);
    if (is_demanded)
        ret_listed[1] = esi_sorted_index_absent(index);
    return true;
}
