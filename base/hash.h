/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * hash.h - finds items of an array by the hash of their key.
 *
 * The items stay in the owner's array, and the owner compares their keys.  The table
 * contains 32 bits of each item's hash, and its index:
 *
 *     ESI_HASH_FOREACH(slot, &list->hash, esi_hash_u64(key))
 *         if (list->items[esi_hash_index(&list->hash, slot)].key == key)
 *             return &list->items[esi_hash_index(&list->hash, slot)];
 *
 * Several items may have the same hash.  Zero is an empty table.
 *
 * Open addressing with linear probing, at most half full; removal closes the gap
 * (Knuth, The Art of Computer Programming 3, 6.4, algorithm R).  Memory comes from
 * calloc().  No locks: any number of threads may search, or one may modify.
 */
#ifndef ES_BASE_HASH_H
#define ES_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* --- Hashes ----------------------------------------------------------------------- */

/* Hashes one number; the upper bits are the best ones. */
static inline uint64_t esi_hash_u64(uint64_t key)
{
    return key * UINT64_C(0x9E3779B97F4A7C15); /* Fibonacci hashing */
}

/* Adds a value to a hash of several.  The keys of communicators are computed with this
 * function, and must be equal in all processes, so it must never change. */
static inline uint64_t esi_hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Adds the characters of a text to a hash. */
static inline uint64_t esi_hash_mix_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = esi_hash_mix(hash, (unsigned char)*text);
    return hash;
}

/* Adds bytes to a hash. */
static inline uint64_t esi_hash_mix_bytes(uint64_t hash,
                                          const char *bytes,
                                          size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = esi_hash_mix(hash, (unsigned char)bytes[i]);
    return hash;
}

/* --- Tables ----------------------------------------------------------------------- */

struct esi_hash_slot {
    uint32_t hash;   /* the upper half */
    uint32_t number; /* index of the item plus one; 0 for a free slot */
};

struct esi_hash {
    struct esi_hash_slot *slots; /* owned */
    size_t mask;                 /* slots - 1 */
    size_t count;                /* items */
    unsigned shift;              /* 32 - log2(slots) */
};

/* No slot. */
#define ESI_HASH_END SIZE_MAX

void esi_hash_fini(struct esi_hash *table);

/* Makes room for `needed` items in total.  Returns 0; or -ENOMEM, and then changes
 * nothing.  Indices must be below 2^32 - 1. */
int esi_hash_grow(struct esi_hash *table, size_t needed);

static inline int esi_hash_reserve(struct esi_hash *table, size_t needed)
{
    return table->slots && needed * 2 <= table->mask + 1 ? 0
                                                         : esi_hash_grow(table, needed);
}

/* The index of the item in a slot. */
static inline uint32_t esi_hash_index(const struct esi_hash *table, size_t slot)
{
    return table->slots[slot].number - 1;
}

/* The first slot at or after `slot` of an item with this hash. */
static inline size_t esi_hash_probe(const struct esi_hash *table,
                                    uint32_t hash,
                                    size_t slot)
{
    for (; table->slots[slot].number != 0; slot = (slot + 1) & table->mask)
        if (table->slots[slot].hash == hash)
            return slot;
    return ESI_HASH_END;
}

/* The first slot of the items with this hash; ESI_HASH_END if there is none. */
static inline size_t esi_hash_find(const struct esi_hash *table, uint64_t hash)
{
    uint32_t upper = (uint32_t)(hash >> 32);

    return table->slots ? esi_hash_probe(table, upper, upper >> table->shift)
                        : ESI_HASH_END;
}

/* The next slot of the items with the same hash as that in `slot`. */
static inline size_t esi_hash_find_next(const struct esi_hash *table, size_t slot)
{
    return esi_hash_probe(table, table->slots[slot].hash, (slot + 1) & table->mask);
}

/* Iterates over the slots of the items with a hash.  The table must not change. */
#define ESI_HASH_FOREACH(slot, table, hash)                                            \
    for (size_t slot = esi_hash_find((table), (hash)); slot != ESI_HASH_END;           \
         slot = esi_hash_find_next((table), slot))

/* Adds an item.  Requires room (esi_hash_reserve()). */
static inline void esi_hash_insert(struct esi_hash *table, uint64_t hash, size_t index)
{
    uint32_t upper = (uint32_t)(hash >> 32);
    size_t slot = upper >> table->shift;

    while (table->slots[slot].number != 0)
        slot = (slot + 1) & table->mask;
    table->slots[slot] =
        (struct esi_hash_slot){.hash = upper, .number = (uint32_t)index + 1};
    table->count++;
}

/* Removes the item in a slot.  Other slots move. */
void esi_hash_remove(struct esi_hash *table, size_t slot);

/* Removes all items but keeps the memory. */
void esi_hash_clear(struct esi_hash *table);

/* Size of the memory in bytes. */
static inline size_t esi_hash_bytes(const struct esi_hash *table)
{
    return table->slots ? (table->mask + 1) * sizeof *table->slots : 0;
}

#endif
