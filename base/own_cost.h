/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* own_cost.h - CPU usage of this process between two measurements. */
#ifndef ES_BASE_OWN_COST_H
#define ES_BASE_OWN_COST_H

#include <stdint.h>

/* The previous measurement.  Zero if there was none. */
struct esi_own_cost {
    uint64_t wall_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;  /* CPU time of all threads */
};

/* Returns the average number of processors used since the previous measurement;
 * negative if there was none.  Not thread safe. */
double esi_own_cost_measure(struct esi_own_cost *cost);

#endif
