/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Rewritten patterns: the condition of one support as a conjunction of disjunctions of
 * literals over pairs of variables (Nichols, 5.2).
 *
 * Relations of sets are written out by their definitions (3.5, 3.7, 3.8): what is left
 * are the literals
 *   BEFORE   some event of x precedes some event of y
 *   EQUAL    x and y share an event
 *   RECEIVED some event of x is a send that y names, or they are halves of a sync
 *   NEAR     all events of x and y happened within so many ns (x = y is allowed)
 *   COMPARE  attributes of the events x and y (x = y where one side is a constant)
 *   COUNT    as the atom says; of all variables of its left side
 * each perhaps negated, and
 *   RELATION x is to y as a mask allows: what a plan makes of BEFORE and EQUAL of
 *            single events
 *   FORMULA  a part of the condition that is true of its variables; never negated.
 *            What would be too large when it is written out stays whole
 * (esi_formula_check tells whether it is true)  Variables whose values are single
 * events make x -> y and x = y of the first two.  Atoms that hold since a universal
 * variable has no values (D8) are left out, as are literals that can be told by
 * themselves: x -> x is false, x = x true.
 */
#ifndef ES_MONITORS_SEARCH_TRUTH_CNF_H
#define ES_MONITORS_SEARCH_TRUTH_CNF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "monitors/search/language/program.h"

enum esi_literal_kind {
    ES_LITERAL_BEFORE,
    ES_LITERAL_EQUAL,
    ES_LITERAL_RECEIVED,
    ES_LITERAL_NEAR,
    ES_LITERAL_COMPARE,
    ES_LITERAL_COUNT,
    ES_LITERAL_FORMULA,
    ES_LITERAL_RELATION,
};

/* What one event may be to another: bits of masks. */
enum {
    ESI_IS_BEFORE = 1,
    ESI_IS_CONCURRENT = 2,
    ESI_IS_AFTER = 4,
    ESI_IS_SAME = 8,
    ESI_IS_ANY = 15,
};

/* The mask of y to x, from that of x to y. */
static inline uint8_t esi_mask_turned(uint8_t mask)
{
    return (uint8_t)((mask & (ESI_IS_CONCURRENT | ESI_IS_SAME)) |
                     (mask & ESI_IS_BEFORE ? ESI_IS_AFTER : 0) |
                     (mask & ESI_IS_AFTER ? ESI_IS_BEFORE : 0));
}

struct esi_literal {
    enum esi_literal_kind kind;
    bool is_negated; /* not of FORMULA, RELATION */
    uint8_t mask;    /* of RELATION */
    uint8_t x;       /* variables */
    uint8_t y;
    uint32_t
        atom; /* of the program; of NEAR, COMPARE, COUNT.  Of FORMULA: its number */
    const struct esi_formula *formula; /* of FORMULA, else NULL */
    uint64_t variables; /* that it is about.  Of FORMULA: of those that it names the
                           ones that have values (atoms that name others hold) */
};

struct esi_clause {
    struct esi_literal *literals; /* none: false */
    size_t count;
    uint64_t existential; /* variables of its literals */
    uint64_t universal;
    bool has_formula; /* a FORMULA literal: it may fail before all is bound */
};

struct esi_cnf {
    struct esi_clause *clauses; /* none: true */
    size_t count;
    size_t literals; /* of all */
    size_t size;     /* the same without EQUAL, as the thesis counts a pattern's size */
};

/* Of support number `support`.  `empty` are the universal variables without values.
 * In the order of a post-order walk.  What is written out has at most 2^15 literals,
 * and one part of it with `|` at most 2^12; parts that would have more are FORMULA
 * literals.  0 or -ENOMEM with words. */
int esi_cnf_create(const struct esi_program *program,
                   uint32_t support,
                   uint64_t empty,
                   struct esi_cnf **ret_cnf,
                   struct es_error *error);
/* Accepts NULL. */
void esi_cnf_destroy(struct esi_cnf *cnf);

/* Takes out what is said by the rest (6.1).  0 or -ENOMEM. */
int esi_cnf_prune(struct esi_cnf *cnf);

/* "$a -> $b", "*c !-> $b", "$a != $b", ... */
void esi_literal_print(const struct esi_program *program,
                       const struct esi_literal *literal,
                       FILE *out);
/* A line for each clause. */
void esi_cnf_print(const struct esi_program *program,
                   const struct esi_cnf *cnf,
                   FILE *out);

#endif
