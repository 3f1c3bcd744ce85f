/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * How a program is made: a walk of the tree gives for each node a list of outcomes
 * (docs/decisions.md, D7), and the outcomes of the root give the supports (D6).
 *
 * The first thing that fails is kept in the builder; whoever comes after it may go on
 * with what it has, nothing of it will be used.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_PRIVATE_H
#define ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_PRIVATE_H

#include "monitors/search/language/program.h"
#include "monitors/search/language/arena.h"

enum {
    ESI_OUTCOMES = 256,          /* of a node, at most */
    ESI_DEPTH = 1000,            /* of operators within operators, at most */
    ESI_NESTED_NAMES = 32,       /* names within names that are replaced */
    ESI_FORMULA_ATOMS = 1 << 18, /* of a condition, each as often as it is named */
    ESI_FORMULA_PARTS = 1 << 21, /* of all formulas that are made on the way */
};

/* A formula with what is asked of it while it is made. */
struct esi_draft_formula {
    struct esi_formula formula; /* first: pointers to it are cast back */
    size_t atoms;
    uint64_t universal; /* variables that it names */
};

/* One way to satisfy a node. */
struct esi_outcome {
    uint64_t passed; /* variables that it passes up */
    uint64_t own;    /* with which it counts as an operand of a relation: those, or the
                        one variable that hides itself */
    uint64_t needed; /* existential variables that must have values */
    uint64_t inside; /* variables whose events a `within` around it is about */
    const struct esi_formula *condition;
};

struct esi_outcomes {
    struct esi_outcome *items;
    size_t count;
    size_t capacity;
    bool is_timed; /* below a `within`: outcomes that differ in `inside` stay apart */
};

/* Whether a name of this predicate may be replaced by the predicate's variables. */
struct esi_replaceable {
    bool has_one_support;
    bool has_universal;
    uint32_t variables;
    uint32_t nested; /* names within names that were replaced in it */
};

struct esi_program_builder {
    const struct es_pattern_file *file;
    const struct esi_replaceable *replaceable; /* of predicates below this one */
    struct es_error *error;
    int failure; /* the first one: negative errno */
    struct esi_arena *arena;
    struct esi_program_variable *variables; /* ES_PROGRAM_VARIABLES */
    uint32_t variable_count;
    uint64_t universal;
    struct esi_atom *atoms;
    uint32_t atom_count;
    uint32_t atom_capacity;
    size_t parts;     /* of all formulas */
    uint32_t nested;  /* the deepest nesting of names so far */
    uint32_t pending; /* occurrences that were not met yet: each needs a variable */
};

/* --- program_parts.c: memory, variables, atoms, formulas -------------------------- */

void *esi_builder_alloc(struct esi_program_builder *builder, size_t size);
/* Keeps the first failure. */
void esi_builder_fail(struct esi_program_builder *builder,
                      int code,
                      const struct esi_pattern_place *place,
                      const char *words);

/* The number of a new variable; its name is made distinct.  0 after a failure. */
uint32_t esi_builder_variable(struct esi_program_builder *builder,
                              const struct esi_program_variable *variable,
                              const struct esi_pattern_place *place);
/* `name`, or "name#2" for the second variable, or prefix, of this name ... */
const char *esi_builder_name(struct esi_program_builder *builder,
                             const char *prefix,
                             const char *name);

/* A constant where the atom tells itself, else the atom; equal ones are shared.  These
 * are never NULL. */
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

/* Outcomes of the whole predicate. */
void esi_program_walk(struct esi_program_builder *builder,
                      const struct esi_pattern_predicate *predicate,
                      struct esi_outcomes *ret_outcomes);
/* --- program_supports.c ----------------------------------------------------------- */

/* Into the program: supports and choices. */
void esi_program_supports(struct esi_program_builder *builder,
                          const struct esi_outcomes *outcomes,
                          const struct esi_pattern_place *place,
                          struct esi_program *program);

#endif
