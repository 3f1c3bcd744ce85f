/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The matches of a pattern file by the definitions of the semantics alone: all
 * assignments of values, all parts of them, and all values of universal variables are
 * tried.  Shares only the identities of events with the tested code.
 *
 *   reference_file_init(&file);           then build it, or random_pattern_make()
 *   reference_search(&file, &set, limit, &answers);
 *   answers->of[predicate].matches[0 .. count - 1]
 *   reference_answers_destroy(answers);
 *
 * Trees are plain values with fixed capacity: a file can be copied and changed.
 */
#ifndef ES_TESTS_SEARCH_REFERENCE_H
#define ES_TESTS_SEARCH_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/search/small_set.h"

enum {
    REFERENCE_CONDITIONS = 8,
    REFERENCE_PARTNERS = 4,
    REFERENCE_CLASSES = 32,
    REFERENCE_OCCURRENCES = 16,
    REFERENCE_NODES = 40,
    REFERENCE_PREDICATES = 16,
    REFERENCE_WORD = 24,
    REFERENCE_NONE = -1
};

/* --- Classes ---------------------------------------------------------------------- */

enum reference_test {
    REFERENCE_GLOB,  /* text with wildcards; escapes are unprocessed */
    REFERENCE_REGEX, /* POSIX extended */
    REFERENCE_EQUAL, /* numbers, or two attributes */
    REFERENCE_LESS,
    REFERENCE_LESS_EQUAL,
    REFERENCE_GREATER,
    REFERENCE_GREATER_EQUAL,
};

/* [name test value]. */
struct reference_condition {
    char name[REFERENCE_WORD];
    enum reference_test test;
    bool is_negated;
    char text[REFERENCE_WORD]; /* of GLOB and REGEX */
    int64_t number;            /* of others */
};

/* FIRST or FIRST.PARTNER; FIRST is a literal or the name of a class.  With several
 * partner classes, each needs a partner. */
struct reference_class {
    int named; /* predicate; NONE = literal */
    bool is_triple;
    struct reference_condition conditions[REFERENCE_CONDITIONS];
    int condition_count;
    int partners[REFERENCE_PARTNERS]; /* classes; the text format allows one */
    int partner_count;
};

/* --- Predicates ------------------------------------------------------------------- */

enum reference_sign {
    REFERENCE_PLAIN,
    REFERENCE_RETURNED,
    REFERENCE_HIDDEN,
    REFERENCE_UNIVERSAL, /* also limits of operators, plain in the text */
    REFERENCE_COUNTED,   /* likewise, for "at least" and "at most" */
};

struct reference_occurrence {
    enum reference_sign sign;
    char name[REFERENCE_WORD]; /* of a variable, without its sign; otherwise empty */
    int class_number;          /* or NONE */
    int predicate;             /* or NONE */
};

enum reference_kind {
    REFERENCE_TERM,
    REFERENCE_COUNT,
    REFERENCE_RELATION,
    REFERENCE_LIMITED,
    REFERENCE_AND,
    REFERENCE_OR,
    REFERENCE_WITHIN,
    REFERENCE_COMPARE,
};

enum reference_operator {
    REFERENCE_BEFORE,
    REFERENCE_CONCURRENT,
    REFERENCE_ENTANGLED,
    REFERENCE_RECEIVED,
};

struct reference_node {
    enum reference_kind kind;
    int left, right; /* nodes; WITHIN has the left one only */
    int occurrence;  /* TERM, COUNT: operand; LIMITED: limit; COMPARE: left side */
    enum reference_operator op;
    bool is_negated; /* RELATION and COMPARE */
    bool at_most;
    int number; /* COUNT */
    int64_t within_ns;
    /* COMPARE: left.attribute test right.other, or a constant as in a condition. */
    char attribute[REFERENCE_WORD];
    int right_occurrence; /* or NONE */
    char other[REFERENCE_WORD];
    struct reference_condition constant; /* its name is unused */
    enum reference_test test;
};

struct reference_predicate {
    char name[REFERENCE_WORD];
    struct reference_node nodes[REFERENCE_NODES];
    int node_count;
    int root;
    struct reference_occurrence occurrences[REFERENCE_OCCURRENCES];
    int occurrence_count;
};

/* A predicate uses only predicates before it. */
struct reference_file {
    struct reference_class classes[REFERENCE_CLASSES];
    int class_count;
    struct reference_predicate predicates[REFERENCE_PREDICATES];
    int predicate_count;
};

void reference_file_init(struct reference_file *file);
/* These add an item and return its number; members are 0, or NONE if they are
 * references. They end the program if there is no room. */
int reference_add_class(struct reference_file *file);
int reference_add_predicate(struct reference_file *file, const char *name);
int reference_add_node(struct reference_predicate *predicate, enum reference_kind kind);
int reference_add_occurrence(struct reference_predicate *predicate,
                             enum reference_sign sign);

/* Whether a predicate stands only for a class, that is, consists of one term. */
bool reference_is_class(const struct reference_file *file, int predicate);

/* --- Results ---------------------------------------------------------------------- */

struct reference_answer {
    bool is_known;     /* false = it, or one that it uses, is too much work */
    uint64_t *matches; /* distinct sets of events, ascending as numbers */
    uint32_t count;
    uint32_t assignments; /* distinct tuples of values of returned occurrences */
};

struct reference_answers {
    int count;
    struct reference_answer of[REFERENCE_PREDICATES];
};

/* Searches all predicates.  A predicate with more than `limit` assignments to try,
 * including universal ones, is not searched.  Caller destroys the answers. */
struct reference_answers *reference_search(const struct reference_file *file,
                                           const struct small_set *set,
                                           uint64_t limit);
/* Accepts NULL. */
void reference_answers_destroy(struct reference_answers *answers);

/* --- For tests of the parts ------------------------------------------------------- */

/* The events of a class. */
uint64_t reference_class_events(const struct reference_file *file,
                                const struct small_set *set,
                                int class_number);

/* Whether a relation, not negated, holds between two sets of events (D11). */
bool reference_related(const struct small_set *set,
                       enum reference_operator op,
                       uint64_t a,
                       uint64_t b);

#endif
