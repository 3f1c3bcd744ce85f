/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_batch.c - the memory of batches, and conversion of times to the run time common
 * to all hosts. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock_each.h"
#include "base/host_clock.h"
#include "eventspace/stage_batch.h"
#include "wrappers/stages/stage.h"

void es_batch_init(struct es_batch *batch)
{
    *batch = (struct es_batch){0};
}

void es_batch_fini(struct es_batch *batch)
{
    free(batch->tuples);
    free(batch->marks);
    free(batch->reports);
    free(batch->notices);
    *batch = (struct es_batch){0};
}

void es_batch_clear(struct es_batch *batch)
{
    batch->count = 0;
    batch->report_count = 0;
    batch->notice_count = 0;
    batch->more = false;
}

int es_batch_grow(struct es_batch *batch, size_t extra)
{
    if (extra > SIZE_MAX - batch->count)
        return -ENOMEM;
    return ESI_ARRAY_RESERVE_PAIR(batch->tuples, batch->marks, batch->capacity,
                                  batch->count + extra);
}

int es_batch_report(struct es_batch *batch, const struct es_report *report)
{
    if (ESI_ARRAY_RESERVE(batch->reports, batch->report_capacity,
                          batch->report_count + 1) < 0)
        return -ENOMEM;
    batch->reports[batch->report_count++] = *report;
    return 0;
}

int es_batch_notice(struct es_batch *batch, const struct es_notice *notice)
{
    if (ESI_ARRAY_RESERVE(batch->notices, batch->notice_capacity,
                          batch->notice_count + 1) < 0)
        return -ENOMEM;
    batch->notices[batch->notice_count++] = *notice;
    return 0;
}

int esi_batch_append_reports(struct es_batch *batch, const struct es_batch *from)
{
    int result = 0;

    for (size_t i = 0; i < from->report_count && result == 0; i++)
        result = es_batch_report(batch, &from->reports[i]);
    for (size_t i = 0; i < from->notice_count && result == 0; i++)
        result = es_batch_notice(batch, &from->notices[i]);
    return result;
}

int esi_batch_append_tuples(struct es_batch *batch,
                            const struct es_batch *from,
                            size_t first,
                            size_t count)
{
    int result = es_batch_reserve(batch, count);

    if (result < 0 || count == 0)
        return result;
    memcpy(batch->tuples + batch->count, from->tuples + first,
           count * sizeof *batch->tuples);
    memcpy(batch->marks + batch->count, from->marks + first,
           count * sizeof *batch->marks);
    batch->count += count;
    return 0;
}

int esi_batch_append(struct es_batch *batch,
                     const struct es_batch *from,
                     size_t first,
                     size_t count)
{
    int result = esi_batch_append_reports(batch, from);

    return result < 0 ? result : esi_batch_append_tuples(batch, from, first, count);
}

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
        /* The error of the process's clock passes through the host's, whose slope
         * exceeds 1 by far less than this. */
        uint64_t error_ns = process_error_ns + process_error_ns / 256 + 1;

        *ret_error_ns = error_ns > UINT64_MAX - host_error_ns
                            ? UINT64_MAX
                            : error_ns + host_error_ns;
    }
    return run_ns;
}

void esi_origin_run_each(const struct es_origin *origin, uint64_t *times, size_t count)
{
    if (!origin->host_clock)
        esi_clock_realtime_each(origin->clock, times, count);
    for (size_t i = 0; origin->host_clock && i < count; i++)
        times[i] = es_origin_run_ns(origin, times[i], NULL);
}
