/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reduces a failing case so that it can be understood: removes events, attributes,
 * predicates and parts of clauses while it still fails.
 */
#ifndef ES_TESTS_SEARCH_SHRINK_H
#define ES_TESTS_SEARCH_SHRINK_H

#include <stdbool.h>

#include "tests/search/reference.h"

struct shrink_case {
    struct reference_file file;
    struct small_set set;
    int predicate;
};

/* Whether a case fails; a case whose text does not parse does not fail. */
typedef bool (*shrink_fails_fn)(void *data, const struct shrink_case *tried);

/* `failing` must fail, and still fails afterwards. */
void shrink(struct shrink_case *failing, shrink_fails_fn fails, void *data);

/* Prints the file, the matches of the reference, and the events. */
void shrink_print(const struct shrink_case *failing, FILE *out);

#endif
