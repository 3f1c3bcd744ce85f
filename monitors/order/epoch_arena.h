/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_arena.h - memory that is given out piece by piece and freed all at once: what
 * readers without a lock may still look at never goes away below them.
 *
 * One writer; the number of bytes may be read by anybody.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_ARENA_H
#define ES_MONITORS_ORDER_EPOCH_ARENA_H

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
    size_t next_bytes; /* of the next chunk */
    _Atomic uint64_t bytes;
};

void esi_arena_fini(struct esi_arena *arena);

/* Aligned to 8 bytes, not cleared.  NULL: -ENOMEM. */
void *esi_arena_take(struct esi_arena *arena, size_t bytes);

/* All that is held, used or not. */
uint64_t esi_arena_bytes(const struct esi_arena *arena);

#endif
