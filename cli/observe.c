/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* observe.c - what commands share that observe a run more than once. */
#include "config.h"

#include "cli/observe.h"

#include "cli/interrupt.h"

void esi_observe_pause(const struct esi_observation *observation, uint64_t span_ns)
{
    if (!es_scope_is_paced(observation->scope))
        esi_interrupt_sleep(span_ns);
}
