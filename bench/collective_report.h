/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the rounds of bench/collective say: a row of the table, and figures. */
#ifndef ES_BENCH_COLLECTIVE_REPORT_H
#define ES_BENCH_COLLECTIVE_REPORT_H

#include <stddef.h>
#include <stdio.h>

enum { VARIANTS_MAX = 16, ROUNDS_MAX = 1000 };

/* How long one operation of one size took by each variant; a round has a time of each.
 */
struct rounds {
    const char *prefix; /* of the figures' names */
    const char *operation;
    size_t bytes;
    const char *variants[VARIANTS_MAX];
    int variant_count;
    int reference; /* ratios are those to this variant */
    int count;
    double ns[VARIANTS_MAX][ROUNDS_MAX];
};

/* The table's heading, then one row for each operation and size. */
void report_heading(const struct rounds *rounds);
void report_row(const struct rounds *rounds);

/* Lines `figure: PREFIX_OPERATION_BYTES_VARIANT_...`: `_time`; but for the reference
 * `_ratio` with its interval `_ratio_low`, `_ratio_high` (see median_interval in
 * perturbation_table.py); and where there is a variant VARIANT.quiet `_edges`, the
 * ratio to that, and `_edges_added`. */
void report_figures(const struct rounds *rounds, FILE *file);

#endif
