/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * domain_lookup.c - indexes of a growing domain: by the sends that a receive names, and
 * by each attribute that is compared.
 *
 * An index is a hash table of chains, newest first, created on first use.  Dropped
 * events stay in it until it is full; then they are all removed at once.
 */
#include "config.h"

#include "monitors/search/domains/domain_columns.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

enum {
    CAPACITY_MIN = 64,
    STEPS_A_VALUE = 4, /* maximum length of a chain walk per value that fits in the
                          result */
    MOVED_MOST = 128,  /* rows with later times */
    PAUSE_MAX = 1024,
};

struct entry {
    uint64_t key;
    struct es_event_id event;
    uint32_t next; /* position + 1 */
};

struct row_table {
    bool is_asked;
    struct entry *entries;
    uint32_t *heads; /* position + 1, 0 = none; `capacity` elements */
    uint32_t count;
    size_t capacity; /* a power of two, or 0 */
    uint32_t failed; /* consecutive lookups that found too many rows */
    uint32_t pause;  /* number of lookups to skip */
};

enum { RECENT_ROWS = 1024 }; /* a power of two */

/* The rows with the latest times, in their order. */
struct recent {
    uint64_t first; /* number of the first row */
    uint64_t end;
    int64_t latest_old; /* maximum time of all other rows */
    struct recent_row {
        struct es_event_id event;
        int64_t time;
    } rows[RECENT_ROWS]; /* by the lower bits of their numbers */
};

struct esi_lookup {
    struct recent *recent; /* owned; NULL until first used */
    uint32_t count;
    struct row_table tables[]; /* for the partners, then for each attribute */
};

int esi_lookup_create(const struct esi_keeps *keeps, struct esi_lookup **ret_lookup)
{
    uint32_t count = keeps->asked_count + 1;
    struct esi_lookup *lookup =
        calloc(1, sizeof *lookup + count * sizeof lookup->tables[0]);

    if (!lookup)
        return -ENOMEM;
    lookup->count = count;
    *ret_lookup = lookup;
    return 0;
}

void esi_lookup_destroy(struct esi_lookup *lookup)
{
    for (uint32_t i = 0; lookup && i < lookup->count; i++) {
        free(lookup->tables[i].entries);
        free(lookup->tables[i].heads);
    }
    if (lookup)
        free(lookup->recent);
    free(lookup);
}

uint64_t esi_lookup_bytes(const struct esi_lookup *lookup)
{
    uint64_t bytes = sizeof *lookup + lookup->count * sizeof lookup->tables[0] +
                     (lookup->recent ? sizeof *lookup->recent : 0);

    for (uint32_t i = 0; i < lookup->count; i++)
        bytes += lookup->tables[i].capacity *
                 (sizeof(struct entry) + sizeof *lookup->tables[i].heads);
    return bytes;
}

/* --- Keys ------------------------------------------------------------------------- */

static uint64_t key_of_event(struct es_event_id id)
{
    return (uint64_t)id.trace << 32 | id.index;
}

/* A text and a number may have the same key; the domain distinguishes them. */
static uint64_t key_of(struct esi_domain_key key)
{
    return (uint64_t)key.number ^ (uint64_t)key.is_text << 63;
}

/* --- Tables ----------------------------------------------------------------------- */

static uint32_t *head_of(const struct row_table *table, uint64_t key)
{
    /* The upper bits of a product depend on all bits of the key. */
    return &table->heads[key * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
                         (table->capacity - 1)];
}

static void link_all(struct row_table *table)
{
    for (uint32_t i = 0; i < table->capacity; i++)
        table->heads[i] = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t *head = head_of(table, table->entries[i].key);

        table->entries[i].next = *head;
        *head = i + 1;
    }
}

static int grow_table(struct row_table *table)
{
    size_t capacity = table->capacity ? 2 * table->capacity : CAPACITY_MIN;

    return capacity > UINT32_MAX ? -EOVERFLOW
                                 : ESI_ARRAY_RESERVE_PAIR(table->entries, table->heads,
                                                          table->capacity, capacity);
}

/* Removes rows that are no longer in the domain; enlarges the table only if that frees
 * little. */
static int make_room(const struct esi_domain *domain,
                     struct row_table *table,
                     size_t more)
{
    uint32_t kept = 0;
    int result = 0;

    for (uint32_t i = 0; i < table->count; i++) {
        struct esi_domain_value value;

        if (esi_domain_find(domain, table->entries[i].event, &value))
            table->entries[kept++] = table->entries[i];
    }
    table->count = kept;
    while (result == 0 && kept + more > table->capacity / 2)
        result = grow_table(table);
    link_all(table);
    return result;
}

