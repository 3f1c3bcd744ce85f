/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_plan.c - prepares a rewritten pattern for the search by ranges.
 *
 * Literals over the same two variables of single events become one mask of possible
 * relations.  Clauses that consist of one mask of two existential variables are
 * intersected, and the other clauses are simplified by them until nothing changes.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/search/indexed/indexed_implied.h"
#include "monitors/search/indexed/indexed_lookup.h"
#include "monitors/search/indexed/indexed_select.h"
#include "monitors/search/truth/cnf_clauses.h"

enum {
    MEMORY_VALUES = 1 << 20, /* limit for domains with results cached by value */
};

/* --- Literals --------------------------------------------------------------------- */

static bool is_single(const struct esi_indexed_plan *plan, unsigned v)
{
    return plan->single >> v & 1;
}

static struct esi_literal relation_of(const struct esi_literal *literal)
{
    uint8_t mask = literal->kind == ES_LITERAL_BEFORE ? ESI_IS_BEFORE : ESI_IS_SAME;
    struct esi_literal result = {.kind = ES_LITERAL_RELATION,
                                 .x = literal->x,
                                 .y = literal->y,
                                 .variables = literal->variables};

    result.mask = literal->is_negated ? (uint8_t)(ESI_IS_ANY & ~mask) : mask;
    if (result.x == result.y) {
        result.mask = result.mask & ESI_IS_SAME ? ESI_IS_ANY : 0;
    } else if (result.x > result.y) {
        result.x = literal->y;
        result.y = literal->x;
        result.mask = esi_mask_turned(result.mask);
    }
    return result;
}

static struct esi_literal literal_of(const struct esi_indexed_plan *plan,
                                     const struct esi_literal *literal)
{
    bool is_relation =
        (literal->kind == ES_LITERAL_BEFORE || literal->kind == ES_LITERAL_EQUAL) &&
        is_single(plan, literal->x) && is_single(plan, literal->y);

    return is_relation ? relation_of(literal) : *literal;
}

/* Adds a literal to a clause, merged with one over the same two variables.  False if
 * the clause becomes true. */
static bool join_clause(struct esi_clause *clause, struct esi_literal literal)
{
    if (literal.kind != ES_LITERAL_RELATION) {
        clause->literals[clause->count++] = literal;
        return true;
    }
    if (literal.mask == 0)
        return true;
    for (uint32_t i = 0; i < clause->count; i++) {
        struct esi_literal *other = &clause->literals[i];

        if (other->kind == ES_LITERAL_RELATION && other->x == literal.x &&
            other->y == literal.y) {
            other->mask |= literal.mask;
            return other->mask != ESI_IS_ANY;
        }
    }
    clause->literals[clause->count++] = literal;
    return literal.mask != ESI_IS_ANY;
}

/* --- Clauses ---------------------------------------------------------------------- */

static void take_clauses(struct esi_indexed_plan *plan,
                         const struct esi_cnf *cnf,
                         bool skips_universal)
{
    struct esi_literal *next = plan->literals;

    for (size_t i = 0; i < cnf->count; i++) {
        struct esi_clause *clause = &plan->clauses[plan->clause_count];
        bool is_open = true;

        *clause = (struct esi_clause){.literals = next};
        for (size_t j = 0; is_open && j < cnf->clauses[i].count; j++)
            is_open =
                join_clause(clause, literal_of(plan, &cnf->clauses[i].literals[j]));
        esi_clause_measure(plan->program, clause);
        if (!is_open || (skips_universal && clause->universal))
            continue;
        next += clause->count;
        plan->clause_count++;
    }
}

/* --- Masks ------------------------------------------------------------------------ */

static bool are_masked(const struct esi_indexed_plan *plan,
                       const struct esi_literal *literal)
{
    return literal->kind == ES_LITERAL_RELATION &&
           (literal->variables & ~plan->existential) == 0;
}

/* Moves a clause that is one mask to the masks.  Returns whether it was moved. */
static bool take_mask(struct esi_indexed_plan *plan, const struct esi_clause *clause)
{
    const struct esi_literal *literal = clause->literals;

    if (clause->count != 1 || !are_masked(plan, literal))
        return false;
    plan->masks[literal->x][literal->y] &= literal->mask;
    plan->masks[literal->y][literal->x] =
        esi_mask_turned(plan->masks[literal->x][literal->y]);
    if (plan->masks[literal->x][literal->y] == 0)
        plan->is_false = true;
    return true;
}

