/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Quantiles of many values in little memory: a mergeable sketch with a bounded relative
 * error (Masson, Rim and Lee, DDSketch, 2019).
 *
 * A few values are stored exactly.  More values are counted in buckets whose bounds
 * grow by powers of two, with each power divided into 64 equal parts (the linear
 * interpolation of the paper's logarithm: no floating point, the same results on all
 * machines). The middle of a bucket is within 1/128 of all its values.
 *
 * A sketch may be used by one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_QUANTILES_H
#define ES_MONITORS_COLLECTIVES_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

enum { ES_QUANTILES_EXACT = 32 }; /* number of values stored exactly */

/* A quantile from the sketch is off by at most the true one divided by this. */
#define ES_QUANTILES_ACCURACY 128

/* Caller's memory; a zeroed struct is an empty sketch.  At most 8 bytes for each of
 * 3,776 buckets. */
struct esi_quantiles {
    uint64_t count;
    uint64_t few[ES_QUANTILES_EXACT];
    uint64_t *buckets; /* owned; NULL while `few` has all values */
    unsigned first;    /* number of buckets[0] */
    unsigned bucket_count;
};

void esi_quantiles_fini(struct esi_quantiles *quantiles);

/* Adds a value.  -ENOMEM: it was not added.  O(1) except when the buckets grow. */
int esi_quantiles_add(struct esi_quantiles *quantiles, uint64_t value);

/* Adds all values of `other`, with the same result as adding them one by one.  -ENOMEM:
 * nothing was added. */
int esi_quantiles_merge(struct esi_quantiles *quantiles,
                        const struct esi_quantiles *other);

/* The value that `share` (0 to 1) of all values do not exceed: the value with number
 * share * count, rounded up, but at least 1, in sorted order.  0 if empty. */
uint64_t esi_quantiles_at(const struct esi_quantiles *quantiles, double share);

#endif
