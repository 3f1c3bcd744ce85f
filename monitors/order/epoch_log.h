/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_log.h - what one trace learnt of others since its log was last emptied, in the
 * order in which it learnt it.
 *
 * An *entry* is (trace, value): from here on everything up to the event `value` of that
 * trace precedes.  A *head* is (own index, end): entries up to `end` were known at the
 * event of that index.  Values of one trace only rise, so the last entry for it counts.
 *
 *   call                            may run together with
 *   esi_log_find, _end_at           all others; after an _empty that came in between,
 *                                   what they return is nonsense (epoch_trace.h sees
 * it) others                          not with each other
 *
 * Memory goes from one log to another but never away, so that a late reader reads
 * nonsense at worst; `turn` is raised by 2 before.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_LOG_H
#define ES_MONITORS_ORDER_EPOCH_LOG_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch_arena.h"

enum { ESI_WORDS_SIZES = 32 };

/* Arrays of a power of two of words, of which the first says how many they are for
 * ever. Caller's memory, zeroed. */
struct esi_words {
    struct esi_arena arena;
    _Atomic uint64_t *free[ESI_WORDS_SIZES]; /* the second word is the next one */
};

/* Caller's memory, zeroed.  Word i + 1 of an array is number i. */
struct esi_log {
    _Atomic(_Atomic uint64_t *) heads;   /* own index << 32 | end */
    _Atomic(_Atomic uint64_t *) entries; /* trace << 32 | value */
    _Atomic uint32_t head_count;         /* published */
    uint32_t head_room;
    uint32_t entry_room;
    uint32_t entry_count; /* some of them with no head yet */
};

/* Room for so many more.  0 or -ENOMEM: as it was. */
int esi_log_reserve(struct esi_log *log,
                    struct esi_words *words,
                    _Atomic uint32_t *turn,
                    uint64_t heads,
                    uint64_t entries);

/* Gives back the memory of a log that is empty. */
void esi_log_release(struct esi_log *log,
                     struct esi_words *words,
                     _Atomic uint32_t *turn);

/* One entry more; there is room.  Readers see it when its head is there. */
static inline void esi_log_push(struct esi_log *log, uint32_t trace, uint32_t value)
{
    _Atomic uint64_t *entries =
        atomic_load_explicit(&log->entries, memory_order_relaxed);

    /* A late reader that sees it sees also that the log was changed before. */
    atomic_store_explicit(&entries[++log->entry_count], (uint64_t)trace << 32 | value,
                          memory_order_release);
}

/* Entries pushed since the last head are known from the event `own` on. */
void esi_log_publish(struct esi_log *log, uint32_t own);

/* Takes away the first heads with their entries; what follows moves to the front. */
void esi_log_drop(struct esi_log *log, uint32_t heads);

/* Entries that are known at the event `own`. */
uint32_t esi_log_end_at(const struct esi_log *log, uint32_t own);

/* What is known of `trace` at the event `own`; 0 = nothing in this log. */
uint32_t esi_log_find(const struct esi_log *log, uint32_t own, uint32_t trace);

/* For the writer. */
static inline uint64_t esi_log_entry(const struct esi_log *log, uint32_t at)
{
    _Atomic uint64_t *entries =
        atomic_load_explicit(&log->entries, memory_order_relaxed);

    return atomic_load_explicit(&entries[at + 1], memory_order_relaxed);
}

static inline uint64_t esi_log_head(const struct esi_log *log, uint32_t at)
{
    _Atomic uint64_t *heads = atomic_load_explicit(&log->heads, memory_order_relaxed);

    return atomic_load_explicit(&heads[at + 1], memory_order_relaxed);
}

#endif
