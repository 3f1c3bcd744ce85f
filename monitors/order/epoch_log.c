/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_log.c - an append-only log that is read without a lock: see epoch_log.h. */
#include "config.h"

#include "monitors/order/epoch_log.h"

#include <errno.h>

enum { LEAST_LOG2 = 3, LARGE_LOG2 = 10 };

/* --- Memory ------------------------------------------------------------------------
 */

static _Atomic uint64_t *take_words(struct esi_words *words, unsigned log2)
{
    _Atomic uint64_t *taken = words->free[log2];

    if (taken) {
        words->free[log2] = (_Atomic uint64_t *)(uintptr_t)atomic_load_explicit(
            &taken[1], memory_order_relaxed);
        return taken;
    }
    taken = esi_arena_take(&words->arena, sizeof *taken << log2);
    if (taken)
        atomic_init(&taken[0], UINT64_C(1) << log2);
    return taken;
}

/* Readers that are still in it see the turn change, if they see any of what comes. */
static void give_words(struct esi_words *words, _Atomic uint64_t *given)
{
    unsigned log2 = (unsigned)__builtin_ctzll(
        atomic_load_explicit(&given[0], memory_order_relaxed));

    atomic_store_explicit(&given[1], (uintptr_t)words->free[log2],
                          memory_order_release);
    words->free[log2] = given;
}

/* A larger array with the same first `count` numbers. */
static int grow(_Atomic(_Atomic uint64_t *) *array,
                uint32_t *room,
                uint32_t count,
                uint64_t more,
                struct esi_words *words,
                _Atomic uint32_t *turn)
{
    _Atomic uint64_t *old = atomic_load_explicit(array, memory_order_relaxed), *made;
    unsigned log2 = LEAST_LOG2;

    if (count + more <= *room)
        return 0;
    while ((UINT64_C(1) << log2) < count + more + 1)
        log2++;
    /* What a log outgrows is of use only to others that are behind: few large sizes. */
    if (log2 > LARGE_LOG2)
        log2 += log2 & 1;
    if (log2 >= ESI_WORDS_SIZES)
        return -ENOMEM;
    made = take_words(words, log2);
    if (!made)
        return -ENOMEM;
    for (uint32_t i = 1; i <= count; i++)
        atomic_store_explicit(&made[i],
                              atomic_load_explicit(&old[i], memory_order_relaxed),
                              memory_order_release);
    /* Pairs with the acquire of a reader. */
    atomic_store_explicit(array, made, memory_order_release);
    *room = (UINT32_C(1) << log2) - 1;
    if (old) {
        atomic_store_explicit(turn,
                              atomic_load_explicit(turn, memory_order_relaxed) + 2,
                              memory_order_release);
        give_words(words, old);
    }
    return 0;
}

int esi_log_reserve(struct esi_log *log,
                    struct esi_words *words,
                    _Atomic uint32_t *turn,
                    uint64_t heads,
                    uint64_t entries)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    int code = grow(&log->heads, &log->head_room, count, heads, words, turn);

    if (code < 0)
        return code;
    return grow(&log->entries, &log->entry_room, log->entry_count, entries, words,
                turn);
}

static void release(_Atomic(_Atomic uint64_t *) *array,
                    struct esi_words *words,
                    _Atomic uint32_t *turn)
{
    _Atomic uint64_t *old = atomic_load_explicit(array, memory_order_relaxed);

    if (!old)
        return;
    atomic_store_explicit(array, NULL, memory_order_release);
    atomic_store_explicit(turn, atomic_load_explicit(turn, memory_order_relaxed) + 2,
                          memory_order_release);
    give_words(words, old);
}

void esi_log_release(struct esi_log *log,
                     struct esi_words *words,
                     _Atomic uint32_t *turn)
{
    log->head_room = log->entry_room = log->entry_count = 0;
    release(&log->heads, words, turn);
    release(&log->entries, words, turn);
}

/* Numbers that an array has room for; a reader of one that is another log's now stays
 * within it. */
static uint32_t room_of(_Atomic uint64_t *array)
{
    return array ? (uint32_t)atomic_load_explicit(&array[0], memory_order_relaxed) - 1
                 : 0;
}

/* --- The log -----------------------------------------------------------------------
 */

void esi_log_publish(struct esi_log *log, uint32_t own)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    _Atomic uint64_t *heads = atomic_load_explicit(&log->heads, memory_order_relaxed);

    /* Whoever sees the head sees its entries, and where they are. */
    atomic_store_explicit(&heads[count + 1], (uint64_t)own << 32 | log->entry_count,
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
        atomic_store_explicit(&head_of[i - heads + 1], esi_log_head(log, i) - dropped,
                              memory_order_release);
    for (uint32_t i = dropped; i < log->entry_count; i++)
        atomic_store_explicit(&entry_of[i - dropped + 1], esi_log_entry(log, i),
                              memory_order_release);
    log->entry_count -= dropped;
}

uint32_t esi_log_end_at(const struct esi_log *log, uint32_t own)
{
    uint32_t low = 0;
    uint32_t high = atomic_load_explicit(&log->head_count, memory_order_acquire);
    _Atomic uint64_t *heads = atomic_load_explicit(&log->heads, memory_order_acquire);
    uint64_t bound = ((uint64_t)own + 1) << 32;
    uint32_t end = 0, room = room_of(heads);

    high = high < room ? high : room;
    /* Mostly it is among the last. */
    for (uint32_t back = 1; back < high; back *= 2)
        if (atomic_load_explicit(&heads[high - back + 1], memory_order_acquire) <
            bound) {
            low = high - back;
            high = low + (back > 1 ? back / 2 : 1);
            break;
        }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t head = atomic_load_explicit(&heads[middle + 1], memory_order_acquire);

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

    at = at < room_of(entries) ? at : room_of(entries);
    for (; at > 0; at--) {
        /* Pairs with esi_log_push(). */
        uint64_t entry = atomic_load_explicit(&entries[at], memory_order_acquire);

        if (entry >> 32 == trace)
            return (uint32_t)entry;
    }
    return 0;
}
