/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* arena.c - memory that is freed all at once. */
#include "config.h"

#include "monitors/search/language/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 8192 };

struct esi_arena_block {
    struct esi_arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct esi_arena_block *add_block(struct esi_arena *arena, size_t size)
{
    struct esi_arena_block *block = calloc(1, sizeof *block + size);

    if (!block)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *esi_arena_alloc(struct esi_arena *arena, size_t size)
{
    const size_t unit = alignof(max_align_t);
    struct esi_arena_block *block = arena->blocks;
    void *memory;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = size ? (size + unit - 1) / unit * unit : unit;
    if (!block || block->size - block->used < size)
        block = add_block(arena, size > BLOCK_BYTES ? size : BLOCK_BYTES);
    if (!block)
        return NULL;
    memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

char *esi_arena_text(struct esi_arena *arena, const char *text, size_t length)
{
    char *copy = esi_arena_alloc(arena, length + 1);

    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

void esi_arena_free(struct esi_arena *arena)
{
    struct esi_arena_block *block = arena->blocks;

    while (block) {
        struct esi_arena_block *next = block->next;

        free(block);
        block = next;
    }
    arena->blocks = NULL;
}
