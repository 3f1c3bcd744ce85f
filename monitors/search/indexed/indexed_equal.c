/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_equal.c - the values of a domain by attributes: groups of equal ones, found
 * by an open table with linear probing.
 *
 * Values are walked twice: to count those of each group, and to put them in their
 * places, which keeps them in the order of the domain.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_equal.h"

#include <errno.h>
#include <stdlib.h>
#include "monitors/search/domains/precedence.h"
#include "monitors/search/indexed/indexed_plan.h"

enum {
    ABSENT = 0, /* the group of values without the attribute; not in the table */
    FIRST_GROUPS = 64,
};

struct equal_group {
    struct esi_domain_key key;
    uint32_t end; /* in `values`; while counting: how many there are */
};

struct esi_equal_index {
    struct esi_domain_value *values; /* owned; group after group */
    uint32_t count;
    struct equal_group *groups; /* owned */
    uint32_t group_count;
    uint32_t group_capacity;
    uint32_t *table;     /* owned: numbers of groups; ABSENT: free */
    uint32_t table_size; /* a power of two */
};

/* --- Keys ------------------------------------------------------------------------- */

static uint64_t mix_key(uint64_t hash, struct esi_domain_key key)
{
    hash = (hash ^ (uint64_t)key.number) * UINT64_C(0x9e3779b97f4a7c15) + key.is_text;
    return hash ^ hash >> 32;
}

bool esi_key_of(const struct esi_key_form *form,
                const struct esi_domain *domain,
                struct esi_domain_value value,
                struct esi_domain_key *ret_key)
{
    struct esi_domain_key key;
    uint64_t hash = 0;

    if (form->count == 1)
        return esi_domain_key(form->nodes[0], form->sides[0], domain, value, ret_key);
    for (unsigned i = 0; i < form->count; i++) {
        if (!esi_domain_key(form->nodes[i], form->sides[i], domain, value, &key))
            return false;
        hash = mix_key(hash, key);
    }
    *ret_key = (struct esi_domain_key){.number = (int64_t)hash};
    return true;
}

/* --- Groups ----------------------------------------------------------------------- */

static uint32_t hash_of(struct esi_domain_key key)
{
    uint64_t hash = ((uint64_t)key.number ^ (uint64_t)key.is_text << 63) *
                    UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(hash >> 32);
}

static bool is_key(struct esi_domain_key a, struct esi_domain_key b)
{
    return a.number == b.number && a.is_text == b.is_text;
}

/* Where a key is in the table, or would be. */
static uint32_t place_of(const struct esi_equal_index *index, struct esi_domain_key key)
{
    uint32_t mask = index->table_size - 1;
    uint32_t at = hash_of(key) & mask;

    while (index->table[at] != ABSENT &&
           !is_key(index->groups[index->table[at]].key, key))
        at = (at + 1) & mask;
    return at;
}

/* Room for one more group; the table is at most half full. */
static int grow_index(struct esi_equal_index *index)
{
    uint32_t capacity =
        index->group_capacity ? 2 * index->group_capacity : FIRST_GROUPS;
    struct equal_group *groups;
    uint32_t *table;

    if (index->group_count < index->group_capacity)
        return 0;
    if (capacity > UINT32_MAX / 4)
        return -ENOMEM;
    groups = realloc(index->groups, capacity * sizeof *groups);
    if (!groups)
        return -ENOMEM;
    index->groups = groups;
    table = calloc(2 * (size_t)capacity, sizeof *table);
    if (!table)
        return -ENOMEM;
    free(index->table);
    index->table = table;
    index->table_size = 2 * capacity;
    index->group_capacity = capacity;
    for (uint32_t i = ABSENT + 1; i < index->group_count; i++)
        table[place_of(index, groups[i].key)] = i;
    return 0;
}

/* The group of a key, perhaps a new one; ABSENT: no memory. */
static uint32_t group_of(struct esi_equal_index *index, struct esi_domain_key key)
{
    uint32_t at = place_of(index, key);

    if (index->table[at] != ABSENT)
        return index->table[at];
    if (index->group_count == index->group_capacity) {
        if (grow_index(index) < 0)
            return ABSENT;
        at = place_of(index, key);
    }
    index->table[at] = index->group_count;
    index->groups[index->group_count] = (struct equal_group){.key = key};
    return index->group_count++;
}

/* --- Making it -------------------------------------------------------------------- */

/* Into `group_of_value` and the groups' counts. */
static int count_groups(struct esi_equal_index *index,
                        const struct esi_domain *domain,
                        const struct esi_key_form *form,
                        uint32_t *group_of_value)
{
    uint32_t number = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++) {
            struct esi_domain_value value = {slot, p};
            struct esi_domain_key key;
            uint32_t group = ABSENT;

            if (esi_key_of(form, domain, value, &key)) {
                group = group_of(index, key);
                if (group == ABSENT)
                    return -ENOMEM;
            }
            index->groups[group].end++;
            group_of_value[number++] = group;
        }
    }
    return 0;
}

/* From their counts to where they begin. */
static void place_groups(struct esi_equal_index *index)
{
    uint32_t begin = 0;

    for (uint32_t i = 0; i < index->group_count; i++) {
        uint32_t count = index->groups[i].end;

        index->groups[i].end = begin;
        begin += count;
    }
}

