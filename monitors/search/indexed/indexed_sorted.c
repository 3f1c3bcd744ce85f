/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* indexed_sorted.c - values of a domain sorted by a key: numbers, then texts, then
 * values without a key; values with the same key are in the order of the domain. */
#include "config.h"

#include "monitors/search/indexed/indexed_sorted.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/lower_bound.h"

enum { SORTED_FEW = 16 }; /* up to this length insertion is faster than qsort() */

enum key_kind { KEY_NUMBER, KEY_TEXT, KEY_ABSENT, KEY_KINDS };

struct keyed_value {
    int64_t key;
    struct esi_domain_value value;
    enum key_kind kind;
};

struct esi_sorted_index {
    size_t ends[KEY_KINDS];          /* by kind: where the next kind begins */
    int64_t *keys;                   /* owned; 0 for values without a key */
    struct esi_domain_value *values; /* owned */
};

/* --- Sorted lists ----------------------------------------------------------------- */

static int compare_values(const void *left, const void *right)
{
    const struct esi_domain_value *a = left;
    const struct esi_domain_value *b = right;

    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void sort_few(struct esi_domain_value *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct esi_domain_value value = values[i];
        size_t at = i;

        for (; at > 0 && compare_values(&values[at - 1], &value) > 0; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

size_t esi_domain_values_sort(struct esi_domain_value *values, size_t count)
{
    size_t kept = 0;

    if (count <= SORTED_FEW)
        sort_few(values, count);
    else
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

/* --- Creation --------------------------------------------------------------------- */

/* Values with their keys, before sorting. */
struct keyed_values {
    struct keyed_value *items; /* owned */
    size_t count;
    size_t capacity;
};

static int add_keyed(struct keyed_values *keyed,
                     struct esi_domain_value value,
                     enum key_kind kind,
                     int64_t key)
{
    if (ESI_ARRAY_RESERVE(keyed->items, keyed->capacity, keyed->count + 1) < 0)
        return -ENOMEM;
    keyed->items[keyed->count++] = (struct keyed_value){key, value, kind};
    return 0;
}

static int add_by_attributes(const struct esi_domain *domain,
                             const struct esi_key_form *form,
                             struct esi_domain_value value,
                             struct keyed_values *keyed)
{
    struct esi_domain_key key;

    if (!esi_key_of(form, domain, value, &key))
        return add_keyed(keyed, value, KEY_ABSENT, 0);
    return add_keyed(keyed, value, key.is_text ? KEY_TEXT : KEY_NUMBER, key.number);
}

static int add_by_sends(const struct esi_domain *domain,
                        struct esi_domain_value value,
                        struct keyed_values *keyed)
{
    const struct es_event_id *sends;
    size_t count = esi_domain_partners(domain, value, &sends);
    int result = 0;

    for (size_t i = 0; result == 0 && i < count; i++)
        result = add_keyed(keyed, value, KEY_NUMBER, esi_send_key(sends[i]).number);
    return result;
}

static int list_keyed(const struct esi_domain *domain,
                      const struct esi_key_form *form,
                      struct keyed_values *keyed)
{
    int result = 0;

    for (uint32_t slot = 0; slot < esi_domain_slots(domain); slot++) {
        uint32_t count = esi_domain_column(domain, slot).count;

        for (uint32_t p = 0; result == 0 && p < count; p++) {
            struct esi_domain_value value = {slot, p};

            result = form ? add_by_attributes(domain, form, value, keyed)
                          : add_by_sends(domain, value, keyed);
        }
    }
    return result;
}

static int compare_keyed(const void *left, const void *right)
{
    const struct keyed_value *a = left;
    const struct keyed_value *b = right;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return compare_values(&a->value, &b->value);
}

static int fill_index(struct esi_sorted_index *index, struct keyed_values *keyed)
{
    index->keys = calloc(keyed->count + 1, sizeof *index->keys);
    index->values = calloc(keyed->count + 1, sizeof *index->values);
    if (!index->keys || !index->values)
        return -ENOMEM;
    if (keyed->count > 0)
        qsort(keyed->items, keyed->count, sizeof *keyed->items, compare_keyed);
    for (size_t i = 0; i < keyed->count; i++) {
        index->keys[i] = keyed->items[i].key;
        index->values[i] = keyed->items[i].value;
        for (unsigned kind = keyed->items[i].kind; kind < KEY_KINDS; kind++)
            index->ends[kind] = i + 1;
    }
    return 0;
}

int esi_sorted_index_create(const struct esi_domain *domain,
                            const struct esi_key_form *form,
                            struct esi_sorted_index **ret_index)
{
    struct esi_sorted_index *index = calloc(1, sizeof *index);
    struct keyed_values keyed = {.count = 0};
    int result = index ? list_keyed(domain, form, &keyed) : -ENOMEM;

    if (result == 0)
        result = fill_index(index, &keyed);
    free(keyed.items);
    if (result < 0) {
        esi_sorted_index_destroy(index);
        return result;
    }
    *ret_index = index;
    return 0;
}

void esi_sorted_index_destroy(struct esi_sorted_index *index)
{
    if (!index)
        return;
    free(index->keys);
    free(index->values);
    free(index);
}

uint64_t esi_sorted_index_bytes(const struct esi_sorted_index *index)
{
    return sizeof *index +
           index->ends[KEY_ABSENT] * (sizeof *index->keys + sizeof *index->values);
}

/* --- Queries ---------------------------------------------------------------------- */

static bool is_less(const void *item, const void *sought)
{
    return *(const int64_t *)item < *(const int64_t *)sought;
}

/* The values of a kind whose keys are in [low, high]. */
static struct esi_listed list_kind(const struct esi_sorted_index *index,
                                   enum key_kind kind,
                                   int64_t low,
                                   int64_t high)
{
    size_t begin = kind == KEY_NUMBER ? 0 : index->ends[kind - 1];
    size_t end = index->ends[kind];
    int64_t behind = high == INT64_MAX ? high : high + 1;

    if (low > high)
        return (struct esi_listed){NULL, 0};
    begin += esi_lower_bound(index->keys + begin, end - begin, sizeof *index->keys,
                             is_less, &low);
    if (high != INT64_MAX)
        end = begin + esi_lower_bound(index->keys + begin, end - begin,
                                      sizeof *index->keys, is_less, &behind);
    return (struct esi_listed){index->values + begin, end - begin};
}

struct esi_listed esi_sorted_index_find(const struct esi_sorted_index *index,
                                        struct esi_domain_key key)
{
    return list_kind(index, key.is_text ? KEY_TEXT : KEY_NUMBER, key.number,
                     key.number);
}

struct esi_listed esi_sorted_index_between(const struct esi_sorted_index *index,
                                           int64_t low,
                                           int64_t high)
{
    return list_kind(index, KEY_NUMBER, low, high);
}

struct esi_listed esi_sorted_index_absent(const struct esi_sorted_index *index)
{
    return list_kind(index, KEY_ABSENT, 0, 0);
}