/* Makes room for this many rows of an event that is not in the domain yet, so that
 * either all or none are added. */
static int reserve_table(const struct esi_domain *domain,
                         struct row_table *table,
                         size_t more)
{
    return more > table->capacity - table->count ? make_room(domain, table, more) : 0;
}

static void put_row(struct row_table *table, uint64_t key, struct es_event_id event)
{
    uint32_t *head = head_of(table, key);

    table->entries[table->count++] = (struct entry){key, event, *head};
    *head = table->count;
}

/* --- Adding ----------------------------------------------------------------------- */

static int add_partners(const struct esi_domain *domain,
                        struct es_event_id id,
                        const struct es_event_id *partners,
                        size_t count)
{
    struct row_table *table = &domain->lookup->tables[0];
    int result = reserve_table(domain, table, count);

    for (size_t i = 0; result == 0 && i < count; i++)
        put_row(table, key_of_event(partners[i]), id);
    return result;
}

static int add_value(const struct esi_domain *domain,
                     uint32_t asked,
                     struct es_event_id id,
                     const struct esi_value *value)
{
    struct row_table *table = &domain->lookup->tables[1 + asked];
    struct esi_domain_key key;
    int result;

    if (!esi_value_key(value, &key))
        return 0;
    result = reserve_table(domain, table, 1);
    if (result == 0)
        put_row(table, key_of(key), id);
    return result;
}

static struct recent_row *recent_at(struct recent *recent, uint64_t number)
{
    return &recent->rows[number % RECENT_ROWS];
}

static void note_old(struct recent *recent, int64_t time)
{
    if (time > recent->latest_old)
        recent->latest_old = time;
}

/* Events arrive nearly in the order of their times; others are left out. */
static void add_recent(struct recent *recent, struct es_event_id id, int64_t time)
{
    bool is_full = recent->end - recent->first == RECENT_ROWS;
    uint64_t at = recent->end;

    while (at > recent->first && recent->end - at <= MOVED_MOST &&
           recent_at(recent, at - 1)->time > time)
        at--;
    if (recent->end - at > MOVED_MOST || (is_full && at == recent->first)) {
        note_old(recent, time);
        return;
    }
    if (is_full)
        note_old(recent, recent_at(recent, recent->first++)->time);
    for (uint64_t number = recent->end; number > at; number--)
        *recent_at(recent, number) = *recent_at(recent, number - 1);
    *recent_at(recent, at) = (struct recent_row){id, time};
    recent->end++;
}

int esi_lookup_add(const struct esi_domain *domain,
                   uint32_t trace,
                   const struct esi_domain_row *row)
{
    const struct esi_lookup *lookup = domain->lookup;
    struct es_event_id id = {trace, row->index};
    int result = 0;

    if (lookup->recent && row->time != ESI_NO_TIME)
        add_recent(lookup->recent, id, row->time);
    if (lookup->tables[0].is_asked)
        result = add_partners(domain, id, row->partners, row->partner_count);
    for (uint32_t i = 1; i < lookup->count && result == 0; i++)
        if (lookup->tables[i].is_asked)
            result = add_value(domain, i - 1, id, &row->values[i - 1]);
    return result;
}

static int add_row(const struct esi_domain *domain,
                   uint32_t number,
                   const struct esi_column *column,
                   uint32_t row)
{
    struct es_event_id id = {column->trace, column->indexes[row]};

    if (number == 0)
        return add_partners(domain, id, esi_partners_at(&column->partners[row]),
                            column->partners[row].count);
    return add_value(
        domain, number - 1, id,
        &column->values[(size_t)row * domain->keeps->asked_count + number - 1]);
}

/* Too many rows have this key.  Others probably do, too, and searching takes time. */
static int give_up(struct row_table *table)
{
    if (table->failed < PAUSE_MAX)
        table->failed = 2 * table->failed + 1;
    table->pause = table->failed;
    return 0;
}

/* Returns the table, and fills it on first use.  NULL if there is no memory. */
static struct row_table *table_of(const struct esi_domain *domain, uint32_t number)
{
    struct row_table *table = &domain->lookup->tables[number];
    int result = 0;

    if (table->is_asked)
        return table;
    table->is_asked = true;
    for (uint32_t slot = 0; slot < domain->slots; slot++) {
        const struct esi_column *column = &domain->columns[slot];

        for (uint32_t row = column->first; result == 0 && row < column->end; row++)
            result = add_row(domain, number, column, row);
    }
    if (result == 0)
        return table;
    table->is_asked = false;
    table->count = 0;
    link_all(table);
    return NULL;
}

