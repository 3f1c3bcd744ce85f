/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The counters of a communicator's channels.
 *
 * Counters must not move while other threads use them.  With MPI_THREAD_MULTIPLE, a
 * full map is therefore kept behind a larger new one; otherwise its counters are moved
 * to the larger one.  Maps are stored in the ledger, where others see the counters.
 */
#include "config.h"

#include "wrappers/mpi/match.h"

#include <stdlib.h>

#include "wrappers/mpi/ledger.h"

enum { SLOTS_MAX = 1 << 21 };

bool esi_multiple;
bool esi_fast_is_open;
_Atomic uint32_t esi_handle_epoch = 1;

void esi_become_multiple(void)
{
    esi_multiple = true;
    esi_fast_is_open = false;
}

static atomic_flag insertion = ATOMIC_FLAG_INIT;

static void lock_insertion(void)
{
    while (esi_multiple &&
           atomic_flag_test_and_set_explicit(&insertion, memory_order_acquire))
        continue;
}

static void unlock_insertion(void)
{
    if (esi_multiple)
        atomic_flag_clear_explicit(&insertion, memory_order_release);
}

static struct esi_shared_slot *channels_find(struct esi_channels *channels,
                                             uint64_t key)
{
    struct esi_shared_map *map =
        atomic_load_explicit(&channels->map, memory_order_acquire);
    struct esi_shared_slot *slot = NULL;

    for (; map != NULL && slot == NULL; map = map->older)
        slot = esi_shared_map_find(map, key);
    return slot;
}

static void map_give(struct esi_shared_map *map)
{
    esi_ledger_give(map, esi_shared_map_bytes(map));
}

static struct esi_shared_map *map_take(const struct esi_shared_map *old)
{
    struct esi_shared_map *map = esi_ledger_take(esi_shared_map_bytes_after(old));

    if (map != NULL)
        esi_shared_map_init(map, old);
    return map;
}

static uint64_t map_place(const struct esi_shared_map *map)
{
    return map != NULL ? esi_ledger_place(map, esi_shared_map_log2(map)) : 0;
}

/* Publishes a map as the newest, for this process and for readers of the ledger. */
static void map_publish(struct esi_channels *channels, struct esi_shared_map *map)
{
    atomic_store_explicit(&channels->map, map, memory_order_release);
    if (channels->place != NULL)
        atomic_store_explicit(channels->place, map_place(map), memory_order_release);
}

static void link_older(struct esi_shared_map *map, struct esi_shared_map *older)
{
    map->older = older;
    atomic_store_explicit(&map->older_place, map_place(older), memory_order_relaxed);
}

