/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_table.h - what a trace knows of others in this epoch, for the writer: a map
 * from trace to index with an entry per known trace, so that there is no N x N table.
 *
 * It is a hash table while that is smaller than a plain vector, and a vector
 * afterwards.  A vector may have a copy of its state at the time of sends that have not
 * been received yet: the receiver then compares vectors and need not read the log.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_TABLE_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Allocated and zeroed by the caller.  Only one of `slots` and `dense` is used. */
struct esi_epoch_table {
    uint64_t *slots; /* (trace + 1) << 32 | value; 0 = free */
    uint32_t *dense; /* value; 0 = not known */
    uint32_t room;   /* number of slots, a power of two, or length of `dense` */
    uint32_t known;
    uint32_t since;                 /* own index of the last event that changed it */
    uint32_t copy_first, copy_last; /* own indices, from 1, of the events at which it
                                       was equal to the copy */
    uint32_t *copy;                 /* as large as dense, or NULL */
};

void esi_table_fini(struct esi_epoch_table *table);

/* Makes room for `more` of `traces` traces, so that esi_table_raise() cannot fail.
 * Returns 0, or -ENOMEM, which leaves the table unchanged. */
int esi_table_reserve(struct esi_epoch_table *table, uint64_t more, uint32_t traces);

/* Removes all entries; keeps the memory. */
void esi_table_clear(struct esi_epoch_table *table);

/* Frees memory if much more is held than `used` traces need. */
void esi_table_trim(struct esi_epoch_table *table, uint32_t used, uint32_t traces);

/* Copies the state of a vector at events up to `last`.  If there is no memory, the
 * table has no copy afterwards. */
void esi_table_copy(struct esi_epoch_table *table, uint32_t last);

/* Returns what was known at the event `own`, as a vector of `room` entries; NULL if
 * that is not available.  `own` must follow the last esi_table_clear(). */
static inline const uint32_t *esi_table_at(const struct esi_epoch_table *table,
                                           uint32_t own)
{
    if (own >= table->since)
        return table->dense;
    return own >= table->copy_first && own <= table->copy_last ? table->copy : NULL;
}

uint64_t esi_table_bytes(const struct esi_epoch_table *table);

static inline uint64_t *esi_table_slot(const struct esi_epoch_table *table,
                                       uint32_t trace)
{
    uint32_t mask = table->room - 1;
    uint32_t at = (uint32_t)((trace * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & mask;

    while (table->slots[at] && table->slots[at] >> 32 != (uint64_t)trace + 1)
        at = (at + 1) & mask;
    return &table->slots[at];
}

/* Returns the known index of a trace; 0 = not known. */
static inline uint32_t esi_table_get(const struct esi_epoch_table *table,
                                     uint32_t trace)
{
    if (table->dense)
        return trace < table->room ? table->dense[trace] : 0;
    return table->slots ? (uint32_t)*esi_table_slot(table, trace) : 0;
}

/* Raises the entry of a trace.  Returns whether `value` is greater than before. */
static inline bool esi_table_raise(struct esi_epoch_table *table,
                                   uint32_t trace,
                                   uint32_t value)
{
    if (table->dense) {
        uint32_t *known = &table->dense[trace];

        if (value <= *known)
            return false;
        table->known += *known == 0;
        *known = value;
    } else {
        uint64_t *slot = esi_table_slot(table, trace);

        if (value <= (uint32_t)*slot)
            return false;
        table->known += *slot == 0;
        *slot = ((uint64_t)trace + 1) << 32 | value;
    }
    return true;
}

enum { ESI_NEWS_BLOCK = 64 }; /* in vector entries */

/* Returns a bit mask of the entries of a block of a vector that exceed the known ones.
 * The compiler vectorizes the comparison. */
static inline uint64_t esi_table_news(const uint32_t *vector, const uint32_t *known)
{
    /* gathers the lowest bits of bytes */
    const uint64_t gather = UINT64_C(0x0102040810204080);
    unsigned char is_news[ESI_NEWS_BLOCK];
    uint64_t news = 0, eight;

    for (unsigned i = 0; i < ESI_NEWS_BLOCK; i++)
        is_news[i] = vector[i] > known[i];
    for (unsigned i = 0; i < ESI_NEWS_BLOCK; i += sizeof eight) {
        memcpy(&eight, &is_news[i], sizeof eight);
        news |= (eight * gather >> 56) << i;
    }
    return news;
}

/* Iterates over known traces: returns the next one at or after *place, which starts at
 * 0, and advances *place; false at the end. */
bool esi_table_next(const struct esi_epoch_table *table,
                    uint32_t *place,
                    uint32_t *ret_trace,
                    uint32_t *ret_value);

#endif
