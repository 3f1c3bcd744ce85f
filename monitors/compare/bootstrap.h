/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* bootstrap.h - how much of a difference of two sums can be explained by chance. */
#ifndef ES_MONITORS_COMPARE_BOOTSTRAP_H
#define ES_MONITORS_COMPARE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

struct esi_bootstrap {
    double difference; /* sum of b - sum of a */
    double low;        /* 99 % of the samples are between these bounds */
    double high;
    bool known; /* there were enough blocks */
};

/* Whether nearly all samples are on one side of 0. */
static inline bool esi_bootstrap_is_clear(const struct esi_bootstrap *noise)
{
    return noise->known && (noise->low > 0 || noise->high < 0);
}

enum { ESI_BOOTSTRAP_LEAST = 8 }; /* minimum number of blocks */

/* Draws samples of the blocks of two runs, with replacement.  Blocks that both runs
 * have are drawn together, so that common trends over time cancel out (Efron and
 * Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13). Deterministic. */
struct esi_bootstrap esi_bootstrap_compare(const double *a,
                                           size_t a_count,
                                           const double *b,
                                           size_t b_count);

#endif
