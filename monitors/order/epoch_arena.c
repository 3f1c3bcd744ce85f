/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_arena.c - chunks of memory in a list, each twice the one before up to 1 MiB. */
#include "config.h"

#include "monitors/order/epoch_arena.h"

#include <stdlib.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

struct esi_arena_chunk {
    struct esi_arena_chunk *older;
    uint64_t bytes[];
};

void esi_arena_fini(struct esi_arena *arena)
{
    while (arena->newest) {
        struct esi_arena_chunk *older = arena->newest->older;

        free(arena->newest);
        arena->newest = older;
    }
    arena->left = 0;
}

static struct esi_arena_chunk *add_chunk(struct esi_arena *arena, size_t bytes)
{
    struct esi_arena_chunk *chunk = malloc(sizeof *chunk + bytes);

    if (!chunk)
        return NULL;
    chunk->older = arena->newest;
    arena->newest = chunk;
    atomic_store_explicit(&arena->bytes, esi_arena_bytes(arena) + sizeof *chunk + bytes,
                          memory_order_relaxed);
    return chunk;
}

void *esi_arena_take(struct esi_arena *arena, size_t bytes)
{
    struct esi_arena_chunk *chunk;
    void *taken;

    bytes = (bytes + 7) & ~(size_t)7;
    if (bytes > LARGEST_CHUNK / 4) {
        /* A chunk of its own, and the rest of the present one stays in use. */
        chunk = add_chunk(arena, bytes);
        return chunk ? chunk->bytes : NULL;
    }
    if (bytes > arena->left) {
        size_t next = arena->next_bytes ? arena->next_bytes : FIRST_CHUNK;

        while (next < bytes)
            next *= 2;
        chunk = add_chunk(arena, next);
        if (!chunk)
            return NULL;
        arena->free = (unsigned char *)chunk->bytes;
        arena->left = next;
        arena->next_bytes = next < LARGEST_CHUNK ? next * 2 : next;
    }
    taken = arena->free;
    arena->free += bytes;
    arena->left -= bytes;
    return taken;
}

uint64_t esi_arena_bytes(const struct esi_arena *arena)
{
    return atomic_load_explicit(&arena->bytes, memory_order_relaxed);
}
