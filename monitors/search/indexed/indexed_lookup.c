/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_lookup.c - which comparisons of attributes may be answered by an index, and
 * the indexes, each made when it is first asked for.
 *
 *   $a.tag = $b.tag     alone in a clause: with $a bound, it lists the values of $b, by
 *                       all attributes of the two that are compared so
 *   $a.tag != *u.tag    with $a bound, it lists the values of *u that may violate it
 *
 * Values that are listed are tested as all others: what an index leaves out cannot
 * pass.  While domains grow they keep tables of their own, which list few values or
 * none; violators are not looked up then.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/indexed/indexed_searcher.h"

/* --- Which comparisons ------------------------------------------------------------ */

static bool is_comparable(const struct esi_indexed_plan *plan,
                          const struct esi_literal *literal)
{
    const struct esi_atom *atom;

    if (literal->kind != ES_LITERAL_COMPARE || literal->x == literal->y)
        return false;
    atom = &plan->program->atoms[literal->atom];
    return atom->node->test == ES_TEST_EQUAL && atom->left && atom->right;
}

static unsigned side_of(const struct esi_indexed_plan *plan,
                        const struct esi_literal *literal,
                        unsigned v)
{
    return plan->program->atoms[literal->atom].left >> v & 1 ? 0 : 1;
}

static bool is_same_operand(const struct esi_pattern_operand *a,
                            const struct esi_pattern_operand *b)
{
    return a->field == b->field &&
           (a->field != ES_FIELD_ATTRIBUTE || a->attribute == b->attribute);
}

static bool is_same(const struct esi_key_form *a, const struct esi_key_form *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (!is_same_operand(&a->nodes[i]->operands[a->sides[i]],
                             &b->nodes[i]->operands[b->sides[i]]))
            return false;
    return true;
}

/* The number of the index of v's values. */
static int note_values(struct esi_indexed_plan *plan,
                       const struct esi_key_form *form,
                       unsigned v,
                       uint32_t *ret_number)
{
    struct esi_indexed_lookup *lookup;
    uint32_t i = 0;
    int result;

    while (i < plan->lookup_count && (plan->lookups[i].domain != plan->domains[v] ||
                                      !is_same(&plan->lookups[i].form, form)))
        i++;
    *ret_number = i;
    if (i < plan->lookup_count)
        return 0;
    lookup = &plan->lookups[i];
    result = -pthread_mutex_init(&lookup->lock, NULL);
    if (result < 0)
        return result;
    lookup->domain = plan->domains[v];
    lookup->form = *form;
    plan->lookup_count++;
    return 0;
}

static void add_part(const struct esi_indexed_plan *plan,
                     const struct esi_literal *literal,
                     unsigned v,
                     struct esi_key_form *form)
{
    if (form->count == ESI_KEY_PARTS)
        return; /* the rest is tested only */
    form->nodes[form->count] = plan->program->atoms[literal->atom].node;
    form->sides[form->count++] = (uint8_t)side_of(plan, literal, v);
}

/* What v has in the comparisons of a literal's variables, in the clauses from its own
 * on. */
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

static int note_literal(struct esi_indexed_plan *plan,
                        const struct esi_clause *clause,
                        const struct esi_literal *literal)
{
    struct esi_literal_lookups *lookups = &plan->lookups_of[literal - plan->literals];
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
    return is_comparable(plan, literal) && literal->variables & plan->universal &&
           plan->program->atoms[literal->atom].node->is_negated != literal->is_negated;
}