/* Removes literals that are false by the masks.  Returns true if the masks make a
 * literal true. */
static bool is_said(const struct esi_indexed_plan *plan, struct esi_clause *clause)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < clause->count; i++) {
        struct esi_literal literal = clause->literals[i];

        if (are_masked(plan, &literal)) {
            uint8_t mask = plan->masks[literal.x][literal.y];

            if ((mask & ~literal.mask) == 0)
                return true;
            literal.mask &= mask;
            if (literal.mask == 0)
                continue;
        }
        clause->literals[kept++] = literal;
    }
    clause->count = kept;
    return false;
}

/* Whether x is y, or before it by the masks. */
static bool is_up_to(const struct esi_indexed_plan *plan, unsigned x, unsigned y)
{
    return x == y || plan->masks[x][y] == ESI_IS_BEFORE;
}

/* Whether a literal is "first --> last" of existential variables, in either
 * direction. */
static bool is_order(const struct esi_indexed_plan *plan,
                     const struct esi_literal *literal,
                     unsigned *ret_first,
                     unsigned *ret_last)
{
    bool is_before = literal->mask == ESI_IS_BEFORE;

    if (!are_masked(plan, literal) || (!is_before && literal->mask != ESI_IS_AFTER))
        return false;
    *ret_first = is_before ? literal->x : literal->y;
    *ret_last = is_before ? literal->y : literal->x;
    return true;
}

/* Removes "b --> c" beside "a --> c" if a is before b, and so on: a literal that
 * implies another literal of its clause is redundant. */
static void take_out_implied(const struct esi_indexed_plan *plan,
                             struct esi_clause *clause)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < clause->count; i++) {
        unsigned first, last, other_first, other_last;
        bool is_implied = false;

        for (uint32_t j = 0; j < clause->count && !is_implied; j++)
            is_implied =
                i != j && is_order(plan, &clause->literals[i], &first, &last) &&
                is_order(plan, &clause->literals[j], &other_first, &other_last) &&
                is_up_to(plan, other_first, first) && is_up_to(plan, last, other_last);
        if (!is_implied)
            clause->literals[kept++] = clause->literals[i];
    }
    clause->count = kept;
}

static void simplify_plan(struct esi_indexed_plan *plan)
{
    bool is_changed = true;

    while (is_changed && !plan->is_false) {
        uint32_t kept = 0;

        is_changed = false;
        for (uint32_t i = 0; i < plan->clause_count; i++) {
            struct esi_clause *clause = &plan->clauses[i];

            if (is_said(plan, clause))
                continue;
            take_out_implied(plan, clause);
            if (take_mask(plan, clause)) {
                is_changed = true;
                continue;
            }
            if (clause->count == 0)
                plan->is_false = true;
            esi_clause_measure(plan->program, clause);
            plan->clauses[kept++] = *clause;
        }
        plan->clause_count = kept;
    }
}

/* --- Facts by variable ------------------------------------------------------------ */

static bool is_relation_of(const struct esi_literal *literal, uint64_t variable)
{
    return literal->kind == ES_LITERAL_RELATION && literal->variables & variable;
}

/* For universal u and v: whether the values of v allowed by all values of u are one
 * interval of each column. */
static bool is_convex(uint8_t mask)
{
    return (mask & (ESI_IS_BEFORE | ESI_IS_AFTER)) != (ESI_IS_BEFORE | ESI_IS_AFTER);
}

/* Whether intervals represent the values of v that satisfy a literal when all others
 * are bound. */
static bool is_literal_exact(const struct esi_indexed_plan *plan,
                             const struct esi_literal *literal,
                             unsigned v)
{
    switch (literal->kind) {
    case ES_LITERAL_RELATION:
        return true;
    case ES_LITERAL_BEFORE:
    case ES_LITERAL_EQUAL:
        return literal->x != literal->y && plan->single >> v & 1;
    case ES_LITERAL_RECEIVED:
        return literal->x != literal->y && plan->single >> literal->x & 1 &&
               plan->single >> literal->y & 1;
    case ES_LITERAL_NEAR:
    case ES_LITERAL_COMPARE:
    case ES_LITERAL_COUNT:
    case ES_LITERAL_FORMULA:
        break;
    }
    return false;
}

