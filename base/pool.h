/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * pool.h - records of one size that come and go, and never move.
 *
 * A record has a number, by which it is found and given back:
 *
 *     struct call *call = esi_pool_take(&pool, &number);
 *     ...
 *     esi_pool_give(&pool, number);
 *
 * Memory comes from malloc(), for many records at once, and goes back when the pool
 * ends.  No locks: one thread at a time may use a pool.
 */
#ifndef ES_BASE_POOL_H
#define ES_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

enum { ESI_POOL_CHUNK = 256 }; /* records in one piece */

struct esi_pool {
    size_t record_bytes;
    size_t made;     /* records; number of the next */
    uint32_t unused; /* 1 + number of a record that was given back; 0 = none.  The next
                        one's stands in it. */
    char **chunks;   /* owned */
    size_t chunk_count;
    size_t chunk_capacity;
};

/* Records are aligned as pointers are. */
void esi_pool_init(struct esi_pool *pool, size_t record_bytes);
/* All zero is allowed. */
void esi_pool_fini(struct esi_pool *pool);

static inline void *esi_pool_at(const struct esi_pool *pool, size_t number)
{
    return pool->chunks[number / ESI_POOL_CHUNK] +
           number % ESI_POOL_CHUNK * pool->record_bytes;
}

/* A record of zeros; NULL without memory. */
void *esi_pool_take(struct esi_pool *pool, uint32_t *ret_number);
void esi_pool_give(struct esi_pool *pool, uint32_t number);

#endif
