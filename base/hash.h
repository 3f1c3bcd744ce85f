/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * hash.h - finds items of an array by a hash of their key.
 *
 * The items stay in the owner's array, and the owner compares their keys.  The table
 * has 32 bits of each item's hash and its index:
 *
 *     ESI_HASH_FOREACH(slot, &list->hash, esi_hash_u64(key))
 *         if (list->items[esi_hash_index(&list->hash, slot)].key == key)
 *             return &list->items[esi_hash_index(&list->hash, slot)];
 *
 * One hash may belong to several items.  All zero is an empty table.
 *
 * Open addressing with linear probing, at most half full; removal closes the gap
 * (Knuth, The Art of Computer Programming 3, 6.4, algorithm R).  Memory comes from
 * calloc().  No locks: any number of threads may search, or one may change.
 */
#ifndef ES_BASE_HASH_H
#define ES_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* --- Hashes ----------------------------------------------------------------------- */

/* A hash of one number, for a table of numbers: its upper bits are the good ones. */
static inline uint64_t esi_hash_u64(uint64_t key)
{
    return key * UINT64_C(0x9E3779B97F4A7C15); /* Fibonacci hashing */
}

/* Mixes one more value into a hash of several.  Keys of communicators are made by this:
 * they must come out alike in all processes, so it never changes. */
static inline uint64_t esi_hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Mixes the characters of a text into a hash. */
static inline uint64_t esi_hash_mix_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = esi_hash_mix(hash, (unsigned char)*text);
    return hash;
}

/* Mixes bytes into a hash. */
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
    uint32_t number; /* index of the item plus one; 0 = free */
};

struct esi_hash {
    struct esi_hash_slot *slots; /* owned */
    size_t mask;                 /* slots - 1 */
    size_t count;                /* items */
    unsigned shift;              /* 32 - log2(slots) */
};

/* A slot that does not exist. */
#define ESI_HASH_END SIZE_MAX

void esi_hash_fini(struct esi_hash *table);

/* Makes room for `needed` items in all.  0, or -ENOMEM, when nothing has changed.
 * Indexes are below 2^32 - 1. */
int esi_hash_grow(struct esi_hash *table, size_t needed);

static inline int esi_hash_reserve(struct esi_hash *table, size_t needed)
{
    return table->slots && needed * 2 <= table->mask + 1 ? 0
                                                         : esi_hash_grow(table, needed);
}

/* The index of the item that a slot stands for. */
static inline uint32_t esi_hash_index(const struct esi_hash *table, size_t slot)
{
    return table->slots[slot].number - 1;
}

/* The first slot from `slot` on that stands for an item with this hash. */
static inline size_t esi_hash_probe(const struct esi_hash *table,
                                    uint32_t hash,
                                    size_t slot)
{
    for (; table->slots[slot].number != 0; slot = (slot + 1) & table->mask)
        if (table->slots[slot].hash == hash)
            return slot;
    return ESI_HASH_END;
}

/* The first slot of the items with this hash; ESI_HASH_END when there is none. */
static inline size_t esi_hash_find(const struct esi_hash *table, uint64_t hash)
{
    uint32_t upper = (uint32_t)(hash >> 32);

    return table->slots ? esi_hash_probe(table, upper, upper >> table->shift)
                        : ESI_HASH_END;
}

/* The next slot of the items with the hash of that in `slot`. */
static inline size_t esi_hash_find_next(const struct esi_hash *table, size_t slot)
{
    return esi_hash_probe(table, table->slots[slot].hash, (slot + 1) & table->mask);
}

/* Each slot of the items with a hash, while the table does not change. */
#define ESI_HASH_FOREACH(slot, table, hash)                                            \
    for (size_t slot = esi_hash_find((table), (hash)); slot != ESI_HASH_END;           \
         slot = esi_hash_find_next((table), slot))

/* Adds an item.  Room must be there (esi_hash_reserve). */
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

/* Removes the item that a slot stands for.  Other slots move. */
void esi_hash_remove(struct esi_hash *table, size_t slot);

/* Removes all items; the room stays. */
void esi_hash_clear(struct esi_hash *table);

/* Bytes that are held, used or not. */
static inline size_t esi_hash_bytes(const struct esi_hash *table)
{
    return table->slots ? (table->mask + 1) * sizeof *table->slots : 0;
}

#endif
