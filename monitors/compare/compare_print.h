/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* compare_print.h - prints the differences of two runs as sentences, tables, JSON and
 * CSV. */
#ifndef ES_MONITORS_COMPARE_COMPARE_PRINT_H
#define ES_MONITORS_COMPARE_COMPARE_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/compare/compare.h"

struct esi_compare_style {
    const char *names[ESI_COMPARE_RUNS]; /* of the runs */
    bool all;                            /* also rows without significant difference */
    size_t top;                          /* maximum number of rows; 0 = all */
};

/* Returns 0, -ENOMEM or -EIO. */
int esi_compare_print_text(const struct esi_compare *compare,
                           const struct esi_compare_style *style,
                           FILE *stream);
/* Prints JSON Lines: "type" is "difference", "order" or "totals"; all rows. */
int esi_compare_print_json(const struct esi_compare *compare, FILE *stream);
int esi_compare_print_csv(const struct esi_compare *compare,
                          const struct esi_compare_style *style,
                          FILE *stream);

#endif
