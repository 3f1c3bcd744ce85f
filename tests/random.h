/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * random.h - random numbers of tests. The same seed, which may be any number, gives the
 * same numbers everywhere.
 *
 *   uint64_t random = random_seed();
 *   if (random_percent(&random, 30))
 *       size = 1 + random_below(&random, 10);
 *
 * The generator is SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014.
 */
#ifndef ES_TESTS_RANDOM_H
#define ES_TESTS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Returns $ES_TEST_SEED, or else the time, and prints it as a comment of TAP. */
static inline uint64_t random_seed(void)
{
    const char *given = getenv("ES_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

    printf("# ES_TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

/* Mixes the bits: results for any two numbers differ in about half of their bits. */
static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t random_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return random_mix(*state);
}

/* Below `limit`, which must be positive. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(random_next(state) % limit);
}

static inline int random_int(uint64_t *state, int limit)
{
    return (int)random_below(state, (uint32_t)limit);
}

static inline bool random_percent(uint64_t *state, unsigned percent)
{
    return random_below(state, 100) < percent;
}

/* At least 0, and less than 1. */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* A number of random length in bits. */
static inline uint64_t random_number(uint64_t *state)
{
    uint64_t bits = random_next(state);

    return bits >> random_below(state, 64);
}

/* Permutes `count` items of `size` bytes each. */
static inline void random_shuffle(uint64_t *state,
                                  void *items,
                                  size_t count,
                                  size_t size)
{
    char *bytes = items;

    for (size_t i = count; i > 1; i--) {
        char *a = &bytes[(i - 1) * size], *b = &bytes[random_next(state) % i * size];

        for (size_t j = 0; j < size; j++) {
            char byte = a[j];

            a[j] = b[j];
            b[j] = byte;
        }
    }
}

#endif
