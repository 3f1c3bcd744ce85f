/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Allocator for memory in a segment's arena that can be freed and reused.
 *
 * Blocks have 64 << n or 64 + (64 << n) bytes and are aligned to 64 bytes.  The owner
 * keeps the free lists in private memory: no address depends on memory that others can
 * write.  Without a segment, or when its share is used up, blocks come from malloc(3),
 * and readers of the segment do not see them.
 *
 * Thread safe.
 */
#ifndef ES_TUPLESPACE_ARENA_POOL_H
#define ES_TUPLESPACE_ARENA_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct es_segment;

enum { ESI_ARENA_POOL_CLASSES = 64 };

/* In caller's memory; used until the process ends. */
struct esi_arena_pool {
    pthread_mutex_t lock;
    struct es_segment *segment; /* borrowed; NULL if none */
    uint64_t left;              /* bytes that may still be taken from the arena */
    uint64_t chunk;             /* offset of the unused rest of the last chunk */
    uint64_t chunk_end;
    size_t chunk_bytes; /* size of the last chunk; 0 if none yet */
    bool has_failed;    /* a block came from malloc(3) although there is a segment */
    struct esi_arena_pool_list {
        uint64_t *offsets; /* owned */
        size_t count;
        size_t capacity;
    } free[ESI_ARENA_POOL_CLASSES];
};

#define ESI_ARENA_POOL_INITIALIZER                                                     \
    {                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER                                              \
    }

/* Lets the pool use up to a quarter of the segment's arena, and allocates a zeroed
 * header of `bytes` bytes, whose offset is *ret_offset.  Blocks allocated before this
 * call are not visible to readers.  Returns NULL, and does not use the segment, if it
 * has no room. */
void *esi_arena_pool_begin(struct esi_arena_pool *pool,
                           struct es_segment *segment,
                           size_t bytes,
                           uint64_t *ret_offset);

/* Allocates a zeroed block; NULL if out of memory. */
void *esi_arena_pool_take(struct esi_arena_pool *pool, size_t bytes);

/* Frees a block.  `bytes` must be the size passed to esi_arena_pool_take().  Accepts
 * NULL. */
void esi_arena_pool_give(struct esi_arena_pool *pool, void *piece, size_t bytes);

/* Offset of a block in the segment; 0 if it is not there. */
uint64_t esi_arena_pool_offset(const struct esi_arena_pool *pool, const void *piece);

#endif