/* "= or absent" does not leave few. */
static bool is_equality(const struct esi_indexed_plan *plan,
                        const struct esi_clause *clause)
{
    const struct esi_literal *literal = clause->literals;

    return clause->count == 1 && !clause->universal && is_comparable(plan, literal) &&
           !literal->is_negated &&
           !plan->program->atoms[literal->atom].node->is_negated;
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

static int note_clause(struct esi_indexed_plan *plan, const struct esi_clause *clause)
{
    int result = 0;

    if (esi_clause_facts_of(plan, clause)->is_equality)
        return is_led(plan, clause) ? 0 : note_literal(plan, clause, clause->literals);
    for (uint32_t i = 0; result == 0 && i < clause->count; i++)
        if (is_unequal(plan, &clause->literals[i]))
            result = note_literal(plan, clause, &clause->literals[i]);
    return result;
}

int esi_indexed_note_lookups(struct esi_indexed_plan *plan)
{
    size_t most = 0;
    int result = 0;

    if (plan->without & ES_INDEXED_LOOKUPS)
        return 0;
    for (uint32_t i = 0; i < plan->clause_count; i++) {
        const struct esi_clause *clause = &plan->clauses[i];

        plan->facts[i].is_equality = is_equality(plan, clause);
        for (uint32_t j = 0; j < clause->count; j++)
            most += 2 * (size_t)is_comparable(plan, &clause->literals[j]);
    }
    if (most == 0 || plan->is_growing)
        return 0;
    plan->lookups = calloc(most, sizeof *plan->lookups);
    plan->lookups_of = calloc(plan->literal_count, sizeof *plan->lookups_of);
    if (!plan->lookups || !plan->lookups_of)
        return -ENOMEM;
    for (uint32_t i = 0; result == 0 && i < plan->clause_count; i++)
        result = note_clause(plan, &plan->clauses[i]);
    return result;
}

void esi_indexed_forget_lookups(struct esi_indexed_plan *plan)
{
    for (uint32_t i = 0; i < plan->lookup_count; i++) {
        esi_equal_index_destroy(atomic_load(&plan->lookups[i].index));
        pthread_mutex_destroy(&plan->lookups[i].lock);
    }
    free(plan->lookups);
    free(plan->lookups_of);
}

uint64_t esi_indexed_lookup_bytes(const struct esi_indexed_plan *plan)
{
    uint64_t bytes = plan->lookup_count * sizeof *plan->lookups;

    for (uint32_t i = 0; i < plan->lookup_count; i++) {
        const struct esi_equal_index *index = atomic_load(&plan->lookups[i].index);

        bytes += index ? esi_equal_index_bytes(index) : 0;
    }
    return bytes;
}

/* --- Indexes ---------------------------------------------------------------------- */

/* NULL: there is no lookup, or was no memory for it; things only take longer. */
static const struct esi_equal_index *index_of(struct esi_indexed_lookup *lookup)
{
    struct esi_equal_index *index =
        lookup ? atomic_load_explicit(&lookup->index, memory_order_acquire) : NULL;

    if (index || !lookup)
        return index;
    pthread_mutex_lock(&lookup->lock);
    index = atomic_load(&lookup->index);
    if (!index && !lookup->has_failed &&
        esi_equal_index_create(lookup->domain, &lookup->form, &index) < 0)
        lookup->has_failed = true;
    /* Pairs with the acquire above: who sees it sees what is in it. */
    atomic_store_explicit(&lookup->index, index, memory_order_release);
    pthread_mutex_unlock(&lookup->lock);
    return index;
}

static unsigned other_of(const struct esi_literal *literal, unsigned v)
{
    return v == literal->x ? literal->y : literal->x;
}

/* NULL: the literal has none. */
static struct esi_indexed_lookup *lookup_of(const struct esi_searcher *searcher,
                                            const struct esi_literal *literal,
                                            unsigned v)
{
    const struct esi_literal_lookups *lookups =
        esi_literal_lookups_of(searcher->plan, literal);

    if (!lookups)
        return NULL;
    return &searcher->plan->lookups[v == literal->x ? lookups->of_x : lookups->of_y];
}

/* Of the other variable, which is bound.  False: it lacks an attribute. */
static bool key_of_other(const struct esi_searcher *searcher,
                         const struct esi_literal *literal,
                         unsigned v,
                         struct esi_domain_key *ret_key)
{
    unsigned other = other_of(literal, v);
    const struct esi_indexed_lookup *lookup = lookup_of(searcher, literal, other);

    return esi_key_of(&lookup->form, lookup->domain, searcher->values[other], ret_key);
}

/* While domains grow they list what they have themselves, if that is little. */
static bool list_few(struct esi_searcher *searcher,
                     const struct esi_literal *literal,
                     unsigned v,
                     struct esi_domain_key key,
                     struct esi_listed *ret_listed)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    struct esi_domain_value *few = &searcher->few[v * ESI_LISTED_FEW];
    unsigned count;
    int result = esi_domain_list_equal(
        plan->domains[v], plan->program->atoms[literal->atom].node,
        side_of(plan, literal, v), key, few, ESI_LISTED_FEW, &count);

    if (result < 0)
        searcher->error = result;
    *ret_listed = (struct esi_listed){few, count};
    return result > 0;
}

static bool lookup_growing(struct esi_searcher *searcher,
                           const struct esi_literal *literal,
                           unsigned v,
                           struct esi_listed *ret_listed)
{
    const struct esi_indexed_plan *plan = searcher->plan;
    unsigned other = other_of(literal, v);
    struct esi_domain_key key;

    *ret_listed = (struct esi_listed){NULL, 0};
    return !esi_domain_key(plan->program->atoms[literal->atom].node,
                           side_of(plan, literal, other), plan->domains[other],
                           searcher->values[other], &key) ||
           list_few(searcher, literal, v, key, ret_listed);
}

bool esi_lookup_equal(struct esi_searcher *searcher,
                      const struct esi_literal *literal,
                      unsigned v,
                      struct esi_listed *ret_listed)
{
    const struct esi_equal_index *index;
    struct esi_domain_key key;

    if (searcher->plan->is_growing)
        return lookup_growing(searcher, literal, v, ret_listed);
    index = index_of(lookup_of(searcher, literal, v));
    if (!index)
        return false;
    *ret_listed = key_of_other(searcher, literal, v, &key)
                      ? esi_equal_index_find(index, key)
                      : (struct esi_listed){NULL, 0};
    return true;
}

bool esi_lookup_violators(const struct esi_searcher *searcher,
                          const struct esi_literal *literal,
                          unsigned u,
                          struct esi_listed ret_listed[2])
{
    const struct esi_equal_index *index = index_of(lookup_of(searcher, literal, u));
    bool is_demanded = !literal->is_negated; /* "!=": what is absent violates it, too */
    struct esi_domain_key key;

    if (!index)
        return false;
    ret_listed[0] = ret_listed[1] = (struct esi_listed){NULL, 0};
    if (!key_of_other(searcher, literal, u, &key))
        return !is_demanded;
    ret_listed[0] = esi_equal_index_find(index, key);
    if (is_demanded)
        ret_listed[1] = esi_equal_index_absent(index);
    return true;
}
