/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_seen.c - which matches were told, in two tables: when the young one is full it
 * becomes the old one, which is forgotten. */
#include "config.h"

#include "monitors/search/live/live_seen.h"

#include <errno.h>
#include <stdlib.h>

enum { CAPACITY_MIN = 64 };

void esi_seen_fini(struct esi_seen *seen)
{
    free(seen->young.keys);
    free(seen->old.keys);
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
    key.high |= 1; /* never free */
    return key;
}

/* The slot of a key, or the free one where it would be put. */
static struct esi_seen_key *slot_of(const struct esi_seen_table *table,
                                    struct esi_seen_key key)
{
    size_t at = key.low & (table->capacity - 1);

    while (table->keys[at].high != 0 &&
           (table->keys[at].low != key.low || table->keys[at].high != key.high))
        at = (at + 1) & (table->capacity - 1);
    return &table->keys[at];
}

static bool has_match(const struct esi_seen_table *table, struct esi_seen_key key)
{
    return table->capacity > 0 && slot_of(table, key)->high != 0;
}

static int grow_table(struct esi_seen_table *table)
{
    struct esi_seen_table grown = {
        .capacity = table->capacity ? 2 * table->capacity : CAPACITY_MIN,
        .count = table->count,
    };

    grown.keys = calloc(grown.capacity, sizeof *grown.keys);
    if (!grown.keys)
        return -ENOMEM;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->keys[i].high != 0)
            *slot_of(&grown, table->keys[i]) = table->keys[i];
    free(table->keys);
    *table = grown;
    return 0;
}

int esi_seen_add(struct esi_seen *seen, const struct es_event_id *events, size_t count)
{
    struct esi_seen_key key = key_of(events, count);

    if (has_match(&seen->young, key) || has_match(&seen->old, key))
        return 0;
    if (seen->young.count >= seen->limit) {
        free(seen->old.keys);
        seen->old = seen->young;
        seen->young = (struct esi_seen_table){.keys = NULL};
    }
    if (2 * (seen->young.count + 1) > seen->young.capacity &&
        grow_table(&seen->young) < 0)
        return -ENOMEM;
    *slot_of(&seen->young, key) = key;
    seen->young.count++;
    return 1;
}

bool esi_seen_has(const struct esi_seen *seen,
                  const struct es_event_id *events,
                  size_t count)
{
    struct esi_seen_key key = key_of(events, count);

    return has_match(&seen->young, key) || has_match(&seen->old, key);
}

uint64_t esi_seen_bytes(const struct esi_seen *seen)
{
    return (seen->young.capacity + seen->old.capacity) * sizeof *seen->young.keys;
}
