/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cnf_prune.c - removes redundant parts of a rewritten pattern (Nichols, 6.1).
 *
 * Between two single events exactly one of x -> y, y -> x, x = y and x || y holds.  A
 * literal about them is a set of these: one that is a subset of another in its clause
 * is redundant, several whose union is the whole set are always true, and
 * single-literal clauses with disjoint sets are never true together.  For other
 * literals only equality and complements are recognized.
 *
 * x -> z is kept beside x -> y and y -> z: it is implied, but if it is tested first it
 * may save the other two, as the thesis argues. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/search/truth/cnf_clauses.h"

enum {
    IS_BEFORE = 1,
    IS_AFTER = 2,
    IS_EQUAL = 4,
    IS_CONCURRENT = 8,
    IS_ANY = 15,
};

/* The meaning of a literal. */
struct saying {
    uint64_t about; /* the sets of two literals with the same value are comparable */
    unsigned set;   /* the bits above; for other literals 1, or 2 if negated */
    unsigned any;   /* the whole set */
};

struct pruning {
    const struct esi_program *program;
    uint64_t steps;
    bool is_false;
};

static struct saying saying_of(const struct esi_program *program,
                               const struct esi_literal *literal)
{
    struct esi_literal plain = *literal;
    unsigned set;

    plain.is_negated = false;
    if (literal->kind > ES_LITERAL_EQUAL ||
        !esi_program_is_single(program, literal->x) ||
        !esi_program_is_single(program, literal->y))
        return (struct saying){.about = esi_literal_code(&plain),
                               .set = literal->is_negated ? 2 : 1,
                               .any = 3};
    set = literal->kind == ES_LITERAL_EQUAL ? IS_EQUAL
          : literal->x < literal->y         ? IS_BEFORE
                                            : IS_AFTER;
    plain.kind = ES_LITERAL_EQUAL;
    return (struct saying){.about = esi_literal_code(&plain),
                           .set = literal->is_negated ? IS_ANY & ~set : set,
                           .any = IS_ANY};
}

static bool implies_literal(const struct esi_program *program,
                            const struct esi_literal *literal,
                            const struct esi_literal *other)
{
    struct saying first = saying_of(program, literal);
    struct saying second = saying_of(program, other);

    return first.about == second.about && (first.set & ~second.set) == 0;
}

/* --- Redundancy within a clause --------------------------------------------------- */

/* Whether a clause is always true: its literals about the same pair as some literal
 * cover the whole set. */
static bool is_always_true(struct pruning *pruning, const struct esi_clause *clause)
{
    pruning->steps += clause->count * clause->count;
    if (pruning->steps > ESI_CNF_PRUNE_STEPS)
        return false;
    for (size_t i = 0; i < clause->count; i++) {
        struct saying all = saying_of(pruning->program, &clause->literals[i]);

        for (size_t k = i + 1; k < clause->count; k++) {
            struct saying other = saying_of(pruning->program, &clause->literals[k]);

            if (other.about == all.about)
                all.set |= other.set;
        }
        if (all.set == all.any)
            return true;
    }
    return false;
}

/* Of equal literals the first one is kept. */
static bool is_in_another(struct pruning *pruning,
                          const struct esi_clause *clause,
                          size_t number)
{
    const struct esi_literal *literal = &clause->literals[number];

    for (size_t i = 0; i < clause->count; i++) {
        const struct esi_literal *other = &clause->literals[i];

        if (i != number && implies_literal(pruning->program, literal, other) &&
            (i < number || !implies_literal(pruning->program, other, literal)))
            return true;
    }
    return false;
}