/* After which each group's `end` is its end. */
static void place_values(struct esi_equal_index *index,
                         const struct esi_domain *domain,
                         const uint32_t *group_of_value)
{
    uint32_t number = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++) {
            struct equal_group *group = &index->groups[group_of_value[number++]];

            index->values[group->end++] = (struct esi_domain_value){slot, p};
        }
    }
}

static int fill_index(struct esi_equal_index *index,
                      const struct esi_domain *domain,
                      const struct esi_key_form *form)
{
    uint32_t *group_of_value = calloc(index->count + 1u, sizeof *group_of_value);
    int result = group_of_value ? grow_index(index) : -ENOMEM;

    if (result == 0) {
        index->groups[index->group_count++] =
            (struct equal_group){.end = 0}; /* ABSENT */
        result = count_groups(index, domain, form, group_of_value);
    }
    if (result == 0) {
        place_groups(index);
        place_values(index, domain, group_of_value);
    }
    free(group_of_value);
    return result;
}

int esi_equal_index_create(const struct esi_domain *domain,
                           const struct esi_key_form *form,
                           struct esi_equal_index **ret_index)
{
    struct esi_equal_index *index;
    int result = -ENOMEM;

    if (esi_domain_count(domain) >= UINT32_MAX)
        return -ENOMEM;
    index = calloc(1, sizeof *index);
    if (!index)
        return -ENOMEM;
    index->count = (uint32_t)esi_domain_count(domain);
    index->values = calloc(index->count + 1u, sizeof *index->values);
    if (index->values)
        result = fill_index(index, domain, form);
    if (result < 0) {
        esi_equal_index_destroy(index);
        return result;
    }
    *ret_index = index;
    return 0;
}

void esi_equal_index_destroy(struct esi_equal_index *index)
{
    if (!index)
        return;
    free(index->values);
    free(index->groups);
    free(index->table);
    free(index);
}

/* --- Looking things up ------------------------------------------------------------ */

static struct esi_listed list_rows(const struct esi_equal_index *index, uint32_t group)
{
    uint32_t begin = group == 0 ? 0 : index->groups[group - 1].end;

    return (struct esi_listed){index->values + begin, index->groups[group].end - begin};
}

struct esi_listed esi_equal_index_find(const struct esi_equal_index *index,
                                       struct esi_domain_key key)
{
    uint32_t group = index->table[place_of(index, key)];

    return group == ABSENT ? (struct esi_listed){NULL, 0} : list_rows(index, group);
}

struct esi_listed esi_equal_index_absent(const struct esi_equal_index *index)
{
    return list_rows(index, ABSENT);
}

uint64_t esi_equal_index_bytes(const struct esi_equal_index *index)
{
    return sizeof *index + (uint64_t)index->count * sizeof *index->values +
           (uint64_t)index->group_capacity * sizeof *index->groups +
           (uint64_t)index->table_size * sizeof *index->table;
}

struct naming {
    struct es_event_id send;
    struct esi_domain_value receive;
};

struct esi_received_index {
    size_t count;
    struct naming *namings;            /* owned; sorted */
    struct esi_domain_value *receives; /* owned; of the namings */
};

static int compare_rows(const void *left, const void *right)
{
    const struct naming *a = left;
    const struct naming *b = right;
    uint32_t of_a[] = {a->send.trace, a->send.index, a->receive.slot,
                       a->receive.position};
    uint32_t of_b[] = {b->send.trace, b->send.index, b->receive.slot,
                       b->receive.position};

    for (int i = 0; i < 4; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* Calls nothing but counts if `namings` is NULL. */
static size_t take_all(const struct esi_domain *domain, struct naming *namings)
{
    size_t taken = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; p < count; p++) {
            struct esi_domain_value value = {slot, p};
            const struct es_event_id *sends;
            size_t send_count = esi_domain_partners(domain, value, &sends);

            for (size_t i = 0; namings && i < send_count; i++)
                namings[taken + i] = (struct naming){sends[i], value};
            taken += send_count;
        }
    }
    return taken;
}

int esi_received_index_create(const struct esi_domain *domain,
                              struct esi_received_index **ret_index)
{
    struct esi_received_index *index = calloc(1, sizeof *index);

    if (!index)
        return -ENOMEM;
    index->count = take_all(domain, NULL);
    index->namings = calloc(index->count + 1, sizeof *index->namings);
    index->receives = calloc(index->count + 1, sizeof *index->receives);
    if (!index->namings || !index->receives) {
        esi_received_index_destroy(index);
        return -ENOMEM;
    }
    take_all(domain, index->namings);
    qsort(index->namings, index->count, sizeof *index->namings, compare_rows);
    for (size_t i = 0; i < index->count; i++)
        index->receives[i] = index->namings[i].receive;
    *ret_index = index;
    return 0;
}

void esi_received_index_destroy(struct esi_received_index *index)
{
    if (!index)
        return;
    free(index->namings);
    free(index->receives);
    free(index);
}

uint64_t esi_received_index_bytes(const struct esi_received_index *index)
{
    return sizeof *index +
           (index->count + 1) * (sizeof *index->namings + sizeof *index->receives);
}

struct esi_listed esi_received_index_find(const struct esi_received_index *index,
                                          struct es_event_id send)
{
    size_t low = 0;
    size_t high = index->count;
    size_t end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (esi_event_compare(index->namings[middle].send, send) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    end = low;
    while (end < index->count && esi_event_is(index->namings[end].send, send))
        end++;
    return (struct esi_listed){index->receives + low, end - low};
}
