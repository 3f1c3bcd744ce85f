/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Makes a failing case small enough to be understood: events, attributes, predicates
 * and parts of clauses are taken out as long as it still fails.
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

/* Whether a case fails; one that is no case at all, as its text does not parse, does
 * not. */
typedef bool (*shrink_fails_fn)(void *data, const struct shrink_case *tried);

/* `failing` fails, and does so afterwards. */
void shrink(struct shrink_case *failing, shrink_fails_fn fails, void *data);

/* The file, what the reference finds, and the events. */
void shrink_print(const struct shrink_case *failing, FILE *out);

#endif