static int prune_clause(struct pruning *pruning, struct esi_clause *clause)
{
    struct esi_literal *literals = clause->literals;
    bool *is_out;
    size_t kept = 0;

    pruning->steps += clause->count * clause->count;
    if (pruning->steps > ESI_CNF_PRUNE_STEPS)
        return 0;
    is_out = calloc(clause->count + 1, sizeof *is_out);
    if (!is_out)
        return -ENOMEM;
    for (size_t i = 0; i < clause->count; i++)
        is_out[i] = is_in_another(pruning, clause, i);
    for (size_t i = 0; i < clause->count; i++)
        if (!is_out[i])
            literals[kept++] = literals[i];
    clause->count = kept;
    free(is_out);
    esi_clause_measure(pruning->program, clause);
    return 0;
}

/* --- Redundancy between clauses --------------------------------------------------- */

/* Whether the second clause holds whenever the first does. */
static bool clause_implies(struct pruning *pruning,
                           const struct esi_clause *clause,
                           const struct esi_clause *other)
{
    pruning->steps++;
    if ((clause->existential & ~other->existential) ||
        (clause->universal & ~other->universal))
        return false;
    pruning->steps += clause->count * other->count;
    for (size_t i = 0; i < clause->count; i++) {
        bool is_found = false;

        for (size_t k = 0; k < other->count && !is_found; k++)
            is_found = implies_literal(pruning->program, &clause->literals[i],
                                       &other->literals[k]);
        if (!is_found)
            return false;
    }
    return true;
}

static bool contradict_literals(struct pruning *pruning,
                                const struct esi_clause *clause,
                                const struct esi_clause *other)
{
    struct saying first;
    struct saying second;

    if (clause->count != 1 || other->count != 1)
        return false;
    first = saying_of(pruning->program, &clause->literals[0]);
    second = saying_of(pruning->program, &other->literals[0]);
    return first.about == second.about && !(first.set & second.set);
}

/* Of equivalent clauses the first one is kept. */
static bool is_said(struct pruning *pruning, const struct esi_cnf *cnf, size_t number)
{
    const struct esi_clause *clause = &cnf->clauses[number];

    for (size_t i = 0; i < cnf->count; i++) {
        const struct esi_clause *other = &cnf->clauses[i];

        if (pruning->steps > ESI_CNF_PRUNE_STEPS)
            return false;
        if (i != number && clause_implies(pruning, other, clause) &&
            (i < number || !clause_implies(pruning, clause, other)))
            return true;
        pruning->is_false |= contradict_literals(pruning, clause, other);
    }
    return false;
}

static int prune_clauses(struct pruning *pruning, struct esi_cnf *cnf)
{
    size_t kept = 0;
    int result = 0;

    for (size_t i = 0; i < cnf->count; i++)
        if (!is_always_true(pruning, &cnf->clauses[i]))
            cnf->clauses[kept++] = cnf->clauses[i];
    cnf->count = kept;
    for (size_t i = 0; i < cnf->count && result == 0; i++)
        result = prune_clause(pruning, &cnf->clauses[i]);
    return result;
}

/* Stops early if there is too much to compare; the result is then correct, but
 * longer. */
int esi_cnf_prune(struct esi_cnf *cnf)
{
    struct esi_draft_cnf *whole = (struct esi_draft_cnf *)cnf;
    struct pruning pruning = {.program = whole->program};
    bool *is_out = calloc(cnf->count + 1, sizeof *is_out);
    size_t kept = 0;
    int result;

    if (!is_out)
        return -ENOMEM;
    result = prune_clauses(&pruning, cnf);
    if (result) {
        free(is_out);
        return result;
    }
    for (size_t i = 0; i < cnf->count; i++)
        is_out[i] = is_said(&pruning, cnf, i);
    for (size_t i = 0; i < cnf->count; i++)
        if (!is_out[i])
            cnf->clauses[kept++] = cnf->clauses[i];
    cnf->count = kept;
    if (pruning.is_false) {
        cnf->count = 1;
        cnf->clauses[0] = (struct esi_clause){.literals = NULL};
    }
    esi_cnf_measure(cnf);
    free(is_out);
    return 0;
}
