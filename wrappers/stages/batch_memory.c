/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* batch_memory.c - the memory of batches. */
#include "config.h"

#include "eventspace/stage_batch.h"

#include <errno.h>
#include <stdlib.h>

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

/* Doubles, so that appending costs constant time. */
static size_t larger(size_t capacity, size_t needed)
{
    size_t doubled = capacity < 64 ? 64 : capacity * 2;

    return doubled < needed ? needed : doubled;
}

int es_batch_grow(struct es_batch *batch, size_t extra)
{
    size_t capacity;
    struct es_tuple *tuples;
    struct es_mark *marks;

    if (extra > SIZE_MAX / sizeof *tuples / 4 - batch->count)
        return -ENOMEM;
    capacity = larger(batch->capacity, batch->count + extra);
    tuples = realloc(batch->tuples, capacity * sizeof *tuples);
    if (!tuples)
        return -ENOMEM;
    batch->tuples = tuples;
    marks = realloc(batch->marks, capacity * sizeof *marks);
    if (!marks)
        return -ENOMEM;
    batch->marks = marks;
    batch->capacity = capacity;
    return 0;
}

int es_batch_report(struct es_batch *batch, const struct es_report *report)
{
    if (batch->report_count == batch->report_capacity) {
        size_t capacity = larger(batch->report_capacity, batch->report_count + 1);
        struct es_report *reports = realloc(batch->reports, capacity * sizeof *reports);

        if (!reports)
            return -ENOMEM;
        batch->reports = reports;
        batch->report_capacity = capacity;
    }
    batch->reports[batch->report_count++] = *report;
    return 0;
}

int es_batch_notice(struct es_batch *batch, const struct es_notice *notice)
{
    if (batch->notice_count == batch->notice_capacity) {
        size_t capacity = larger(batch->notice_capacity, batch->notice_count + 1);
        struct es_notice *notices = realloc(batch->notices, capacity * sizeof *notices);

        if (!notices)
            return -ENOMEM;
        batch->notices = notices;
        batch->notice_capacity = capacity;
    }
    batch->notices[batch->notice_count++] = *notice;
    return 0;
}
