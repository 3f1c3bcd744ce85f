/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Outstanding requests by handle: a window with one slot for each handle, followed by
 * an overflow with open addressing and deletion by shifting back.  The slots contain
 * the records, because each is found twice per operation: indices into an array
 * (base/hash.h) make a nonblocking operation an eighth slower (bench/containers).
 *
 * The slots are in the ledger (tuplespace/ledger.h): others see which requests are
 * outstanding without additional writes.
 */
#include "config.h"

#include "wrappers/mpi/requests.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/hash.h"

enum { SHARDS_LOG2 = ESI_LEDGER_SHARDS_LOG2, FIRST_SLOTS = 64 /* of a half */ };

/* For a shard without slots: remains empty, and counts as full. */
static struct esi_request no_slots[2];

#define NO_SHARD                                                                       \
    {                                                                                  \
        .shift = 63, .overflowed = 1, .window = no_slots, .overflow = &no_slots[1]     \
    }

struct esi_request_shard esi_request_shards[ESI_LEDGER_SHARDS] = {
    NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD,
    NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD, NO_SHARD,
};

static struct esi_request_shard *shard_of(uint64_t handle)
{
    return &esi_request_shards[esi_multiple ? esi_hash_u64(handle) >> (64 - SHARDS_LOG2)
                                            : 0];
}

static void requests_lock(struct esi_request_shard *shard)
{
    unsigned int tries = 0;

    while (esi_multiple &&
           atomic_flag_test_and_set_explicit(&shard->lock, memory_order_acquire))
        if (++tries % 1024 == 0) /* its holder may have been preempted */
            sched_yield();
}

static void requests_unlock(struct esi_request_shard *shard)
{
    if (esi_multiple)
        atomic_flag_clear_explicit(&shard->lock, memory_order_release);
}

/* The slots of both halves; NULL if the shard has none. */
static struct esi_request *slots_of(const struct esi_request_shard *shard)
{
    return shard->window != no_slots ? shard->window : NULL;
}

static size_t count_slots(const struct esi_request_shard *shard)
{
    return (shard->mask + 1) * 2;
}

/* Publishes the filled slots to readers of the ledger. */
static void show_slots(const struct esi_request_shard *shard)
{
    atomic_store_explicit(
        &esi_ledger->shards[shard - esi_request_shards].requests,
        esi_ledger_place(slots_of(shard),
                         (unsigned int)__builtin_ctzl(count_slots(shard))),
        memory_order_release);
}

static _Atomic uint64_t serials = 1;

uint64_t esi_request_serial(void)
{
    return atomic_load_explicit(&serials, memory_order_acquire);
}

/* Slot of the overflow at which the search for a handle starts. */
static size_t requests_home(const struct esi_request_shard *shard, uint64_t handle)
{
    return (size_t)(esi_hash_u64(handle) >> shard->shift) & shard->mask;
}

/* An empty slot for the handle. */
static struct esi_request *requests_place(struct esi_request_shard *shard,
                                          uint64_t handle)
{
    struct esi_request *slot = esi_request_window_slot(shard, handle);
    size_t at = requests_home(shard, handle);

    if (slot->kind == ESI_REQUEST_NONE)
        return slot;
    while (shard->overflow[at].kind != ESI_REQUEST_NONE)
        at = (at + 1) & shard->mask;
    shard->overflowed++;
    return &shard->overflow[at];
}

/* The newer of two records, if `slot` belongs to the handle with a serial below
 * `limit`. */
static struct esi_request *newer_of(struct esi_request *newest,
                                    struct esi_request *slot,
                                    uint64_t handle,
                                    uint64_t limit)
{
    if (slot->kind == ESI_REQUEST_NONE || slot->handle != handle ||
        (esi_multiple && slot->tuple.stop >= limit))
        return newest;
    return newest == NULL || slot->tuple.stop > newest->tuple.stop ? slot : newest;
}

