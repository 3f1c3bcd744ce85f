/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* compare_private.h - data structures shared by the files of compare. */
#ifndef ES_MONITORS_COMPARE_COMPARE_PRIVATE_H
#define ES_MONITORS_COMPARE_COMPARE_PRIVATE_H

#include "monitors/compare/compare.h"

struct esi_compare_side {
    struct esi_delay *delay;
    struct esi_sequences sequences;
    const struct esi_profile_report *profile; /* NULL = none */
};

struct esi_compare_table {
    struct esi_compare_row *rows; /* owned */
    size_t count, capacity;
};

struct esi_compare {
    struct esi_compare_side sides[ESI_COMPARE_RUNS];
    struct esi_compare_table times;
    struct esi_compare_table profiles;
    struct esi_compare_totals totals;
};

/* Whether two texts are equal; NULL equals only NULL. */
bool esi_compare_is_text(const char *a, const char *b);

/* The run's row with the same name; NULL if there is none. */
const struct esi_delay_row *esi_compare_find_like(const struct esi_delay *delay,
                                                  enum esi_delay_group group,
                                                  const struct esi_delay_row *row);

/* How much of the difference of two rows can be explained by chance, for `metric` plus
 * `other` (ESI_DELAY_METRICS = none). One of the rows may be NULL. */
struct esi_bootstrap esi_compare_noise(const struct esi_compare *compare,
                                       const struct esi_delay_row *a,
                                       const struct esi_delay_row *b,
                                       enum esi_delay_metric metric,
                                       enum esi_delay_metric other);

/* The length of run A in nanoseconds. */
double esi_compare_whole(const struct esi_compare *compare);

/* Returns 0 or -ENOMEM. */
int esi_compare_table_add(struct esi_compare_table *table,
                          const struct esi_compare_row *row);

/* Compares the profiles of both runs.  Returns 0 or -ENOMEM. */
int esi_compare_profiles(struct esi_compare *compare);

#endif
