/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Files of patterns made at random along the grammar: classes that overlap, empty ones,
 * partners; predicates of predicates, variables of all signs; all operators.
 *
 *   random_pattern_options_init(&options);
 *   random_pattern_make(&draw, &options, &file);         reference.h
 *   random_pattern_write(&file, REFERENCE_NONE, &draw, out);   a text for the parser
 *
 * The same state of `draw` gives the same file.
 */
#ifndef ES_TESTS_SEARCH_RANDOM_PATTERN_H
#define ES_TESTS_SEARCH_RANDOM_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/order/made_computation.h"
#include "tests/search/reference.h"

struct random_pattern_options {
    int terms;        /* of a predicate, at most; up to 8 */
    int universals;   /* of a predicate, at most; limits of operators included */
    int predicates;   /* beside those that stand for classes; 1 to 4 */
    bool is_extended; /* with what the thesis' language does not have */
};

/* 5 terms, 2 universals, 3 predicates, extended. */
void random_pattern_options_init(struct random_pattern_options *options);

void random_pattern_make(struct made_draw *draw,
                         const struct random_pattern_options *options,
                         struct reference_file *ret_file);

/* As text: of a predicate and what it needs, or NONE: of all.  `draw` NULL: without
 * needless brackets, blanks and comments. */
void random_pattern_write(const struct reference_file *file,
                          int predicate,
                          struct made_draw *draw,
                          FILE *out);
/* The caller frees it. */
char *random_pattern_text(const struct reference_file *file,
                          int predicate,
                          struct made_draw *draw);

#endif
