/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Names of a pattern file, hashed, and the memory that goes with it. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/patterns/pattern_private.h"

/* --- Memory -------------------------------------------------------------------------
 */

enum { CHUNK_BYTES = 4000 };

struct esi_pattern_chunk {
    struct esi_pattern_chunk *older;
    size_t size;
    max_align_t bytes[];
};

static int add_chunk(struct esi_pattern_memory *memory, size_t bytes)
{
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct esi_pattern_chunk *chunk = calloc(1, sizeof *chunk + size);

    if (!chunk)
        return -ENOMEM;
    chunk->older = memory->newest;
    chunk->size = size;
    memory->newest = chunk;
    memory->used = 0;
    return 0;
}

void *esi_pattern_take(struct esi_pattern_memory *memory, size_t bytes)
{
    size_t unit = _Alignof(max_align_t);
    void *taken;

    bytes = (bytes + unit - 1) / unit * unit;
    if ((!memory->newest || memory->newest->size - memory->used < bytes) &&
        add_chunk(memory, bytes) < 0)
        return NULL;
    taken = (char *)memory->newest->bytes + memory->used;
    memory->used += bytes;
    return taken;
}

char *esi_pattern_copy(struct esi_pattern_memory *memory,
                       const char *text,
                       size_t length)
{
    char *copy = esi_pattern_take(memory, length + 1);

    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void esi_pattern_memory_fini(struct esi_pattern_memory *memory)
{
    while (memory->newest) {
        struct esi_pattern_chunk *chunk = memory->newest;

        memory->newest = chunk->older;
        free(chunk);
    }
}

/* --- Names --------------------------------------------------------------------------
 */

/* FNV-1a. */
static size_t hash(const char *name, size_t length)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)name[i]) * 0x100000001b3u;
    return (size_t)(value ^ value >> 32);
}

/* The slot of a name, or the free one where it would be. */
static struct esi_symbol *slot_of(const struct esi_symbols *symbols,
                                  const char *name,
                                  size_t length)
{
    size_t at = hash(name, length) & (symbols->capacity - 1);

    while (symbols->slots[at].name && (strlen(symbols->slots[at].name) != length ||
                                       memcmp(symbols->slots[at].name, name, length)))
        at = (at + 1) & (symbols->capacity - 1);
    return &symbols->slots[at];
}

struct esi_symbol *esi_symbols_find(const struct esi_symbols *symbols,
                                    const char *name,
                                    size_t length)
{
    struct esi_symbol *slot;

    if (symbols->count == 0)
        return NULL;
    slot = slot_of(symbols, name, length);
    return slot->name ? slot : NULL;
}

static int grow(struct esi_symbols *symbols)
{
    struct esi_symbols larger = {.capacity =
                                     symbols->capacity ? symbols->capacity * 2 : 16,
                                 .count = symbols->count};

    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < symbols->capacity; i++) {
        const struct esi_symbol *symbol = &symbols->slots[i];

        if (symbol->name)
            *slot_of(&larger, symbol->name, strlen(symbol->name)) = *symbol;
    }
    free(symbols->slots);
    *symbols = larger;
    return 0;
}

int esi_symbols_put(struct esi_symbols *symbols, const struct esi_symbol *symbol)
{
    struct esi_symbol *slot;

    if (symbols->count * 2 >= symbols->capacity && grow(symbols) < 0)
        return -ENOMEM;
    slot = slot_of(symbols, symbol->name, strlen(symbol->name));
    symbols->count += !slot->name;
    *slot = *symbol;
    return 0;
}

void esi_symbols_fini(struct esi_symbols *symbols)
{
    free(symbols->slots);
    *symbols = (struct esi_symbols){0};
}