/* The newest record of the handle with a serial below `limit`; NULL if there is none.
 * While one thread at a time calls MPI, there is at most one record of a handle, and
 * `limit` is ignored. */
static struct esi_request *requests_find(const struct esi_request_shard *shard,
                                         uint64_t handle,
                                         uint64_t limit)
{
    struct esi_request *newest =
        newer_of(NULL, esi_request_window_slot(shard, handle), handle, limit);

    if (shard->overflowed == 0)
        return newest;
    for (size_t at = requests_home(shard, handle);
         shard->overflow[at].kind != ESI_REQUEST_NONE; at = (at + 1) & shard->mask)
        newest = newer_of(newest, &shard->overflow[at], handle, limit);
    return newest;
}

static bool requests_grow(struct esi_request_shard *shard)
{
    struct esi_request *old = slots_of(shard);
    size_t old_slots = old != NULL ? count_slots(shard) : 0;
    size_t half = old != NULL ? old_slots : FIRST_SLOTS;
    struct esi_request *bigger = esi_ledger_take(half * 2 * sizeof *bigger);

    if (bigger == NULL)
        return false;
    shard->overflowed = 0;
    shard->window = bigger;
    shard->overflow = &bigger[half];
    shard->mask = half - 1;
    shard->shift = 64 - (esi_multiple ? (unsigned int)SHARDS_LOG2 : 0) -
                   (unsigned int)__builtin_ctzl(half);
    for (size_t i = 0; i < old_slots; i++)
        if (old[i].kind != ESI_REQUEST_NONE)
            *requests_place(shard, old[i].handle) = old[i];
    show_slots(shard);
    esi_ledger_give(old, old_slots * sizeof *old);
    return true;
}

/* Empties a slot of the overflow and moves back the records displaced by it. */
static void overflow_erase(struct esi_request_shard *shard,
                           const struct esi_request *slot)
{
    size_t hole = (size_t)(slot - shard->overflow);
    size_t at = hole;

    for (;;) {
        at = (at + 1) & shard->mask;
        if (shard->overflow[at].kind == ESI_REQUEST_NONE)
            break;
        /* It may be moved unless its home is between the hole and it. */
        if (((at - requests_home(shard, shard->overflow[at].handle)) & shard->mask) >=
            ((at - hole) & shard->mask)) {
            shard->overflow[hole] = shard->overflow[at];
            hole = at;
        }
    }
    shard->overflow[hole].kind = ESI_REQUEST_NONE;
    shard->overflowed--;
}

static void requests_erase(struct esi_request_shard *shard, struct esi_request *slot)
{
    if (slot < shard->overflow)
        slot->kind = ESI_REQUEST_NONE;
    else
        overflow_erase(shard, slot);
    esi_request_note_change(shard);
}

/* Returns whether a record must not be replaced: its request is complete for MPI, which
 * has reused its handle, but the thread that completes it has not arrived here yet. */
static bool is_awaited(const struct esi_request *request)
{
    return esi_multiple && request->kind != ESI_REQUEST_SEND &&
           request->kind != ESI_REQUEST_OTHER;
}

/* Returns whether there is a slot for one more record. */
static bool has_room(struct esi_request_shard *shard)
{
    return shard->overflowed * 4 <= shard->mask || requests_grow(shard) ||
           shard->overflowed < shard->mask;
}

/* The record of the handle if it may be replaced, or an empty slot. */
static struct esi_request *slot_for(struct esi_request_shard *shard, uint64_t handle)
{
    struct esi_request *slot = requests_find(shard, handle, UINT64_MAX);

    return slot == NULL || is_awaited(slot) ? requests_place(shard, handle) : slot;
}

struct esi_request *esi_request_claim_slowly(uint64_t handle)
{
    struct esi_request_shard *shard = shard_of(handle);
    struct esi_request *slot;

