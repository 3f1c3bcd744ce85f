/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The meaning of a predicate, in the form that all engines search.
 *
 * A predicate becomes variables and, for each *disjunct*, a condition.  A disjunct is a
 * set of existential variables that may form a match: without `|` there is one; with
 * `|` there is one for each choice of sides and, if there are universal variables, one
 * for each union of choices (docs/decisions.md, D6).  A condition consists of AND, OR
 * and atoms.  An atom names the variables whose values it relates, so the events of
 * each side (D7) are determined once, here.
 *
 *   an assignment of values to the variables of disjunct S is a match, if
 *     for all values of the universal variables S's condition holds, and
 *     for no disjunct in `lesser` of S (proper subsets) its condition does (minimality)
 *
 * An atom that names a universal variable without values holds (D8), except that a
 * WITHIN atom only omits the variable.
 *
 * The name of a predicate is replaced by the predicate's variables if its value is
 * existential, it has one disjunct and, below a `|`, it has no universal variables.
 * Otherwise the matches of the predicate are the values of one variable.  `occurrence`
 * is the occurrence of the predicate itself that a variable belongs to.
 *
 * Variables and atoms are numbered in the order of a post-order walk of the tree: the
 * operands of a relation before the relation.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_H
#define ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/search/language/pattern.h"

enum {
    ES_PROGRAM_VARIABLES = 64,  /* maximum; sets of variables are bit sets */
    ES_PROGRAM_DISJUNCTS = 256, /* maximum */
};

struct esi_program_variable {
    const char *name; /* "$a", "Send", "Send#2" for the second of this name,
                         "Open.$a" from a replaced predicate */
    bool is_universal;
    bool is_returned;
    uint32_t class_number; /* or ES_PATTERN_NONE */
    uint32_t predicate;    /* whose matches are its values, or ES_PATTERN_NONE */
    uint32_t occurrence;   /* of the predicate that the program implements */
};

enum esi_atom_kind {
    ES_ATOM_RELATION, /* between the unions of `left` and `right`; an empty union is
                         concurrent with everything */
    ES_ATOM_COUNT,    /* compares the number of values of the counted class or
                         predicate that are in this relation with the union of
                         `left`; the counted operand is the right one, or the left if
                         is_reversed */
    ES_ATOM_WITHIN,   /* all events of `left` */
    ES_ATOM_COMPARE,  /* variables of node->operands: `left` and `right` have one
                         bit, or none for a constant */
};

struct esi_atom {
    enum esi_atom_kind kind;
    enum esi_pattern_operator op;
    bool is_negated;
    uint64_t left; /* bit v: variable v */
    uint64_t right;
    const struct esi_pattern_node
        *node;        /* of kind COUNT, WITHIN, COMPARE, RELATION or LIMITED */
    bool is_reversed; /* for COUNT */
    uint32_t counted; /* for COUNT: class number, or NONE */
    uint32_t counted_predicate; /* for COUNT: predicate, or NONE */
};

enum esi_formula_kind {
    ES_FORMULA_TRUE,
    ES_FORMULA_FALSE,
    ES_FORMULA_ATOM,
    ES_FORMULA_AND,
    ES_FORMULA_OR,
};

struct esi_formula {
    enum esi_formula_kind kind;
    uint32_t atom;
    size_t part_count; /* for AND and OR: two or more */
    const struct esi_formula *const *parts;
};

struct esi_program_disjunct {
    uint64_t variables; /* existential; all of them take values */
    uint64_t universal; /* named by the condition */
    const struct esi_formula *condition;
    const uint32_t *lesser; /* disjuncts that are proper subsets */
    size_t lesser_count;
};

/* Sides of `|` that may form a match.  The disjuncts are the choices and their
 * unions. */
struct esi_program_choice {
    uint64_t variables; /* existential */
    uint64_t universal; /* named by the choice */
};

struct esi_program {
    const struct es_pattern_file *file; /* borrowed */
    uint32_t predicate;
    const struct esi_program_variable *variables;
    uint32_t variable_count;
    const struct esi_atom *atoms;
    uint32_t atom_count;
    const struct esi_program_disjunct *disjuncts; /* subsets first */
    uint32_t disjunct_count;
    const struct esi_program_choice *choices;
    uint32_t choice_count;
};

/* The set that contains one variable. */
static inline uint64_t esi_program_bit(unsigned variable)
{
    return UINT64_C(1) << variable;
}

/* Whether the values of the variable are single events. */
static inline bool esi_program_is_single(const struct esi_program *program,
                                         unsigned variable)
{
    return program->variables[variable].class_number != ES_PATTERN_NONE;
}

/* Whether events become values of the variable as soon as they arrive: false for
 * matches and for classes with partners (D12). */
bool esi_program_is_prompt(const struct esi_program *program, unsigned variable);

uint64_t esi_program_universal(const struct esi_program *program);

/* Whether a disjunct may have minimal assignments when the universal variables `empty`
 * have no values (D8).  A union of choices has none if it exists only because of these
 * variables. */
bool esi_program_may_be_minimal(const struct esi_program *program,
                                uint32_t disjunct,
                                uint64_t empty);

/* Returns 0; -EINVAL with a message if there are too many variables or disjuncts; or
 * -ENOMEM. */
int esi_program_create(const struct es_pattern_file *file,
                       uint32_t predicate,
                       struct esi_program **ret_program,
                       struct es_error *error);
/* Accepts NULL. */
void esi_program_destroy(struct esi_program *program);

#endif
