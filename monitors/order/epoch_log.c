/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_log.c - an append-only log that is read without a lock: see epoch_log.h. */
#include "config.h"

#include "monitors/order/epoch_log.h"

#include <errno.h>

enum { FIRST_ROOM = 8 };

/* A larger array with the same first `count` words; readers may still be in the old
 * one, which holds the same. */
static int grow(_Atomic(_Atomic uint64_t *) *words,
                uint32_t *room,
                uint32_t count,
                uint64_t more,
                struct esi_arena *arena)
{
    uint64_t larger = *room ? (uint64_t)*room * 2 : FIRST_ROOM;
    _Atomic uint64_t *old = atomic_load_explicit(words, memory_order_relaxed), *made;

    if (count + more <= *room)
        return 0;
    while (larger < count + more)
        larger *= 2;
    if (larger > UINT32_MAX / 2)
        return -ENOMEM;
    made = esi_arena_take(arena, larger * sizeof *made);
    if (!made)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        atomic_init(&made[i], atomic_load_explicit(&old[i], memory_order_relaxed));
    /* Pairs with the acquire of a reader. */
    atomic_store_explicit(words, made, memory_order_release);
    *room = (uint32_t)larger;
    return 0;
}

int esi_log_reserve(struct esi_log *log,
                    struct esi_arena *arena,
                    uint64_t heads,
                    uint64_t entries)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    int code = grow(&log->heads, &log->head_room, count, heads, arena);

    if (code < 0)
        return code;
    return grow(&log->entries, &log->entry_room, log->entry_count, entries, arena);
}

void esi_log_publish(struct esi_log *log, uint32_t own)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    _Atomic uint64_t *heads = atomic_load_explicit(&log->heads, memory_order_relaxed);

    /* Whoever sees the head sees its entries, and where they are. */
    atomic_store_explicit(&heads[count], (uint64_t)own << 32 | log->entry_count,
                          memory_order_release);
    atomic_store_explicit(&log->head_count, count + 1, memory_order_release);
}

void esi_log_drop(struct esi_log *log, uint32_t heads)
{
    _Atomic uint64_t *head_of = atomic_load_explicit(&log->heads, memory_order_relaxed);
    _Atomic uint64_t *entry_of =
        atomic_load_explicit(&log->entries, memory_order_relaxed);
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    uint32_t dropped = heads ? (uint32_t)esi_log_head(log, heads - 1) : 0;

    /* All as in esi_log_push(). */
    atomic_store_explicit(&log->head_count, count - heads, memory_order_release);
    for (uint32_t i = heads; i < count; i++)
        atomic_store_explicit(&head_of[i - heads], esi_log_head(log, i) - dropped,
                              memory_order_release);
    for (uint32_t i = dropped; i < log->entry_count; i++)
        atomic_store_explicit(&entry_of[i - dropped], esi_log_entry(log, i),
                              memory_order_release);
    log->entry_count -= dropped;
}

uint32_t esi_log_end_at(const struct esi_log *log, uint32_t own)
{
    uint32_t low = 0;
    uint32_t high = atomic_load_explicit(&log->head_count, memory_order_acquire);
    _Atomic uint64_t *heads = atomic_load_explicit(&log->heads, memory_order_acquire);
    uint64_t bound = ((uint64_t)own + 1) << 32;
    uint32_t end = 0;

    /* Mostly it is among the last. */
    for (uint32_t back = 1; back < high; back *= 2)
        if (atomic_load_explicit(&heads[high - back], memory_order_acquire) < bound) {
            low = high - back;
            high = low + (back > 1 ? back / 2 : 1);
            break;
        }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t head = atomic_load_explicit(&heads[middle], memory_order_acquire);

        if (head < bound) {
            end = (uint32_t)head;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return end;
}

uint32_t esi_log_find(const struct esi_log *log, uint32_t own, uint32_t trace)
{
    uint32_t at = esi_log_end_at(log, own);
    /* As new as the head that told where to begin. */
    _Atomic uint64_t *entries =
        atomic_load_explicit(&log->entries, memory_order_acquire);

    while (at > 0) {
        /* Pairs with esi_log_push(). */
        uint64_t entry = atomic_load_explicit(&entries[--at], memory_order_acquire);

        if (entry >> 32 == trace)
            return (uint32_t)entry;
    }
    return 0;
}
