/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * matches_proof.c - proves that matches or assignments cannot be duplicated.
 *
 * Sets determine tuples.  Let a program have one disjunct, whose returned variables V
 * all have single events as values.  Two variables *overlap* if some event is a value
 * of both.  Let the condition require, as a conjunct, x -> y or y -> x (or x => y, or
 * what follows from these, as "->" of events is transitive) for each two variables that
 * are connected by overlaps.  Then an assignment is determined by the events that it
 * returns:
 *
 *   No two variables have the same event: if they overlap, one event precedes the
 *   other.  So an assignment f maps V one to one to its events S.  Let g be another
 *   with the same S, and p the permutation of V with f(v) = g(p(v)).  v and p(v)
 *   overlap in f(v), or are the same; so the variables C of a cycle of p are
 *   connected, and the requirements order them as a chain.  f and g both map the chain
 *   C, keeping its order, to the events f(C) = g(C), which also form a chain: f and g
 *   are equal on C.
 *
 * The values of occurrences follow from those of their variables.  If, in addition, no
 * variable of the disjunct is hidden, f is the whole assignment, and no set occurs
 * twice.
 *
 * Tuples are distinct.  Let no existential variable be hidden, and each be the only one
 * of its occurrence.  Then a tuple contains the values of all variables, and the bound
 * variables determine the disjunct: tuples and assignments correspond one to one.
 */
#include "config.h"

#include "monitors/search/matches_proof.h"

#include <stddef.h>

enum {
    MOST_VARIABLES = 8, /* limit for comparing values of variables pairwise */
};

struct proof {
    const struct esi_program *program;
    const struct esi_domain *const *domains;
    const struct esi_domains *growing;      /* NULL if they do not grow */
    uint64_t returned;                      /* of the single disjunct */
    uint64_t before[ES_PROGRAM_VARIABLES];  /* bit w of [v]: v -> w is required */
    uint64_t overlap[ES_PROGRAM_VARIABLES]; /* connected variables, including itself */
};

static bool has_variable(uint64_t set, uint32_t variable)
{
    return set >> variable & 1;
}

/* --- Overlaps --------------------------------------------------------------------- */

static bool columns_meet(struct esi_domain_column a, struct esi_domain_column b)
{
    uint32_t i = 0;
    uint32_t j = 0;

    while (i < a.count && j < b.count) {
        if (a.indexes[i] == b.indexes[j])
            return true;
        if (a.indexes[i] < b.indexes[j])
            i++;
        else
            j++;
    }
    return false;
}

static bool domains_meet(const struct esi_domain *a, const struct esi_domain *b)
{
    if (a == b)
        return true;
    for (uint32_t i = 0; i < esi_domain_slots(a); i++) {
        struct esi_domain_column column = esi_domain_column(a, i);
        uint32_t slot = esi_domain_slot_of(b, column.trace);

        if (slot != ES_PATTERN_NONE && columns_meet(column, esi_domain_column(b, slot)))
            return true;
    }
    return false;
}

/* A class with partners may later receive an event that is part of matches. */
static bool variables_meet(const struct proof *proof, uint32_t v, uint32_t w)
{
    const struct esi_program_variable *variables = proof->program->variables;

    if (!proof->growing)
        return domains_meet(proof->domains[v], proof->domains[w]);
    return proof->domains[v] == proof->domains[w] ||
           !esi_program_is_prompt(proof->program, v) ||
           !esi_program_is_prompt(proof->program, w) ||
           esi_domains_have_met(proof->growing, variables[v].class_number,
                                variables[w].class_number);
}

static void find_overlaps(struct proof *proof)
{
    uint32_t count = proof->program->variable_count;

    for (uint32_t v = 0; v < count; v++) {
        proof->overlap[v] |= UINT64_C(1) << v;
        for (uint32_t w = v + 1; has_variable(proof->returned, v) && w < count; w++)
            if (has_variable(proof->returned, w) && variables_meet(proof, v, w)) {
                proof->overlap[v] |= UINT64_C(1) << w;
                proof->overlap[w] |= UINT64_C(1) << v;
            }
    }
}

/* --- Requirements ----------------------------------------------------------------- */

/* Whether all others in `set` are known to be after `first`. */
static bool precedes_rest(const struct proof *proof, uint32_t first, uint64_t set)
{
    return !(set & ~(proof->before[first] | UINT64_C(1) << first));
}

