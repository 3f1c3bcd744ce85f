/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* windows.c - combines what the members of each window know. */
#include "config.h"

#include "monitors/verdict/windows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "monitors/verdict/channels.h"

static uint64_t hash_target(uint32_t group, int window, int target)
{
    return esi_hash_mix(esi_hash_mix(group, (uint64_t)(uint32_t)window),
                        (uint64_t)(uint32_t)target);
}

static size_t find_first(const struct esi_windows *windows,
                         uint32_t group,
                         int window,
                         int target)
{
    ESI_HASH_FOREACH(slot, &windows->lock_numbers, hash_target(group, window, target)) {
        const struct esi_window_lock *lock =
            &windows->locks[esi_hash_index(&windows->lock_numbers, slot)];

        if (lock->group == group && lock->window == window && lock->target == target)
            return slot;
    }
    return ESI_HASH_END;
}

uint32_t esi_windows_first_lock(const struct esi_windows *windows,
                                uint32_t group,
                                int window,
                                int target)
{
    size_t slot = find_first(windows, group, window, target);

    return slot == ESI_HASH_END ? ESI_WINDOW_LOCK_NONE
                                : esi_hash_index(&windows->lock_numbers, slot);
}

static bool is_lock(const struct esi_ledger_epoch *epoch)
{
    return epoch->kind == ESI_LEDGER_LOCK_SHARED ||
           epoch->kind == ESI_LEDGER_LOCK_EXCLUSIVE ||
           epoch->kind == ESI_LEDGER_LOCK_ALL;
}

static int read_lock(struct esi_windows *windows,
                     const struct esi_facts *facts,
                     size_t process,
                     const struct esi_ledger_epoch *epoch)
{
    const struct esi_fact_process *holder = &facts->processes[process];
    struct esi_window_lock lock = {.group =
                                       esi_fact_group_of(holder, epoch->communicator),
                                   .window = epoch->window,
                                   .target = ESI_WINDOW_ALL,
                                   .holder = process,
                                   .kind = epoch->kind,
                                   .granted = epoch->granted,
                                   .next = ESI_WINDOW_LOCK_NONE};
    size_t slot;

    if (epoch->kind != ESI_LEDGER_LOCK_ALL)
        lock.target = esi_fact_world_rank(holder, epoch->communicator, epoch->peer);
    if (lock.group == ESI_FACT_NO_GROUP ||
        (lock.target < 0 && epoch->kind != ESI_LEDGER_LOCK_ALL))
        return 0;
    if (ESI_ARRAY_RESERVE(windows->locks, windows->lock_capacity,
                          windows->lock_count + 1) < 0 ||
        esi_hash_reserve(&windows->lock_numbers, windows->lock_count + 1) < 0)
        return -ENOMEM;
    slot = find_first(windows, lock.group, lock.window, lock.target);
    if (slot != ESI_HASH_END) {
        struct esi_window_lock *first =
            &windows->locks[esi_hash_index(&windows->lock_numbers, slot)];

        lock.next = first->next;
        first->next = (uint32_t)windows->lock_count;
    } else {
        esi_hash_insert(&windows->lock_numbers,
                        hash_target(lock.group, lock.window, lock.target),
                        windows->lock_count);
    }
    windows->locks[windows->lock_count++] = lock;
    return 0;
}

/* --- Epochs of members ------------------------------------------------------------ */

static uint64_t hash_count(const struct esi_window_count *count)
{
    return esi_hash_mix(hash_target(count->group, count->window, count->owner),
                        (uint64_t)(uint32_t)count->peer);
}

const struct esi_window_count *esi_windows_find_count(
    const struct esi_windows *windows,
    const struct esi_window_count *place)
{
    ESI_HASH_FOREACH(slot, &windows->count_numbers, hash_count(place)) {
        const struct esi_window_count *count =
            &windows->counts[esi_hash_index(&windows->count_numbers, slot)];

        if (count->group == place->group && count->window == place->window &&
            count->owner == place->owner && count->peer == place->peer)
            return count;
    }
    return NULL;
}

static int read_count(struct esi_windows *windows,
                      const struct esi_fact_process *owner,
                      const struct esi_ledger_epoch_count *known)
{
    struct esi_window_count count = {
        .group = esi_fact_group_of(owner, known->communicator),
        .window = known->window,
        .owner = owner->rank,
        .peer = esi_fact_world_rank(owner, known->communicator, known->peer),
        .posted = known->posted,
        .completed = known->completed};

    if (count.group == ESI_FACT_NO_GROUP || count.peer < 0)
        return 0;
    if (ESI_ARRAY_RESERVE(windows->counts, windows->count_capacity,
                          windows->count_count + 1) < 0 ||
        esi_hash_reserve(&windows->count_numbers, windows->count_count + 1) < 0)
        return -ENOMEM;
    esi_hash_insert(&windows->count_numbers, hash_count(&count), windows->count_count);
    windows->counts[windows->count_count++] = count;
    return 0;
}

int esi_windows_init(struct esi_windows *windows, const struct esi_facts *facts)
{
    int result = 0;

    *windows = (struct esi_windows){0};
    for (size_t i = 0; i < facts->process_count && result == 0; i++) {
        const struct esi_ledger *ledger = facts->processes[i].ledger;

        for (size_t j = 0; ledger && j < ledger->epoch_count && result == 0; j++)
            if (is_lock(&ledger->epochs[j]))
                result = read_lock(windows, facts, i, &ledger->epochs[j]);
        for (size_t j = 0; ledger && j < ledger->epoch_count_count && result == 0; j++)
            result =
                read_count(windows, &facts->processes[i], &ledger->epoch_counts[j]);
    }
    if (result < 0)
        esi_windows_fini(windows);
    return result;
}

void esi_windows_fini(struct esi_windows *windows)
{
    free(windows->locks);
    free(windows->counts);
    esi_hash_fini(&windows->lock_numbers);
    esi_hash_fini(&windows->count_numbers);
    *windows = (struct esi_windows){0};
}
