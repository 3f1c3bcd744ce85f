/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay_tally.c - sums by key. */
#include "config.h"

#include "monitors/delay/delay_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_tally_fini(struct esi_tally *tally)
{
    free(tally->items);
    esi_hash_fini(&tally->table);
    *tally = (struct esi_tally){.count = 0};
}

void esi_tally_clear(struct esi_tally *tally)
{
    if (tally->count > 0)
        memset(tally->table.slots, 0,
               (tally->table.mask + 1) * sizeof *tally->table.slots);
    tally->table.count = 0;
    tally->count = 0;
}

struct esi_tally_item *esi_tally_find(const struct esi_tally *tally, uint64_t key)
{
    ESI_HASH_FOREACH(slot, &tally->table, esi_hash_u64(key)) {
        struct esi_tally_item *item =
            &tally->items[esi_hash_index(&tally->table, slot)];

        if (item->key == key)
            return item;
    }
    return NULL;
}

int esi_tally_add(struct esi_tally *tally, uint64_t key, double value)
{
    struct esi_tally_item *item = esi_tally_find(tally, key);

    if (item) {
        item->sum += value;
        return 0;
    }
    if (ESI_ARRAY_RESERVE(tally->items, tally->capacity, tally->count + 1) < 0 ||
        esi_hash_reserve(&tally->table, tally->count + 1) < 0)
        return -ENOMEM;
    esi_hash_insert(&tally->table, esi_hash_u64(key), tally->count);
    tally->items[tally->count++] = (struct esi_tally_item){.key = key, .sum = value};
    return 0;
}

int esi_tally_add_all(struct esi_tally *tally, const struct esi_tally *other)
{
    int result = 0;

    for (size_t i = 0; i < other->count && result == 0; i++)
        result = esi_tally_add(tally, other->items[i].key, other->items[i].sum);
    return result;
}
