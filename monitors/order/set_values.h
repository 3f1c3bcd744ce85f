/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A column of values, many of them alike: one attribute of the events of a trace.
 *
 * 64 rows form a block, which keeps the least value and of each row what is above it,
 * in as many bytes as the largest needs; none where all are the same.
 */
#ifndef ES_MONITORS_ORDER_SET_VALUES_H
#define ES_MONITORS_ORDER_SET_VALUES_H

#include "monitors/order/event_set.h"

struct esi_values_block;
struct esi_values_open;

/* Zeros are an empty column; the fields are private. */
struct esi_values {
    struct esi_values_block **blocks; /* NULL: all absent */
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t first;               /* row of the set; those before are absent */
    uint32_t count;               /* of rows from there on */
    struct esi_values_open *open; /* the rows that do not form a block yet, or NULL */
};

/* What columns hold together. */
struct esi_values_memory {
    uint64_t bytes;
};

void esi_values_fini(struct esi_values *values);

/* Puts a value into row `row`, which is behind all others; rows between are absent.  0,
 * or -ENOMEM: the column is then only good for _fini. */
int esi_values_put(struct esi_values *values,
                   struct esi_values_memory *memory,
                   uint32_t row,
                   struct es_event_value value);
/* Absent where there is none. */
struct es_event_value esi_values_get(const struct esi_values *values, uint32_t row);

/* Packs what does not form a block yet, too.  0 or -ENOMEM. */
int esi_values_pack(struct esi_values *values, struct esi_values_memory *memory);

#endif
