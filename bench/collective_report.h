/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The results of bench/collective: rows of a table, and figures. */
#ifndef ES_BENCH_COLLECTIVE_REPORT_H
#define ES_BENCH_COLLECTIVE_REPORT_H

#include <stddef.h>
#include <stdio.h>

enum { VARIANTS_MAX = 16, ROUNDS_MAX = 1000 };

/* The times of one operation of one size with each variant; each round has a time of
 * each. */
struct rounds {
    const char *prefix; /* of the names of figures */
    const char *operation;
    size_t bytes;
    const char *variants[VARIANTS_MAX];
    int variant_count;
    int reference; /* the variant to which ratios refer */
    int count;
    double ns[VARIANTS_MAX][ROUNDS_MAX];
};

/* The heading of the table; the rows, one per operation and size, follow. */
void report_heading(const struct rounds *rounds);
void report_row(const struct rounds *rounds);

/* Prints lines `figure: PREFIX_OPERATION_BYTES_VARIANT_...`: `_time`; except for the
 * reference, `_ratio` with its interval `_ratio_low`, `_ratio_high` (see
 * median_interval in perturbation_table.py); and if there is a variant VARIANT.quiet,
 * `_edges`, the ratio to that variant, and `_edges_added`. */
void report_figures(const struct rounds *rounds, FILE *file);

#endif
