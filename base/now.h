/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* now.h - what a clock of the system shows, as one number. */
#ifndef ES_BASE_NOW_H
#define ES_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds that `clock` (CLOCK_MONOTONIC, CLOCK_REALTIME, ...) shows.
 * Thread safe. */
static inline uint64_t esi_now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* How long it is until CLOCK_MONOTONIC shows `deadline_ns`; 0 from then on. */
static inline uint64_t esi_now_left_ns(uint64_t deadline_ns)
{
    uint64_t now = esi_now_ns(CLOCK_MONOTONIC);

    return deadline_ns > now ? deadline_ns - now : 0;
}

#endif
