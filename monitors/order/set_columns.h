/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The columns of one trace: of each event its type, text, kind and partner.
 *
 * Chunks double, and hold the same rows of all columns.
 */
#ifndef ES_MONITORS_ORDER_SET_COLUMNS_H
#define ES_MONITORS_ORDER_SET_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "monitors/order/event.h"

enum { ESI_COLUMNS_CHUNKS = 29, ESI_COLUMNS_FIRST_LOG2 = 4 };

/* Zeros are empty; the fields but `count` are private. */
struct esi_columns {
    unsigned char *chunks[ESI_COLUMNS_CHUNKS];
    uint32_t count;
};

/* How partners are kept. */
enum esi_partner_form {
    ESI_PARTNER_NONE,
    ESI_PARTNER_ONE,  /* in the row */
    ESI_PARTNER_MANY, /* the row says where (event_set.c) */
};

/* A place in each column. */
struct esi_columns_row {
    struct es_event_id *partner;
    uint32_t *type;
    uint32_t *text;
    uint8_t *shape;  /* kind | form << 2 */
    uint32_t behind; /* rows that lie side by side, this one the first */
};

void esi_columns_fini(struct esi_columns *columns);
/* Makes room for row `count`, and counts it; it is the caller's to fill.  0 or
 * -ENOMEM. */
int esi_columns_add(struct esi_columns *columns);
uint64_t esi_columns_bytes(const struct esi_columns *columns);

/* Row `at`, which is there. */
static inline struct esi_columns_row esi_columns_at(const struct esi_columns *columns,
                                                    uint32_t at)
{
    uint64_t first = UINT64_C(1) << ESI_COLUMNS_FIRST_LOG2;
    unsigned chunk =
        63u - (unsigned)__builtin_clzll(at + first) - ESI_COLUMNS_FIRST_LOG2;
    size_t rows = (size_t)first << chunk;
    size_t row = (size_t)(at + first) - rows;
    unsigned char *bytes = columns->chunks[chunk];

    return (struct esi_columns_row){
        .partner = (struct es_event_id *)(void *)bytes + row,
        .type = (uint32_t *)(void *)(bytes + 8 * rows) + row,
        .text = (uint32_t *)(void *)(bytes + 12 * rows) + row,
        .shape = bytes + 16 * rows + row,
        .behind = (uint32_t)(rows - row),
    };
}

#endif
