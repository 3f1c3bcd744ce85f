/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_time.c - the times of tuples as all hosts of a run agree on them. */
#include "config.h"

#include "eventspace/stage_batch.h"

uint64_t es_origin_run_ns(const struct es_origin *origin,
                          uint64_t ticks,
                          uint64_t *ret_error_ns)
{
    return es_clock_realtime_ns(origin->clock, ticks, ret_error_ns);
}
