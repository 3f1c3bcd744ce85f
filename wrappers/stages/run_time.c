/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_time.c - the times of tuples as all hosts of a run agree on them. */
#include "config.h"

#include "base/host_clock.h"
#include "eventspace/stage_batch.h"

uint64_t es_origin_run_ns(const struct es_origin *origin,
                          uint64_t ticks,
                          uint64_t *ret_error_ns)
{
    uint64_t monotonic_ns, run_ns, process_error_ns, host_error_ns;

    if (!origin->host_clock)
        return es_clock_realtime_ns(origin->clock, ticks, ret_error_ns);
    monotonic_ns = es_clock_monotonic_ns(origin->clock, ticks, &process_error_ns);
    if (!esi_host_clock_run_ns(origin->host_clock, monotonic_ns, &run_ns,
                               &host_error_ns)) {
        if (ret_error_ns)
            *ret_error_ns = UINT64_MAX;
        return es_clock_realtime_ns(origin->clock, ticks, NULL);
    }
    if (ret_error_ns) {
        /* What the process's own clock is off passes through the host's, which is
         * steeper than 1 by far less than this. */
        uint64_t error_ns = process_error_ns + process_error_ns / 256 + 1;

        *ret_error_ns = error_ns > UINT64_MAX - host_error_ns
                            ? UINT64_MAX
                            : error_ns + host_error_ns;
    }
    return run_ns;
}
