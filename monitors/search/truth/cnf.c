/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cnf.c - the condition of a disjunct as clauses of literals. */
#include "config.h"

#include "monitors/search/truth/cnf.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/search/truth/cnf_clauses.h"
#include "monitors/search/truth/formula_check.h"

enum { FORMULAS_COMPARED = 256 };

/* A part that is kept whole. */
struct whole_part {
    const struct esi_formula *formula;
    uint64_t variables;
};

struct rewriting {
    const struct esi_program *program;
    uint64_t empty;
    uint64_t steps;
    struct whole_part *parts; /* owned; by number of the FORMULA literal */
    size_t part_count;
    size_t part_capacity;
};

/* --- Parts that are kept whole ---------------------------------------------------- */

/* Returns the number of a formula; the same formula may occur in several places. */
static int number_part(struct rewriting *rewriting,
                       const struct esi_formula *formula,
                       uint32_t *ret_number)
{
    size_t count = rewriting->part_count;

    for (size_t i = count; i-- > 0 && count - i <= FORMULAS_COMPARED;)
        if (rewriting->parts[i].formula == formula) {
            *ret_number = (uint32_t)i;
            return 0;
        }
    if (ESI_ARRAY_RESERVE(rewriting->parts, rewriting->part_capacity, count + 1) < 0)
        return -ENOMEM;
    rewriting->parts[count] = (struct whole_part){
        formula,
        esi_formula_variables(rewriting->program, formula) & ~rewriting->empty};
    rewriting->part_count++;
    *ret_number = (uint32_t)count;
    return 0;
}

static int keep_whole(struct rewriting *rewriting,
                      const struct esi_formula *formula,
                      struct esi_clauses *ret_clauses)
{
    struct esi_clauses clauses = {.limit = 1};
    struct esi_literal literal = {.kind = ES_LITERAL_FORMULA};
    int result = number_part(rewriting, formula, &literal.atom);
    uint64_t code = esi_literal_code(&literal);

    if (result == 0)
        result = esi_clauses_add(&clauses, &code, 1);
    if (result == 0)
        *ret_clauses = clauses;
    else
        esi_clauses_free(&clauses);
    return result;
}

/* --- And -------------------------------------------------------------------------- */

static int write_out(struct rewriting *rewriting,
                     const struct esi_formula *formula,
                     size_t limit,
                     struct esi_clauses *ret_clauses);

/* Expands a formula, or keeps it whole if it has more than `limit` literals. */
static int rewrite_formula(struct rewriting *rewriting,
                           const struct esi_formula *formula,
                           size_t limit,
                           struct esi_clauses *ret_clauses)
{
    int result = write_out(rewriting, formula, limit, ret_clauses);

    return result == -EOVERFLOW ? keep_whole(rewriting, formula, ret_clauses) : result;
}

/* Reserves room for one literal of each part that follows. */
static int write_and(struct rewriting *rewriting,
                     const struct esi_formula *formula,
                     struct esi_clauses *clauses)
{
    int result = 0;

    for (size_t i = 0; i < formula->part_count && result == 0; i++) {
        size_t taken = clauses->literals + formula->part_count - 1 - i;
        struct esi_clauses part;

        if (taken >= clauses->limit)
            return -EOVERFLOW;
        result = rewrite_formula(rewriting, formula->parts[i], clauses->limit - taken,
                                 &part);
        if (result == 0) {
            result = esi_clauses_add_all(clauses, &part);
            esi_clauses_free(&part);
        }
    }
    return result;
}

/* --- Or --------------------------------------------------------------------------- */

/* A side of `|`. */
struct clause_side {
    size_t number;
    struct esi_clauses clauses;
};

static int compare_lengths(const void *left, const void *right)
{
    const struct clause_side *a = left;
    const struct clause_side *b = right;

    if (a->clauses.count != b->clauses.count)
        return a->clauses.count < b->clauses.count ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct clause_side *a = left;
    const struct clause_side *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

/* The number of sides, of those sorted by number of clauses, that can be distributed if
 * each of the others is one literal. */
static size_t count_small(const struct clause_side *sides, size_t count)
{
    double clauses = 1;
    double length = (double)count; /* approximate literals per clause */

    for (size_t i = 0; i < count; i++) {
        const struct esi_clauses *side = &sides[i].clauses;

        if (side->count == 0)
            continue;
        clauses *= (double)side->count;
        length += (double)side->literals / (double)side->count - 1;
        if (clauses * length > ESI_CNF_TRIED)
            return i;
    }
    return count;
}

static int keep_sides_whole(struct rewriting *rewriting,
                            const struct esi_formula *formula,
                            struct clause_side *sides,
                            size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        struct esi_clauses whole;

        if (sides[i].clauses.count <= 1)
            continue;
        result = keep_whole(rewriting, formula->parts[sides[i].number], &whole);
        if (result == 0) {
            esi_clauses_free(&sides[i].clauses);
            sides[i].clauses = whole;
        }
    }
    return result;
}

