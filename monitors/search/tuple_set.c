/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* tuple_set.c - tuples are stored one after the other; a hash table contains their
 * positions. */
#include "config.h"

#include "monitors/search/tuple_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_tuple_set_fini(struct esi_tuple_set *set)
{
    esi_hash_fini(&set->hash);
    free(set->numbers);
    *set = (struct esi_tuple_set){.numbers = NULL};
}

uint64_t esi_tuple_set_bytes(const struct esi_tuple_set *set)
{
    return esi_hash_bytes(&set->hash) + set->capacity * sizeof *set->numbers;
}

static uint64_t hash_of(const uint32_t *numbers, size_t length)
{
    uint64_t hash = length;

    for (size_t i = 0; i < length; i++)
        hash = esi_hash_mix(hash, numbers[i]);
    return esi_hash_u64(hash);
}

int esi_tuple_set_add(struct esi_tuple_set *set, const uint32_t *numbers, size_t length)
{
    uint64_t hash = hash_of(numbers, length);
    size_t needed = set->length + 1 + length;

    ESI_HASH_FOREACH(slot, &set->hash, hash) {
        const uint32_t *tuple = set->numbers + esi_hash_index(&set->hash, slot);

        if (tuple[0] == length &&
            (length == 0 || memcmp(tuple + 1, numbers, length * sizeof *numbers) == 0))
            return 0;
    }
    if (needed > UINT32_MAX || esi_hash_reserve(&set->hash, set->hash.count + 1) < 0 ||
        ESI_ARRAY_RESERVE(set->numbers, set->capacity, needed) < 0)
        return -ENOMEM;
    esi_hash_insert(&set->hash, hash, set->length);
    set->numbers[set->length] = (uint32_t)length;
    if (length > 0)
        memcpy(set->numbers + set->length + 1, numbers, length * sizeof *numbers);
    set->length = needed;
    return 1;
}
