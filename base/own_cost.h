/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* own_cost.h - what this process takes of the processors, from one look to the next. */
#ifndef ES_BASE_OWN_COST_H
#define ES_BASE_OWN_COST_H

#include <stdint.h>

/* The look before.  All zero: there was none. */
struct esi_own_cost {
    uint64_t wall_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;  /* of all threads */
};

/* How many processors it has kept busy since the look before; negative: there was none.
 * One thread at a time may use a struct. */
double esi_own_cost_measure(struct esi_own_cost *cost);

#endif
