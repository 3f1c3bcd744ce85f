/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stamp_cache.c - what the order said lately: an event takes the row of an older one.
 */
#include "config.h"

#include "monitors/search/domains/stamp_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 256, LEAST_ROWS = 8, MOST_ENTRIES = 1 << 16 };

void esi_stamp_cache_fini(struct esi_stamp_cache *stamps)
{
    free(stamps->rows);
    free(stamps->entries);
    *stamps = (struct esi_stamp_cache){.rows = NULL};
}

uint64_t esi_stamp_cache_bytes(const struct esi_stamp_cache *stamps)
{
    return stamps->row_count *
           (sizeof *stamps->rows + (uint64_t)stamps->traces * sizeof *stamps->entries);
}

int esi_stamp_cache_reserve(struct esi_stamp_cache *stamps, uint32_t traces)
{
    uint32_t rows = MOST_ROWS;

    if (traces <= stamps->traces)
        return 0;
    if (traces < 2 * stamps->traces)
        traces = 2 * stamps->traces;
    while (rows > LEAST_ROWS && (uint64_t)rows * traces > MOST_ENTRIES)
        rows /= 2;
    esi_stamp_cache_fini(stamps);
    stamps->rows = calloc(rows, sizeof *stamps->rows);
    stamps->entries = calloc((size_t)rows * traces, sizeof *stamps->entries);
    if (!stamps->rows || !stamps->entries) {
        esi_stamp_cache_fini(stamps);
        return -ENOMEM;
    }
    stamps->row_count = rows;
    stamps->traces = traces;
    return 0;
}

static void take_row(struct esi_stamp_cache *stamps,
                     struct esi_cached_stamp *row,
                     struct es_event_id event)
{
    if (++stamps->last_number == 0) {
        memset(stamps->rows, 0, stamps->row_count * sizeof *stamps->rows);
        memset(stamps->entries, 0,
               (size_t)stamps->row_count * stamps->traces * sizeof *stamps->entries);
        stamps->last_number = 1;
    }
    *row = (struct esi_cached_stamp){event, stamps->last_number};
}

int64_t esi_stamp_cache_ask(struct esi_stamp_cache *stamps,
                            const struct es_order *order,
                            struct es_event_id event,
                            uint32_t trace)
{
    int64_t greatest = es_order_greatest_predecessor(order, event, trace);
    struct esi_cached_stamp *row;
    uint32_t at;

    if (greatest < 0 || trace >= stamps->traces)
        return greatest;
    at = esi_stamp_cache_row(stamps, event);
    row = &stamps->rows[at];
    if (row->number == 0 || row->event.trace != event.trace ||
        row->event.index != event.index)
        take_row(stamps, row, event);
    stamps->entries[(size_t)at * stamps->traces + trace] =
        (struct esi_cached_entry){row->number, (uint32_t)greatest};
    return greatest;
}
