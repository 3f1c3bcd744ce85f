/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch_memory.c - the memory of batches. */
#include "config.h"

#include "wrappers/stages/stage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

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

int esi_batch_tell(struct es_batch *batch, const struct es_batch *from)
{
    int result = 0;

    for (size_t i = 0; i < from->report_count && result == 0; i++)
        result = es_batch_report(batch, &from->reports[i]);
    for (size_t i = 0; i < from->notice_count && result == 0; i++)
        result = es_batch_notice(batch, &from->notices[i]);
    return result;
}
