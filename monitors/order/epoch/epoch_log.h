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
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_LOG_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_LOG_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"

/* Caller's memory, zeroed. */
struct esi_log {
    _Atomic uintptr_t heads;     /* array of own index << 32 | end */
    _Atomic uintptr_t entries;   /* array of trace << 32 | value */
    _Atomic uint32_t head_count; /* published */
    uint32_t entry_count;        /* some of them with no head yet */
};

/* Room for so many more.  0 or -ENOMEM: as it was. */
int esi_log_reserve(struct esi_log *log,
                    struct esi_words *words,
                    _Atomic uint32_t *turn,
                    uint64_t heads,
                    uint64_t entries);

/* Gives back what the log has more memory than it needs; all of it where it is empty.
 */
void esi_log_fit(struct esi_log *log, struct esi_words *words, _Atomic uint32_t *turn);

/* For the writer. */
static inline _Atomic uint64_t *esi_log_words(const _Atomic uintptr_t *array)
{
    return esi_words_at(atomic_load_explicit(array, memory_order_relaxed));
}

static inline uint32_t esi_log_room(const _Atomic uintptr_t *array)
{
    return esi_words_room(atomic_load_explicit(array, memory_order_relaxed));
}

/* Memory of both arrays. */
static inline uint64_t esi_log_bytes(const struct esi_log *log)
{
    return ((uint64_t)esi_log_room(&log->heads) + esi_log_room(&log->entries)) *
           sizeof(uint64_t);
}

/* Where the next entries are to be written, if there is room for them. */
static inline _Atomic uint64_t *esi_log_next(const struct esi_log *log)
{
    return esi_log_words(&log->entries) + 1 + log->entry_count;
}

/* Entries that were added to `entry_count` since the last head are known from the event
 * `own` on. */
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
    return atomic_load_explicit(&esi_log_words(&log->entries)[at + 1],
                                memory_order_relaxed);
}

static inline uint64_t esi_log_head(const struct esi_log *log, uint32_t at)
{
    return atomic_load_explicit(&esi_log_words(&log->heads)[at + 1],
                                memory_order_relaxed);
}

#endif
