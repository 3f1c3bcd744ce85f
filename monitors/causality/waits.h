/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * waits.h - whether a call waited, and until when: the one rule of `time`, of the
 * process-time diagram and of `collectives` (docs/time.md, "What a call waits for").
 */
#ifndef ES_MONITORS_CAUSALITY_WAITS_H
#define ES_MONITORS_CAUSALITY_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/operation.h"

/* Error bound of the difference of times of one host. */
#define ESI_SAME_HOST_ERROR_NS UINT64_C(100)

/* Error bound of the difference of two threads' times, whose own bounds these are. */
static inline uint64_t esi_wait_error(uint64_t one_ns,
                                      uint64_t other_ns,
                                      bool is_same_host)
{
    uint64_t sum = one_ns + other_ns;

    if (is_same_host)
        return ESI_SAME_HOST_ERROR_NS;
    return sum < one_ns ? UINT64_MAX : sum;
}

/* A call that lasted from `begin_ns` to `end_ns` needed what another thread did at
 * `done_ns`.  Returns the end of its wait, which is in the call; 0 if it did not wait,
 * or if the clocks are not accurate enough to tell. */
static inline uint64_t esi_wait_end(uint64_t begin_ns,
                                    uint64_t end_ns,
                                    uint64_t done_ns,
                                    uint64_t error_ns)
{
    uint64_t until_ns = done_ns < end_ns ? done_ns : end_ns;

    return done_ns > begin_ns && until_ns > begin_ns &&
                   until_ns - begin_ns > error_ns && done_ns - until_ns <= error_ns
               ? until_ns
               : 0;
}

/* Whether the waiting for operations that other calls have started, and that end in a
 * call of this operation, is in that call. */
static inline bool esi_wait_is_for_others(const struct es_operation *operation)
{
    return operation->op_class == ES_CLASS_COMPLETION && !operation->probe;
}

#endif
