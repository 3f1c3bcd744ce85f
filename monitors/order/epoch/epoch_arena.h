/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_arena.h - memory that is given out piece by piece and freed all at once: what
 * readers without a lock may still look at never goes away below them.
 *
 * Its chunks are from malloc(), or, where they shall be given back to the system or go
 * to a file one day, pages of their own.
 *
 * One writer; the number of bytes may be read by anybody.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_ARENA_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct esi_arena_chunk;

/* Caller's memory, zeroed; its fields but `era` are private. */
struct esi_arena {
    uint32_t era; /* the owner's: which one it is of those that it had */
    struct esi_arena_chunk *newest;
    unsigned char *free;
    size_t left;
    size_t mapped_bytes; /* of each chunk, if they are pages; 0 = they are not */
    uint64_t used;       /* given out */
    _Atomic uint64_t bytes;
};

void esi_arena_fini(struct esi_arena *arena);

/* From now on chunks are whole pages, of that many bytes or as many as are asked for.
 */
void esi_arena_use_pages(struct esi_arena *arena, size_t chunk_bytes);

/* Moves all that is held to `ret_kept`, and begins anew as the next era. */
void esi_arena_renew(struct esi_arena *arena, struct esi_arena *ret_kept);

/* Calls for each chunk, of pages, until that returns something else than 0, which is
 * returned.  The memory may be replaced by the same bytes from elsewhere. */
int esi_arena_each(const struct esi_arena *arena,
                   int (*visit)(void *data, void *memory, size_t bytes),
                   void *data);

/* Aligned to 8 bytes, not cleared.  NULL: -ENOMEM. */
void *esi_arena_take(struct esi_arena *arena, size_t bytes);

/* All that is held, used or not. */
uint64_t esi_arena_bytes(const struct esi_arena *arena);

#endif
