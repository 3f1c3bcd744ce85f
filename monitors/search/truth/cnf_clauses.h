/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Rewritten patterns while they are made: clauses of literals that are numbers, so that
 * they are compared at once.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_CNF_CLAUSES_H
#define ES_MONITORS_SEARCH_TRUTH_CNF_CLAUSES_H

#include "monitors/search/truth/cnf.h"
#include "monitors/search/language/arena.h"

enum {
    ESI_CNF_LITERALS = 1 << 15,    /* of a rewritten pattern, at most */
    ESI_CNF_DISTRIBUTED = 1 << 12, /* of a part with `|`, at most */
    ESI_CNF_TRIED = 1 << 13,       /* of such a part before equal clauses are one */
    ESI_CNF_STEPS = 1 << 25,       /* comparisons of clauses while it is made */
    ESI_CNF_PRUNE_STEPS = 1 << 24, /* of literals while it is pruned */
};

/* Of a made literal; equal ones have equal codes.  The code of a FORMULA literal has
 * its number only. */
uint64_t esi_literal_code(const struct esi_literal *literal);
struct esi_literal esi_literal_of(uint64_t code);

struct esi_draft_clause {
    size_t start; /* of its codes */
    size_t count;
    uint64_t signature; /* bits of its codes: a subset has a subset of them */
};

/* A conjunction of clauses; {.limit = ...} is true. */
struct esi_clauses {
    struct esi_draft_clause *items;
    size_t count;
    size_t capacity;
    uint64_t *codes; /* of the items, and perhaps of some that were taken out */
    size_t code_count;
    size_t code_capacity;
    size_t literals; /* of the items */
    size_t limit;    /* they are at most so many, and so are the items */
};

void esi_clauses_free(struct esi_clauses *clauses);
/* A clause of these codes, equal ones once.  0, -ENOMEM, -EOVERFLOW. */
int esi_clauses_add(struct esi_clauses *clauses, const uint64_t *codes, size_t count);
int esi_clauses_add_all(struct esi_clauses *clauses, const struct esi_clauses *more);
/* a OR b, distributed: each clause of a with each of b, without those that contain
 * another, at most `limit` literals.  *steps counts comparisons.  0, -ENOMEM,
 * -EOVERFLOW. */
int esi_clauses_distribute(const struct esi_clauses *a,
                           const struct esi_clauses *b,
                           size_t limit,
                           uint64_t *steps,
                           struct esi_clauses *ret_clauses);

/* --- cnf.c ------------------------------------------------------------------------ */

struct esi_draft_cnf {
    struct esi_cnf cnf; /* first: pointers to it are cast back */
    struct esi_arena arena;
    const struct esi_program *program; /* borrowed */
};

/* Counts its literals anew. */
void esi_cnf_measure(struct esi_cnf *cnf);
/* Finds the variables of its literals anew. */
void esi_clause_measure(const struct esi_program *program, struct esi_clause *clause);
/* --- cnf_relation.c --------------------------------------------------------------- */

/* Adds the clauses of one atom of a program.  0, -ENOMEM, -EOVERFLOW. */
int esi_cnf_atom(const struct esi_program *program,
                 uint32_t number,
                 uint64_t empty,
                 struct esi_clauses *clauses);

#endif
