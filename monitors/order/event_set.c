/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_set.c - event sets in memory: making, and asking. */
#include "config.h"

#include "monitors/order/event_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/event_set_private.h"

int es_event_set_create(struct es_event_set **ret_set)
{
    struct es_event_set *set = calloc(1, sizeof *set);
    uint32_t empty;

    if (!set)
        return -ENOMEM;
    esi_texts_init(&set->texts);
    es_rows_init(&set->partners, sizeof(struct es_event_id), 10);
    es_rows_init(&set->columns, sizeof(struct esi_values), 6);
    if (esi_texts_add(&set->texts, "", 0, &empty) < 0) {
        es_event_set_destroy(set);
        return -ENOMEM;
    }
    *ret_set = set;
    return 0;
}

void es_event_set_destroy(struct es_event_set *set)
{
    int saved_errno = errno;

    if (!set)
        return;
    for (uint32_t i = 0; i < set->trace_count; i++)
        esi_columns_fini(&set->traces[i].columns);
    for (uint64_t i = 0; i < es_rows_count(&set->columns); i++)
        esi_values_fini(es_rows_at(&set->columns, i));
    free(set->traces);
    esi_texts_fini(&set->texts);
    es_rows_fini(&set->partners);
    free(set->late);
    esi_set_map_fini(&set->column_of);
    es_rows_fini(&set->columns);
    free(set->names);
    free(set);
    errno = saved_errno;
}

/* --- Sizes ------------------------------------------------------------------------ */

uint32_t es_event_set_traces(const struct es_event_set *set)
{
    return set->trace_count;
}

uint64_t es_event_set_events(const struct es_event_set *set)
{
    return set->events;
}

uint32_t es_event_set_count(const struct es_event_set *set, uint32_t trace)
{
    return trace < set->trace_count ? set->traces[trace].columns.count : 0;
}

uint64_t es_event_set_bytes(const struct es_event_set *set)
{
    uint64_t bytes = sizeof *set + set->trace_capacity * sizeof *set->traces +
                     esi_texts_bytes(&set->texts) + es_rows_bytes(&set->partners) +
                     set->late_capacity * sizeof *set->late +
                     set->column_of.capacity * sizeof *set->column_of.slots +
                     es_rows_bytes(&set->columns) +
                     set->name_capacity * sizeof *set->names + set->values_memory.bytes;

    for (uint32_t i = 0; i < set->trace_count; i++)
        bytes += esi_columns_bytes(&set->traces[i].columns);
    return bytes;
}

/* --- Texts ------------------------------------------------------------------------ */

uint32_t es_event_set_texts(const struct es_event_set *set)
{
    return esi_texts_count(&set->texts);
}

const char *es_event_set_text(const struct es_event_set *set, uint32_t text)
{
    return esi_texts_at(&set->texts, text);
}

uint32_t es_event_set_find_text(const struct es_event_set *set, const char *text)
{
    return esi_texts_find(&set->texts, text, strlen(text));
}

/* --- Events ----------------------------------------------------------------------- */

bool es_event_set_has(const struct es_event_set *set, struct es_event_id id)
{
    return id.index > 0 && id.index <= es_event_set_count(set, id.trace);
}

uint32_t es_event_set_trace_name(const struct es_event_set *set, uint32_t trace)
{
    return set->traces[trace].name;
}

uint32_t es_event_set_type(const struct es_event_set *set, struct es_event_id id)
{
    return *esi_event_set_row(set, id).type;
}

uint32_t es_event_set_text_of(const struct es_event_set *set, struct es_event_id id)
{
    return *esi_event_set_row(set, id).text;
}

enum es_event_kind es_event_set_kind(const struct es_event_set *set,
                                     struct es_event_id id)
{
    return esi_shape_kind(*esi_event_set_row(set, id).shape);
}

size_t es_event_set_partners(const struct es_event_set *set,
                             struct es_event_id id,
                             const struct es_event_id **ret_partners)
{
    struct esi_columns_row row = esi_event_set_row(set, id);
    const struct es_event_id *list;

    switch (esi_shape_form(*row.shape)) {
    case ESI_PARTNER_ONE:
        *ret_partners = row.partner;
        return 1;
    case ESI_PARTNER_MANY:
        list = es_rows_at(&set->partners, esi_row_place(row.partner));
        *ret_partners = list + 1;
        return list->index;
    case ESI_PARTNER_NONE:
    default:
        *ret_partners = NULL;
        return 0;
    }
}

void es_event_set_span(const struct es_event_set *set,
                       struct es_event_id id,
                       struct es_event_set_span *ret_span)
{
    struct esi_columns_row row = esi_event_set_row(set, id);
    uint32_t left = es_event_set_count(set, id.trace) - id.index + 1;

    *ret_span = (struct es_event_set_span){
        .types = row.type,
        .texts = row.text,
        .count = row.behind < left ? row.behind : left,
    };
}

/* --- Attributes ------------------------------------------------------------------- */

size_t es_event_set_attribute_names(const struct es_event_set *set,
                                    const uint32_t **ret_names)
{
    *ret_names = set->names;
    return set->name_count;
}

struct es_event_value es_event_set_attribute(const struct es_event_set *set,
                                             struct es_event_id id,
                                             uint32_t name)
{
    /* ES_TEXT_NONE + 1 is 0, which nothing in the table has. */
    const uint32_t *column =
        esi_set_map_find(&set->column_of, (struct es_event_id){id.trace, name + 1});

    if (name == ES_TEXT_NONE || !column)
        return (struct es_event_value){ES_VALUE_ABSENT, 0};
    return esi_values_get(es_rows_at(&set->columns, *column), id.index - 1);
}
