/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * tuple_set.c - tuples lie one behind the other; an open table with linear probing
 * tells where each begins.
 *
 * An entry of the table has the upper bits of the tuple's hash besides the place, so
 * that few tuples are compared in vain.
 */
#include "config.h"

#include "monitors/search/tuple_set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACE_BITS = 44, /* of an entry: 64 TiB of numbers; the rest are bits of the hash */
    FIRST_PLACES = 16,
    FIRST_NUMBERS = 64,
};

#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

void esi_tuple_set_fini(struct esi_tuple_set *set)
{
    free(set->places);
    free(set->numbers);
    *set = (struct esi_tuple_set){.places = NULL};
}

uint64_t esi_tuple_set_bytes(const struct esi_tuple_set *set)
{
    return set->places_size * sizeof *set->places +
           set->capacity * sizeof *set->numbers;
}

static uint64_t mix_hash(uint64_t hash)
{
    hash ^= hash >> 32;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const uint32_t *numbers, uint32_t length)
{
    uint64_t hash = mix_hash(length + UINT64_C(0x9e3779b97f4a7c15));

    for (uint32_t i = 0; i < length; i++)
        hash = mix_hash((hash + numbers[i]) * UINT64_C(0x9e3779b97f4a7c15));
    return mix_hash(hash);
}

static uint64_t entry_of(uint64_t hash, size_t place)
{
    return (hash & ~PLACE_MASK) | (place + 1);
}

static bool is_tuple(const struct esi_tuple_set *set,
                     uint64_t entry,
                     uint64_t hash,
                     const uint32_t *numbers,
                     uint32_t length)
{
    const uint32_t *tuple = set->numbers + (entry & PLACE_MASK) - 1;

    return ((entry ^ hash) & ~PLACE_MASK) == 0 && tuple[0] == length &&
           (length == 0 || memcmp(tuple + 1, numbers, length * sizeof *numbers) == 0);
}

/* Doubles the table, at half of its entries in use. */
static int grow_places(struct esi_tuple_set *set)
{
    size_t size = set->places_size ? 2 * set->places_size : FIRST_PLACES;
    uint64_t *places;

    if ((set->count + 1) * 2 <= set->places_size)
        return 0;
    places = calloc(size, sizeof *places);
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < set->length; i += 1 + (size_t)set->numbers[i]) {
        uint64_t hash = hash_of(set->numbers + i + 1, set->numbers[i]);
        size_t at = hash & (size - 1);

        while (places[at])
            at = (at + 1) & (size - 1);
        places[at] = entry_of(hash, i);
    }
    free(set->places);
    set->places = places;
    set->places_size = size;
    return 0;
}

static int reserve_numbers(struct esi_tuple_set *set, uint32_t length)
{
    size_t needed = set->length + 1 + length;
    size_t capacity = set->capacity ? set->capacity : FIRST_NUMBERS;
    uint32_t *numbers;

    if (needed <= set->capacity)
        return 0;
    while (capacity < needed)
        capacity += capacity / 2;
    if (capacity > PLACE_MASK)
        return -ENOMEM;
    numbers = realloc(set->numbers, capacity * sizeof *numbers);
    if (!numbers)
        return -ENOMEM;
    set->numbers = numbers;
    set->capacity = capacity;
    return 0;
}

int esi_tuple_set_add(struct esi_tuple_set *set,
                      const uint32_t *numbers,
                      uint32_t length)
{
    uint64_t hash = hash_of(numbers, length);
    size_t at;

    if (grow_places(set) < 0)
        return -ENOMEM;
    at = hash & (set->places_size - 1);
    while (set->places[at]) {
        if (is_tuple(set, set->places[at], hash, numbers, length))
            return 0;
        at = (at + 1) & (set->places_size - 1);
    }
    if (reserve_numbers(set, length) < 0)
        return -ENOMEM;
    set->places[at] = entry_of(hash, set->length);
    set->numbers[set->length] = length;
    if (length > 0)
        memcpy(set->numbers + set->length + 1, numbers, length * sizeof *numbers);
    set->length += 1 + (size_t)length;
    set->count++;
    return 1;
}