static int distribute_clauses(struct rewriting *rewriting,
                              const struct clause_side *sides,
                              size_t count,
                              struct esi_clauses *clauses)
{
    size_t limit = clauses->limit;
    int result = esi_clauses_add(clauses, NULL, 0);

    for (size_t i = 0; i < count && result == 0; i++) {
        struct esi_clauses joined;

        result = esi_clauses_distribute(clauses, &sides[i].clauses, limit,
                                        &rewriting->steps, &joined);
        if (result == 0) {
            esi_clauses_free(clauses);
            *clauses = joined;
        }
    }
    return result;
}

static int write_sides(struct rewriting *rewriting,
                       const struct esi_formula *formula,
                       size_t limit,
                       struct clause_side *sides)
{
    int result = 0;

    for (size_t i = 0; i < formula->part_count && result == 0; i++) {
        sides[i].number = i;
        result =
            rewrite_formula(rewriting, formula->parts[i], limit, &sides[i].clauses);
    }
    return result;
}

/* Keeps all but the first `small` sides, those with the fewest clauses, whole. */
static int try_sides(struct rewriting *rewriting,
                     const struct esi_formula *formula,
                     struct clause_side *sides,
                     size_t small,
                     struct esi_clauses *clauses)
{
    size_t count = formula->part_count;
    size_t limit = clauses->limit;
    int result = keep_sides_whole(rewriting, formula, sides + small, count - small);

    /* The sides are distributed in the order of the condition. */
    qsort(sides, count, sizeof *sides, compare_numbers);
    if (result == 0)
        result = distribute_clauses(rewriting, sides, count, clauses);
    if (result) {
        esi_clauses_free(clauses);
        clauses->limit = limit;
    }
    return result;
}

/* Keeps sides with many clauses whole if the distribution would be too large. */
static int write_or(struct rewriting *rewriting,
                    const struct esi_formula *formula,
                    struct esi_clauses *clauses)
{
    size_t count = formula->part_count;
    struct clause_side *sides = calloc(count, sizeof *sides);
    int result = sides ? 0 : -ENOMEM;
    size_t small = 0;

    if (clauses->limit > ESI_CNF_DISTRIBUTED)
        clauses->limit = ESI_CNF_DISTRIBUTED;
    if (result == 0)
        result = write_sides(rewriting, formula, clauses->limit, sides);
    if (result == 0) {
        qsort(sides, count, sizeof *sides, compare_lengths);
        small = count_small(sides, count);
        result = try_sides(rewriting, formula, sides, small, clauses);
    }
    while (result == -EOVERFLOW && small > 0 && rewriting->steps <= ESI_CNF_STEPS) {
        qsort(sides, count, sizeof *sides, compare_lengths);
        result = try_sides(rewriting, formula, sides, --small, clauses);
    }
    for (size_t i = 0; sides && i < count; i++)
        esi_clauses_free(&sides[i].clauses);
    free(sides);
    return result;
}

/* Returns -EOVERFLOW if there are more than `limit` literals or too many steps. */
static int write_out(struct rewriting *rewriting,
                     const struct esi_formula *formula,
                     size_t limit,
                     struct esi_clauses *ret_clauses)
{
    struct esi_clauses clauses = {.limit = limit};
    int result = 0;

    switch (formula->kind) {
    case ES_FORMULA_TRUE:
        break;
    case ES_FORMULA_FALSE:
        result = esi_clauses_add(&clauses, NULL, 0);
        break;
    case ES_FORMULA_ATOM:
        result =
            esi_cnf_atom(rewriting->program, formula->atom, rewriting->empty, &clauses);
        break;
    case ES_FORMULA_AND:
        result = write_and(rewriting, formula, &clauses);
        break;
    case ES_FORMULA_OR:
        result = write_or(rewriting, formula, &clauses);
        break;
    }
    if (result == 0)
        *ret_clauses = clauses;
    else
        esi_clauses_free(&clauses);
    return result;
}

/* --- The finished pattern --------------------------------------------------------- */

