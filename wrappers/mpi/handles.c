/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A map from handles to objects: keys remain, objects are added and removed.
 *
 * A removed handle keeps its slot, because MPI reuses handles.  A full map is replaced
 * by a copy of twice the size.  The old one is kept, because others may be reading it;
 * all old maps together are no larger than the newest.
 */
#include "config.h"

#include "wrappers/mpi/handles.h"

#include <pthread.h>
#include <stddef.h>

#include "base/shared_map.h"

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/* Keys are handles plus one; 0 means none. */
static struct esi_shared_slot *find_slot(struct esi_handles *handles, uint64_t handle)
{
    /* Pairs with the release in map_with_room(): the slots are written before. */
    struct esi_shared_map *map =
        atomic_load_explicit(&handles->map, memory_order_acquire);

    return map != NULL ? esi_shared_map_find(map, handle + 1) : NULL;
}

void *esi_handles_find(struct esi_handles *handles, uint64_t handle)
{
    struct esi_shared_slot *slot = find_slot(handles, handle);

    /* Pairs with the release in esi_handles_set(): the object is written before. */
    return slot != NULL ? (void *)(uintptr_t)atomic_load_explicit(&slot->word,
                                                                  memory_order_acquire)
                        : NULL;
}

static struct esi_shared_map *map_with_room(struct esi_handles *handles)
{
    struct esi_shared_map *old =
        atomic_load_explicit(&handles->map, memory_order_relaxed);
    struct esi_shared_map *larger;

    if (esi_shared_map_has_room(old))
        return old;
    larger = esi_shared_map_create(old);
    if (larger == NULL)
        return NULL;
    larger->older = old;
    if (old != NULL)
        esi_shared_map_copy(old, larger);
    atomic_store_explicit(&handles->map, larger, memory_order_release);
    return larger;
}

bool esi_handles_set(struct esi_handles *handles, uint64_t handle, void *object)
{
    uint64_t word = (uintptr_t)object;
    struct esi_shared_slot *slot;
    struct esi_shared_map *map;
    bool is_set = true;

    pthread_mutex_lock(&changing);
    slot = find_slot(handles, handle);
    if (slot != NULL) {
        atomic_store_explicit(&slot->word, word, memory_order_release);
    } else {
        map = map_with_room(handles);
        is_set = map != NULL;
        if (is_set)
            esi_shared_map_insert(map, handle + 1, word);
    }
    pthread_mutex_unlock(&changing);
    return is_set;
}

void *esi_handles_remove(struct esi_handles *handles, uint64_t handle)
{
    struct esi_shared_slot *slot;
    uint64_t word = 0;

    pthread_mutex_lock(&changing);
    slot = find_slot(handles, handle);
    if (slot != NULL)
        word = atomic_exchange_explicit(&slot->word, 0, memory_order_acq_rel);
    pthread_mutex_unlock(&changing);
    return (void *)(uintptr_t)word;
}
