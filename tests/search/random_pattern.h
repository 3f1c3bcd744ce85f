/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Random pattern files that follow the grammar: overlapping and empty classes,
 * partners, predicates of predicates, variables of all signs, all operators.
 *
 *   random_pattern_options_init(&options);
 *   random_pattern_make(&draw, &options, &file);         reference.h
 *   random_pattern_write(&file, REFERENCE_NONE, &draw, out);   a text for the parser
 *
 * The same state of `draw` makes the same file.
 */
#ifndef ES_TESTS_SEARCH_RANDOM_PATTERN_H
#define ES_TESTS_SEARCH_RANDOM_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/order/made_computation.h"
#include "tests/search/reference.h"

struct random_pattern_options {
    int terms;        /* maximum for a predicate; up to 8 */
    int universals;   /* maximum for a predicate, including limits of operators */
    int predicates;   /* in addition to those that stand for classes; 1 to 4 */
    bool is_extended; /* with features that the thesis' language lacks */
};

/* 5 terms, 2 universals, 3 predicates, extended. */
void random_pattern_options_init(struct random_pattern_options *options);

void random_pattern_make(uint64_t *draw,
                         const struct random_pattern_options *options,
                         struct reference_file *ret_file);

/* Writes a predicate and those it needs, or all if it is NONE.  Adds redundant
 * brackets, blanks and comments unless `draw` is NULL. */
void random_pattern_write(const struct reference_file *file,
                          int predicate,
                          uint64_t *draw,
                          FILE *out);
/* Likewise; caller frees. */
char *random_pattern_text(const struct reference_file *file,
                          int predicate,
                          uint64_t *draw);

#endif
