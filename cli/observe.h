/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* observe.h - what commands share that observe a run more than once. */
#ifndef ES_CLI_OBSERVE_H
#define ES_CLI_OBSERVE_H

#include "cli/interrupt.h"
#include "monitors/verdict/observe.h"

/* The pause before the second of the two observations that make a verdict certain, or a
 * rate known. */
#define ES_SECOND_LOOK_NS UINT64_C(300000000)

/* Sleeps until the next observation is due, unless the pulls themselves are paced:
 * see es_scope_is_paced(). */
static inline void esi_observe_pause(const struct esi_observation *observation,
                                     uint64_t span_ns)
{
    if (!es_scope_is_paced(observation->scope))
        esi_interrupt_sleep(span_ns);
}

#endif
