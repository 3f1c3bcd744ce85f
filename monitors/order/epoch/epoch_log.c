/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_log.c - an append-only log with lock-free readers. */
#include "config.h"

#include "monitors/order/epoch/epoch_log.h"

#include <errno.h>

/* --- Memory ----------------------------------------------------------------------- */

/* Moves the first `count` numbers to an array of another size; log2 0: drops the
 * array. */
static int resize_log(_Atomic uintptr_t *array,
                      uint32_t count,
                      unsigned log2,
                      struct esi_words *words,
                      _Atomic uint32_t *turn)
{
    uintptr_t old = atomic_load_explicit(array, memory_order_relaxed);
    uintptr_t made = log2 ? esi_words_take(words, log2) : 0;

    if (log2 && !made)
        return -ENOMEM;
    /* A late reader that sees one of them also sees that its log was changed before. */
    for (uint32_t i = 1; i <= count; i++)
        atomic_store_explicit(
            &esi_words_at(made)[i],
            atomic_load_explicit(&esi_words_at(old)[i], memory_order_relaxed),
            memory_order_release);
    /* Pairs with the acquire of a reader. */
    atomic_store_explicit(array, made, memory_order_release);
    if (!old)
        return 0;
    atomic_store_explicit(turn, atomic_load_explicit(turn, memory_order_relaxed) + 2,
                          memory_order_release);
    esi_words_give_back(words, old);
    return 0;
}

static int reserve_words(_Atomic uintptr_t *array,
                         uint32_t count,
                         uint64_t more,
                         struct esi_words *words,
                         _Atomic uint32_t *turn)
{
    if (count + more <= esi_log_room(array))
        return 0;
    return resize_log(array, count, esi_words_log2(count + more), words, turn);
}

int esi_log_reserve(struct esi_log *log,
                    struct esi_words *words,
                    _Atomic uint32_t *turn,
                    uint64_t heads,
                    uint64_t entries)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    int code = reserve_words(&log->heads, count, heads, words, turn);

    return code < 0
               ? code
               : reserve_words(&log->entries, log->entry_count, entries, words, turn);
}

static void fit_log(_Atomic uintptr_t *array,
                    uint32_t count,
                    struct esi_words *words,
                    _Atomic uint32_t *turn)
{
    unsigned log2 = count ? esi_words_log2(count) : 0;

    /* Keeps its size if there is no memory. */
    if (esi_log_room(array) > (log2 ? (UINT32_C(1) << log2) - 1 : 0))
        (void)resize_log(array, count, log2, words, turn);
}

void esi_log_fit(struct esi_log *log, struct esi_words *words, _Atomic uint32_t *turn)
{
    fit_log(&log->heads, atomic_load_explicit(&log->head_count, memory_order_relaxed),
            words, turn);
    fit_log(&log->entries, log->entry_count, words, turn);
}

/* --- The log ---------------------------------------------------------------------- */

void esi_log_publish(struct esi_log *log, uint32_t own)
{
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    _Atomic uint64_t *heads = esi_log_words(&log->heads);

    /* A reader that sees the head also sees its entries and their array. */
    atomic_store_explicit(&heads[count + 1], (uint64_t)own << 32 | log->entry_count,
                          memory_order_release);
    atomic_store_explicit(&log->head_count, count + 1, memory_order_release);
}

void esi_log_drop(struct esi_log *log, uint32_t heads)
{
    _Atomic uint64_t *head_of = esi_log_words(&log->heads);
    _Atomic uint64_t *entry_of = esi_log_words(&log->entries);
    uint32_t count = atomic_load_explicit(&log->head_count, memory_order_relaxed);
    uint32_t dropped = heads ? (uint32_t)esi_log_head(log, heads - 1) : 0;

    /* A late reader that sees any of the following also sees that the turn has
     * changed. */
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
    uintptr_t array = atomic_load_explicit(&log->heads, memory_order_acquire);
    _Atomic uint64_t *heads = esi_words_at(array);
    uint64_t bound = ((uint64_t)own + 1) << 32;
    uint32_t end = 0, room = esi_words_room(array);

    high = high < room ? high : room;
    /* Usually it is among the last ones. */
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
    /* At least as new as the head that determined the start. */
    uintptr_t array = atomic_load_explicit(&log->entries, memory_order_acquire);
    _Atomic uint64_t *entries = esi_words_at(array);

    at = at < esi_words_room(array) ? at : esi_words_room(array);
    for (; at > 0; at--) {
        /* Pairs with the release store of the writer. */
        uint64_t entry = atomic_load_explicit(&entries[at], memory_order_acquire);

        if (entry >> 32 == trace)
            return (uint32_t)entry;
    }
    return 0;
}
