/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Memory of a segment's arena that is given back and used again.
 *
 * Pieces of 64 << n or 64 + (64 << n) bytes, aligned to 64.  Which are free the owner
 * knows from private memory: nothing that others may write to decides about addresses.
 * Without a segment, or when its share is used up, pieces come from malloc(3), and
 * readers of the segment do not find them.
 *
 * Calls on one pool may run at the same time in several threads.
 */
#ifndef ES_TUPLESPACE_ARENA_POOL_H
#define ES_TUPLESPACE_ARENA_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct es_segment;

enum { ESI_ARENA_POOL_CLASSES = 64 };

/* Caller's memory; lasts as long as the process. */
struct esi_arena_pool {
    pthread_mutex_t lock;
    struct es_segment *segment; /* borrowed; NULL = none */
    uint64_t left;              /* bytes that it may still take of the arena */
    uint64_t chunk;             /* offset of the rest of the last chunk */
    uint64_t chunk_end;
    size_t chunk_bytes; /* of the last chunk; 0 = none yet */
    bool has_failed;    /* a piece came from malloc(3) though there is a segment */
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

/* From here on takes up to a quarter of the segment's arena, first a header of so many
 * bytes, zero, at `ret_offset`.  Nothing may have been taken before that is still to be
 * found by readers.  NULL: there is no room, and the segment is not used. */
void *esi_arena_pool_begin(struct esi_arena_pool *pool,
                           struct es_segment *segment,
                           size_t bytes,
                           uint64_t *ret_offset);

/* A piece of so many bytes, zero; NULL without memory. */
void *esi_arena_pool_take(struct esi_arena_pool *pool, size_t bytes);

/* Gives a piece back; `bytes` as when it was taken.  NULL is allowed. */
void esi_arena_pool_give(struct esi_arena_pool *pool, void *piece, size_t bytes);

/* Its offset in the segment, 0 when it is not there. */
uint64_t esi_arena_pool_offset(const struct esi_arena_pool *pool, const void *piece);

#endif
