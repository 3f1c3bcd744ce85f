/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Random numbers for tests. The seed is $ES_TEST_SEED, or the time; it is printed. */
#ifndef ES_TESTS_MONITORS_DRAW_H
#define ES_TESTS_MONITORS_DRAW_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t draw_state = 1;

static inline uint64_t draw(void)
{
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state;
}

static inline uint64_t draw_below(uint64_t limit)
{
    return draw() % limit;
}

static inline void draw_from(uint64_t seed)
{
    draw_state = seed * 2654435761u + 1;
}

/* A setup function for cmocka. */
static inline int draw_seed(void **state)
{
    const char *given = getenv("ES_TEST_SEED");
    unsigned long long seed =
        given ? strtoull(given, NULL, 10) : (unsigned long long)time(NULL);

    (void)state;
    printf("# ES_TEST_SEED=%llu\n", seed);
    draw_from(seed);
    return 0;
}

#endif