static bool is_exact(const struct esi_indexed_plan *plan,
                     const struct esi_clause *clause,
                     unsigned v)
{
    uint64_t u = clause->universal;
    unsigned both = 0;

    if (!is_single(plan, v) || (u & (u - 1)) || u & ~plan->single)
        return false;
    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (literal->variables & u) {
            if (!is_relation_of(literal, u))
                return false;
            if (literal->variables & esi_program_bit(v) &&
                (++both > 1 || !is_convex(literal->mask)))
                return false;
        } else if (literal->variables & esi_program_bit(v) &&
                   !is_literal_exact(plan, literal, v)) {
            return false;
        }
    }
    return true;
}

/* Whether a clause requires that single v happened near another variable. */
static bool is_near(const struct esi_indexed_plan *plan,
                    const struct esi_clause *clause,
                    unsigned v)
{
    const struct esi_literal *literal = clause->literals;

    return clause->count == 1 && literal->kind == ES_LITERAL_NEAR &&
           !literal->is_negated && literal->x != literal->y && is_single(plan, v) &&
           !(literal->variables & ~plan->existential);
}

static void add_near(struct esi_indexed_plan *plan,
                     const struct esi_clause *clause,
                     unsigned v)
{
    const struct esi_literal *literal = clause->literals;
    unsigned other = literal->x == v ? literal->y : literal->x;

    plan->near_limits[v][plan->near_counts[v]++] = (struct esi_near_limit){
        other, plan->program->atoms[literal->atom].node->within_ns};
    plan->near[v] |= esi_program_bit(other);
    plan->timed |= esi_program_bit(other);
}

static int list_clauses(struct esi_indexed_plan *plan, unsigned v)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->clause_count; i++)
        if (plan->clauses[i].existential >> v & 1)
            count++;
    plan->clauses_of[v] = calloc(count + 1u, sizeof *plan->clauses_of[v]);
    plan->near_limits[v] = calloc(count + 1u, sizeof *plan->near_limits[v]);
    if (!plan->clauses_of[v] || !plan->near_limits[v])
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->clause_count; i++) {
        struct esi_clause *clause = &plan->clauses[i];

        if (!(clause->existential >> v & 1))
            continue;
        plan->neighbours[v] |= clause->existential;
        if (is_exact(plan, clause, v))
            plan->facts[i].exact |= esi_program_bit(v);
        if (is_near(plan, clause, v)) {
            plan->clauses_of[v][count - 1 - plan->near_counts[v]] = i;
            add_near(plan, clause, v);
        } else {
            plan->clauses_of[v][plan->clause_counts[v]++] = i;
        }
    }
    for (unsigned w = 0; w < plan->variable_count; w++) {
        uint8_t mask = plan->masks[v][w];

        if (mask == ESI_IS_ANY)
            continue;
        plan->masked[v] |= esi_program_bit(w);
        if (mask & ESI_IS_BEFORE && mask & ESI_IS_AFTER)
            plan->holed[v] |= esi_program_bit(w);
        else if (mask == ESI_IS_BEFORE)
            plan->befores[v] |= esi_program_bit(w);
        else if (mask == ESI_IS_AFTER)
            plan->afters[v] |= esi_program_bit(w);
    }
    plan->neighbours[v] = (plan->neighbours[v] | plan->masked[v]) & ~esi_program_bit(v);
    return 0;
}

static int list_all_clauses(struct esi_indexed_plan *plan)
{
    int result = 0;

    plan->facts = calloc(plan->clause_count + 1u, sizeof *plan->facts);
    if (!plan->facts)
        return -ENOMEM;
    for (unsigned v = 0; result == 0 && v < plan->variable_count; v++)
        if (plan->existential >> v & 1)
            result = list_clauses(plan, v);
    return result;
}

/* --- Domains ---------------------------------------------------------------------- */