static void forget_counters(struct esi_shared_map *map)
{
    map_give(map);
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

/* A map with room for one more key: the newest, or a larger one once that is half
 * full. */
static struct esi_shared_map *map_with_room(struct esi_channels *channels)
{
    struct esi_shared_map *old =
        atomic_load_explicit(&channels->map, memory_order_relaxed);
    struct esi_shared_map *larger;

    if (esi_shared_map_has_room(old))
        return old;
    if (old != NULL && old->mask >= SLOTS_MAX - 1)
        return NULL;
    larger = map_take(old);
    if (larger == NULL)
        return NULL;
    if (old != NULL && esi_multiple)
        link_older(larger, old);
    else if (old != NULL)
        esi_shared_map_copy(old, larger);
    map_publish(channels, larger);
    if (old != NULL && !esi_multiple)
        forget_counters(old);
    return larger;
}

_Atomic uint32_t *esi_channel_make(struct esi_channels *channels, uint64_t key)
{
    struct esi_shared_slot *slot = channels_find(channels, key);
    struct esi_shared_map *map;

    if (slot != NULL)
        return &slot->count;
    lock_insertion();
    slot = channels_find(channels, key); /* another thread may have added it */
    if (slot == NULL) {
        map = map_with_room(channels);
        if (map != NULL)
            slot = esi_shared_map_insert(map, key, 0);
    }
    unlock_insertion();
    return slot != NULL ? &slot->count : NULL;
}

void esi_channel_back(struct esi_channels *channels, int peer, int tag)
{
    _Atomic uint32_t *counter = esi_channel(channels, peer, tag);

    if (counter != NULL)
        atomic_fetch_sub_explicit(counter, 1, memory_order_relaxed);
}

/* --- Sends that are cancelled --------------------------------------------------- */

struct esi_doubt {
    struct esi_doubt *next;
    uint64_t key;       /* of the channel */
    uint32_t lowest;    /* lowest number that was ever in doubt */
    uint32_t before;    /* sends before the doubt began,
                           minus those cancelled earlier */
    uint32_t pending;   /* cancellations with unknown outcome */
    uint32_t cancelled; /* number of successful cancellations */
};

static struct esi_doubt *find_doubt(const struct esi_channels *channels, uint64_t key)
{
    struct esi_doubt *doubt = channels->doubts;

    while (doubt != NULL && doubt->key != key)
        doubt = doubt->next;
    return doubt;
}

static struct esi_doubt *make_doubt(struct esi_channels *channels, uint64_t key)
{
    struct esi_doubt *doubt = find_doubt(channels, key);

    if (doubt != NULL)
        return doubt;
    doubt = calloc(1, sizeof *doubt);
    if (doubt == NULL)
        return NULL;
    doubt->key = key;
    doubt->lowest = ES_SEQUENCE_UNKNOWN;
    doubt->next = channels->doubts;
    channels->doubts = doubt;
    return doubt;
}

/* Takes back the channel's numbers, unless done before. */
static void begin_doubt(struct esi_doubt *doubt, _Atomic uint32_t *counter)
{
    if (atomic_load_explicit(counter, memory_order_relaxed) >= ESI_COUNT_DOUBTFUL)
        return;
    doubt->before =
        atomic_exchange_explicit(counter, ESI_COUNT_DOUBTFUL, memory_order_relaxed);
    doubt->cancelled = 0;
    /* Threads drop the cached counter, and see this when they look it up again. */
    atomic_fetch_add_explicit(&esi_handle_epoch, 1, memory_order_release);
}

/* Adds a cancellation.  Returns the first number in doubt. */
static uint32_t add_doubt(struct esi_doubt *doubt, uint32_t number)
{
    doubt->pending++;
    if (number < doubt->lowest)
        doubt->lowest = number;
    /* A send without number was made while another one was in doubt. */
    return number == ES_SEQUENCE_UNKNOWN ? doubt->lowest : number;
}

uint32_t esi_channel_doubt(struct esi_channels *channels,
                           int peer,
                           int tag,
                           uint32_t number,
                           uint32_t *ret_count)
{
    _Atomic uint32_t *counter = esi_channel(channels, peer, tag);
    struct esi_doubt *doubt;

    *ret_count = 0;
    if (counter == NULL)
        return ES_SEQUENCE_UNKNOWN;
    lock_insertion();
    doubt = make_doubt(channels, esi_channel_key(peer, tag));
    if (doubt != NULL) {
        begin_doubt(doubt, counter);
        number = add_doubt(doubt, number);
        *ret_count = number < doubt->before ? doubt->before - number : 0;
    } else { /* out of memory: its numbers remain unknown */
        atomic_store_explicit(counter, ESI_COUNT_DOUBTFUL, memory_order_relaxed);
        *ret_count = ESI_COUNT_DOUBTFUL;
    }
    unlock_insertion();
    return number;
}

static void end_doubt(const struct esi_doubt *doubt, _Atomic uint32_t *counter)
{
    uint32_t base = doubt->before - doubt->cancelled - ESI_COUNT_DOUBTFUL;
    uint32_t count = atomic_load_explicit(counter, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(
        counter, &count, count + base, memory_order_relaxed, memory_order_relaxed))
        continue;
}

void esi_channel_decide(struct esi_channels *channels,
                        int peer,
                        int tag,
                        bool cancelled)
{
    _Atomic uint32_t *counter = esi_channel(channels, peer, tag);
    struct esi_doubt *doubt;

    if (counter == NULL)
        return;
    lock_insertion();
    doubt = find_doubt(channels, esi_channel_key(peer, tag));
    if (doubt != NULL && doubt->pending > 0) {
        doubt->cancelled += cancelled;
        if (--doubt->pending == 0 && !(esi_multiple && doubt->cancelled > 0))
            end_doubt(doubt, counter);
    }
    unlock_insertion();
}

static void free_doubts(struct esi_channels *channels)
{
    while (channels->doubts != NULL) {
        struct esi_doubt *next = channels->doubts->next;

        free(channels->doubts);
        channels->doubts = next;
    }
}

void esi_channels_fini(struct esi_channels *channels)
{
    struct esi_shared_map *map =
        atomic_load_explicit(&channels->map, memory_order_relaxed);

    free_doubts(channels);
    map_publish(channels, NULL);
    while (map != NULL) {
        struct esi_shared_map *older = map->older;

        map_give(map);
        map = older;
    }
}
