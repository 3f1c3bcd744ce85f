/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * indexed_equal.c - indexes of the values of a domain: groups of equal ones by a hash
 * of their key, receives sorted by their sends.
 */
#include "config.h"

#include "monitors/search/indexed/indexed_equal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "monitors/search/domains/precedence.h"

enum { ABSENT = 0 }; /* the group of values without the attribute; not in the table */

/* Values with one key. */
struct equal_group {
    struct esi_domain_key key;
    uint32_t end; /* in `values`; while counting: how many there are */
};

struct esi_equal_index {
    struct esi_domain_value *values; /* owned; group after group */
    uint32_t count;
    struct equal_group *groups; /* owned */
    size_t group_count;
    size_t group_capacity;
    struct esi_hash table; /* of `groups` but ABSENT */
};

/* --- Lists that are sorted -------------------------------------------------------- */

static int compare_values(const void *left, const void *right)
{
    const struct esi_domain_value *a = left;
    const struct esi_domain_value *b = right;

    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

size_t esi_domain_values_sort(struct esi_domain_value *values, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(values, count, sizeof *values, compare_values);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare_values(&values[kept - 1], &values[i]) != 0)
            values[kept++] = values[i];
    return kept;
}

/* --- Keys ------------------------------------------------------------------------- */

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
        hash = esi_hash_mix(esi_hash_mix(hash, (uint64_t)key.number), key.is_text);
    }
    *ret_key = (struct esi_domain_key){.number = (int64_t)hash};
    return true;
}

/* --- Groups of equal values ------------------------------------------------------- */

static uint64_t hash_key(struct esi_domain_key key)
{
    return esi_hash_u64((uint64_t)key.number ^ (uint64_t)key.is_text << 63);
}

static uint32_t find_group(const struct esi_equal_index *index,
                           struct esi_domain_key key)
{
    ESI_HASH_FOREACH(slot, &index->table, hash_key(key)) {
        uint32_t group = esi_hash_index(&index->table, slot);
        struct esi_domain_key other = index->groups[group].key;

        if (other.number == key.number && other.is_text == key.is_text)
            return group;
    }
    return ABSENT;
}

/* The group of a key, perhaps a new one; ABSENT: no memory. */
static uint32_t group_of(struct esi_equal_index *index, struct esi_domain_key key)
{
    uint32_t group = find_group(index, key);

    if (group != ABSENT ||
        ESI_ARRAY_RESERVE(index->groups, index->group_capacity,
                          index->group_count + 1) < 0 ||
        esi_hash_reserve(&index->table, index->group_count) < 0)
        return group;
    esi_hash_insert(&index->table, hash_key(key), index->group_count);
    index->groups[index->group_count] = (struct equal_group){.key = key};
    return (uint32_t)index->group_count++;
}

/* --- The index by attributes ------------------------------------------------------ */

/* Values are walked twice: to count those of each group, and to put them in their
 * places, which keeps them in the order of the domain. */

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

    for (size_t i = 0; i < index->group_count; i++) {
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
    int result = -ENOMEM;

    if (group_of_value &&
        ESI_ARRAY_RESERVE(index->groups, index->group_capacity, ABSENT + 1) == 0) {
        index->groups[index->group_count++] = (struct equal_group){.end = 0};
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
    esi_hash_fini(&index->table);
    free(index);
}

static struct esi_listed list_group(const struct esi_equal_index *index, uint32_t group)
{
    uint32_t begin = group == 0 ? 0 : index->groups[group - 1].end;

    return (struct esi_listed){index->values + begin, index->groups[group].end - begin};
}

struct esi_listed esi_equal_index_find(const struct esi_equal_index *index,
                                       struct esi_domain_key key)
{
    uint32_t group = find_group(index, key);

    return group == ABSENT ? (struct esi_listed){NULL, 0} : list_group(index, group);
}

struct esi_listed esi_equal_index_absent(const struct esi_equal_index *index)
{
    return list_group(index, ABSENT);
}

uint64_t esi_equal_index_bytes(const struct esi_equal_index *index)
{
    return sizeof *index + (uint64_t)index->count * sizeof *index->values +
           index->group_capacity * sizeof *index->groups +
           (index->table.slots ? index->table.mask + 1 : 0) *
               sizeof *index->table.slots;
}

/* --- The index by sends ----------------------------------------------------------- */

/* A receive names a send. */
struct naming {
    struct es_event_id send;
    struct esi_domain_value receive;
};

struct esi_received_index {
    size_t count;
    struct naming *namings;            /* owned; sorted */
    struct esi_domain_value *receives; /* owned; of the namings */
};

static int compare_namings(const void *left, const void *right)
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
static size_t list_namings(const struct esi_domain *domain, struct naming *namings)
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
    index->count = list_namings(domain, NULL);
    index->namings = calloc(index->count + 1, sizeof *index->namings);
    index->receives = calloc(index->count + 1, sizeof *index->receives);
    if (!index->namings || !index->receives) {
        esi_received_index_destroy(index);
        return -ENOMEM;
    }
    list_namings(domain, index->namings);
    qsort(index->namings, index->count, sizeof *index->namings, compare_namings);
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
