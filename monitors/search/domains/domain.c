/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domain.c - single events of a class: one column per trace. */
#include "config.h"

#include "monitors/search/domains/domain_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int esi_domain_create(const struct esi_keeps *keeps, struct esi_domain **ret_domain)
{
    struct esi_domain *domain = calloc(1, sizeof *domain);

    if (!domain)
        return -ENOMEM;
    domain->is_single = true;
    domain->keeps = keeps;
    if (esi_lookup_create(keeps, &domain->lookup) < 0) {
        esi_domain_destroy(domain);
        return -ENOMEM;
    }
    *ret_domain = domain;
    return 0;
}

/* Frees the separately allocated partners of the rows [from, to). */
static void free_partners(struct esi_column *column, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; column->partners && i < to; i++)
        if (column->partners[i].count > 1)
            free(column->partners[i].at.many);
}

static void free_column(struct esi_column *column)
{
    free_partners(column, column->first, column->end);
    free(column->indexes);
    free(column->types);
    free(column->times);
    free(column->latest);
    free(column->partners);
    free(column->values);
    free(column->rows);
}

void esi_domain_destroy(struct esi_domain *domain)
{
    if (!domain)
        return;
    for (uint32_t slot = 0; slot < domain->slots; slot++)
        free_column(&domain->columns[slot]);
    free(domain->columns);
    free(domain->slot_of);
    esi_lookup_destroy(domain->lookup);
    if (!domain->is_single) {
        esi_segmented_fini(&domain->sets);
        esi_segmented_fini(&domain->events);
        esi_segmented_fini(&domain->partners);
    }
    free(domain);
}

bool esi_domain_is_single(const struct esi_domain *domain)
{
    return domain->is_single;
}

bool esi_domain_has_syncs(const struct esi_domain *domain)
{
    return domain->has_syncs;
}

bool esi_domain_keeps_partners(const struct esi_domain *domain)
{
    return domain->is_single && domain->keeps->partners;
}

uint64_t esi_domain_count(const struct esi_domain *domain)
{
    return domain->count;
}

/* --- Columns ---------------------------------------------------------------------- */

uint32_t esi_domain_slots(const struct esi_domain *domain)
{
    return domain->is_single ? domain->slots : 1;
}

struct esi_domain_column esi_domain_column(const struct esi_domain *domain,
                                           uint32_t slot)
{
    return domain->is_single ? esi_domain_column_at(domain, slot)
                             : (struct esi_domain_column){
                                   ES_PATTERN_NONE, (uint32_t)domain->count, NULL};
}

