/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* own_cost.c - CPU time of this process relative to elapsed time. */
#include "config.h"

#include "base/own_cost.h"

#include "base/now.h"

double esi_own_cost_measure(struct esi_own_cost *cost)
{
    struct esi_own_cost now = {esi_now_ns(CLOCK_MONOTONIC),
                               esi_now_ns(CLOCK_PROCESS_CPUTIME_ID)};
    double cores = -1;

    if (cost->wall_ns > 0 && now.wall_ns > cost->wall_ns)
        cores =
            (double)(now.cpu_ns - cost->cpu_ns) / (double)(now.wall_ns - cost->wall_ns);
    *cost = now;
    return cores;
}
