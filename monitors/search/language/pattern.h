/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A file of patterns as it was parsed: classes, and predicates as trees of relations
 * (Nichols, chapter 3; docs/pattern-language.md).
 *
 *   es_pattern_file_read("races.pattern", &file, &error);
 *   number = es_pattern_find(file, "Race");
 *   esi_pattern_predicate(file, number)->root ...
 *   es_pattern_file_destroy(file);
 *
 * The grammar stands in docs/pattern-language.md.  In short: statements NAME := clause;
 * and NAME $x, *y, ~z; - relations --> -> || <-> => and -(C)->, negated by !, bind
 * tightest, then &, then |, and group to the right.  Classes are ["process", "type",
 * "text"] or [name = "value", bytes > 1KiB, ...], or X.Y for those of X with a partner
 * in Y.  Beyond the thesis are conditions other than = with a string, =>, $a.tag =
 * $b.tag, (...) within 5ms, and "at least 3 of B" on one side of a relation.
 *
 * All names are resolved: a name must be defined above its use.  The limited operator
 * stays what it is; esi_program (program.h) says what a predicate demands.  A file is
 * not changed after it was parsed: any number of threads may read it.
 */
#ifndef ES_MONITORS_SEARCH_LANGUAGE_PATTERN_H
#define ES_MONITORS_SEARCH_LANGUAGE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/pattern.h"

/* Where a construct begins; both from 1, columns in bytes. */
struct esi_pattern_place {
    uint32_t line;
    uint32_t column;
};

/* --- Classes of events ------------------------------------------------------------ */

enum esi_pattern_field {
    ES_FIELD_PROCESS, /* the name of the trace */
    ES_FIELD_TYPE,
    ES_FIELD_TEXT,
    ES_FIELD_KIND, /* "unary", "send", "receive", "sync" */
    ES_FIELD_ATTRIBUTE,
};

enum esi_pattern_test {
    ES_TEST_GLOB,  /* "k" = "a*b": pieces with anything between them */
    ES_TEST_REGEX, /* k =~ "expression": somewhere in the text (PCRE2) */
    ES_TEST_EQUAL, /* of two attributes, of numbers, and of an attribute with a text */
    ES_TEST_LESS,
    ES_TEST_LESS_EQUAL,
    ES_TEST_GREATER,
    ES_TEST_GREATER_EQUAL,
};

/* What stands on the right of a comparison.  A string that is compared with a
 * variable's attribute is a text without wildcards, or else a regular expression that
 * matches what it does (REGEX). */
struct esi_pattern_constant {
    bool is_number;
    int64_t number; /* with a unit: nanoseconds, or bytes */
    const char *text;
};

struct esi_pattern_condition {
    enum esi_pattern_field field;
    uint32_t attribute; /* of ES_FIELD_ATTRIBUTE: its number in the file */
    enum esi_pattern_test test;
    bool is_negated;                   /* of EQUAL, GLOB and REGEX; absent fails, too */
    struct esi_pattern_constant value; /* of REGEX the expression */
    const char *const *pieces;         /* of GLOB: one piece = that very text */
    size_t piece_count;                /* 0: no restriction (D14) */
    struct esi_pattern_place place;
    struct esi_pattern_place value_place;
};

/* An event is in a class if all conditions hold and, for each of `partners`, one of its
 * partners is in that class (D12). */
struct esi_pattern_class {
    const struct esi_pattern_condition *conditions;
    size_t condition_count;
    const uint32_t *partners; /* numbers of classes */
    size_t partner_count;
    struct esi_pattern_place place;
};

/* --- Predicates ------------------------------------------------------------------- */

enum esi_pattern_sign {
    ES_SIGN_NONE,      /* a class or a name: found and returned, each use for itself */
    ES_SIGN_RETURNED,  /* $x */
    ES_SIGN_HIDDEN,    /* ~x: found, not returned */
    ES_SIGN_UNIVERSAL, /* *x, and the C of -(C)->: all of them */
    ES_SIGN_COUNTED,   /* "at least 3 of X": direct operand of one relation, hidden */
};

/* What takes a value (D4).  Either an event of a class or a match of a predicate. */
struct esi_pattern_occurrence {
    enum esi_pattern_sign sign;
    uint32_t class_number; /* or ES_PATTERN_NONE; a name that stands for nothing but a
                              class is taken for the class */
    uint32_t predicate;    /* or ES_PATTERN_NONE; always less than its user's */
    const char *name;      /* as written, with its sign, or "Send.Recv"; of a literal
                              "[...]" */
    struct esi_pattern_place place; /* of its first use */
};

