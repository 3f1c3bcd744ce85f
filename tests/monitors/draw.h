/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The random numbers of tests that depend on the sequence of one seed: xorshift. */
#ifndef ES_TESTS_MONITORS_DRAW_H
#define ES_TESTS_MONITORS_DRAW_H

#include "tests/random.h"

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
    (void)state;
    draw_from(random_seed());
    return 0;
}

#endif
