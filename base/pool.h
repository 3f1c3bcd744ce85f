/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pool.h - allocator for records of one size, which never move.
 *
 * A record is identified by a number:
 *
 *     struct call *call = esi_pool_take(&pool, &number);
 *     ...
 *     esi_pool_give(&pool, number);
 *
 * Memory comes from malloc() in chunks of many records, and is freed with the pool.
 * Not thread safe.
 */
#ifndef ES_BASE_POOL_H
#define ES_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { ESI_POOL_CHUNK = 256 }; /* records per chunk */

struct esi_pool {
    size_t record_bytes;
    size_t made;     /* records created so far; number of the next */
    uint32_t unused; /* head of the free list: 1 + number of a free record,
                        which contains the next entry; 0 if empty */
    char **chunks;   /* owned */
    size_t chunk_count;
    size_t chunk_capacity;
};

/* Initializes an empty pool.  Records have the alignment of pointers. */
void esi_pool_init(struct esi_pool *pool, size_t record_bytes);
/* Frees all memory.  Accepts a zeroed struct. */
void esi_pool_fini(struct esi_pool *pool);

static inline void *esi_pool_at(const struct esi_pool *pool, size_t number)
{
    return pool->chunks[number / ESI_POOL_CHUNK] +
           number % ESI_POOL_CHUNK * pool->record_bytes;
}

/* Prefetches a record that will be used soon. */
static inline void esi_pool_prefetch(const struct esi_pool *pool, const void *record)
{
    enum { LINE_BYTES = 64 };

    for (size_t i = 0; i < pool->record_bytes; i += LINE_BYTES)
        __builtin_prefetch((const char *)record + i, 1);
}

/* Allocates a zeroed record; NULL if out of memory. */
void *esi_pool_take(struct esi_pool *pool, uint32_t *ret_number);
void esi_pool_give(struct esi_pool *pool, uint32_t number);

#endif