    requests_lock(shard);
    if (!has_room(shard)) {
        requests_unlock(shard);
        return NULL;
    }
    slot = slot_for(shard, handle);
    if (slot->kind == ESI_REQUEST_NONE)
        *slot = (struct esi_request){.handle = handle, .kind = ESI_REQUEST_OTHER};
    esi_request_note_change(shard);
    if (esi_multiple)
        slot->tuple.stop = atomic_fetch_add_explicit(&serials, 1, memory_order_acq_rel);
    return slot;
}

struct esi_request *esi_request_find_slowly(uint64_t handle, uint64_t limit)
{
    struct esi_request_shard *shard = shard_of(handle);
    struct esi_request *slot;

    requests_lock(shard);
    slot = requests_find(shard, handle, limit);
    if (slot == NULL)
        requests_unlock(shard);
    return slot;
}

void esi_request_release_slowly(struct esi_request *request)
{
    requests_unlock(shard_of(request->handle));
}

void esi_request_remove_slowly(struct esi_request *request)
{
    struct esi_request_shard *shard = shard_of(request->handle);

    requests_erase(shard, request);
    requests_unlock(shard);
}

bool esi_request_put(const struct esi_request *request)
{
    struct esi_request *slot = esi_request_claim(request->handle);
    uint64_t serial;

    if (slot == NULL)
        return false;
    serial = slot->tuple.stop;
    *slot = *request;
    slot->tuple.stop = serial;
    esi_request_release(slot);
    return true;
}

void esi_request_share(void)
{
    struct esi_request_shard *shard = &esi_request_shards[0];
    struct esi_request *records = slots_of(shard);
    size_t slots = records != NULL ? count_slots(shard) : 0;

    if (esi_multiple)
        return;
    *shard = (struct esi_request_shard)NO_SHARD;
    show_slots(shard);
    esi_become_multiple();
    for (size_t i = 0; i < slots; i++)
        if (records[i].kind != ESI_REQUEST_NONE)
            esi_request_put(&records[i]);
    esi_ledger_give(records, slots * sizeof *records);
}

void esi_request_update(const struct esi_request *request)
{
    struct esi_request *slot =
        esi_request_find(request->handle, request->tuple.stop + 1);

    if (slot == NULL)
        return;
    if (slot->tuple.stop == request->tuple.stop)
        *slot = *request;
    esi_request_note_change(shard_of(request->handle));
    esi_request_release(slot);
}

bool esi_request_get(uint64_t handle, struct esi_request *ret_request)
{
    struct esi_request *slot = esi_request_find(handle, UINT64_MAX);

    if (slot == NULL)
        return false;
    *ret_request = *slot;
    esi_request_release(slot);
    return true;
}

bool esi_request_take(uint64_t handle, struct esi_request *ret_request)
{
    struct esi_request *slot = esi_request_find(handle, UINT64_MAX);

    if (slot == NULL)
        return false;
    *ret_request = *slot;
    esi_request_remove(slot);
    return true;
}

bool esi_request_finish(uint64_t handle,
                        uint64_t limit,
                        struct esi_request *ret_request)
{
    struct esi_request *slot = esi_request_find(handle, limit);

    if (slot == NULL)
        return false;
    *ret_request = *slot;
    if (slot->persistent) {
        slot->active = false;
        slot->cancelled = false;
        slot->receive = NULL;
        esi_request_note_change(shard_of(handle));
        esi_request_release(slot);
    } else {
        esi_request_remove(slot);
    }
    return true;
}

void esi_request_foreach(bool (*visit)(struct esi_request *request, void *context),
                         void *context)
{
    for (size_t s = 0; s < ESI_LEDGER_SHARDS; s++) {
        struct esi_request_shard *shard = &esi_request_shards[s];

        requests_lock(shard);
        for (size_t i = 0; i < count_slots(shard); i++) {
            struct esi_request request = shard->window[i];

            if (request.kind != ESI_REQUEST_NONE && visit(&request, context))
                shard->window[i] = request;
        }
        requests_unlock(shard);
    }
}
