/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cases measured by Nichols (4.7, 5.6, 6.4), the searches compared on them, and
 * which combinations are rows of his tables.
 */
#ifndef ES_BENCH_PATTERN_CASES_H
#define ES_BENCH_PATTERN_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/search.h"
#include "monitors/search/thesis/tuning.h"

enum { PATTERN_CASE_PREDICATES = 2 };

struct pattern_case {
    const char *name;
    const char *set;
    const char *file;                                /* in the folder of patterns */
    const char *predicates[PATTERN_CASE_PREDICATES]; /* results are added; rest NULL */
    uint64_t matches;
};

struct pattern_way {
    const char *name; /* "closure_binary", ... */
    const char *engine;
    struct esi_closure_tuning closure; /* the tuning of one engine */
    struct esi_rewrite_tuning rewrite;
    unsigned threads;
    const char *cases; /* names, each surrounded by spaces; NULL for all */
    const char *slow;  /* the slow ones of these, in the same format; NULL if none */
};

/* Both are terminated by a row with name NULL. */
extern const struct pattern_case pattern_cases[];
extern const struct pattern_way pattern_ways[];

/* Returns true if the search is measured on the case, or takes long on it. */
bool pattern_way_has(const struct pattern_way *way, const char *name);
bool pattern_way_is_slow(const struct pattern_way *way, const char *name);

#endif
