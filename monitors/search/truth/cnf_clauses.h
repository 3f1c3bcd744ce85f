/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Rewritten patterns under construction: literals are encoded as numbers, for fast
 * comparison.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_CNF_CLAUSES_H
#define ES_MONITORS_SEARCH_TRUTH_CNF_CLAUSES_H

#include "monitors/search/truth/cnf.h"
#include "monitors/search/language/arena.h"

enum {
    ESI_CNF_LITERALS = 1 << 15,    /* maximum of a rewritten pattern */
    ESI_CNF_DISTRIBUTED = 1 << 12, /* maximum of a part with `|` */
    ESI_CNF_TRIED = 1 << 13,       /* the same, before equal clauses are merged */
    ESI_CNF_STEPS = 1 << 25, /* maximum of comparisons of clauses during construction */
    ESI_CNF_PRUNE_STEPS = 1 << 24, /* maximum of comparisons of literals during
                                      pruning */
};

/* Encodes a literal; equal literals have equal codes.  The code of a FORMULA literal
 * contains only its number. */
uint64_t esi_literal_code(const struct esi_literal *literal);
struct esi_literal esi_literal_of(uint64_t code);

struct esi_draft_clause {
    size_t start; /* index of its first code */
    size_t count;
    uint64_t signature; /* Bloom filter of its codes: that of a subset is a subset */
};

/* A conjunction of clauses; {.limit = ...} is true. */
struct esi_clauses {
    struct esi_draft_clause *items;
    size_t count;
    size_t capacity;
    uint64_t *codes; /* of the items, and possibly of some that were removed */
    size_t code_count;
    size_t code_capacity;
    size_t literals; /* of the items */
    size_t limit;    /* maximum number of literals, and of items */
};

void esi_clauses_free(struct esi_clauses *clauses);
/* Adds a clause with these codes; duplicates of codes are removed.  Returns 0, -ENOMEM
 * or -EOVERFLOW. */
int esi_clauses_add(struct esi_clauses *clauses, const uint64_t *codes, size_t count);
int esi_clauses_add_all(struct esi_clauses *clauses, const struct esi_clauses *more);
/* Computes a OR b by distribution: each clause of a with each of b, without clauses
 * that contain another, and at most `limit` literals.  *steps counts comparisons.
 * Returns 0, -ENOMEM or -EOVERFLOW. */
int esi_clauses_distribute(const struct esi_clauses *a,
                           const struct esi_clauses *b,
                           size_t limit,
                           uint64_t *steps,
                           struct esi_clauses *ret_clauses);

/* --- cnf.c ------------------------------------------------------------------------ */

struct esi_draft_cnf {
    struct esi_cnf cnf; /* first, because pointers to it are cast back */
    struct esi_arena arena;
    const struct esi_program *program; /* borrowed */
};

/* Recounts the literals. */
void esi_cnf_measure(struct esi_cnf *cnf);
/* Recomputes the variables of the literals. */
void esi_clause_measure(const struct esi_program *program, struct esi_clause *clause);
/* --- cnf_relation.c --------------------------------------------------------------- */

/* Adds the clauses of one atom of a program.  Returns 0, -ENOMEM or -EOVERFLOW. */
int esi_cnf_atom(const struct esi_program *program,
                 uint32_t number,
                 uint64_t empty,
                 struct esi_clauses *clauses);

#endif
