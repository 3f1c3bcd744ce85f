/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_columns.c - chunks of columns. */
#include "config.h"

#include "monitors/order/set_columns.h"

#include <errno.h>
#include <stdlib.h>

enum { ROW_BYTES = 17 };

_Static_assert(sizeof(struct es_event_id) == 8, "ROW_BYTES");

void esi_columns_fini(struct esi_columns *columns)
{
    for (unsigned chunk = 0; chunk < ESI_COLUMNS_CHUNKS; chunk++)
        free(columns->chunks[chunk]);
}

static size_t chunk_bytes(unsigned chunk)
{
    return (size_t)ROW_BYTES << (ESI_COLUMNS_FIRST_LOG2 + chunk);
}

int esi_columns_add(struct esi_columns *columns)
{
    uint64_t first = UINT64_C(1) << ESI_COLUMNS_FIRST_LOG2;
    unsigned chunk = 63u - (unsigned)__builtin_clzll(columns->count + first) -
                     ESI_COLUMNS_FIRST_LOG2;

    if (!columns->chunks[chunk]) {
        columns->chunks[chunk] = malloc(chunk_bytes(chunk));
        if (!columns->chunks[chunk])
            return -ENOMEM;
    }
    columns->count++;
    return 0;
}

uint64_t esi_columns_bytes(const struct esi_columns *columns)
{
    uint64_t bytes = 0;

    for (unsigned chunk = 0; chunk < ESI_COLUMNS_CHUNKS; chunk++)
        if (columns->chunks[chunk])
            bytes += chunk_bytes(chunk);
    return bytes;
}