static int sum_columns(struct esi_indexed_plan *plan, unsigned distinct)
{
    const struct esi_domain *domain = plan->distinct[distinct];
    uint32_t slots = esi_domain_slots(domain);
    uint64_t *offsets;

    if (plan->is_growing || !esi_domain_is_single(domain) ||
        esi_domain_count(domain) > MEMORY_VALUES)
        return 0;
    offsets = calloc(slots + 1u, sizeof *offsets);
    if (!offsets)
        return -ENOMEM;
    for (uint32_t slot = 0; slot < slots; slot++)
        offsets[slot + 1] = offsets[slot] + esi_domain_column(domain, slot).count;
    plan->offsets[distinct] = offsets;
    return 0;
}

static int number_domains(struct esi_indexed_plan *plan)
{
    int result = 0;

    for (unsigned v = 0; result == 0 && v < plan->variable_count; v++) {
        unsigned i = 0;

        if (!((plan->existential | plan->universal) >> v & 1))
            continue;
        while (i < plan->distinct_count && plan->distinct[i] != plan->domains[v])
            i++;
        plan->distinct_of[v] = (uint8_t)i;
        if (i < plan->distinct_count)
            continue;
        plan->distinct[plan->distinct_count++] = plan->domains[v];
        result = sum_columns(plan, i);
    }
    return result;
}

/* Creates indexes of receives by sends, for literals that may use them. */
static int index_receives(struct esi_indexed_plan *plan)
{
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < plan->clause_count; i++)
        for (uint32_t j = 0; result == 0 && j < plan->clauses[i].count; j++) {
            const struct esi_literal *literal = &plan->clauses[i].literals[j];
            unsigned y = literal->y;
            unsigned distinct = plan->distinct_of[y];

            if (literal->kind == ES_LITERAL_RECEIVED && !plan->is_growing &&
                is_single(plan, y) && is_single(plan, literal->x) &&
                (plan->existential >> y & 1 || literal->is_negated) &&
                !plan->received[distinct])
                result = esi_sorted_index_create(plan->domains[y], NULL,
                                                 &plan->received[distinct]);
        }
    return result;
}

/* Whether a clause requires only that one existential event received another one. */
static bool is_received(const struct esi_indexed_plan *plan,
                        const struct esi_clause *clause)
{
    const struct esi_literal *literal = clause->literals;

    return clause->count == 1 && literal->kind == ES_LITERAL_RECEIVED &&
           !literal->is_negated && literal->x != literal->y &&
           !(literal->variables & ~(plan->existential & plan->single));
}

/* Notes senders and receivers: the newest event has few partners. */
static void note_senders(struct esi_indexed_plan *plan)
{
    for (uint32_t i = 0; plan->is_growing && i < plan->clause_count; i++) {
        const struct esi_literal *literal = plan->clauses[i].literals;

        if (!is_received(plan, &plan->clauses[i]))
            continue;
        plan->senders[literal->y] |= esi_program_bit(literal->x);
        plan->receivers[literal->x] |= esi_program_bit(literal->y);
    }
}

static void note_named(struct esi_indexed_plan *plan)
{
    plan->named = plan->is_growing ? plan->existential & plan->single : 0;
    for (uint32_t i = 0; i < plan->clause_count; i++) {
        plan->has_closed |= !plan->clauses[i].existential;
        if (!is_received(plan, &plan->clauses[i]))
            plan->named &= ~plan->facts[i].exact;
    }
}

/* The newest event is before no other event. */
static void note_never_last(struct esi_indexed_plan *plan)
{
    for (uint64_t left = plan->prompt & plan->existential; left; left &= left - 1) {
        unsigned v = (unsigned)__builtin_ctzll(left);
        bool is_first = false;

        for (unsigned w = 0; w < plan->variable_count; w++)
            is_first |= plan->masks[v][w] == ESI_IS_BEFORE;
        for (uint32_t i = 0; i < plan->clause_count; i++) {
            const struct esi_literal *literal = plan->clauses[i].literals;

            is_first |= plan->clauses[i].count == 1 && !plan->clauses[i].universal &&
                        literal->kind == ES_LITERAL_BEFORE && !literal->is_negated &&
                        literal->x == v;
        }
        plan->never_last |= is_first ? esi_program_bit(v) : 0;
    }
}

/* Notes the variables for which partners or equal attributes provide a list when
 * another one is bound. */