/* Whether all others in `set` are known to be before `last`. */
static bool succeeds_rest(const struct proof *proof, uint32_t last, uint64_t set)
{
    for (uint64_t left = set & ~(UINT64_C(1) << last); left; left &= left - 1)
        if (!has_variable(proof->before[__builtin_ctzll(left)], last))
            return false;
    return true;
}

/* A send is before its receive, but the halves of a sync receive each other. */
static bool may_be_sync(const struct proof *proof, uint64_t receives)
{
    for (; receives; receives &= receives - 1)
        if (esi_domain_has_syncs(proof->domains[__builtin_ctzll(receives)]))
            return true;
    return false;
}

/* Some variable of the left is before some variable of the right: so a variable before
 * all of the left is before a variable after all of the right. */
static void take_atom(struct proof *proof, const struct esi_atom *atom)
{
    if (atom->kind != ES_ATOM_RELATION || atom->is_negated ||
        (atom->left | atom->right) & ~proof->returned ||
        (atom->op != ES_OPERATOR_BEFORE &&
         (atom->op != ES_OPERATOR_RECEIVED || may_be_sync(proof, atom->right))))
        return;
    for (uint64_t left = atom->left; left; left &= left - 1)
        for (uint64_t right = atom->right; right; right &= right - 1) {
            uint32_t v = (uint32_t)__builtin_ctzll(left);
            uint32_t w = (uint32_t)__builtin_ctzll(right);

            if (precedes_rest(proof, v, atom->left) &&
                succeeds_rest(proof, w, atom->right))
                proof->before[v] |= UINT64_C(1) << w;
        }
}

/* Uses conjuncts only; of the sides of OR it is not known which one holds. */
static void take_formula(struct proof *proof, const struct esi_formula *formula)
{
    if (formula->kind == ES_FORMULA_ATOM)
        take_atom(proof, &proof->program->atoms[formula->atom]);
    if (formula->kind == ES_FORMULA_AND)
        for (size_t i = 0; i < formula->part_count; i++)
            take_formula(proof, formula->parts[i]);
}

static void close_transitively(uint64_t *reach, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < count; i++)
            if (has_variable(reach[i], k))
                reach[i] |= reach[k];
}

/* --- The proof -------------------------------------------------------------------- */

static bool can_be_told(struct proof *proof)
{
    const struct esi_program *program = proof->program;
    uint32_t count = program->variable_count;

    if (program->disjunct_count != 1 ||
        __builtin_popcountll(proof->returned) > MOST_VARIABLES)
        return false;
    for (uint32_t v = 0; v < count; v++)
        if (has_variable(proof->returned, v) &&
            !esi_domain_is_single(proof->domains[v]))
            return false;
    /* Each round may derive further requirements. */
    for (uint32_t v = 0; v < count; v++) {
        take_formula(proof, program->disjuncts[0].condition);
        close_transitively(proof->before, count);
    }
    find_overlaps(proof);
    close_transitively(proof->overlap, count);
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t w = v + 1; w < count; w++)
            if (has_variable(proof->overlap[v], w) &&
                !has_variable(proof->before[v], w) &&
                !has_variable(proof->before[w], v))
                return false;
    return true;
}

static bool have_own_occurrences(const struct esi_program *program)
{
    uint64_t taken = 0; /* bit set of occurrences, which fit */

    for (uint32_t v = 0; v < program->variable_count; v++) {
        const struct esi_program_variable *variable = &program->variables[v];
        uint32_t occurrence = variable->occurrence;

        if (variable->is_universal)
            continue;
        if (!variable->is_returned || has_variable(taken, occurrence))
            return false;
        taken |= UINT64_C(1) << occurrence;
    }
    return true;
}

struct esi_matches_proof esi_matches_prove(const struct esi_program *program,
                                           const struct esi_domain *const *domains,
                                           const struct esi_domains *growing)
{
    struct proof proof = {.program = program, .domains = domains, .growing = growing};
    uint64_t bound = program->disjunct_count == 1 ? program->disjuncts[0].variables : 0;
    bool is_told;

    for (uint32_t v = 0; v < program->variable_count; v++)
        if (has_variable(bound, v) && program->variables[v].is_returned)
            proof.returned |= UINT64_C(1) << v;
    is_told = can_be_told(&proof);
    return (struct esi_matches_proof){
        .are_sets_distinct = is_told && proof.returned == bound,
        .are_tuples_distinct = have_own_occurrences(program),
        .do_sets_tell_tuples = is_told,
    };
}
