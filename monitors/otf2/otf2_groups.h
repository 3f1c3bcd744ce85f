/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* otf2_groups.h - a set of the groups of epochs. */
#ifndef ES_MONITORS_OTF2_OTF2_GROUPS_H
#define ES_MONITORS_OTF2_OTF2_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* A zeroed struct is empty. */
struct esi_otf2_groups {
    struct esi_otf2_group {
        size_t first; /* of its ranks */
        uint32_t count;
    } * items; /* owned, like `ranks` */
    size_t count, capacity;
    int32_t *ranks; /* world ranks of all groups; -1 = not known */
    size_t rank_count, rank_capacity;
    struct esi_hash table;
};

void esi_otf2_groups_fini(struct esi_otf2_groups *groups);

/* Returns the index of the group of `count` members of a communicator, given by their
 * ranks in it; `world` has the world ranks of its `size` members.  UINT32_MAX if out of
 * memory. */
uint32_t esi_otf2_groups_add(struct esi_otf2_groups *groups,
                             const int32_t *world,
                             uint32_t size,
                             const int32_t *members,
                             uint32_t count);

#endif
