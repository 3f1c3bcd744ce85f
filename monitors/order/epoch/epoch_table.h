/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_table.h - what a trace knows of others in this epoch, for the writer: trace ->
 * index, as many entries as traces that are known, so that no N x N table arises.
 *
 * A hash table while it is small, a plain vector once it would be larger than that.  Of
 * a plain one there may be a copy, of what it was when messages were sent that are
 * still on their way: who receives them compares vectors, and need not read the log.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_TABLE_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Caller's memory, zeroed.  Only one of `slots` and `dense` is there. */
struct esi_epoch_table {
    uint64_t *slots; /* (trace + 1) << 32 | value; 0 = free */
    uint32_t *dense; /* value; 0 = not known */
    uint32_t room;   /* slots, a power of two, or entries of dense */
    uint32_t known;
    uint32_t since;                 /* own index of the event that changed it last */
    uint32_t copy_first, copy_last; /* events at which it was as in the copy, from 1 */
    uint32_t *copy;                 /* as large as dense, or NULL */
};

void esi_table_fini(struct esi_epoch_table *table);

/* Makes room for `more` traces of `traces`, so that esi_table_raise() cannot fail.
 * 0 or -ENOMEM: as it was. */
int esi_table_reserve(struct esi_epoch_table *table, uint64_t more, uint32_t traces);

/* Knows nothing any more; keeps its room. */
void esi_table_clear(struct esi_epoch_table *table);

/* Gives back memory where far more is held than for `used` traces. */
void esi_table_trim(struct esi_epoch_table *table, uint32_t used, uint32_t traces);

/* Copies what a plain one knows at events up to `last`.  It may fail: then there is no
 * copy. */
void esi_table_copy(struct esi_epoch_table *table, uint32_t last);

/* What was known at the event `own`, as a vector of `room` entries; NULL = there is
 * none.  `own` is after the last esi_table_clear(). */
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

/* 0 = not known. */
static inline uint32_t esi_table_get(const struct esi_epoch_table *table,
                                     uint32_t trace)
{
    if (table->dense)
        return trace < table->room ? table->dense[trace] : 0;
    return table->slots ? (uint32_t)*esi_table_slot(table, trace) : 0;
}

/* Returns whether `value` is more than was known. */
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

/* The next known trace at or after a place, which is moved behind it; false = no more.
 * A walk begins with the place 0. */
bool esi_table_next(const struct esi_epoch_table *table,
                    uint32_t *place,
                    uint32_t *ret_trace,
                    uint32_t *ret_value);

#endif
