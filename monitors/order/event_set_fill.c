/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * event_set_fill.c - event sets in memory: filling.
 *
 * A receive and the sends that it names learn of each other when the later one comes,
 * unless that is a send: it does not say who names it, and learns it in the end.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/event_set_private.h"
#include "monitors/order/set_number.h"

/* --- Traces ----------------------------------------------------------------------- */

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct es_event_set *set = data;
    uint32_t text;
    int code;

    if (trace != set->trace_count)
        return -EINVAL;
    code = esi_texts_add(&set->texts, name, strlen(name), &text);
    if (code < 0)
        return code;
    if (set->trace_count == set->trace_capacity) {
        uint32_t capacity = set->trace_capacity ? 2 * set->trace_capacity : 16;
        struct esi_set_trace *traces =
            reallocarray(set->traces, capacity, sizeof *traces);
        if (!traces)
            return -ENOMEM;
        set->traces = traces;
        set->trace_capacity = capacity;
    }
    set->traces[trace] = (struct esi_set_trace){.name = text};
    set->trace_count++;
    return 0;
}

/* --- Partners --------------------------------------------------------------------- */

static void set_form(const struct esi_columns_row *row, enum esi_partner_form form)
{
    *row->shape = (uint8_t)((*row->shape & 3) | form << 2);
}

/* Room for `capacity` partners, into which `count` are copied. */
static int keep_many(struct es_event_set *set,
                     const struct esi_columns_row *row,
                     const struct es_event_id *partners,
                     uint32_t count,
                     uint32_t capacity)
{
    uint64_t place;
    struct es_event_id *list =
        es_rows_extend(&set->partners, (uint64_t)capacity + 1, &place);

    if (!list)
        return -ENOMEM;
    *list = (struct es_event_id){capacity, count};
    memcpy(list + 1, partners, count * sizeof *partners);
    *row->partner = (struct es_event_id){(uint32_t)(place >> 32), (uint32_t)place};
    set_form(row, ESI_PARTNER_MANY);
    return 0;
}

/* One more partner of an event that is there. */
static int add_partner(struct es_event_set *set,
                       struct es_event_id id,
                       struct es_event_id partner)
{
    struct esi_columns_row row = esi_event_set_row(set, id);
    struct es_event_id *list;
    int code = 0;

    switch (esi_shape_form(*row.shape)) {
    case ESI_PARTNER_NONE:
        *row.partner = partner;
        set_form(&row, ESI_PARTNER_ONE);
        return 0;
    case ESI_PARTNER_ONE:
        code = keep_many(set, &row, row.partner, 1, 3);
        break;
    case ESI_PARTNER_MANY:
    default:
        list = es_rows_at(&set->partners, esi_row_place(row.partner));
        if (list->index == list->trace)
            code = keep_many(set, &row, list + 1, list->index, 2 * list->index + 1);
        break;
    }
    if (code < 0)
        return code;
    list = es_rows_at(&set->partners, esi_row_place(row.partner));
    list[++list->index] = partner;
    return 0;
}

static int keep_partners(struct es_event_set *set, const struct es_set_event *event)
{
    struct esi_columns_row row = esi_event_set_row(set, event->id);

    if (event->kind == ES_EVENT_SEND || event->partner_count == 0)
        return 0;
    if (event->partner_count > 1)
        return keep_many(set, &row, event->partners, event->partner_count,
                         event->partner_count);
    *row.partner = event->partners[0];
    set_form(&row, ESI_PARTNER_ONE);
    return 0;
}

static int keep_late(struct es_event_set *set,
                     struct es_event_id from,
                     struct es_event_id partner)
{
    if (set->late_count == set->late_capacity) {
        size_t capacity = set->late_capacity ? 2 * set->late_capacity : 64;
        struct esi_set_late *late = reallocarray(set->late, capacity, sizeof *late);
        if (!late)
            return -ENOMEM;
        set->late = late;
        set->late_capacity = capacity;
    }
    set->late[set->late_count++] = (struct esi_set_late){from, partner};
    return 0;
}

/* `from` names `partner`; both are there.  -EINVAL: that cannot be. */
static int join(struct es_event_set *set,
                struct es_event_id from,
                struct es_event_id partner)
{
    const struct es_event_id *back;

    if (es_event_set_kind(set, from) == ES_EVENT_RECEIVE)
        return es_event_set_kind(set, partner) == ES_EVENT_SEND
                   ? add_partner(set, partner, from)
                   : -EINVAL;
    return es_event_set_kind(set, partner) == ES_EVENT_SYNC &&
                   es_event_set_partners(set, partner, &back) == 1 &&
                   back->trace == from.trace && back->index == from.index
               ? 0
               : -EINVAL;
}

static int refer(struct es_event_set *set, const struct es_set_event *event)
{
    int code = 0;

    if (event->kind == ES_EVENT_SEND)
        return 0;
    for (uint32_t i = 0; code == 0 && i < event->partner_count; i++) {
        struct es_event_id partner = event->partners[i];
        code = es_event_set_has(set, partner) ? join(set, event->id, partner)
                                              : keep_late(set, event->id, partner);
    }
    return code;
}

/* --- Attributes ------------------------------------------------------------------- */

