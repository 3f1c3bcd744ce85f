/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * shared_map.h - a table from numbers to words that is read without a lock.
 *
 * A word is a pointer or a counter.  Keys are only added, words change.  A map has a
 * fixed number of slots and is at most half full: its owner then makes one twice as
 * large, copies into it or links it, and publishes it.  Slots never move, so the
 * address of a counter can be kept.
 *
 *   may run at the same time, on one map    find    insert
 *   find                                    yes     yes
 *   insert                                  yes     no: the owner has a lock
 *
 * Open addressing with linear probing.  Unlike in hash.h the word lies beside the key:
 * operations that are recorded touch one cache line of it.
 */
#ifndef ES_BASE_SHARED_MAP_H
#define ES_BASE_SHARED_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct esi_shared_slot {
    _Atomic uint64_t key; /* 0 = free */
    union {
        _Atomic uint64_t word;
        struct { /* in place of a word; both begin with 0 */
            _Atomic uint32_t count;
            _Atomic uint32_t peer; /* the owner's: whom it counts */
        };
    };
};

struct esi_shared_map {
    uint64_t mask;                /* slots - 1 */
    uint32_t shift;               /* 64 - log2(slots) */
    uint32_t used;                /* slots that are not free */
    struct esi_shared_map *older; /* the owner's: NULL, or a map half as large */
    _Atomic uint64_t older_place; /* the owner's, too: where others find that */
    struct esi_shared_slot slots[];
};

/* A map of twice the slots of `map`, of 16 if that is NULL; empty.  free() ends it.
 * NULL without memory. */
struct esi_shared_map *esi_shared_map_create(const struct esi_shared_map *map);

/* The same in other memory: so many bytes of it, zero, become such a map. */
size_t esi_shared_map_bytes_after(const struct esi_shared_map *map);
void esi_shared_map_init(struct esi_shared_map *made, const struct esi_shared_map *map);

/* Bytes of a map, and log2 of its slots. */
static inline size_t esi_shared_map_bytes(const struct esi_shared_map *map)
{
    return sizeof *map + (size_t)(map->mask + 1) * sizeof map->slots[0];
}

static inline unsigned int esi_shared_map_log2(const struct esi_shared_map *map)
{
    return 64 - map->shift;
}

/* Adds all keys whose word is not 0 to a map that has room for them. */
void esi_shared_map_copy(const struct esi_shared_map *from, struct esi_shared_map *to);

/* Whether one more key has room. */
static inline bool esi_shared_map_has_room(const struct esi_shared_map *map)
{
    return map != NULL && (uint64_t)map->used * 2 <= map->mask;
}

/* The slot where a key is looked for first. */
static inline struct esi_shared_slot *esi_shared_map_home(struct esi_shared_map *map,
                                                          uint64_t key)
{
    return &map->slots[esi_hash_u64(key) >> map->shift];
}

/* Whether it is the key's slot.  Pairs with the release in esi_shared_map_insert(): the
 * word is there before the key. */
static inline bool esi_shared_slot_is(const struct esi_shared_slot *slot, uint64_t key)
{
    return atomic_load_explicit(&slot->key, memory_order_acquire) == key;
}

/* The slot of the key; else the free one where it would go. */
static inline struct esi_shared_slot *esi_shared_map_probe(struct esi_shared_map *map,
                                                           uint64_t key)
{
    struct esi_shared_slot *slot = esi_shared_map_home(map, key);

    while (!esi_shared_slot_is(slot, key) && !esi_shared_slot_is(slot, 0))
        slot = &map->slots[(uint64_t)(slot - map->slots + 1) & map->mask];
    return slot;
}

/* The slot of the key; NULL when there is none. */
static inline struct esi_shared_slot *esi_shared_map_find(struct esi_shared_map *map,
                                                          uint64_t key)
{
    struct esi_shared_slot *slot = esi_shared_map_probe(map, key);

    return esi_shared_slot_is(slot, key) ? slot : NULL;
}

/* Adds a key that is not there.  Room must be. */
struct esi_shared_slot *esi_shared_map_insert(struct esi_shared_map *map,
                                              uint64_t key,
                                              uint64_t word);

#endif
