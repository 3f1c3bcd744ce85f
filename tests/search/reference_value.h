/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_value.h - what events have under a name, and how it compares. */
#ifndef ES_TESTS_SEARCH_REFERENCE_VALUE_H
#define ES_TESTS_SEARCH_REFERENCE_VALUE_H

#include "tests/search/reference.h"

/* What an event has under a name. */
struct reference_value {
    bool is_there;
    bool is_number; /* or a text that is one */
    int64_t number;
    char text[24]; /* of numbers too */
};

struct reference_value reference_value_of(const struct small_set *set,
                                          uint32_t number,
                                          const char *name);
/* When an event happened; false: it does not say. */
bool reference_time(const struct small_set *set, uint32_t number, int64_t *ret_time);

/* The condition's name does not matter. */
bool reference_condition_holds(const struct reference_condition *condition,
                               const struct reference_value *value);
/* As "$a.x test $b.y". */
bool reference_values_compare(enum reference_test test,
                              bool is_negated,
                              const struct reference_value *left,
                              const struct reference_value *right);

#endif
