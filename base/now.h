/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* now.h - system clocks as a single number. */
#ifndef ES_BASE_NOW_H
#define ES_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* The time of `clock` (CLOCK_MONOTONIC, CLOCK_REALTIME, ...) in nanoseconds.  Thread
 * safe. */
static inline uint64_t esi_now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Time until CLOCK_MONOTONIC reaches `deadline_ns`; 0 if it has. */
static inline uint64_t esi_now_left_ns(uint64_t deadline_ns)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    return deadline_ns > now ? deadline_ns - now : 0;
}

#endif