static uint64_t variables_of(const struct esi_program *program,
                             const struct esi_literal *literal)
{
    const struct esi_atom *atoms = program->atoms;

    if (literal->kind == ES_LITERAL_COUNT)
        return atoms[literal->atom].left;
    if (literal->kind == ES_LITERAL_COMPARE)
        return atoms[literal->atom].left | atoms[literal->atom].right;
    return UINT64_C(1) << literal->x | UINT64_C(1) << literal->y;
}

void esi_clause_measure(const struct esi_program *program, struct esi_clause *clause)
{
    uint64_t universal = esi_program_universal(program);
    uint64_t variables = 0;

    clause->has_formula = false;
    for (size_t i = 0; i < clause->count; i++) {
        variables |= clause->literals[i].variables;
        clause->has_formula |= clause->literals[i].kind == ES_LITERAL_FORMULA;
    }
    clause->existential = variables & ~universal;
    clause->universal = variables & universal;
}

static struct esi_literal finish_literal(const struct rewriting *rewriting,
                                         uint64_t code)
{
    struct esi_literal literal = esi_literal_of(code);

    if (literal.kind == ES_LITERAL_FORMULA) {
        literal.formula = rewriting->parts[literal.atom].formula;
        literal.variables = rewriting->parts[literal.atom].variables;
    } else {
        literal.variables = variables_of(rewriting->program, &literal);
    }
    return literal;
}

static int finish_clause(const struct rewriting *rewriting,
                         const struct esi_clauses *clauses,
                         const struct esi_draft_clause *made,
                         struct esi_draft_cnf *whole,
                         struct esi_clause *clause)
{
    struct esi_literal *literals =
        esi_arena_alloc(&whole->arena, made->count * sizeof *literals);

    if (!literals)
        return -ENOMEM;
    for (size_t i = 0; i < made->count; i++)
        literals[i] = finish_literal(rewriting, clauses->codes[made->start + i]);
    *clause = (struct esi_clause){.literals = literals, .count = made->count};
    esi_clause_measure(rewriting->program, clause);
    return 0;
}

void esi_cnf_measure(struct esi_cnf *cnf)
{
    cnf->literals = 0;
    cnf->size = 0;
    for (size_t i = 0; i < cnf->count; i++) {
        cnf->literals += cnf->clauses[i].count;
        for (size_t k = 0; k < cnf->clauses[i].count; k++)
            cnf->size += cnf->clauses[i].literals[k].kind != ES_LITERAL_EQUAL;
    }
}

static int finish_clauses(const struct rewriting *rewriting,
                          const struct esi_clauses *clauses,
                          struct esi_cnf **ret_cnf)
{
    struct esi_draft_cnf *whole = calloc(1, sizeof *whole);
    int result = whole ? 0 : -ENOMEM;

    if (!whole)
        return result;
    whole->program = rewriting->program;
    whole->cnf.count = clauses->count;
    whole->cnf.clauses =
        esi_arena_alloc(&whole->arena, clauses->count * sizeof *whole->cnf.clauses);
    if (!whole->cnf.clauses)
        result = -ENOMEM;
    for (size_t i = 0; i < clauses->count && result == 0; i++)
        result = finish_clause(rewriting, clauses, &clauses->items[i], whole,
                               &whole->cnf.clauses[i]);
    if (result) {
        esi_cnf_destroy(&whole->cnf);
        return result;
    }
    esi_cnf_measure(&whole->cnf);
    *ret_cnf = &whole->cnf;
    return 0;
}

int esi_cnf_create(const struct esi_program *program,
                   uint32_t disjunct,
                   uint64_t empty,
                   struct esi_cnf **ret_cnf,
                   struct es_error *error)
{
    struct rewriting rewriting = {.program = program, .empty = empty};
    struct esi_clauses clauses;
    int result = rewrite_formula(&rewriting, program->disjuncts[disjunct].condition,
                                 ESI_CNF_LITERALS, &clauses);

    if (result == 0) {
        result = finish_clauses(&rewriting, &clauses, ret_cnf);
        esi_clauses_free(&clauses);
    }
    free(rewriting.parts);
    if (result < 0)
        return es_error_set(error, result, "no memory for the rewritten pattern");
    return 0;
}

void esi_cnf_destroy(struct esi_cnf *cnf)
{
    struct esi_draft_cnf *whole = (struct esi_draft_cnf *)cnf;

    if (!whole)
        return;
    esi_arena_free(&whole->arena);
    free(whole);
}
