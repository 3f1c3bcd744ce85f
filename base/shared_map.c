/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* shared_map.c - creates and fills maps that others read meanwhile. */
#include "config.h"

#include "base/shared_map.h"

#include <stdlib.h>

enum { SHIFT_FIRST = 60 }; /* 16 slots */

static uint32_t shift_after(const struct esi_shared_map *map)
{
    return map != NULL ? map->shift - 1 : SHIFT_FIRST;
}

size_t esi_shared_map_bytes_after(const struct esi_shared_map *map)
{
    return sizeof *map + (sizeof map->slots[0] << (64 - shift_after(map)));
}

void esi_shared_map_init(struct esi_shared_map *made, const struct esi_shared_map *map)
{
    made->shift = shift_after(map);
    made->mask = (UINT64_C(1) << (64 - made->shift)) - 1;
}

struct esi_shared_map *esi_shared_map_create(const struct esi_shared_map *map)
{
    struct esi_shared_map *made = calloc(1, esi_shared_map_bytes_after(map));

    if (made != NULL)
        esi_shared_map_init(made, map);
    return made;
}

struct esi_shared_slot *esi_shared_map_insert(struct esi_shared_map *map,
                                              uint64_t key,
                                              uint64_t word)
{
    struct esi_shared_slot *slot = esi_shared_map_probe(map, key);

    atomic_store_explicit(&slot->word, word, memory_order_relaxed);
    /* Pairs with the acquire in esi_shared_slot_is(): the word is written first. */
    atomic_store_explicit(&slot->key, key, memory_order_release);
    map->used++;
    return slot;
}

void esi_shared_map_copy(const struct esi_shared_map *from, struct esi_shared_map *to)
{
    for (uint64_t i = 0; i <= from->mask; i++) {
        const struct esi_shared_slot *slot = &from->slots[i];
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

        if (word != 0)
            esi_shared_map_insert(
                to, atomic_load_explicit(&slot->key, memory_order_relaxed), word);
    }
}
