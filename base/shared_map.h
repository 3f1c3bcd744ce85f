/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * shared_map.h - a lock-free map from numbers to words.
 *
 * A word is a pointer or a counter.  Keys are only added; words may change.  A map has
 * a fixed number of slots and is at most half full: then its owner creates one of twice
 * the size, copies the entries or links the old map, and publishes it.  Slots never
 * move, so the address of a counter remains valid.
 *
 *   may run at the same time, on one map    find    insert
 *   find                                    yes     yes
 *   insert                                  yes     no: the owner has a lock
 *
 * Open addressing with linear probing.  Unlike in hash.h, words are next to their keys:
 * each recorded operation accesses one cache line of the map.
 */
#ifndef ES_BASE_SHARED_MAP_H
#define ES_BASE_SHARED_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct esi_shared_slot {
    _Atomic uint64_t key; /* 0 for a free slot */
    union {
        _Atomic uint64_t word;
        struct { /* instead of a word; initially 0 */
            _Atomic uint32_t count;
            _Atomic uint32_t peer; /* private to the owner: whom it counts */
        };
    };
};

struct esi_shared_map {
    uint64_t mask;                /* slots - 1 */
    uint32_t shift;               /* 64 - log2(slots) */
    uint32_t used;                /* number of used slots */
    struct esi_shared_map *older; /* private to the owner: NULL,
                                     or a map of half the size */
    _Atomic uint64_t older_place; /* private to the owner: where
                                     other processes find that map */
    struct esi_shared_slot slots[];
};

/* Creates an empty map with twice the slots of `map`, or 16 if that is NULL.  Returns
 * NULL if out of memory.  The caller frees it with free(). */
struct esi_shared_map *esi_shared_map_create(const struct esi_shared_map *map);

/* The same in other memory: the size of that map in bytes, and its initialization in
 * zeroed memory. */
size_t esi_shared_map_bytes_after(const struct esi_shared_map *map);
void esi_shared_map_init(struct esi_shared_map *made, const struct esi_shared_map *map);

/* Size of a map in bytes, and log2 of its number of slots. */
static inline size_t esi_shared_map_bytes(const struct esi_shared_map *map)
{
    return sizeof *map + (size_t)(map->mask + 1) * sizeof map->slots[0];
}

static inline unsigned int esi_shared_map_log2(const struct esi_shared_map *map)
{
    return 64 - map->shift;
}

/* Copies all keys whose word is not 0 to a map with enough room. */
void esi_shared_map_copy(const struct esi_shared_map *from, struct esi_shared_map *to);

/* Returns whether there is room for another key. */
static inline bool esi_shared_map_has_room(const struct esi_shared_map *map)
{
    return map != NULL && (uint64_t)map->used * 2 <= map->mask;
}

/* The first slot to search for a key. */
static inline struct esi_shared_slot *esi_shared_map_home(struct esi_shared_map *map,
                                                          uint64_t key)
{
    return &map->slots[esi_hash_u64(key) >> map->shift];
}

/* Returns whether the slot contains the key.  Pairs with the release in
 * esi_shared_map_insert(): the word is written before the key. */
static inline bool esi_shared_slot_is(const struct esi_shared_slot *slot, uint64_t key)
{
    return atomic_load_explicit(&slot->key, memory_order_acquire) == key;
}

/* The slot of the key, or else the free slot for it. */
static inline struct esi_shared_slot *esi_shared_map_probe(struct esi_shared_map *map,
                                                           uint64_t key)
{
    struct esi_shared_slot *slot = esi_shared_map_home(map, key);

    while (!esi_shared_slot_is(slot, key) && !esi_shared_slot_is(slot, 0))
        slot = &map->slots[(uint64_t)(slot - map->slots + 1) & map->mask];
    return slot;
}

/* The slot of the key; NULL if there is none. */
static inline struct esi_shared_slot *esi_shared_map_find(struct esi_shared_map *map,
                                                          uint64_t key)
{
    struct esi_shared_slot *slot = esi_shared_map_probe(map, key);

    return esi_shared_slot_is(slot, key) ? slot : NULL;
}

/* Adds a key that is not in the map.  Requires room. */
struct esi_shared_slot *esi_shared_map_insert(struct esi_shared_map *map,
                                              uint64_t key,
                                              uint64_t word);

#endif
