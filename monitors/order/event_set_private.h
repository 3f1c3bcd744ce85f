/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * event_set_private.h - what filling (event_set_fill.c) and asking (event_set.c) share.
 */
#ifndef ES_MONITORS_ORDER_EVENT_SET_PRIVATE_H
#define ES_MONITORS_ORDER_EVENT_SET_PRIVATE_H

#include "monitors/order/event_set.h"
#include "monitors/order/rows.h"
#include "monitors/order/set_columns.h"
#include "monitors/order/set_map.h"
#include "monitors/order/set_texts.h"
#include "monitors/order/set_values.h"

struct esi_set_trace {
    uint32_t name;
    struct esi_columns columns;
};

/* `from` names `partner`, which did not come yet. */
struct esi_set_late {
    struct es_event_id from;
    struct es_event_id partner;
};

struct es_event_set {
    struct esi_set_trace *traces;
    uint32_t trace_count;
    uint32_t trace_capacity;
    uint64_t events;
    struct esi_texts texts;
    /* Partners of events that have several: a row with their number (index) and how
     * many there is room for (trace), then they. */
    struct es_rows partners;
    struct esi_set_late *late;
    size_t late_count;
    size_t late_capacity;
    /* Columns of attributes: numbers of `columns` by trace and name + 1. */
    struct esi_set_map column_of;
    struct es_rows columns;
    uint32_t *names;
    size_t name_count;
    size_t name_capacity;
    struct esi_values_memory values_memory;
};

static inline struct esi_columns_row esi_event_set_row(const struct es_event_set *set,
                                                       struct es_event_id id)
{
    return esi_columns_at(&set->traces[id.trace].columns, id.index - 1);
}

static inline enum es_event_kind esi_shape_kind(uint8_t shape)
{
    return (enum es_event_kind)(shape & 3);
}

static inline enum esi_partner_form esi_shape_form(uint8_t shape)
{
    return (enum esi_partner_form)(shape >> 2);
}

/* Where a row with several partners keeps them. */
static inline uint64_t esi_row_place(const struct es_event_id *partner)
{
    return (uint64_t)partner->trace << 32 | partner->index;
}

#endif
