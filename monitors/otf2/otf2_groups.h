/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_groups.h - the groups of epochs, each once. */
#ifndef ES_MONITORS_OTF2_OTF2_GROUPS_H
#define ES_MONITORS_OTF2_OTF2_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Zeros are none. */
struct esi_otf2_groups {
    struct esi_otf2_group {
        size_t first; /* of its ranks */
        uint32_t count;
    } * items; /* owned, as the next */
    size_t count, capacity;
    int32_t *ranks; /* of the world, of all groups; -1 = not known */
    size_t rank_count, rank_capacity;
    struct esi_hash table;
};

void esi_otf2_groups_fini(struct esi_otf2_groups *groups);

/* The index of the group of `count` members of a communicator, by their ranks in it;
 * `world` has those of its `size` members in the world.  UINT32_MAX: no memory. */
uint32_t esi_otf2_groups_add(struct esi_otf2_groups *groups,
                             const int32_t *world,
                             uint32_t size,
                             const int32_t *members,
                             uint32_t count);

#endif
