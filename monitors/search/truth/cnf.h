/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Rewritten patterns: the condition of one disjunct in conjunctive normal form, with
 * literals over pairs of variables (Nichols, 5.2).
 *
 * Relations of sets are expanded by their definitions (3.5, 3.7, 3.8).  The literals
 * are
 *
 *   BEFORE   some event of x precedes some event of y
 *   EQUAL    x and y share an event
 *   RECEIVED some event of x is a send that y names, or they are halves of a sync
 *   NEAR     all events of x and y happened within so many ns (x = y is allowed)
 *   COMPARE  attributes of the events x and y (x = y where one side is a constant)
 *   COUNT    as the atom says; of all variables of its left side
 *
 * each possibly negated, and
 *
 *   RELATION the relation of x to y is in a mask: a plan combines BEFORE and EQUAL
 *            of single events into this
 *   FORMULA  a part of the condition that is true of its variables; never negated
 *            (evaluated by esi_formula_check).  Parts that would be too large when
 *            expanded are kept whole
 *
 * For variables whose values are single events, the first two become x -> y and x = y.
 * Omitted are atoms that hold because a universal variable has no values (D8), and
 * literals with a known value: x -> x is false, x = x is true.
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

/* Relations of one event to another, as bits of masks. */
enum {
    ESI_IS_BEFORE = 1,
    ESI_IS_CONCURRENT = 2,
    ESI_IS_AFTER = 4,
    ESI_IS_SAME = 8,
    ESI_IS_ANY = 15,
};

/* Converts the mask of x to y into that of y to x. */
static inline uint8_t esi_mask_turned(uint8_t mask)
{
    return (uint8_t)((mask & (ESI_IS_CONCURRENT | ESI_IS_SAME)) |
                     (mask & ESI_IS_BEFORE ? ESI_IS_AFTER : 0) |
                     (mask & ESI_IS_AFTER ? ESI_IS_BEFORE : 0));
}

struct esi_literal {
    enum esi_literal_kind kind;
    bool is_negated; /* false for FORMULA and RELATION */
    uint8_t mask;    /* for RELATION */
    uint8_t x;       /* variables */
    uint8_t y;
    uint32_t
        atom; /* of the program, for NEAR, COMPARE and COUNT; the number of a FORMULA */
    const struct esi_formula *formula; /* for FORMULA, otherwise NULL */
    uint64_t variables; /* variables it relates; for a FORMULA only those that have
                           values (atoms that name others hold) */
};

struct esi_clause {
    struct esi_literal *literals; /* none: the clause is false */
    size_t count;
    uint64_t existential; /* variables of its literals */
    uint64_t universal;
    bool has_formula; /* has a FORMULA literal: it may fail before all variables are
                         bound */
};

struct esi_cnf {
    struct esi_clause *clauses; /* none: the condition is true */
    size_t count;
    size_t literals; /* total number */
    size_t size;     /* the same without EQUAL: the size of a pattern in the thesis */
};

/* Creates the normal form of a disjunct, in the order of a post-order walk.  `empty`
 * are the universal variables without values.  Expanded parts have at most 2^15
 * literals in total, and at most 2^12 for one part with `|`; larger parts become
 * FORMULA literals.  Returns 0, or -ENOMEM with a message. */
int esi_cnf_create(const struct esi_program *program,
                   uint32_t disjunct,
                   uint64_t empty,
                   struct esi_cnf **ret_cnf,
                   struct es_error *error);
/* Accepts NULL. */
void esi_cnf_destroy(struct esi_cnf *cnf);

/* Removes redundant clauses and literals (6.1).  Returns 0 or -ENOMEM. */
int esi_cnf_prune(struct esi_cnf *cnf);

/* Prints a literal: "$a -> $b", "*c !-> $b", "$a != $b", ... */
void esi_literal_print(const struct esi_program *program,
                       const struct esi_literal *literal,
                       FILE *out);
/* Prints one line per clause. */
void esi_cnf_print(const struct esi_program *program,
                   const struct esi_cnf *cnf,
                   FILE *out);

#endif
