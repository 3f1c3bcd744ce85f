/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stamp_cache.c - a cache of the timestamps of recent events: a new row replaces the
 * oldest. */
#include "config.h"

#include "monitors/search/domains/stamp_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 1024,
    LEAST_ROWS = 8,
    MOST_ENTRIES = 1 << 16,
    MOST_UNASKED = 64, /* receives without a query */
};

void esi_stamp_cache_fini(struct esi_stamp_cache *stamps)
{
    free(stamps->rows);
    free(stamps->entries);
    free(stamps->heads);
    *stamps = (struct esi_stamp_cache){.rows = NULL};
}

uint64_t esi_stamp_cache_bytes(const struct esi_stamp_cache *stamps)
{
    return stamps->row_count * (sizeof *stamps->rows +
                                (uint64_t)stamps->traces * sizeof *stamps->entries) +
           stamps->traces * sizeof *stamps->heads;
}

int esi_stamp_cache_reserve(struct esi_stamp_cache *stamps, uint32_t traces)
{
    uint32_t rows = MOST_ROWS;
    void *heads;

    if (traces <= stamps->traces)
        return 0;
    if (traces < 2 * stamps->traces)
        traces = 2 * stamps->traces;
    while (rows > LEAST_ROWS && (uint64_t)rows * traces > MOST_ENTRIES)
        rows /= 2;
    heads = realloc(stamps->heads, traces * sizeof *stamps->heads);
    if (!heads)
        return -ENOMEM;
    stamps->heads = heads;
    memset(stamps->heads + stamps->traces, 0,
           (traces - stamps->traces) * sizeof *stamps->heads);
    free(stamps->rows);
    free(stamps->entries);
    stamps->rows = calloc(rows, sizeof *stamps->rows);
    stamps->entries = calloc((size_t)rows * traces, sizeof *stamps->entries);
    if (!stamps->rows || !stamps->entries) {
        esi_stamp_cache_fini(stamps);
        return -ENOMEM;
    }
    /* Skip numbers, so that none of the previous rows is found. */
    stamps->next += 2 * (uint64_t)MOST_ROWS;
    stamps->row_count = rows;
    stamps->traces = traces;
    return 0;
}

/* Begins the row of an event and those after it. */
static uint32_t *begin_row(struct esi_stamp_cache *stamps,
                           uint32_t trace,
                           uint32_t first)
{
    struct esi_stamp_trace *head = &stamps->heads[trace];
    uint32_t at = (uint32_t)stamps->next & (stamps->row_count - 1);

    stamps->rows[at] = (struct esi_stamp_row){head->newest, first, UINT32_MAX};
    head->newest = stamps->next++;
    return &stamps->entries[(size_t)at * stamps->traces];
}

/* Unless it has ended or was replaced. */
static void end_row(struct esi_stamp_cache *stamps, uint64_t number, uint32_t end)
{
    struct esi_stamp_row *row =
        &stamps->rows[(uint32_t)number & (stamps->row_count - 1)];

    if (number + stamps->row_count >= stamps->next && row->end > end)
        row->end = end;
}

static void forget_row(const struct esi_stamp_cache *stamps, uint32_t *row)
{
    memset(row, 0xff, stamps->traces * sizeof *row);
}

/* --- Computing rows --------------------------------------------------------------- */

/* ESI_STAMP_UNKNOWN is greater than all known values, so the maximum stays unknown. */
static void add_row(const struct esi_stamp_cache *stamps,
                    uint32_t *row,
                    const uint32_t *other)
{
    for (uint32_t i = 0; i < stamps->traces; i++)
        row[i] = other[i] > row[i] ? other[i] : row[i];
}

static void take_over(struct esi_stamp_cache *stamps, const struct es_set_event *event)
{
    struct es_event_id before = {event->id.trace, event->id.index - 1};
    uint32_t *row = begin_row(stamps, event->id.trace, event->id.index);
    const uint32_t *other = esi_stamp_cache_row(stamps, before);

    if (other)
        memcpy(row, other, stamps->traces * sizeof *row);
    for (uint32_t i = 0; other && i < event->partner_count; i++) {
        struct es_event_id send = event->partners[i];

        other = esi_stamp_cache_row(stamps, send);
        if (other)
            add_row(stamps, row, other);
        if (row[send.trace] < send.index)
            row[send.trace] = send.index;
    }
    if (!other)
        forget_row(stamps, row);
}

void esi_stamp_cache_note(struct esi_stamp_cache *stamps,
                          const struct es_set_event *event)
{
    struct es_event_id id = event->id;
    struct esi_stamp_trace *head = &stamps->heads[id.trace];
    bool was_sync = head->is_sync;
    bool was_there = head->last + 1 == id.index;

    if (id.index == 1)
        memset(begin_row(stamps, id.trace, 0), 0,
               stamps->traces * sizeof *stamps->entries);
    head->last = id.index;
    head->is_sync = event->kind == ES_EVENT_SYNC;
    if (event->partner_count == 0 && !was_sync && was_there)
        return;
    head->learnt = id.index;
    end_row(stamps, head->newest, id.index);
    /* The timestamps of syncs are queried from the order. */
    if (event->kind == ES_EVENT_RECEIVE && !was_sync &&
        stamps->unasked++ < MOST_UNASKED)
        take_over(stamps, event);
}

/* --- Queries ---------------------------------------------------------------------- */

int64_t esi_stamp_cache_ask(struct esi_stamp_cache *stamps,
                            const struct es_order *order,
                            struct es_event_id event,
                            uint32_t trace)
{
    int64_t greatest = es_order_greatest_predecessor(order, event, trace);
    uint32_t *row;

    if (greatest < 0 || trace == event.trace || trace >= stamps->traces ||
        event.trace >= stamps->traces)
        return greatest;
    row = esi_stamp_cache_row(stamps, event);
    if (!row && event.index >= stamps->heads[event.trace].learnt) {
        row = begin_row(stamps, event.trace, stamps->heads[event.trace].learnt);
        forget_row(stamps, row);
    }
    if (row)
        row[trace] = (uint32_t)greatest;
    return greatest;
}