static void note_links(struct esi_indexed_plan *plan)
{
    for (uint32_t i = 0; i < plan->clause_count; i++) {
        const struct esi_clause *clause = &plan->clauses[i];
        const struct esi_literal *literal = clause->literals;

        if (!is_received(plan, clause) && !plan->facts[i].is_equality)
            continue;
        plan->linked[literal->x] |= esi_program_bit(literal->y);
        plan->linked[literal->y] |= esi_program_bit(literal->x);
    }
}

/* --- Plans ------------------------------------------------------------------------ */

const struct esi_indexed_tuning esi_indexed_defaults = {
    .alone_ns = 2000000, /* starting threads takes longer */
    .index_ordinal = 4,
    .index_comparisons = 1,
    .listed_share = 8,
    .sorted_share = 64,
};

static struct esi_indexed_plan *begin_plan(const struct esi_indexed_config *config,
                                           bool is_growing)
{
    const struct esi_program_disjunct *disjunct =
        &config->program->disjuncts[config->disjunct];
    struct esi_indexed_plan *plan = calloc(1, sizeof *plan);

    if (!plan)
        return NULL;
    plan->program = config->program;
    plan->disjunct = config->disjunct;
    plan->domains = config->domains;
    plan->counted = config->counted;
    plan->order = config->order;
    plan->stamps = config->stamps;
    plan->is_growing = is_growing;
    plan->all_witnesses = config->all_witnesses;
    plan->tuning = config->tuning ? *config->tuning : esi_indexed_defaults;
    plan->existential = disjunct->variables;
    plan->universal = disjunct->universal & ~config->empty;
    plan->variable_count = config->program->variable_count;
    memset(plan->masks, ESI_IS_ANY, sizeof plan->masks);
    for (unsigned v = 0; v < plan->variable_count; v++) {
        if (is_growing && esi_program_is_prompt(config->program, v))
            plan->prompt |= esi_program_bit(v);
        if (config->program->variables[v].is_returned)
            plan->returned |= esi_program_bit(v) & plan->existential;
        if ((plan->existential | plan->universal) >> v & 1 &&
            esi_domain_is_single(config->domains[v]))
            plan->single |= esi_program_bit(v);
    }
    return plan;
}

static int fill_plan(struct esi_indexed_plan *plan,
                     const struct esi_cnf *cnf,
                     bool skips_universal)
{
    int result;

    plan->size = cnf->size;
    plan->literal_count = cnf->literals;
    plan->literals = calloc(cnf->literals + 1, sizeof *plan->literals);
    plan->clauses = calloc(cnf->count + ES_PROGRAM_VARIABLES, sizeof *plan->clauses);
    if (!plan->literals || !plan->clauses)
        return -ENOMEM;
    take_clauses(plan, cnf, skips_universal);
    simplify_plan(plan);
    note_senders(plan);
    note_never_last(plan);
    result = esi_indexed_select(plan);
    if (result == 0)
        result = number_domains(plan);
    if (result == 0)
        result = list_all_clauses(plan);
    if (result == 0)
        esi_implied_find(plan);
    if (result == 0)
        result = index_receives(plan);
    if (result == 0)
        result = esi_lookups_create(plan);
    if (result == 0) {
        note_links(plan);
        note_named(plan);
    }
    if (result == 0 && !plan->is_growing)
        esi_groups_find(&plan->groups, plan, cnf);
    return result;
}

static int rewrite_disjunct(const struct esi_indexed_config *config,
                            struct esi_cnf **ret_cnf,
                            struct es_error *error)
{
    int result = esi_cnf_create(config->program, config->disjunct, config->empty,
                                ret_cnf, error);

    if (result < 0)
        return result;
    result = esi_cnf_prune(*ret_cnf);
    if (result < 0)
        esi_cnf_destroy(*ret_cnf);
    return result;
}

int esi_indexed_plan_create(const struct esi_indexed_config *config,
                            bool is_growing,
                            struct esi_indexed_plan **ret_plan,
                            struct es_error *error)
{
    struct esi_cnf *made = NULL;
    struct esi_indexed_plan *plan;
    int result = 0;

