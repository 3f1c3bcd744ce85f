/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* arena_pool.c - blocks by size: small ones are cut from chunks, free ones are
 * listed. */
#include "config.h"

#include "tuplespace/arena_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "tuplespace/segment_private.h"

enum { UNIT = 64, FIRST_CHUNK_BYTES = 4096, CHUNK_BYTES = 32768, SHARE = 4 };

/* Number of the list: twice n, plus one for sizes with 64 bytes more. */
static unsigned int class_of(size_t bytes, size_t *ret_bytes)
{
    unsigned int log2 = 0;

    while (((size_t)UNIT << log2) + UNIT < bytes)
        log2++;
    *ret_bytes = (size_t)UNIT << log2;
    if (bytes <= *ret_bytes)
        return 2 * log2;
    *ret_bytes += UNIT;
    return 2 * log2 + 1;
}

/* Allocates from the arena; 0 if there is no room. */
static uint64_t take_of_arena(struct esi_arena_pool *pool, size_t bytes)
{
    uint64_t offset;
    int rc;

    if (bytes > pool->left)
        return 0;
    pthread_mutex_lock(&pool->segment->lock);
    rc = esi_segment_allocate(pool->segment, bytes, UNIT, &offset);
    pthread_mutex_unlock(&pool->segment->lock);
    if (rc != 0)
        return 0;
    pool->left -= bytes;
    return offset;
}

/* The next chunk is twice as large as the last.  If space is short, it is left for
 * tuples. */
static size_t next_chunk_bytes(const struct esi_arena_pool *pool)
{
    if (pool->chunk_bytes == 0)
        return FIRST_CHUNK_BYTES;
    return pool->chunk_bytes < CHUNK_BYTES ? 2 * pool->chunk_bytes : CHUNK_BYTES;
}

/* Cuts a small block from a chunk. */
static uint64_t take_of_chunk(struct esi_arena_pool *pool, size_t bytes)
{
    uint64_t offset;

    if (pool->chunk_end - pool->chunk < bytes) {
        size_t chunk_bytes = next_chunk_bytes(pool);

        offset = chunk_bytes >= bytes ? take_of_arena(pool, chunk_bytes) : 0;
        if (offset == 0)
            return take_of_arena(pool, bytes);
        pool->chunk = offset;
        pool->chunk_end = offset + chunk_bytes;
        pool->chunk_bytes = chunk_bytes;
    }
    offset = pool->chunk;
    pool->chunk += bytes;
    return offset;
}

/* The caller holds the lock. */
static uint64_t take_offset(struct esi_arena_pool *pool,
                            unsigned int number,
                            size_t bytes)
{
    struct esi_arena_pool_list *list = &pool->free[number];

    if (list->count > 0)
        return list->offsets[--list->count];
    return bytes <= CHUNK_BYTES / 4 ? take_of_chunk(pool, bytes)
                                    : take_of_arena(pool, bytes);
}

void *esi_arena_pool_take(struct esi_arena_pool *pool, size_t bytes)
{
    uint64_t offset = 0;
    unsigned int number;
    void *piece;

    if (bytes > SIZE_MAX / 4)
        return NULL;
    number = class_of(bytes, &bytes);
    pthread_mutex_lock(&pool->lock);
    if (pool->segment != NULL) {
        offset = take_offset(pool, number, bytes);
        pool->has_failed |= offset == 0;
    }
    pthread_mutex_unlock(&pool->lock);
    piece = offset != 0 ? pool->segment->base + offset : aligned_alloc(UNIT, bytes);
    if (piece != NULL)
        memset(piece, 0, bytes);
    return piece;
}

uint64_t esi_arena_pool_offset(const struct esi_arena_pool *pool, const void *piece)
{
    uintptr_t address = (uintptr_t)piece;
    uintptr_t base;

    if (pool->segment == NULL)
        return 0;
    base = (uintptr_t)pool->segment->base;
    return address >= base && address < base + pool->segment->bytes ? address - base
                                                                    : 0;
}

void esi_arena_pool_give(struct esi_arena_pool *pool, void *piece, size_t bytes)
{
    uint64_t offset = esi_arena_pool_offset(pool, piece);
    struct esi_arena_pool_list *list;

    if (offset == 0) {
        free(piece);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    list = &pool->free[class_of(bytes, &bytes)];
    /* If out of memory, the block is lost until the segment ends. */
    if (ESI_ARRAY_RESERVE(list->offsets, list->capacity, list->count + 1) == 0)
        list->offsets[list->count++] = offset;
    pthread_mutex_unlock(&pool->lock);
}

void *esi_arena_pool_begin(struct esi_arena_pool *pool,
                           struct es_segment *segment,
                           size_t bytes,
                           uint64_t *ret_offset)
{
    void *header;

    pool->segment = segment;
    pool->left = (segment->arena.end - segment->arena.begin) / SHARE;
    header = esi_arena_pool_take(pool, bytes);
    *ret_offset = esi_arena_pool_offset(pool, header);
    if (*ret_offset != 0)
        return header;
    pool->segment = NULL;
    free(header);
    return NULL;
}
