/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* seen.c - the reported matches, in two tables: when the young table is full it
 * replaces the old one, which is forgotten. */
#include "config.h"

#include "monitors/search/live/seen.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

struct esi_seen_key {
    uint64_t low;
    uint64_t high;
};

static void fini_table(struct esi_seen_table *table)
{
    esi_hash_fini(&table->hash);
    free(table->keys);
}

void esi_seen_fini(struct esi_seen *seen)
{
    fini_table(&seen->young);
    fini_table(&seen->old);
}

/* Stafford's variant 13 of the finalizer of MurmurHash3. */
static uint64_t mix_hash(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static struct esi_seen_key key_of(const struct es_event_id *events, size_t count)
{
    struct esi_seen_key key = {UINT64_C(0x9e3779b97f4a7c15),
                               UINT64_C(0xd1b54a32d192ed03)};

    for (size_t i = 0; i < count; i++) {
        uint64_t event = (uint64_t)events[i].trace << 32 | events[i].index;
        key.low = mix_hash(key.low ^ event);
        key.high = mix_hash(key.high + event * UINT64_C(0xff51afd7ed558ccd));
    }
    return key;
}

static bool has_key(const struct esi_seen_table *table, struct esi_seen_key key)
{
    ESI_HASH_FOREACH(slot, &table->hash, key.low) {
        const struct esi_seen_key *known =
            &table->keys[esi_hash_index(&table->hash, slot)];

        if (known->low == key.low && known->high == key.high)
            return true;
    }
    return false;
}

static bool is_known(const struct esi_seen *seen, struct esi_seen_key key)
{
    return has_key(&seen->young, key) || has_key(&seen->old, key);
}

int esi_seen_add(struct esi_seen *seen, const struct es_event_id *events, size_t count)
{
    struct esi_seen_table *young = &seen->young;
    struct esi_seen_key key = key_of(events, count);

    if (is_known(seen, key))
        return 0;
    if (young->hash.count >= seen->limit) {
        fini_table(&seen->old);
        seen->old = *young;
        *young = (struct esi_seen_table){.keys = NULL};
    }
    if (esi_hash_reserve(&young->hash, young->hash.count + 1) < 0 ||
        ESI_ARRAY_RESERVE(young->keys, young->capacity, young->hash.count + 1) < 0)
        return -ENOMEM;
    young->keys[young->hash.count] = key;
    esi_hash_insert(&young->hash, key.low, young->hash.count);
    return 1;
}

bool esi_seen_has(const struct esi_seen *seen,
                  const struct es_event_id *events,
                  size_t count)
{
    return is_known(seen, key_of(events, count));
}

static uint64_t table_bytes(const struct esi_seen_table *table)
{
    return table->capacity * sizeof *table->keys + esi_hash_bytes(&table->hash);
}

uint64_t esi_seen_bytes(const struct esi_seen *seen)
{
    return table_bytes(&seen->young) + table_bytes(&seen->old);
}
