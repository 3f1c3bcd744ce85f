/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ends.c - a pool of records, a hash table of their indexes, and a list of waiting
 * ones. */
#include "config.h"

#include "monitors/follow/ends.h"

void esi_ends_init(struct esi_ends *ends, size_t record_bytes, uint64_t max)
{
    *ends = (struct esi_ends){.max = max};
    esi_pool_init(&ends->records, record_bytes);
}

void esi_ends_fini(struct esi_ends *ends)
{
    esi_pool_fini(&ends->records);
    esi_hash_fini(&ends->table);
    *ends = (struct esi_ends){.records = ends->records, .max = ends->max};
}

void *esi_ends_add(struct esi_ends *ends, const struct esi_ends_key *key)
{
    struct esi_end *end;
    uint32_t index;

    if (esi_hash_reserve(&ends->table, ends->table.count + 1) < 0)
        return NULL;
    end = esi_pool_take(&ends->records, &index);
    if (!end)
        return NULL;
    end->key = *key;
    end->index = index;
    esi_hash_insert(&ends->table, esi_ends_hash(key), index);
    return end;
}

void esi_ends_wait(struct esi_ends *ends, struct esi_end *end, uint32_t weight)
{
    if (end->weight > 0)
        esi_list_remove(&ends->waiting, &end->link);
    if (weight > 0)
        esi_list_append(&ends->waiting, &end->link);
    ends->weight = ends->weight - end->weight + weight;
    end->weight = weight;
}

void esi_ends_forget(struct esi_ends *ends, struct esi_end *end)
{
    size_t slot = esi_hash_find(&ends->table, esi_ends_hash(&end->key));

    esi_ends_wait(ends, end, 0);
    while (esi_hash_index(&ends->table, slot) != end->index)
        slot = esi_hash_find_next(&ends->table, slot);
    esi_hash_remove(&ends->table, slot);
    esi_pool_give(&ends->records, end->index);
}
