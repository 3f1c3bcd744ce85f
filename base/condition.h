/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* condition.h - condition variables with deadlines of CLOCK_MONOTONIC. */
#ifndef ES_BASE_CONDITION_H
#define ES_BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Initializes a condition for esi_condition_wait().  The caller destroys it. */
static inline void esi_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Waits for a signal until `end_ns` (esi_now_ns()).  The caller holds the lock.
 * Returns false after the deadline. */
static inline bool esi_condition_wait(pthread_cond_t *condition,
                                      pthread_mutex_t *lock,
                                      uint64_t end_ns)
{
    const struct timespec end = {.tv_sec = (time_t)(end_ns / UINT64_C(1000000000)),
                                 .tv_nsec = (long)(end_ns % UINT64_C(1000000000))};

    return pthread_cond_timedwait(condition, lock, &end) == 0;
}

#endif
