/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_outcomes.h - evaluates a clause for given values. */
#ifndef ES_TESTS_SEARCH_REFERENCE_OUTCOMES_H
#define ES_TESTS_SEARCH_REFERENCE_OUTCOMES_H

#include "tests/search/reference.h"

enum { REFERENCE_UNBOUND = -1 };

/* The values of an occurrence, and the index of the assigned one. */
struct reference_values {
    uint64_t *of;
    int count;
    int chosen;
};

/* A predicate and the values of its occurrences. */
struct reference_state {
    const struct reference_file *file;
    const struct small_set *set;
    const struct reference_predicate *predicate;
    struct reference_values values[REFERENCE_OCCURRENCES];
};

static inline bool reference_is_bound(const struct reference_state *search,
                                      int occurrence)
{
    return search->values[occurrence].chosen != REFERENCE_UNBOUND;
}

/* The assigned value; empty for a variable without values. */
static inline uint64_t reference_value_set(const struct reference_state *search,
                                           int occurrence)
{
    const struct reference_values *values = &search->values[occurrence];

    return values->chosen == REFERENCE_UNBOUND ? 0 : values->of[values->chosen];
}

bool reference_is_satisfied(const struct reference_state *search);

#endif