/* Whether its events belong to a match (D9). */
static inline bool esi_pattern_is_returned(
    const struct esi_pattern_occurrence *occurrence)
{
    return occurrence->sign == ES_SIGN_NONE || occurrence->sign == ES_SIGN_RETURNED;
}

enum esi_pattern_node_kind {
    ES_NODE_TERM,
    ES_NODE_COUNT,    /* operand of a relation whose other operand is none */
    ES_NODE_RELATION, /* left op right */
    ES_NODE_LIMITED,  /* left -(occurrence)-> right */
    ES_NODE_AND,
    ES_NODE_OR,
    ES_NODE_WITHIN,  /* (left) within 5ms: all its values, hidden ones too */
    ES_NODE_COMPARE, /* $a.tag = $b.tag; passes up nothing */
};

enum esi_pattern_operator {
    ES_OPERATOR_BEFORE,     /* --> */
    ES_OPERATOR_CONCURRENT, /* || */
    ES_OPERATOR_ENTANGLED,  /* <-> */
    ES_OPERATOR_RECEIVED,   /* =>: some event of the left is a send that some event of
                               the right names, or they are halves of a sync */
};

/* One side of a comparison. */
struct esi_pattern_operand {
    uint32_t occurrence; /* of a class; ES_PATTERN_NONE: the constant */
    enum esi_pattern_field field;
    uint32_t attribute;
    struct esi_pattern_constant constant;
    struct esi_pattern_place place; /* of the attribute's name, or of the constant */
};

struct esi_pattern_node {
    enum esi_pattern_node_kind kind;
    struct esi_pattern_place place; /* of its operator, or of the term */
    const struct esi_pattern_node *left;
    const struct esi_pattern_node *right;
    uint32_t occurrence; /* of TERM and COUNT; the limit of LIMITED, universal */
    enum esi_pattern_operator op; /* of RELATION */
    bool is_negated;              /* of RELATION; of COMPARE, when != or !~ */
    bool at_most;                 /* of COUNT; else at least */
    uint32_t number;              /* of COUNT */
    int64_t within_ns;
    enum esi_pattern_test test; /* of COMPARE; REGEX has a constant on the right */
    struct esi_pattern_operand operands[2]; /* of COMPARE */
};

enum {
    ES_PATTERN_OCCURRENCES = 64, /* of a predicate, at most */
    ES_PATTERN_HEIGHT = 500,     /* of nodes above each other, besides terms, at most */
};

struct esi_pattern_predicate {
    const char *name;
    struct esi_pattern_place place;
    const struct esi_pattern_node *root;
    const struct esi_pattern_occurrence *occurrences; /* in the order of first use */
    uint32_t occurrence_count;
    bool is_folded; /* sides of `|` that the parser took out of a large predicate: not
                       in the file, printed with the predicate that uses it */
};

/* --- Files ------------------------------------------------------------------------ */

/* What is found wrong later, said as the parser does it.  `words` is a sentence of up
 * to 200 bytes.  Returns -EINVAL. */
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
/* The name of an attribute that the file asks for. */
const char *esi_pattern_attribute(const struct es_pattern_file *file,
                                  uint32_t attribute);

/* As they are written: "!-->"; ">=", "!~" (only EQUAL, GLOB and REGEX are negated);
 * "process", or the name of an attribute. */
const char *esi_pattern_operator_text(enum esi_pattern_operator op, bool is_negated);
const char *esi_pattern_test_text(enum esi_pattern_test test, bool is_negated);
const char *esi_pattern_field_name(const struct es_pattern_file *file,
                                   enum esi_pattern_field field,
                                   uint32_t attribute);

/* What a predicate means: the first sentence of the comments, # or //, on the lines
 * directly above it, up to `size` bytes.  False: there is none. */
bool esi_pattern_comment(const struct es_pattern_file *file,
                         uint32_t predicate,
                         char *ret_text,
                         size_t size);

/* Sets the flags of the predicate and of all predicates below it, and of the classes
 * that these use, partners' included.  What is set stays set. */
void esi_pattern_reach(const struct es_pattern_file *file,
                       uint32_t predicate,
                       bool *is_predicate_needed,
                       bool *is_class_needed);

/* Whether a later predicate, or a class with partners, is made with this one. */
bool esi_pattern_is_used(const struct es_pattern_file *file, uint32_t number);

/* Writes the declarations of a predicate's variables and the predicate, as text that
 * parses to the same tree, with all brackets. */
void esi_pattern_print(const struct es_pattern_file *file,
                       uint32_t predicate,
                       FILE *out);

#endif
