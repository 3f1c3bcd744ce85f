/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Quantiles of many values in little memory: a sketch with a bounded relative error
 * that can be merged with others (Masson, Rim and Lee, DDSketch, 2019).
 *
 * As long as the values are few they are kept as they are.  Then they are counted in
 * buckets whose bounds grow by powers of two, each power cut into 64 equal parts (the
 * linear interpolation of the paper's logarithm: no floating point, alike everywhere).
 * A bucket's middle is within 1/128 of all its values.
 *
 *   one sketch is one thread's at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_QUANTILES_H
#define ES_MONITORS_COLLECTIVES_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

enum { ES_QUANTILES_EXACT = 32 }; /* values that are kept as they are */

/* A quantile from the sketch is off by no more than the true one divided by this. */
#define ES_QUANTILES_ACCURACY 128

/* Caller's memory; all zero is the empty sketch.  At most 8 bytes for each of 3,776
 * buckets. */
struct esi_quantiles {
    uint64_t count;
    uint64_t few[ES_QUANTILES_EXACT];
    uint64_t *buckets; /* owned; NULL as long as `few` has them all */
    unsigned first;    /* number of buckets[0] */
    unsigned bucket_count;
};

void esi_quantiles_fini(struct esi_quantiles *quantiles);

/* Adds a value.  -ENOMEM: it was not added.  O(1) but when the buckets grow. */
int esi_quantiles_add(struct esi_quantiles *quantiles, uint64_t value);

/* Adds all that `other` has: the same as if its values had come here.  -ENOMEM: nothing
 * was added. */
int esi_quantiles_merge(struct esi_quantiles *quantiles,
                        const struct esi_quantiles *other);

/* The value that `share` (0 to 1) of all values do not exceed: of the values in order
 * that with the number share * count, rounded up, at least the first.  0 when empty. */
uint64_t esi_quantiles_at(const struct esi_quantiles *quantiles, double share);

#endif
