/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_arena.c - chunks of memory in a list, of 4 KiB to 1 MiB. */
#include "config.h"

#include "monitors/order/epoch/epoch_arena.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A chunk is a share of what is held, so that little of it is not in use; what would
 * leave much of one behind gets a chunk of its own. */
enum {
    FIRST_CHUNK = 4096,
    LARGEST_CHUNK = 1 << 20,
    CHUNK_SHARE = 16,
    PIECE_SHARE = 8,
    PAGES_SHARE = 4
};

struct esi_arena_chunk {
    struct esi_arena_chunk *older;
    uint64_t size; /* with this */
    uint64_t bytes[];
};

void esi_arena_fini(struct esi_arena *arena)
{
    while (arena->newest) {
        struct esi_arena_chunk *older = arena->newest->older;

        if (arena->mapped_bytes)
            munmap(arena->newest, arena->newest->size);
        else
            free(arena->newest);
        arena->newest = older;
    }
    arena->left = 0;
}

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

void esi_arena_use_pages(struct esi_arena *arena, size_t chunk_bytes)
{
    arena->mapped_bytes = whole_pages(chunk_bytes);
}

void esi_arena_renew(struct esi_arena *arena, struct esi_arena *ret_kept)
{
    *ret_kept = (struct esi_arena){.era = arena->era,
                                   .newest = arena->newest,
                                   .mapped_bytes = arena->mapped_bytes,
                                   .used = arena->used,
                                   .bytes = esi_arena_bytes(arena)};
    arena->era++;
    arena->newest = NULL;
    arena->free = NULL;
    arena->left = 0;
    arena->used = 0;
    atomic_store_explicit(&arena->bytes, 0, memory_order_relaxed);
}

int esi_arena_each(const struct esi_arena *arena,
                   int (*visit)(void *data, void *memory, size_t bytes),
                   void *data)
{
    struct esi_arena_chunk *chunk = arena->newest, *older;
    int code = 0;

    /* What was visited is not touched again: it may be on disk. */
    for (; chunk && code == 0; chunk = older) {
        older = chunk->older;
        code = visit(data, chunk, chunk->size);
    }
    return code;
}

static struct esi_arena_chunk *allocate_chunk(const struct esi_arena *arena,
                                              size_t size)
{
    void *pages;

    if (!arena->mapped_bytes)
        return malloc(size);
    pages =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static struct esi_arena_chunk *add_chunk(struct esi_arena *arena, size_t bytes)
{
    size_t size = sizeof(struct esi_arena_chunk) + bytes;
    struct esi_arena_chunk *chunk;

    size = arena->mapped_bytes ? whole_pages(size) : size;
    chunk = allocate_chunk(arena, size);
    if (!chunk)
        return NULL;
    chunk->older = arena->newest;
    chunk->size = size;
    arena->newest = chunk;
    atomic_store_explicit(&arena->bytes, esi_arena_bytes(arena) + size,
                          memory_order_relaxed);
    return chunk;
}

/* Bytes of the next chunk without its header. */
static size_t next_chunk(const struct esi_arena *arena)
{
    uint64_t share = esi_arena_bytes(arena) / CHUNK_SHARE;

    if (arena->mapped_bytes)
        return arena->mapped_bytes - sizeof(struct esi_arena_chunk);
    share = share < LARGEST_CHUNK ? share : LARGEST_CHUNK;
    return share > FIRST_CHUNK ? share & ~(uint64_t)7 : FIRST_CHUNK;
}

void *esi_arena_take(struct esi_arena *arena, size_t bytes)
{
    struct esi_arena_chunk *chunk;
    void *taken;
    size_t next;

    bytes = (bytes + 7) & ~(size_t)7;
    arena->used += bytes;
    if (bytes > arena->left) {
        next = next_chunk(arena);
        if (bytes > next / (arena->mapped_bytes ? PAGES_SHARE : PIECE_SHARE)) {
            /* The rest of the present one stays in use. */
            chunk = add_chunk(arena, bytes);
            return chunk ? chunk->bytes : NULL;
        }
        chunk = add_chunk(arena, next);
        if (!chunk)
            return NULL;
        arena->free = (unsigned char *)chunk->bytes;
        arena->left = next;
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
