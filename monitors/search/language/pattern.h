/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A parsed pattern file: classes, and predicates as trees of relations (Nichols,
 * chapter 3; docs/pattern-language.md).
 *
 *   es_pattern_file_read("races.pattern", &file, &error);
 *   number = es_pattern_find(file, "Race");
 *   esi_pattern_predicate(file, number)->root ...
 *   es_pattern_file_destroy(file);
 *
 * The grammar is in docs/pattern-language.md.  In short: statements are NAME := clause;
 * and NAME $x, *y, ~z; - the relations --> -> || <-> => and -(C)->, negated by !, bind
 * tightest, then &, then |, and group to the right.  Classes are ["process", "type",
 * "text"] or [name = "value", bytes > 1KiB, ...], or X.Y for the events of X with a
 * partner in Y.  Extensions to the thesis are conditions other than = with a string,
 * =>, $a.tag = $b.tag, (...) within 5ms, and "at least 3 of B" on one side of a
 * relation.
 *
 * All names are resolved; a name must be defined before its use.  The limited operator
 * is kept in the tree; esi_program (program.h) defines what a predicate requires.  A
 * parsed file never changes, so any number of threads may read it.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/pattern.h"

/* Where a construct begins.  Line and column are counted from 1, columns in bytes. */
struct esi_pattern_place {
    uint32_t line;
    uint32_t column;
};

/* --- Classes of events ------------------------------------------------------------ */

enum esi_pattern_field {
    ES_FIELD_PROCESS, /* name of the trace */
    ES_FIELD_TYPE,
    ES_FIELD_TEXT,
    ES_FIELD_KIND, /* "unary", "send", "receive", "sync" */
    ES_FIELD_ATTRIBUTE,
};

enum esi_pattern_test {
    ES_TEST_GLOB,  /* "k" = "a*b": pieces with any text between them */
    ES_TEST_REGEX, /* k =~ "expression": matches anywhere in the text (PCRE2) */
    ES_TEST_EQUAL, /* two attributes, numbers, or an attribute and a text */
    ES_TEST_LESS,
    ES_TEST_LESS_EQUAL,
    ES_TEST_GREATER,
    ES_TEST_GREATER_EQUAL,
};

/* The right side of a comparison.  A string compared with an attribute of a variable is
 * stored as a text if it has no wildcards, otherwise as an equivalent regular
 * expression (REGEX). */
struct esi_pattern_constant {
    bool is_number;
    int64_t number; /* with a unit: in nanoseconds or bytes */
    const char *text;
};

struct esi_pattern_condition {
    enum esi_pattern_field field;
    uint32_t attribute; /* for ES_FIELD_ATTRIBUTE: its number in the file */
    enum esi_pattern_test test;
    bool is_negated; /* for EQUAL, GLOB and REGEX; false if the attribute is absent */
    struct esi_pattern_constant value; /* for REGEX: the expression */
    const char *const *pieces;         /* for GLOB; one piece = exactly this text */
    size_t piece_count;                /* 0: no restriction (D14) */
    struct esi_pattern_place place;
    struct esi_pattern_place value_place;
};

/* An event is in a class if all conditions hold and if, for each class in `partners`,
 * one of its partners is in that class (D12). */
struct esi_pattern_class {
    const struct esi_pattern_condition *conditions;
    size_t condition_count;
    const uint32_t *partners; /* class numbers */
    size_t partner_count;
    struct esi_pattern_place place;
};

/* --- Predicates ------------------------------------------------------------------- */

enum esi_pattern_sign {
    ES_SIGN_NONE,      /* a class or name: found and returned; each use is distinct */
    ES_SIGN_RETURNED,  /* $x */
    ES_SIGN_HIDDEN,    /* ~x: found, not returned */
    ES_SIGN_UNIVERSAL, /* *x, and the C of -(C)->: must hold for all values */
    ES_SIGN_COUNTED,   /* "at least 3 of X": direct operand of one relation, hidden */
};

/* An operand that takes a value (D4): an event of a class or a match of a predicate. */
struct esi_pattern_occurrence {
    enum esi_pattern_sign sign;
    uint32_t class_number; /* or ES_PATTERN_NONE; a name that only stands for a class
                              is replaced by the class */
    uint32_t predicate;    /* or ES_PATTERN_NONE; always less than that of its user */
    const char *name;      /* as written, with its sign, or "Send.Recv"; "[...]" for
                              a literal */
    struct esi_pattern_place place; /* of its first use */
};

/* Whether the events of the occurrence belong to a match (D9). */
static inline bool esi_pattern_is_returned(
    const struct esi_pattern_occurrence *occurrence)
{
    return occurrence->sign == ES_SIGN_NONE || occurrence->sign == ES_SIGN_RETURNED;
}

