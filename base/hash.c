/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* hash.c - growing hash tables, and removal from them. */
#include "config.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 16, SHIFT_MAX = 28 };

void esi_hash_fini(struct esi_hash *table)
{
    free(table->slots);
    *table = (struct esi_hash){.slots = NULL};
}

/* Each slot contains everything that determines its place. */
static void hash_move(const struct esi_hash *from, struct esi_hash *to)
{
    for (size_t i = 0; i <= from->mask; i++)
        if (from->slots[i].number != 0)
            esi_hash_insert(to, (uint64_t)from->slots[i].hash << 32,
                            esi_hash_index(from, i));
}

int esi_hash_grow(struct esi_hash *table, size_t needed)
{
    struct esi_hash grown = {.slots = NULL};
    size_t slots = SLOTS_MIN;

    grown.shift = SHIFT_MAX;
    for (; slots / 2 < needed; slots *= 2)
        if (grown.shift-- == 0)
            return -ENOMEM;
    if (table->slots && slots <= table->mask + 1)
        return 0;
    grown.slots = calloc(slots, sizeof *grown.slots);
    if (!grown.slots)
        return -ENOMEM;
    grown.mask = slots - 1;
    if (table->slots)
        hash_move(table, &grown);
    free(table->slots);
    *table = grown;
    return 0;
}

void esi_hash_remove(struct esi_hash *table, size_t slot)
{
    struct esi_hash_slot *slots = table->slots;
    size_t mask = table->mask;
    size_t hole = slot;

    for (size_t at = (hole + 1) & mask; slots[at].number != 0; at = (at + 1) & mask)
        /* It may be moved unless its first slot is between the hole and it. */
        if (((at - (slots[at].hash >> table->shift)) & mask) >= ((at - hole) & mask)) {
            slots[hole] = slots[at];
            hole = at;
        }
    slots[hole].number = 0;
    table->count--;
}

void esi_hash_clear(struct esi_hash *table)
{
    if (table->count > 0)
        memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
    table->count = 0;
}
