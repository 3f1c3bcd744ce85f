/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads the table of communicators, and finds groups that another segment holds. */
#include "config.h"

#include "eventspace/run.h"

#include <errno.h>
#include <string.h>

#include "tuplespace/view_private.h"

#define TRIES 100

size_t es_segment_view_communicator_count(const struct es_segment_view *segment)
{
    /* Pairs with the release in esi_segment_add_communicator(). */
    uint32_t count = atomic_load_explicit(&segment->layout->communicator_count,
                                          memory_order_acquire);

    return count < segment->max_communicators ? count : segment->max_communicators;
}

static struct esi_communicator_layout *entry_at(const struct es_segment_view *segment,
                                                uint32_t index)
{
    uint64_t offset =
        segment->communicators_offset + (uint64_t)index * segment->communicator_bytes;

    return (void *)(segment->base + offset);
}

/* Copies an entry as it was at one moment.  False: it changes all the time, which
 * entries do not. */
static bool copy_entry(const struct es_segment_view *segment,
                       uint32_t index,
                       struct esi_communicator_layout *ret_entry)
{
    struct esi_communicator_layout *entry = entry_at(segment, index);
    _Atomic uint32_t *words = (void *)entry;
    uint32_t copy[sizeof *entry / sizeof(uint32_t)];

    esi_segment_view_watch(segment);
    for (int i = 0; i < TRIES; i++) {
        uint32_t version =
            atomic_load_explicit(&entry->name_version, memory_order_acquire);

        for (size_t w = 0; w < sizeof copy / sizeof copy[0]; w++)
            copy[w] = atomic_load_explicit(&words[w], memory_order_relaxed);
        /* Pairs with the fence in begin_change(): a new word brings a new version. */
        atomic_thread_fence(memory_order_acquire);
        if (version % 2 != 0 ||
            version != atomic_load_explicit(&entry->name_version, memory_order_relaxed))
            continue;
        memcpy(ret_entry, copy, sizeof copy);
        return true;
    }
    return false;
}

/* Whether the group's list lies within the segment. */
static bool group_has_list(const struct es_segment_view *view,
                           const struct esi_group_layout *group)
{
    uint64_t bytes = (uint64_t)(uint32_t)group->size * sizeof(int32_t);

    return group->size >= 0 && group->offset % sizeof(int32_t) == 0 &&
           group->offset <= view->bytes && bytes <= view->bytes - group->offset;
}

/* Members of a group; 0 when it cannot have as many as it says: a list lies within the
 * file, and a process knows by a stride only ranks of its own world. */
static int group_size(const struct es_segment_view *view,
                      const struct esi_group_layout *group)
{
    int world = atomic_load_explicit(&view->layout->world_size, memory_order_relaxed);
    int most = ES_GROUP_MAX;

    if (group->kind == ES_GROUP_LIST && !group_has_list(view, group))
        return 0;
    if (group->kind == ES_GROUP_STRIDED && group->first >= 0 && world > 0 &&
        world < most)
        most = world;
    return group->size > 0 && group->size <= most ? group->size : 0;
}

int es_segment_view_communicator(const struct es_segment_view *segment,
                                 uint16_t index,
                                 struct es_communicator_info *ret_info)
{
    struct esi_communicator_layout entry;
    uint32_t flags;

    if (index >= es_segment_view_communicator_count(segment) ||
        !copy_entry(segment, index, &entry))
        return -ENOENT;
    flags = atomic_load_explicit(&entry.flags, memory_order_relaxed);
    *ret_info = (struct es_communicator_info){
        .key = {entry.key[0], entry.key[1]},
        .rank = entry.rank,
        .size = group_size(segment, &entry.local),
        .remote_size = (flags & ES_COMMUNICATOR_INTER) != 0
                           ? group_size(segment, &entry.remote)
                           : 0,
        .first = -1,
        .remote_first = -1,
        .parent = entry.parent,
        .freed = (flags & ES_COMMUNICATOR_FREED) != 0,
    };
    if (ret_info->size > 0)
        ret_info->first = entry.local.first;
    if (ret_info->remote_size > 0)
        ret_info->remote_first = entry.remote.first;
    memcpy(ret_info->name, entry.name, sizeof ret_info->name);
    ret_info->name[sizeof ret_info->name - 1] = '\0';
    return 0;
}

/* --- Groups ----------------------------------------------------------------------- */

/* World rank of one member; -ENOENT when this segment does not say. */
static int rank_in_group(const struct es_segment_view *segment,
                         const struct esi_group_layout *group,
                         int rank)
{
    int64_t world = -1;

    if (rank < 0 || rank >= group_size(segment, group))
        return -ENOENT;
    if (group->kind == ES_GROUP_STRIDED) {
        world = (int64_t)group->first + (int64_t)rank * group->stride;
    } else if (group->kind == ES_GROUP_LIST) {
        world = ((const int32_t *)(void *)(segment->base + group->offset))[rank];
    }
    return world >= 0 && world <= INT32_MAX ? (int)world : -ENOENT;
}

/* Looks for a group in another segment's entries of the same communicator.  Both sides
 * of an intercommunicator have its key and call each other remote; size and first
 * member tell which group is which. */
static int rank_elsewhere(const struct es_segment_view *segment,
                          const struct esi_communicator_layout *wanted,
                          const struct esi_group_layout *group,
                          int rank)
{
    size_t count = es_segment_view_communicator_count(segment);

    for (size_t i = 0; i < count; i++) {
        struct esi_communicator_layout entry;
        struct esi_group_layout sides[2];

        if (memcmp(entry_at(segment, (uint32_t)i)->key, wanted->key,
                   sizeof wanted->key) != 0 ||
            !copy_entry(segment, (uint32_t)i, &entry) ||
            memcmp(entry.key, wanted->key, sizeof entry.key) != 0)
            continue;
        sides[0] = entry.local;
        sides[1] = entry.remote;
        for (int side = 0; side < 2; side++) {
            int world = -ENOENT;

            if (sides[side].size == group->size && sides[side].first == group->first)
                world = rank_in_group(segment, &sides[side], rank);
            if (world >= 0)
                return world;
        }
    }
    return -ENOENT;
}

int es_run_world_rank(const struct es_run *run,
                      const struct es_segment_view *segment,
                      uint16_t communicator,
                      bool remote,
                      int rank)
{
    struct esi_communicator_layout entry;
    struct esi_group_layout group;
    int world;

    if (communicator >= es_segment_view_communicator_count(segment) ||
        !copy_entry(segment, communicator, &entry))
        return -ENOENT;
    group = remote ? entry.remote : entry.local;
    if (rank < 0 || rank >= group_size(segment, &group))
        return -ENOENT;
    world = rank_in_group(segment, &group, rank);
    for (size_t i = 0; i < es_run_segment_count(run) && world < 0; i++)
        world = rank_elsewhere(es_run_segment(run, i), &entry, &group, rank);
    return world;
}
