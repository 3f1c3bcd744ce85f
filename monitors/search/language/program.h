/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a predicate demands, in the form that all engines search.
 *
 * A predicate becomes variables and, for each *support*, a condition.  A support is a
 * set of existential variables that may make a match: without `|` there is one, with
 * `|` one for each choice of sides and, where there are universal variables, one for
 * each union of choices (docs/decisions.md, D6).  A condition is made of AND, OR and
 * atoms; an atom names the variables whose values it is about, so that it says itself
 * which events a side has (D7): what was passed up is worked out here, once.
 *
 *   an assignment of values to the variables of support S is a match, if
 *     for all values of the universal variables S's condition holds, and
 *     for no support in `lesser` of S (proper subsets) its condition does (minimality)
 *
 * An atom that names a universal variable which has no values holds (D8), but of a
 * WITHIN atom the variable is only left out.
 *
 * Names of predicates whose value is existential, which have one support, and which
 * have no universal variables if they stand below a `|`, are replaced by their
 * variables; others have the matches of the predicate as values.  `occurrence` tells to
 * which occurrence of the predicate itself a variable belongs.
 *
 * Variables are numbered, and atoms too, as a walk of the tree in post-order meets them
 * first: a relation's operands before the relation.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_H
#define ES_MONITORS_SEARCH_LANGUAGE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/search/language/pattern.h"

enum {
    ES_PROGRAM_VARIABLES = 64, /* at most: sets of them are bits */
    ES_PROGRAM_SUPPORTS = 256, /* at most */
};

struct esi_program_variable {
    const char *name; /* "$a", "Send", "Send#2" for the second of this name,
                         "Open.$a" of a predicate that was replaced */
    bool is_universal;
    bool is_returned;
    uint32_t class_number; /* or ES_PATTERN_NONE */
    uint32_t predicate;    /* whose matches are its values; or ES_PATTERN_NONE */
    uint32_t occurrence;   /* of the predicate that the program is of */
};

enum esi_atom_kind {
    ES_ATOM_RELATION, /* of the union of `left` and that of `right`; an empty union is
                         concurrent with everything */
    ES_ATOM_COUNT,    /* as many values of the class or predicate counted are in this
                         relation with the union of `left` (the counted is the right
                         operand, or the left if is_reversed) */
    ES_ATOM_WITHIN,   /* all events of `left` */
    ES_ATOM_COMPARE,  /* variables of node->operands: `left`, `right` have one bit, or
                         none where a constant is */
};

struct esi_atom {
    enum esi_atom_kind kind;
    enum esi_pattern_operator op;
    bool is_negated;
    uint64_t left; /* bit v: variable v */
    uint64_t right;
    const struct esi_pattern_node
        *node;                  /* COUNT node, WITHIN, COMPARE, RELATION or LIMITED */
    bool is_reversed;           /* of COUNT */
    uint32_t counted;           /* of COUNT: class number, or NONE */
    uint32_t counted_predicate; /* of COUNT: predicate, or NONE */
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
    size_t part_count; /* of AND and OR: two or more */
    const struct esi_formula *const *parts;
};

struct esi_program_support {
    uint64_t variables; /* existential ones, all of which get values */
    uint64_t universal; /* those that the condition names */
    const struct esi_formula *condition;
    const uint32_t *lesser; /* numbers of supports that are proper subsets */
    size_t lesser_count;
};

/* Sides of `|` that may make a match: supports are these and unions of them. */
struct esi_program_choice {
    uint64_t variables; /* existential ones */
    uint64_t universal; /* those that it names */
};

struct esi_program {
    const struct es_pattern_file *file; /* borrowed */
    uint32_t predicate;
    const struct esi_program_variable *variables;
    uint32_t variable_count;
    const struct esi_atom *atoms;
    uint32_t atom_count;
    const struct esi_program_support *supports; /* lesser ones first */
    uint32_t support_count;
    const struct esi_program_choice *choices;
    uint32_t choice_count;
};

/* The set of one variable. */
static inline uint64_t esi_program_bit(unsigned variable)
{
    return UINT64_C(1) << variable;
}

/* Whether its values are single events. */
static inline bool esi_program_is_single(const struct esi_program *program,
                                         unsigned variable)
{
    return program->variables[variable].class_number != ES_PATTERN_NONE;
}

/* Whether an event is one of its values as soon as it comes: not one of a class with
 * partners (D12), nor a match. */
bool esi_program_is_prompt(const struct esi_program *program, unsigned variable);

uint64_t esi_program_universal(const struct esi_program *program);

/* Whether a support may have minimal assignments when the universal variables `empty`
 * have no values (D8): unions of choices that only these hold together have none. */
bool esi_program_may_be_minimal(const struct esi_program *program,
                                uint32_t support,
                                uint64_t empty);

/* -EINVAL with words: too many variables or supports; -ENOMEM. */
int esi_program_create(const struct es_pattern_file *file,
                       uint32_t predicate,
                       struct esi_program **ret_program,
                       struct es_error *error);
/* Accepts NULL. */
void esi_program_destroy(struct esi_program *program);

#endif