static int add_name(struct es_event_set *set, uint32_t name)
{
    /* No trace has this number. */
    struct es_event_id known = {UINT32_MAX, name + 1};

    if (esi_set_map_find(&set->column_of, known))
        return 0;
    if (set->name_count == set->name_capacity) {
        size_t capacity = set->name_capacity ? 2 * set->name_capacity : 16;
        uint32_t *names = reallocarray(set->names, capacity, sizeof *names);
        if (!names)
            return -ENOMEM;
        set->names = names;
        set->name_capacity = capacity;
    }
    if (!esi_set_map_add(&set->column_of, known, 0))
        return -ENOMEM;
    set->names[set->name_count++] = name;
    return 0;
}

/* The column of a trace's attribute, made where it is new. */
static int get_column(struct es_event_set *set,
                      uint32_t trace,
                      uint32_t name,
                      struct esi_values **ret_values)
{
    static const struct esi_values empty;
    struct es_event_id key = {trace, name + 1};
    const uint32_t *column = esi_set_map_find(&set->column_of, key);

    if (!column) {
        uint64_t count = es_rows_count(&set->columns);
        if (count >= UINT32_MAX)
            return -EOVERFLOW;
        if (add_name(set, name) < 0 || es_rows_push(&set->columns, &empty) < 0)
            return -ENOMEM;
        column = esi_set_map_add(&set->column_of, key, (uint32_t)count);
        if (!column)
            return -ENOMEM;
    }
    *ret_values = es_rows_at(&set->columns, *column);
    return 0;
}

static int get_value(struct es_event_set *set,
                     const struct es_event_attribute *attribute,
                     struct es_event_value *ret_value)
{
    size_t length;
    uint32_t text;
    int code;

    *ret_value = (struct es_event_value){ES_VALUE_NUMBER, attribute->number};
    if (!attribute->text)
        return 0;
    length = strlen(attribute->text);
    if (es_set_number_parse(attribute->text, length, &ret_value->number))
        return 0;
    code = esi_texts_add(&set->texts, attribute->text, length, &text);
    if (code == 0)
        *ret_value = (struct es_event_value){ES_VALUE_TEXT, text};
    return code;
}

/* The event is counted already. */
static int keep_attributes(struct es_event_set *set, const struct es_set_event *event)
{
    uint32_t row = event->id.index - 1;
    int code = 0;

    for (size_t i = 0; code == 0 && i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        struct esi_values *values = NULL;
        struct es_event_value value;
        uint32_t name;

        code =
            esi_texts_add(&set->texts, attribute->name, strlen(attribute->name), &name);
        if (code == 0)
            code = get_value(set, attribute, &value);
        if (code == 0)
            code = get_column(set, event->id.trace, name, &values);
        if (code == 0 && values->count > 0 && values->first + values->count > row)
            code = -EINVAL; /* the name comes twice */
        if (code == 0)
            code = esi_values_put(values, &set->values_memory, row, value);
    }
    return code;
}

/* --- Events ----------------------------------------------------------------------- */

static int check_event(const struct es_event_set *set, const struct es_set_event *event)
{
    uint32_t count = es_event_set_count(set, event->id.trace);

    if (event->id.trace >= set->trace_count || event->id.index - 1 != count)
        return -EINVAL;
    if (count >= UINT32_MAX - 1)
        return -EOVERFLOW;
    if ((event->kind == ES_EVENT_UNARY && event->partner_count > 0) ||
        (event->kind == ES_EVENT_SYNC && event->partner_count != 1))
        return -EINVAL;
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct es_event_set *set = data;
    struct esi_columns_row row;
    uint32_t type, text;
    int code = check_event(set, event);

    if (code == 0)
        code = esi_texts_add(&set->texts, event->type, strlen(event->type), &type);
    if (code == 0)
        code = esi_texts_add(&set->texts, event->text, strlen(event->text), &text);
    if (code == 0)
        code = esi_columns_add(&set->traces[event->id.trace].columns);
    if (code < 0)
        return code;
    row = esi_event_set_row(set, event->id);
    *row.type = type;
    *row.text = text;
    *row.shape = (uint8_t)event->kind;
    set->events++;
    code = keep_partners(set, event);
    if (code == 0)
        code = refer(set, event);
    return code < 0 ? code : keep_attributes(set, event);
}

struct es_set_sink es_event_set_sink(struct es_event_set *set)
{
    return (struct es_set_sink){take_trace, take_event, set};
}

/* --- Finishing -------------------------------------------------------------------- */

/* What came late is joined, and forgotten. */
static int join_late(struct es_event_set *set, struct es_error *error)
{
    size_t kept = 0;
    int code = 0;

    for (size_t i = 0; i < set->late_count; i++) {
        struct esi_set_late late = set->late[i];
        int joined = es_event_set_has(set, late.partner)
                         ? join(set, late.from, late.partner)
                         : -EINVAL;
        if (joined == 0)
            continue;
        set->late[kept++] = late;
        code = joined;
        es_error_set(error, code,
                     "event %u of trace %u names event %u of trace %u, which is not "
                     "there or no partner of it",
                     late.from.index, late.from.trace, late.partner.index,
                     late.partner.trace);
    }
    set->late_count = kept;
    return code;
}

int es_event_set_finish(struct es_event_set *set, struct es_error *error)
{
    int code = join_late(set, error);

    for (uint64_t i = 0; code == 0 && i < es_rows_count(&set->columns); i++)
        code = esi_values_pack(es_rows_at(&set->columns, i), &set->values_memory);
    if (code == -ENOMEM)
        es_error_set(error, code, "no memory left for the event set");
    return code;
}
