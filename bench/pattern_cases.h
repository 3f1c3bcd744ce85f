/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cases that Nichols measured (4.7, 5.6, 6.4), the searches that are compared on
 * them, and which of both makes a row of his tables.
 */
#ifndef ES_BENCH_PATTERN_CASES_H
#define ES_BENCH_PATTERN_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/search.h"

enum { PATTERN_CASE_PREDICATES = 2 };

struct pattern_case {
    const char *name;
    const char *set;
    const char *file;                                /* in the folder of patterns */
    const char *predicates[PATTERN_CASE_PREDICATES]; /* added up; the rest NULL */
    uint64_t matches;
};

struct pattern_way {
    const char *name; /* "closure_binary", ... */
    const char *engine;
    enum esi_closure_method closure_method;
    bool closure_combining;
    bool prune;
    enum esi_reordering reordering;
    bool failed_first;
    unsigned threads;
    unsigned without;  /* enum esi_indexed_part */
    const char *cases; /* names with a space around each; NULL = all */
    const char *slow;  /* of these: those that take long, likewise; NULL = none */
};

/* Both are ended by a name that is NULL. */
extern const struct pattern_case pattern_cases[];
extern const struct pattern_way pattern_ways[];

/* Whether a way is measured on a case, and whether that takes long. */
bool pattern_way_has(const struct pattern_way *way, const char *name);
bool pattern_way_is_slow(const struct pattern_way *way, const char *name);

void pattern_way_configure(const struct pattern_way *way,
                           struct esi_search_config *ret_config);

#endif
