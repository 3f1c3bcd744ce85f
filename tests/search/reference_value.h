/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* reference_value.h - values of attributes of events, and their comparison. */
#ifndef ES_TESTS_SEARCH_REFERENCE_VALUE_H
#define ES_TESTS_SEARCH_REFERENCE_VALUE_H

#include "tests/search/reference.h"

/* The value of an attribute. */
struct reference_value {
    bool is_there;
    bool is_number; /* a number, or a text that is a number */
    int64_t number;
    char text[24]; /* set for numbers, too */
};

struct reference_value reference_value_of(const struct small_set *set,
                                          uint32_t number,
                                          const char *name);
/* The time of an event; returns false if it has none. */
bool reference_time(const struct small_set *set, uint32_t number, int64_t *ret_time);

/* Ignores the name in the condition. */
bool reference_condition_holds(const struct reference_condition *condition,
                               const struct reference_value *value);
/* Evaluates "$a.x test $b.y". */
bool reference_values_compare(enum reference_test test,
                              bool is_negated,
                              const struct reference_value *left,
                              const struct reference_value *right);

#endif
