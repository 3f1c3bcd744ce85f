/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_map.c - linear probing, at most half full; removal closes the gap (Knuth, The Art
 * of Computer Programming 3, 6.4, algorithm R). */
#include "config.h"

#include "monitors/eventset/set_map.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 64 };

void esi_set_map_fini(struct esi_set_map *map)
{
    free(map->slots);
    *map = (struct esi_set_map){0};
}

static size_t home_of(const struct esi_set_map *map, struct es_event_id id)
{
    uint64_t key = (uint64_t)id.trace << 32 | id.index;

    key *= UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing: the high bits are good */
    return (size_t)(key >> 32) & (map->capacity - 1);
}

/* The slot of an event, or the free one where it would be put. */
static size_t slot_of(const struct esi_set_map *map, struct es_event_id id)
{
    size_t at = home_of(map, id);

    while (map->slots[at].id.index != 0 &&
           (map->slots[at].id.trace != id.trace || map->slots[at].id.index != id.index))
        at = (at + 1) & (map->capacity - 1);
    return at;
}

uint32_t *esi_set_map_find(const struct esi_set_map *map, struct es_event_id id)
{
    size_t at;

    if (map->count == 0)
        return NULL;
    at = slot_of(map, id);
    return map->slots[at].id.index != 0 ? &map->slots[at].value : NULL;
}

static int grow_map(struct esi_set_map *map)
{
    struct esi_set_map grown = {
        .capacity = map->capacity ? 2 * map->capacity : CAPACITY_MIN,
        .count = map->count,
    };

    grown.slots = calloc(grown.capacity, sizeof *grown.slots);
    if (!grown.slots)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].id.index != 0)
            grown.slots[slot_of(&grown, map->slots[i].id)] = map->slots[i];
    free(map->slots);
    *map = grown;
    return 0;
}

uint32_t *esi_set_map_add(struct esi_set_map *map,
                          struct es_event_id id,
                          uint32_t value)
{
    struct esi_set_map_slot *slot;

    if (2 * (map->count + 1) > map->capacity && grow_map(map) < 0)
        return NULL;
    slot = &map->slots[slot_of(map, id)];
    if (slot->id.index == 0) {
        *slot = (struct esi_set_map_slot){id, value};
        map->count++;
    }
    return &slot->value;
}

void esi_set_map_remove(struct esi_set_map *map, struct es_event_id id)
{
    size_t mask = map->capacity - 1;
    size_t gap;

    if (!esi_set_map_find(map, id))
        return;
    gap = slot_of(map, id);
    for (size_t at = (gap + 1) & mask; map->slots[at].id.index != 0;
         at = (at + 1) & mask) {
        size_t home = home_of(map, map->slots[at].id);
        /* It may move into the gap unless its home lies behind that. */
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            map->slots[gap] = map->slots[at];
            gap = at;
        }
    }
    map->slots[gap].id.index = 0;
    map->count--;
}
