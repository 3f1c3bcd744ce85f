/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_groups.c - a set of the groups of epochs. */
#include "config.h"

#include "monitors/otf2/otf2_groups.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_otf2_groups_fini(struct esi_otf2_groups *groups)
{
    free(groups->items);
    free(groups->ranks);
    esi_hash_fini(&groups->table);
}

static bool is_same(const struct esi_otf2_groups *groups,
                    const struct esi_otf2_group *a,
                    const struct esi_otf2_group *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(groups->ranks + a->first, groups->ranks + b->first,
                                    a->count * sizeof *groups->ranks) == 0);
}

/* The ranks are appended to the array, and stay there if the group is new. */
uint32_t esi_otf2_groups_add(struct esi_otf2_groups *groups,
                             const int32_t *world,
                             uint32_t size,
                             const int32_t *members,
                             uint32_t count)
{
    struct esi_otf2_group added = {groups->rank_count, count};
    uint64_t hash = count;

    if (ESI_ARRAY_RESERVE(groups->ranks, groups->rank_capacity, added.first + count) <
            0 ||
        ESI_ARRAY_RESERVE(groups->items, groups->capacity, groups->count + 1) < 0 ||
        esi_hash_reserve(&groups->table, groups->count + 1) < 0)
        return UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        bool is_known = members[i] >= 0 && (uint32_t)members[i] < size;

        groups->ranks[added.first + i] = is_known ? world[members[i]] : -1;
        hash = esi_hash_mix(hash, (uint32_t)groups->ranks[added.first + i]);
    }
    ESI_HASH_FOREACH(slot, &groups->table, hash) {
        uint32_t index = esi_hash_index(&groups->table, slot);

        if (is_same(groups, &groups->items[index], &added))
            return index;
    }
    esi_hash_insert(&groups->table, hash, groups->count);
    groups->items[groups->count] = added;
    groups->rank_count += count;
    return (uint32_t)groups->count++;
}
