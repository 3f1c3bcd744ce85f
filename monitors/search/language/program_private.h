/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Creation of a program: a walk of the tree computes a list of outcomes for each node
 * (docs/decisions.md, D7), and the outcomes of the root determine the disjuncts (D6).
 *
 * The builder keeps the first failure.  Functions called after a failure may continue
 * with any values, because the result is discarded.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_PRIVATE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_PRIVATE_H

#include "monitors/search/language/program.h"
#include "monitors/search/language/arena.h"

enum {
    ESI_OUTCOMES = 256,          /* maximum per node */
    ESI_DEPTH = 1000,            /* maximum nesting of operators */
    ESI_NESTED_NAMES = 32,       /* maximum nesting of replaced names */
    ESI_FORMULA_ATOMS = 1 << 18, /* maximum per condition, counting each use */
    ESI_FORMULA_PARTS = 1 << 21, /* maximum of all formulas, including intermediate
                                    ones */
};

/* A formula, with properties that are needed while the program is created. */
struct esi_draft_formula {
    struct esi_formula formula; /* first, because pointers to it are cast back */
    size_t atoms;
    uint64_t universal; /* variables it names */
};

/* One way to satisfy a node. */
struct esi_outcome {
    uint64_t passed; /* variables passed to the enclosing node */
    uint64_t own;    /* variables of the operand in a relation: `passed`, or the
                        single variable if it is hidden */
    uint64_t needed; /* existential variables that must have values */
    uint64_t inside; /* variables whose events an enclosing `within` limits */
    const struct esi_formula *condition;
};

struct esi_outcomes {
    struct esi_outcome *items;
    size_t count;
    size_t capacity;
    bool is_timed; /* below a `within`: outcomes with different `inside` are kept
                      apart */
};

/* Tells whether the name of this predicate may be replaced by its variables. */
struct esi_replaceable {
    bool has_one_disjunct;
    bool has_universal;
    uint32_t variables;
    uint32_t nested; /* nesting of the names replaced in it */
};

struct esi_program_builder {
    const struct es_pattern_file *file;
    const struct esi_replaceable *replaceable; /* by predicate, of those before this
                                                  one */
    struct es_error *error;
    int failure; /* first failure: negative errno */
    struct esi_arena *arena;
    struct esi_program_variable *variables; /* ES_PROGRAM_VARIABLES elements */
    uint32_t variable_count;
    uint64_t universal;
    struct esi_atom *atoms;
    uint32_t atom_count;
    uint32_t atom_capacity;
    size_t parts;     /* of all formulas */
    uint32_t nested;  /* maximum nesting of names so far */
    uint32_t pending; /* occurrences not visited yet; each needs a variable */
};

/* --- program_parts.c: memory, variables, atoms, formulas -------------------------- */

void *esi_builder_alloc(struct esi_program_builder *builder, size_t size);
/* Records the first failure. */
void esi_builder_fail(struct esi_program_builder *builder,
                      int code,
                      const struct esi_pattern_place *place,
                      const char *words);

/* Adds a variable with a unique name and returns its number; 0 after a failure. */
uint32_t esi_builder_variable(struct esi_program_builder *builder,
                              const struct esi_program_variable *variable,
                              const struct esi_pattern_place *place);
/* Makes a name unique: `name`, or "name#2" for the second variable or prefix with
 * it. */
const char *esi_builder_name(struct esi_program_builder *builder,
                             const char *prefix,
                             const char *name);

/* Returns a constant if the atom's value is known, otherwise the atom; equal atoms are
 * shared.  The result of this and the next functions is never NULL. */
const struct esi_formula *esi_formula_atom(struct esi_program_builder *builder,
                                           const struct esi_atom *atom);
const struct esi_formula *esi_formula_true(void);
const struct esi_formula *esi_formula_false(void);
const struct esi_formula *esi_formula_both(struct esi_program_builder *builder,
                                           const struct esi_formula *a,
                                           const struct esi_formula *b);
const struct esi_formula *esi_formula_either(struct esi_program_builder *builder,
                                             const struct esi_formula *a,
                                             const struct esi_formula *b);
uint64_t esi_formula_universal(const struct esi_formula *formula);

/* --- program_walk.c --------------------------------------------------------------- */

/* Computes the outcomes of the whole predicate. */
void esi_program_walk(struct esi_program_builder *builder,
                      const struct esi_pattern_predicate *predicate,
                      struct esi_outcomes *ret_outcomes);
/* --- program_disjuncts.c ---------------------------------------------------------- */

/* Stores the disjuncts and choices in the program. */
void esi_program_disjuncts(struct esi_program_builder *builder,
                           const struct esi_outcomes *outcomes,
                           const struct esi_pattern_place *place,
                           struct esi_program *program);

#endif
