/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* quantiles.c - a mergeable sketch of quantiles. */
#include "config.h"

#include "monitors/collectives/quantiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Each power of two is divided into 2^PART_BITS parts. */
#define PART_BITS 6u
#define PARTS (1u << PART_BITS)

/* --- Buckets ------------------------------------------------------------------- */

/* Values below 2 * PARTS have a bucket each; for greater ones the highest seven bits
 * count.  Bucket numbers are contiguous. */
static unsigned bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < 2 * PARTS)
        return (unsigned)value;
    shift = 63u - (unsigned)__builtin_clzll(value) - PART_BITS;
    return shift * PARTS + (unsigned)(value >> shift);
}

/* The representative value of a bucket. */
static uint64_t middle_of(unsigned bucket)
{
    unsigned shift;
    uint64_t least;

    if (bucket < 2 * PARTS)
        return bucket;
    shift = bucket / PARTS - 1;
    least = (uint64_t)(bucket % PARTS + PARTS) << shift;
    return least + ((UINT64_C(1) << shift) - 1) / 2;
}

/* Allocates the buckets `first` to `last` and some adjacent ones, since values are
 * usually close together. */
static int cover_bucket(struct esi_quantiles *quantiles, unsigned first, unsigned last)
{
    unsigned end = quantiles->first + quantiles->bucket_count;
    uint64_t *buckets;

    if (quantiles->buckets && first >= quantiles->first && last < end)
        return 0;
    if (quantiles->buckets && quantiles->first < first)
        first = quantiles->first;
    if (quantiles->buckets && end > last)
        last = end - 1;
    first -= first < PARTS / 4 ? first : PARTS / 4;
    last += PARTS / 4;
    buckets = calloc(last - first + 1, sizeof *buckets);
    if (!buckets)
        return -ENOMEM;
    if (quantiles->buckets)
        memcpy(buckets + (quantiles->first - first), quantiles->buckets,
               quantiles->bucket_count * sizeof *buckets);
    free(quantiles->buckets);
    quantiles->buckets = buckets;
    quantiles->first = first;
    quantiles->bucket_count = last - first + 1;
    return 0;
}

/* Moves the exact values into buckets. */
static int spread_few(struct esi_quantiles *quantiles)
{
    unsigned first = UINT32_MAX;
    unsigned last = 0;

    if (quantiles->buckets)
        return 0;
    for (uint64_t i = 0; i < quantiles->count; i++) {
        unsigned bucket = bucket_of(quantiles->few[i]);

        first = bucket < first ? bucket : first;
        last = bucket > last ? bucket : last;
    }
    if (quantiles->count == 0)
        first = last;
    if (cover_bucket(quantiles, first, last) < 0)
        return -ENOMEM;
    for (uint64_t i = 0; i < quantiles->count; i++)
        quantiles->buckets[bucket_of(quantiles->few[i]) - quantiles->first]++;
    return 0;
}

/* --- Interface -------------------------------------------------------------------- */

void esi_quantiles_fini(struct esi_quantiles *quantiles)
{
    free(quantiles->buckets);
    *quantiles = (struct esi_quantiles){.count = 0};
}

int esi_quantiles_add(struct esi_quantiles *quantiles, uint64_t value)
{
    unsigned bucket = bucket_of(value);

    if (!quantiles->buckets && quantiles->count < ES_QUANTILES_EXACT) {
        quantiles->few[quantiles->count++] = value;
        return 0;
    }
    if (spread_few(quantiles) < 0 || cover_bucket(quantiles, bucket, bucket) < 0)
        return -ENOMEM;
    quantiles->buckets[bucket - quantiles->first]++;
    quantiles->count++;
    return 0;
}

int esi_quantiles_merge(struct esi_quantiles *quantiles,
                        const struct esi_quantiles *other)
{
    if (!other->buckets) {
        /* Allocates first, so that none or all are added. */
        if (quantiles->buckets ||
            quantiles->count + other->count > ES_QUANTILES_EXACT) {
            if (spread_few(quantiles) < 0)
                return -ENOMEM;
            for (uint64_t i = 0; i < other->count; i++)
                if (cover_bucket(quantiles, bucket_of(other->few[i]),
                                 bucket_of(other->few[i])) < 0)
                    return -ENOMEM;
        }
        for (uint64_t i = 0; i < other->count; i++)
            esi_quantiles_add(quantiles, other->few[i]);
        return 0;
    }
    if (spread_few(quantiles) < 0 ||
        cover_bucket(quantiles, other->first, other->first + other->bucket_count - 1) <
            0)
        return -ENOMEM;
    for (unsigned i = 0; i < other->bucket_count; i++)
        quantiles->buckets[other->first + i - quantiles->first] += other->buckets[i];
    quantiles->count += other->count;
    return 0;
}

static int compare_values(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;

    return (*a > *b) - (*a < *b);
}

static uint64_t exact_at(const struct esi_quantiles *quantiles, uint64_t number)
{
    uint64_t sorted[ES_QUANTILES_EXACT];

    memcpy(sorted, quantiles->few, sizeof sorted);
    qsort(sorted, (size_t)quantiles->count, sizeof *sorted, compare_values);
    return sorted[number - 1];
}

uint64_t esi_quantiles_at(const struct esi_quantiles *quantiles, double share)
{
    double wanted = share * (double)quantiles->count;
    uint64_t number = wanted > 0 ? (uint64_t)wanted : 0;
    uint64_t seen = 0;

    if (quantiles->count == 0)
        return 0;
    number += (double)number < wanted;
    number = number < 1 ? 1 : number;
    number = number > quantiles->count ? quantiles->count : number;
    if (!quantiles->buckets)
        return exact_at(quantiles, number);
    for (unsigned i = 0; i < quantiles->bucket_count; i++) {
        seen += quantiles->buckets[i];
        if (seen >= number)
            return middle_of(quantiles->first + i);
    }
    return 0; /* not reached: all values are in buckets */
}
