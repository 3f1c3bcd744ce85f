/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* cnf.c - the condition of a support as clauses of literals. */
#include "config.h"

#include "monitors/patterns/cnf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/patterns/cnf_private.h"

struct rewriting {
    const struct es_program *program;
    uint64_t empty;
    uint64_t steps;
};

static int rewrite(struct rewriting *rewriting,
                   const struct es_formula *formula,
                   struct esi_clauses *ret_clauses);

static int rewrite_and(struct rewriting *rewriting,
                       const struct es_formula *formula,
                       struct esi_clauses *clauses)
{
    int result = 0;

    for (size_t i = 0; i < formula->part_count && result == 0; i++) {
        struct esi_clauses part;

        result = rewrite(rewriting, formula->parts[i], &part);
        if (result == 0) {
            result = esi_clauses_add_all(clauses, &part);
            esi_clauses_free(&part);
        }
    }
    return result;
}

static int rewrite_or(struct rewriting *rewriting,
                      const struct es_formula *formula,
                      struct esi_clauses *clauses)
{
    int result = esi_clauses_add(clauses, NULL, 0);

    for (size_t i = 0; i < formula->part_count && result == 0; i++) {
        struct esi_clauses part;
        struct esi_clauses joined;

        result = rewrite(rewriting, formula->parts[i], &part);
        if (result)
            break;
        result = esi_clauses_distribute(clauses, &part, &rewriting->steps, &joined);
        esi_clauses_free(&part);
        if (result == 0) {
            esi_clauses_free(clauses);
            *clauses = joined;
        }
    }
    return result;
}

static int rewrite(struct rewriting *rewriting,
                   const struct es_formula *formula,
                   struct esi_clauses *ret_clauses)
{
    struct esi_clauses clauses = {.items = NULL};
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
        result = rewrite_and(rewriting, formula, &clauses);
        break;
    case ES_FORMULA_OR:
        result = rewrite_or(rewriting, formula, &clauses);
        break;
    }
    if (result == 0)
        *ret_clauses = clauses;
    else
        esi_clauses_free(&clauses);
    return result;
}

/* --- The finished pattern ----------------------------------------------------------
 */

uint64_t esi_literal_variables(const struct es_program *program,
                               const struct es_literal *literal)
{
    const struct es_atom *atom = &program->atoms[literal->atom];

    if (literal->kind == ES_LITERAL_COUNT)
        return atom->left;
    if (literal->kind == ES_LITERAL_COMPARE)
        return atom->left | atom->right;
    return UINT64_C(1) << literal->x | UINT64_C(1) << literal->y;
}

void esi_clause_measure(const struct es_program *program, struct es_clause *clause)
{
    uint64_t universal = es_program_universal(program);
    uint64_t variables = 0;

    for (size_t i = 0; i < clause->count; i++)
        variables |= esi_literal_variables(program, &clause->literals[i]);
    clause->existential = variables & ~universal;
    clause->universal = variables & universal;
}

static int finish_clause(const struct es_program *program,
                         const struct esi_clauses *clauses,
                         const struct esi_clause *made,
                         struct esi_cnf *whole,
                         struct es_clause *clause)
{
    struct es_literal *literals =
        esi_arena_alloc(&whole->arena, made->count * sizeof *literals);

    if (!literals)
        return -ENOMEM;
    for (size_t i = 0; i < made->count; i++)
        literals[i] = esi_literal_of(clauses->codes[made->start + i]);
    *clause = (struct es_clause){.literals = literals, .count = made->count};
    esi_clause_measure(program, clause);
    return 0;
}

void esi_cnf_measure(struct es_cnf *cnf)
{
    cnf->literals = 0;
    cnf->size = 0;
    for (size_t i = 0; i < cnf->count; i++) {
        cnf->literals += cnf->clauses[i].count;
        for (size_t k = 0; k < cnf->clauses[i].count; k++)
            cnf->size += cnf->clauses[i].literals[k].kind != ES_LITERAL_EQUAL;
    }
}

static int finish(const struct es_program *program,
                  const struct esi_clauses *clauses,
                  struct es_cnf **ret_cnf)
{
    struct esi_cnf *whole = calloc(1, sizeof *whole);
    int result = whole ? 0 : -ENOMEM;

    if (!whole)
        return result;
    whole->program = program;
    whole->cnf.count = clauses->count;
    whole->cnf.clauses =
        esi_arena_alloc(&whole->arena, clauses->count * sizeof *whole->cnf.clauses);
    if (!whole->cnf.clauses)
        result = -ENOMEM;
    for (size_t i = 0; i < clauses->count && result == 0; i++)
        result = finish_clause(program, clauses, &clauses->items[i], whole,
                               &whole->cnf.clauses[i]);
    if (result) {
        es_cnf_destroy(&whole->cnf);
        return result;
    }
    esi_cnf_measure(&whole->cnf);
    *ret_cnf = &whole->cnf;
    return 0;
}

int es_cnf_create(const struct es_program *program,
                  uint32_t support,
                  uint64_t empty,
                  struct es_cnf **ret_cnf,
                  struct es_error *error)
{
    struct rewriting rewriting = {.program = program, .empty = empty};
    struct esi_clauses clauses;
    int result = rewrite(&rewriting, program->supports[support].condition, &clauses);

    if (result == -EOVERFLOW)
        return es_error_set(error, result,
                            "the rewritten pattern is too large: it would have more "
                            "than 2^20 relations, or take too long to simplify");
    if (result)
        return result;
    result = finish(program, &clauses, ret_cnf);
    esi_clauses_free(&clauses);
    return result;
}

void es_cnf_destroy(struct es_cnf *cnf)
{
    struct esi_cnf *whole = (struct esi_cnf *)cnf;

    if (!whole)
        return;
    esi_arena_free(&whole->arena);
    free(whole);
}