uint32_t esi_column_position(const struct esi_domain_column *column, uint32_t index)
{
    uint32_t low = 0;
    uint32_t high = column->count;

    /* Search from the end, because queries while events arrive mostly concern recent
     * rows. */
    for (uint64_t step = 1; low < high; step *= 2) {
        uint32_t probe = high > step ? high - (uint32_t)step : 0;

        if (column->indexes[probe] < index) {
            low = probe + 1;
            break;
        }
        high = probe;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (column->indexes[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t esi_domain_slot_of(const struct esi_domain *domain, uint32_t trace)
{
    /* An unused slot_of is 0, and 0 - 1 is ES_PATTERN_NONE. */
    return trace < domain->traces ? domain->slot_of[trace] - 1 : ES_PATTERN_NONE;
}

/* The first row, from `first` on, whose index is not less. */
static uint32_t row_from(const struct esi_column *column, uint32_t index)
{
    const struct esi_domain_column rows = {column->trace, column->end - column->first,
                                           column->indexes + column->first};

    return column->first + esi_column_position(&rows, index);
}

/* Finds the row of an event. */
static const struct esi_column *find_row(const struct esi_domain *domain,
                                         struct es_event_id id,
                                         uint32_t *ret_row)
{
    uint32_t slot = esi_domain_slot_of(domain, id.trace);
    const struct esi_column *column;

    if (slot == ES_PATTERN_NONE)
        return NULL;
    column = &domain->columns[slot];
    *ret_row = row_from(column, id.index);
    return *ret_row < column->end && column->indexes[*ret_row] == id.index ? column
                                                                           : NULL;
}

bool esi_domain_find(const struct esi_domain *domain,
                     struct es_event_id id,
                     struct esi_domain_value *ret_value)
{
    uint32_t row;
    const struct esi_column *column = find_row(domain, id, &row);

    if (!column)
        return false;
    *ret_value = (struct esi_domain_value){(uint32_t)(column - domain->columns),
                                           row - column->first};
    return true;
}

static uint32_t type_at(const struct esi_column *column, uint32_t row)
{
    return column->types ? column->types[row] : column->type;
}

bool esi_domain_row(const struct esi_domain *domain,
                    struct es_event_id id,
                    struct esi_domain_row *ret_row)
{
    uint32_t row;
    const struct esi_column *column = find_row(domain, id, &row);
    uint32_t asked = domain->keeps->asked_count;

    if (!column)
        return false;
    *ret_row = (struct esi_domain_row){
        .index = id.index,
        .type = type_at(column, row),
        .time = column->times ? column->times[row] : ESI_NO_TIME,
        .values = column->values ? &column->values[(size_t)row * asked] : NULL,
        .is_sync = domain->has_syncs, /* not known for certain */
    };
    if (column->partners) {
        ret_row->partners = esi_partners_at(&column->partners[row]);
        ret_row->partner_count = column->partners[row].count;
    }
    return true;
}

const char *esi_domain_type(const struct esi_domain *domain,
                            struct esi_domain_value value)
{
    uint32_t row;
    const struct esi_column *column = esi_domain_at(domain, value, &row);

    return esi_texts_at(domain->keeps->types, type_at(column, row));
}

/* --- Adding ----------------------------------------------------------------------- */

static struct esi_column *add_slot(struct esi_domain *domain, uint32_t trace)
{
    size_t traces = domain->traces;

    if (ESI_ARRAY_RESERVE(domain->slot_of, domain->traces, (size_t)trace + 1) < 0)
        return NULL;
    memset(domain->slot_of + traces, 0,
           (domain->traces - traces) * sizeof *domain->slot_of);
    if (ESI_ARRAY_RESERVE(domain->columns, domain->slot_capacity, domain->slots + 1u) <
        0)
        return NULL;
    domain->columns[domain->slots] = (struct esi_column){.trace = trace};
    domain->slot_of[trace] = ++domain->slots;
    return &domain->columns[domain->slots - 1];
}

/* Resizes an array; 0 bytes per row: the array is not kept. */
static bool resize_columns(void *array, size_t row_bytes, uint32_t rows)
{
    void **at = array;
    void *resized;

    if (row_bytes == 0)
        return true;
    resized = realloc(*at, row_bytes * rows);
    if (!resized)
        return false;
    *at = resized;
    return true;
}

/* If only some arrays can be enlarged, the column stays valid. */
static int resize_column(const struct esi_keeps *keeps,
                         struct esi_column *column,
                         uint32_t rows)
{
    size_t value_bytes = keeps->asked_count * sizeof *column->values;

    if (!resize_columns(&column->indexes, sizeof *column->indexes, rows) ||
        !resize_columns(&column->types, column->types ? sizeof *column->types : 0,
                        rows) ||
        !resize_columns(&column->times, keeps->times ? sizeof *column->times : 0,
                        rows) ||
        !resize_columns(&column->latest, keeps->times ? sizeof *column->latest : 0,
                        rows) ||
        !resize_columns(&column->partners,
                        keeps->partners ? sizeof *column->partners : 0, rows) ||
        !resize_columns(&column->values, value_bytes, rows))
        return -ENOMEM;
    column->capacity = rows;
    return 0;
}

static void move_rows(const struct esi_keeps *keeps,
                      struct esi_column *column,
                      uint32_t from,
                      uint32_t to,
                      uint32_t rows)
{
    size_t asked = keeps->asked_count;

    memmove(column->indexes + to, column->indexes + from,
            rows * sizeof *column->indexes);
    if (column->types)
        memmove(column->types + to, column->types + from, rows * sizeof *column->types);
    if (column->times)
        memmove(column->times + to, column->times + from, rows * sizeof *column->times);
    if (column->latest)
        memmove(column->latest + to, column->latest + from,
                rows * sizeof *column->latest);
    if (column->partners)
        memmove(column->partners + to, column->partners + from,
                rows * sizeof *column->partners);
    if (column->values)
        memmove(column->values + to * asked, column->values + from * asked,
                rows * asked * sizeof *column->values);
}

/* Makes room for one more row, first by reusing dropped rows. */
static int make_room(const struct esi_domain *domain, struct esi_column *column)
{
    uint32_t rows = column->end - column->first;

    if (column->end < column->capacity)
        return 0;
    if (column->first > rows) {
        move_rows(domain->keeps, column, column->first, 0, rows);
        column->first = 0;
        column->end = rows;
        return 0;
    }
    return resize_column(domain->keeps, column, 2 * column->capacity + 4);
}

/* Types are stored per row only once there are two of them. */
static int note_type(struct esi_column *column, uint32_t type)
{
    if (column->first == column->end)
        column->type = type;
    if (column->types || column->type == type)
        return 0;
    column->types = malloc(column->capacity * sizeof *column->types);
    if (!column->types)
        return -ENOMEM;
    for (uint32_t i = column->first; i < column->end; i++)
        column->types[i] = column->type;
    return 0;
}

static int copy_partners(const struct esi_domain_row *row,
                         struct esi_kept_partners *partners)
{
    *partners = (struct esi_kept_partners){.count = row->partner_count};
    if (row->partner_count == 1)
        partners->at.one = row->partners[0];
    if (row->partner_count > 1) {
        partners->at.many = malloc(row->partner_count * sizeof *row->partners);
        if (!partners->at.many)
            return -ENOMEM;
        memcpy(partners->at.many, row->partners,
               row->partner_count * sizeof *row->partners);
    }
    return 0;
}

/* Updates the maximum times from a new row on; `latest` of the rows after it was up to
 * date. */
static void note_latest(struct esi_column *column, uint32_t at, uint32_t end)
{
    int64_t latest = at > column->first ? column->latest[at - 1] : ESI_NO_TIME;

    for (uint32_t row = at; row < end; row++) {
        int64_t time = column->times[row];

        if (row > at && column->latest[row] >= latest)
            break;
        if (time > latest)
            latest = time;
        column->latest[row] = latest;
        if (time != ESI_NO_TIME && (uint64_t)latest - (uint64_t)time > column->disorder)
            column->disorder = (uint64_t)latest - (uint64_t)time;
    }
}

static void put_value(const struct esi_keeps *keeps,
                      struct esi_column *column,
                      uint32_t at,
                      const struct esi_domain_row *row,
                      const struct esi_kept_partners *partners)
{
    size_t asked = keeps->asked_count;

    column->indexes[at] = row->index;
    if (column->types)
        column->types[at] = row->type;
    if (column->times)
        column->times[at] = row->time;
    if (column->partners)
        column->partners[at] = *partners;
    if (column->values)
        memcpy(column->values + at * asked, row->values,
               asked * sizeof *column->values);
}

int esi_domain_add(struct esi_domain *domain,
                   uint32_t trace,
                   const struct esi_domain_row *row,
                   bool may_wait)
{
    uint32_t slot = esi_domain_slot_of(domain, trace);
    struct esi_column *column =
        slot == ES_PATTERN_NONE ? add_slot(domain, trace) : &domain->columns[slot];
    struct esi_kept_partners partners = {0};
    bool is_last;
    uint32_t at;

    if (!column || make_room(domain, column) < 0 || note_type(column, row->type) < 0 ||
        esi_lookup_add(domain, trace, row) < 0 ||
        (domain->keeps->partners && copy_partners(row, &partners) < 0))
        return -ENOMEM;
    is_last =
        column->first == column->end || column->indexes[column->end - 1] < row->index;
    at = is_last || may_wait ? column->end : row_from(column, row->index);
    if (at < column->end)
        move_rows(domain->keeps, column, at, at + 1, column->end - at);
    put_value(domain->keeps, column, at, row, &partners);
    column->is_unsorted |= !is_last && may_wait;
    column->end++;
    domain->has_syncs |= row->is_sync;
    if (column->latest)
        note_latest(column, at, column->end);
    domain->count++;
    return 0;
}

void esi_domain_drop(struct esi_domain *domain, uint32_t trace, uint32_t index)
{
    uint32_t slot = esi_domain_slot_of(domain, trace), first;
    struct esi_column *column;

    if (slot == ES_PATTERN_NONE)
        return;
    column = &domain->columns[slot];
    first = row_from(column, index);
    free_partners(column, column->first, first);
    domain->count -= first - column->first;
    column->first = first;
}

/* --- Sorting ---------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

static void take_row(const struct esi_keeps *keeps,
                     const struct esi_column *from,
                     uint32_t row,
                     struct esi_column *to)
{
    size_t asked = keeps->asked_count;

    to->indexes[to->end] = from->indexes[row];
    if (to->types)
        to->types[to->end] = from->types[row];
    if (to->times)
        to->times[to->end] = from->times[row];
    if (to->partners)
        to->partners[to->end] = from->partners[row];
    if (to->values)
        memcpy(to->values + to->end * asked, from->values + row * asked,
               asked * sizeof *to->values);
    to->end++;
    if (to->latest)
        note_latest(to, to->end - 1, to->end);
}

/* Creates an empty column with the same arrays as another. */
static int is_like(const struct esi_keeps *keeps,
                   const struct esi_column *column,
                   struct esi_column *ret_column)
{
    uint32_t rows = column->end - column->first;
    struct esi_column made = {.trace = column->trace, .type = column->type};

    if (column->types) {
        made.types = malloc(rows * sizeof *made.types);
        if (!made.types)
            return -ENOMEM;
    }
    if (resize_column(keeps, &made, rows) < 0) {
        free_column(&made);
        return -ENOMEM;
    }
    *ret_column = made;
    return 0;
}

static int sort_column(const struct esi_keeps *keeps, struct esi_column *column)
{
    uint32_t rows = column->end - column->first;
    uint64_t *keys = malloc(rows * sizeof *keys);
    struct esi_column sorted;

    if (!keys || is_like(keeps, column, &sorted) < 0) {
        free(keys);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < rows; i++)
        keys[i] =
            (uint64_t)column->indexes[column->first + i] << 32 | (column->first + i);
    qsort(keys, rows, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < rows; i++)
        take_row(keeps, column, (uint32_t)keys[i], &sorted);
    /* The partners have been moved. */
    column->first = column->end;
    free_column(column);
    *column = sorted;
    free(keys);
    return 0;
}

static int compare_columns(const void *a, const void *b)
{
    const struct esi_column *left = a, *right = b;

    return left->trace < right->trace ? -1 : left->trace > right->trace;
}

int esi_domain_sort(struct esi_domain *domain)
{
    for (uint32_t slot = 0; slot < domain->slots; slot++)
        if (domain->columns[slot].is_unsorted &&
            sort_column(domain->keeps, &domain->columns[slot]) < 0)
            return -ENOMEM;
    if (domain->slots > 1)
        qsort(domain->columns, domain->slots, sizeof *domain->columns, compare_columns);
    for (uint32_t slot = 0; slot < domain->slots; slot++)
        domain->slot_of[domain->columns[slot].trace] = slot + 1;
    return 0;
}

/* --- Size ------------------------------------------------------------------------- */

static uint64_t column_bytes(const struct esi_keeps *keeps,
                             const struct esi_column *column)
{
    uint64_t row = sizeof *column->indexes +
                   (column->types ? sizeof *column->types : 0) +
                   (column->times ? sizeof *column->times : 0) +
                   (column->latest ? sizeof *column->latest : 0) +
                   (column->partners ? sizeof *column->partners : 0) +
                   keeps->asked_count * sizeof *column->values;
    uint64_t bytes = row * column->capacity;

    if (column->rows)
        return (sizeof *column->indexes + sizeof *column->rows) * column->capacity;
    for (uint32_t i = column->first; column->partners && i < column->end; i++)
        if (column->partners[i].count > 1)
            bytes += column->partners[i].count * sizeof(struct es_event_id);
    return bytes;
}

uint64_t esi_domain_bytes(const struct esi_domain *domain)
{
    uint64_t bytes = sizeof *domain + domain->slot_capacity * sizeof *domain->columns +
                     domain->traces * sizeof *domain->slot_of;

    if (!domain->is_single)
        return bytes + esi_segmented_bytes(&domain->sets) +
               esi_segmented_bytes(&domain->events) +
               esi_segmented_bytes(&domain->partners);
    for (uint32_t slot = 0; slot < domain->slots; slot++)
        bytes += column_bytes(domain->keeps, &domain->columns[slot]);
    return bytes + (domain->lookup ? esi_lookup_bytes(domain->lookup) : 0);
}