enum esi_pattern_node_kind {
    ES_NODE_TERM,
    ES_NODE_COUNT,    /* operand of a relation with another, non-COUNT operand */
    ES_NODE_RELATION, /* left op right */
    ES_NODE_LIMITED,  /* left -(occurrence)-> right */
    ES_NODE_AND,
    ES_NODE_OR,
    ES_NODE_WITHIN,  /* (left) within 5ms: all values, including hidden ones */
    ES_NODE_COMPARE, /* $a.tag = $b.tag; contributes no events to a relation */
};

enum esi_pattern_operator {
    ES_OPERATOR_BEFORE,     /* --> */
    ES_OPERATOR_CONCURRENT, /* || */
    ES_OPERATOR_ENTANGLED,  /* <-> */
    ES_OPERATOR_RECEIVED,   /* =>: an event of the left is a send that an event of
                               the right names as its partner, or they are halves of
                               a sync */
};

/* One side of a comparison. */
struct esi_pattern_operand {
    uint32_t occurrence; /* of a class; ES_PATTERN_NONE for the constant */
    enum esi_pattern_field field;
    uint32_t attribute;
    struct esi_pattern_constant constant;
    struct esi_pattern_place place; /* of the attribute name or the constant */
};

struct esi_pattern_node {
    enum esi_pattern_node_kind kind;
    struct esi_pattern_place place; /* of the operator or the term */
    const struct esi_pattern_node *left;
    const struct esi_pattern_node *right;
    uint32_t occurrence; /* for TERM and COUNT; for LIMITED the (universal) limit */
    enum esi_pattern_operator op; /* for RELATION */
    bool is_negated;              /* for RELATION; for COMPARE with != or !~ */
    bool at_most;                 /* for COUNT; false = at least */
    uint32_t number;              /* for COUNT */
    int64_t within_ns;
    enum esi_pattern_test test; /* for COMPARE; REGEX has a constant on the right */
    struct esi_pattern_operand operands[2]; /* for COMPARE */
};

enum {
    ES_PATTERN_OCCURRENCES = 64, /* maximum per predicate */
    ES_PATTERN_HEIGHT = 500,     /* maximum nesting of nodes, not counting terms */
};

struct esi_pattern_predicate {
    const char *name;
    struct esi_pattern_place place;
    const struct esi_pattern_node *root;
    const struct esi_pattern_occurrence *occurrences; /* in order of first use */
    uint32_t occurrence_count;
    bool is_folded; /* sides of `|` that the parser split off from a large predicate:
                       not in the file, printed with the predicate that uses it */
};

/* --- Files ------------------------------------------------------------------------ */

/* Reports a fault found after parsing, in the format of the parser's messages.  `words`
 * is a sentence of up to 200 bytes.  Returns -EINVAL. */
int esi_pattern_fault(const struct es_pattern_file *file,
                      struct esi_pattern_place place,
                      const char *words,
                      struct es_error *error);

const struct esi_pattern_predicate *esi_pattern_predicate(
    const struct es_pattern_file *file,
    uint32_t predicate);

uint32_t esi_pattern_classes(const struct es_pattern_file *file);
const struct esi_pattern_class *esi_pattern_class(const struct es_pattern_file *file,
                                                  uint32_t class_number);
/* The name of an attribute that the file uses. */
const char *esi_pattern_attribute(const struct es_pattern_file *file,
                                  uint32_t attribute);

/* The notation of an operator, test or field: "!-->"; ">=" or "!~" (only EQUAL, GLOB
 * and REGEX can be negated); "process" or the name of an attribute. */
const char *esi_pattern_operator_text(enum esi_pattern_operator op, bool is_negated);
const char *esi_pattern_test_text(enum esi_pattern_test test, bool is_negated);
const char *esi_pattern_field_name(const struct es_pattern_file *file,
                                   enum esi_pattern_field field,
                                   uint32_t attribute);

/* Copies the description of a predicate, up to `size` bytes: the first sentence of the
 * comments (# or //) on the lines directly above it.  False if there is none. */
bool esi_pattern_comment(const struct es_pattern_file *file,
                         uint32_t predicate,
                         char *ret_text,
                         size_t size);

/* Sets the flags of the predicate, of all predicates that it uses, and of the classes
 * that these use, including partner classes.  Other flags are left unchanged. */
void esi_pattern_reach(const struct es_pattern_file *file,
                       uint32_t predicate,
                       bool *is_predicate_needed,
                       bool *is_class_needed);

/* Whether a later predicate, or a class with partners, uses this predicate. */
bool esi_pattern_is_used(const struct es_pattern_file *file, uint32_t number);

/* Prints the declarations of a predicate's variables and the predicate, with all
 * brackets.  The text parses to the same tree. */
void esi_pattern_print(const struct es_pattern_file *file,
                       uint32_t predicate,
                       FILE *out);

#endif
