/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* bootstrap.c - samples of blocks. */
#include "config.h"

#include "monitors/compare/bootstrap.h"

#include <stdint.h>
#include <stdlib.h>

enum { SAMPLES = 1000, TAIL = SAMPLES / 200 };

/* Marsaglia's xorshift, which is sufficient here. */
static uint64_t draw_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int compare_sums(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Sums as many differences as there are, drawn with replacement. */
static double draw_sum(const double *differences, size_t count, uint64_t *state)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += differences[draw_next(state) % count];
    return sum;
}

struct esi_bootstrap esi_bootstrap_compare(const double *a,
                                           size_t a_count,
                                           const double *b,
                                           size_t b_count)
{
    size_t both = a_count < b_count ? a_count : b_count;
    size_t rest = (a_count < b_count ? b_count : a_count) - both;
    double *differences = calloc(both + rest + 1, sizeof *differences);
    double *sums = calloc(SAMPLES, sizeof *sums);
    struct esi_bootstrap result = {.known = both >= ESI_BOOTSTRAP_LEAST};
    uint64_t state = UINT64_C(0x2545f4914f6cdd1d);

    if (!differences || !sums) {
        result.known = false;
        both = rest = 0;
    }
    for (size_t i = 0; i < both; i++)
        differences[i] = b[i] - a[i];
    for (size_t i = both; i < both + rest; i++)
        differences[i] = i < b_count ? b[i] : -a[i];
    for (size_t i = 0; i < both + rest; i++)
        result.difference += differences[i];
    for (size_t i = 0; i < SAMPLES && result.known; i++) {
        sums[i] = draw_sum(differences, both, &state);
        if (rest > 0)
            sums[i] += draw_sum(differences + both, rest, &state);
    }
    if (result.known) {
        qsort(sums, SAMPLES, sizeof *sums, compare_sums);
        result.low = sums[TAIL];
        result.high = sums[SAMPLES - 1 - TAIL];
    }
    free(differences);
    free(sums);
    return result;
}