/* --- Queries ---------------------------------------------------------------------- */

int esi_domain_next_receive(const struct esi_domain *domain,
                            struct es_event_id send,
                            uint32_t *at,
                            struct esi_domain_value *ret_value)
{
    uint64_t key = key_of_event(send);
    const struct row_table *table;

    if (!domain->keeps->partners)
        return 0;
    table = table_of(domain, 0);
    if (!table)
        return -ENOMEM;
    if (*at == 0 && table->count > 0)
        *at = *head_of(table, key);
    else if (*at != 0)
        *at = table->entries[*at - 1].next;
    for (; *at != 0; *at = table->entries[*at - 1].next)
        if (table->entries[*at - 1].key == key &&
            esi_domain_find(domain, table->entries[*at - 1].event, ret_value))
            return 1;
    return 0;
}

static int compare_values(const void *a, const void *b)
{
    const struct esi_domain_value *left = a, *right = b;

    if (left->slot != right->slot)
        return left->slot < right->slot ? -1 : 1;
    return (left->position > right->position) - (left->position < right->position);
}

int esi_domain_list_equal(const struct esi_domain *domain,
                          const struct esi_pattern_node *node,
                          unsigned side,
                          struct esi_domain_key key,
                          struct esi_domain_value *values,
                          unsigned room,
                          unsigned *ret_count)
{
    uint32_t number = esi_keeps_find(domain->keeps, node, &node->operands[side]);
    unsigned count = 0, steps = 0;
    struct row_table *table;

    *ret_count = 0;
    if (number == domain->keeps->asked_count)
        return 1;
    table = table_of(domain, 1 + number);
    if (!table)
        return -ENOMEM;
    if (table->pause > 0) {
        table->pause--;
        return 0;
    }
    for (uint32_t at = table->count ? *head_of(table, key_of(key)) : 0; at != 0;
         at = table->entries[at - 1].next) {
        struct esi_domain_value value;

        if (steps++ == STEPS_A_VALUE * room)
            return give_up(table);
        if (table->entries[at - 1].key != key_of(key) ||
            !esi_domain_find(domain, table->entries[at - 1].event, &value))
            continue;
        if (count == room)
            return give_up(table);
        values[count++] = value;
    }
    table->failed = 0;
    qsort(values, count, sizeof *values, compare_values);
    *ret_count = count;
    return 1;
}

/* NULL if there is no memory. */
static struct recent *recent_of(const struct esi_domain *domain)
{
    struct recent *recent = domain->lookup->recent;

    if (recent)
        return recent;
    recent = malloc(sizeof *recent);
    if (!recent)
        return NULL;
    recent->first = recent->end = 0;
    recent->latest_old = ESI_NO_TIME;
    for (uint32_t slot = 0; slot < domain->slots; slot++) {
        const struct esi_column *column = &domain->columns[slot];
        int64_t latest =
            column->first < column->end ? column->latest[column->end - 1] : ESI_NO_TIME;

        if (latest > recent->latest_old)
            recent->latest_old = latest;
    }
    return domain->lookup->recent = recent;
}

/* The number of the first row that happened after a time; searched from the end. */
static uint64_t recent_after(struct recent *recent, int64_t time)
{
    uint64_t low = recent->first, high = recent->end;

    for (uint64_t step = 1; low < high; step *= 2) {
        uint64_t probe = high - low > step ? high - step : low;

        if (recent_at(recent, probe)->time <= time) {
            low = probe + 1;
            break;
        }
        high = probe;
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (recent_at(recent, middle)->time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int esi_domain_list_within(const struct esi_domain *domain,
                           int64_t from,
                           int64_t to,
                           struct es_event_id *events,
                           uint32_t room,
                           uint32_t *ret_count)
{
    struct recent *recent;
    uint64_t end;

    *ret_count = 0;
    if (!domain->keeps->times)
        return 0;
    recent = recent_of(domain);
    if (!recent)
        return -ENOMEM;
    end = recent_after(recent, to);
    if (recent->latest_old >= from ||
        (end - recent->first > room && recent_at(recent, end - room - 1)->time >= from))
        return 0;
    for (; end > recent->first && recent_at(recent, end - 1)->time >= from; end--)
        events[(*ret_count)++] = recent_at(recent, end - 1)->event;
    return 1;
}
