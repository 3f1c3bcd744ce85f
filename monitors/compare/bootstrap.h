/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* bootstrap.h - how much of a difference of two sums chance explains. */
#ifndef ES_MONITORS_COMPARE_BOOTSTRAP_H
#define ES_MONITORS_COMPARE_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

struct esi_bootstrap {
    double difference; /* sum of b - sum of a */
    double low;        /* between these it lies in 99 % of the samples */
    double high;
    bool known; /* there were blocks enough to say so */
};

/* Whether nearly all samples lie on one side of 0. */
static inline bool esi_bootstrap_is_clear(const struct esi_bootstrap *noise)
{
    return noise->known && (noise->low > 0 || noise->high < 0);
}

enum { ESI_BOOTSTRAP_LEAST = 8 }; /* blocks */

/* Draws samples of the blocks of two runs, with repetition; blocks that both have are
 * drawn together, so that what both go through in the course of time cancels (Efron and
 * Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).  The same values
 * give the same answer. */
struct esi_bootstrap esi_bootstrap_compare(const double *a,
                                           size_t a_count,
                                           const double *b,
                                           size_t b_count);

#endif