    if (!config->cnf)
        result = rewrite_disjunct(config, &made, error);
    if (result < 0)
        return result;
    plan = begin_plan(config, is_growing);
    result = plan ? fill_plan(plan, config->cnf ? config->cnf : made,
                              config->skips_universal)
                  : -ENOMEM;
    esi_cnf_destroy(made);
    if (result < 0) {
        esi_indexed_plan_destroy(plan);
        return result;
    }
    *ret_plan = plan;
    return 0;
}

void esi_indexed_plan_destroy(struct esi_indexed_plan *plan)
{
    if (!plan)
        return;
    for (unsigned v = 0; v < ES_PROGRAM_VARIABLES; v++) {
        free(plan->clauses_of[v]);
        free(plan->near_limits[v]);
        free(plan->offsets[v]);
        esi_sorted_index_destroy(plan->received[v]);
        esi_domain_destroy(plan->selections[v]);
    }
    esi_lookups_destroy(plan->lookups);
    free(plan->facts);
    free(plan->literals);
    free(plan->clauses);
    free(plan);
}

uint64_t esi_indexed_plan_bytes(const struct esi_indexed_plan *plan)
{
    uint64_t bytes =
        sizeof *plan +
        plan->clause_count * (sizeof *plan->clauses + sizeof *plan->facts) +
        esi_lookups_bytes(plan->lookups);

    for (unsigned i = 0; i < plan->selection_count; i++)
        bytes += esi_domain_bytes(plan->selections[i]);
    for (uint32_t i = 0; i < plan->clause_count; i++)
        bytes += plan->clauses[i].count * sizeof *plan->literals;
    for (unsigned i = 0; i < plan->distinct_count; i++) {
        if (plan->offsets[i])
            bytes +=
                (esi_domain_slots(plan->distinct[i]) + 1u) * sizeof *plan->offsets[i];
        if (plan->received[i])
            bytes += esi_sorted_index_bytes(plan->received[i]);
    }
    return bytes;
}

bool esi_indexed_plan_is_true(const struct esi_indexed_plan *plan)
{
    for (unsigned v = 0; v < plan->variable_count; v++)
        if (plan->masked[v])
            return false;
    return !plan->is_false && plan->clause_count + plan->selecting_count == 0;
}

/* --- The first variable ----------------------------------------------------------- */

/* The cost of v for one other variable, whose mask is `mask`: successors must be found,
 * or only timestamps are read. */
static unsigned weight_of(uint8_t mask)
{
    return esi_mask_needs_successors(mask) ? 4 : 1;
}

static unsigned weight_of_clause(const struct esi_clause *clause, unsigned v)
{
    unsigned weight = 0;

    for (uint32_t i = 0; i < clause->count; i++) {
        const struct esi_literal *literal = &clause->literals[i];

        if (!(literal->variables >> v & 1))
            continue;
        if (literal->kind == ES_LITERAL_RELATION)
            weight += weight_of(literal->x == v ? esi_mask_turned(literal->mask)
                                                : literal->mask);
        else
            weight += literal->kind == ES_LITERAL_RECEIVED && literal->y == v ? 1 : 4;
    }
    return weight;
}

unsigned esi_indexed_plan_weight(const struct esi_indexed_plan *plan, unsigned v)
{
    unsigned weight = 1;

    for (uint64_t left = plan->masked[v]; left; left &= left - 1)
        weight += weight_of(plan->masks[__builtin_ctzll(left)][v]);
    for (uint32_t i = 0;
         i < plan->clause_counts[v] + plan->near_counts[v] && weight < 1000; i++)
        weight += weight_of_clause(&plan->clauses[plan->clauses_of[v][i]], v);
    return weight;
}

unsigned esi_indexed_plan_first(const struct esi_indexed_plan *plan)
{
    uint64_t eligible = plan->returned ? plan->returned : plan->existential;
    unsigned best = ES_PROGRAM_VARIABLES;
    uint64_t best_cost = UINT64_MAX;

    for (; eligible; eligible &= eligible - 1) {
        unsigned v = (unsigned)__builtin_ctzll(eligible);
        uint64_t cost = esi_domain_count(plan->domains[v]) *
                        (uint64_t)esi_indexed_plan_weight(plan, v);

        if (esi_groups_is_next(&plan->groups, 0, v) &&
            (best == ES_PROGRAM_VARIABLES || cost < best_cost)) {
            best = v;
            best_cost = cost;
        }
    }
    return best;
}
