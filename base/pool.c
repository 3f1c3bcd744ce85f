/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pool.c - records in chunks, and a free list. */
#include "config.h"

#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_pool_init(struct esi_pool *pool, size_t record_bytes)
{
    size_t alignment = _Alignof(void *);

    *pool = (struct esi_pool){
        .record_bytes = (record_bytes + alignment - 1) / alignment * alignment,
    };
}

void esi_pool_fini(struct esi_pool *pool)
{
    for (size_t i = 0; i < pool->chunk_count; i++)
        free(pool->chunks[i]);
    free(pool->chunks);
    esi_pool_init(pool, pool->record_bytes);
}

/* Creates a record. */
static void *make_record(struct esi_pool *pool, uint32_t *ret_number)
{
    if (pool->made == pool->chunk_count * ESI_POOL_CHUNK) {
        char *chunk;

        if (ESI_ARRAY_RESERVE(pool->chunks, pool->chunk_capacity,
                              pool->chunk_count + 1) < 0)
            return NULL;
        chunk = malloc(ESI_POOL_CHUNK * pool->record_bytes);
        if (!chunk)
            return NULL;
        pool->chunks[pool->chunk_count++] = chunk;
    }
    *ret_number = (uint32_t)pool->made++;
    return esi_pool_at(pool, *ret_number);
}

void *esi_pool_take(struct esi_pool *pool, uint32_t *ret_number)
{
    void *record;

    if (pool->unused > 0) {
        *ret_number = pool->unused - 1;
        record = esi_pool_at(pool, *ret_number);
        memcpy(&pool->unused, record, sizeof pool->unused);
        if (pool->unused > 0)
            esi_pool_prefetch(pool, esi_pool_at(pool, pool->unused - 1));
    } else {
        record = make_record(pool, ret_number);
    }
    return record ? memset(record, 0, pool->record_bytes) : NULL;
}

void esi_pool_give(struct esi_pool *pool, uint32_t number)
{
    memcpy(esi_pool_at(pool, number), &pool->unused, sizeof pool->unused);
    pool->unused = number + 1;
}
