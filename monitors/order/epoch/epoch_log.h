/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_log.h - what a trace has learnt about others since its log was last emptied, in
 * the order in which it learnt it.
 *
 * An *entry* is (trace, value): from here on, all events of that trace up to `value`
 * precede.  A *head* is (own index, end): the entries up to `end` were known at the
 * event with that index.  The values of a trace only increase, so its last entry is
 * valid.
 *
 *   call                            may run concurrently with
 *   esi_log_find, _end_at           all others; if the log is emptied meanwhile, the
 *                                   result is garbage, which epoch_trace.h detects
 *   others                          not with each other
 *
 * Memory moves between logs but is never freed, so a late reader at worst reads
 * garbage; `turn` is increased by 2 before memory moves.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_LOG_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_LOG_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"

/* Allocated and zeroed by the caller. */
struct esi_log {
    _Atomic uintptr_t heads;     /* array of own index << 32 | end */
    _Atomic uintptr_t entries;   /* array of trace << 32 | value */
    _Atomic uint32_t head_count; /* published heads */
    uint32_t entry_count;        /* includes entries that have no head yet */
};

/* Makes room for more heads and entries.  Returns 0, or -ENOMEM, which leaves the log
 * unchanged. */
int esi_log_reserve(struct esi_log *log,
                    struct esi_words *words,
                    _Atomic uint32_t *turn,
                    uint64_t heads,
                    uint64_t entries);

/* Frees memory that the log does not need; all of it if the log is empty. */
void esi_log_fit(struct esi_log *log, struct esi_words *words, _Atomic uint32_t *turn);

/* Returns the words of an array; for the writer. */
static inline _Atomic uint64_t *esi_log_words(const _Atomic uintptr_t *array)
{
    return esi_words_at(atomic_load_explicit(array, memory_order_relaxed));
}

static inline uint32_t esi_log_room(const _Atomic uintptr_t *array)
{
    return esi_words_room(atomic_load_explicit(array, memory_order_relaxed));
}

/* Returns the bytes of both arrays. */
static inline uint64_t esi_log_bytes(const struct esi_log *log)
{
    return ((uint64_t)esi_log_room(&log->heads) + esi_log_room(&log->entries)) *
           sizeof(uint64_t);
}

/* Returns where to write the next entries, for which there must be room. */
static inline _Atomic uint64_t *esi_log_next(const struct esi_log *log)
{
    return esi_log_words(&log->entries) + 1 + log->entry_count;
}

/* Publishes the entries added to `entry_count` since the last head as known from the
 * event `own` on. */
void esi_log_publish(struct esi_log *log, uint32_t own);

/* Removes the first heads and their entries and moves the rest to the front. */
void esi_log_drop(struct esi_log *log, uint32_t heads);

/* Returns the number of entries known at the event `own`. */
uint32_t esi_log_end_at(const struct esi_log *log, uint32_t own);

/* Returns the greatest index of `trace` known at the event `own`; 0 = not in this
 * log. */
uint32_t esi_log_find(const struct esi_log *log, uint32_t own, uint32_t trace);

/* Returns an entry; for the writer, like esi_log_head(). */
static inline uint64_t esi_log_entry(const struct esi_log *log, uint32_t at)
{
    return atomic_load_explicit(&esi_log_words(&log->entries)[at + 1],
                                memory_order_relaxed);
}

static inline uint64_t esi_log_head(const struct esi_log *log, uint32_t at)
{
    return atomic_load_explicit(&esi_log_words(&log->heads)[at + 1],
                                memory_order_relaxed);
}

#endif
