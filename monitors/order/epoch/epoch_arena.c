/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_arena.c - memory in chunks, and arrays of words in such memory. */
#include "config.h"

#include "monitors/order/epoch/epoch_arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* === Chunks of 4 KiB to 1 MiB ===================================================== */

/* The size of a chunk is proportional to the memory held, so that little is unused.  A
 * request that would waste much of the present chunk gets a chunk of its own. */
enum {
    FIRST_CHUNK = 4096,
    LARGEST_CHUNK = 1 << 20,
    CHUNK_SHARE = 16,
    PIECE_SHARE = 8,
    PAGES_SHARE = 4
};

struct esi_arena_chunk {
    struct esi_arena_chunk *older;
    uint64_t size; /* including this header */
    uint64_t bytes[];
};

void esi_arena_fini(struct esi_epoch_arena *arena)
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

void esi_arena_use_pages(struct esi_epoch_arena *arena, size_t chunk_bytes)
{
    arena->mapped_bytes = whole_pages(chunk_bytes);
}

void esi_arena_renew(struct esi_epoch_arena *arena, struct esi_epoch_arena *ret_kept)
{
    *ret_kept = (struct esi_epoch_arena){.era = arena->era,
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

int esi_arena_each(const struct esi_epoch_arena *arena,
                   int (*visit)(void *data, void *memory, size_t bytes),
                   void *data)
{
    struct esi_arena_chunk *chunk = arena->newest, *older;
    int code = 0;

    /* A visited chunk is not accessed again: it may be on disk. */
    for (; chunk && code == 0; chunk = older) {
        older = chunk->older;
        code = visit(data, chunk, chunk->size);
    }
    return code;
}

static struct esi_arena_chunk *allocate_chunk(const struct esi_epoch_arena *arena,
                                              size_t size)
{
    void *pages;

    if (!arena->mapped_bytes)
        return malloc(size);
    pages =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static struct esi_arena_chunk *add_chunk(struct esi_epoch_arena *arena, size_t bytes)
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

/* Returns the bytes of the next chunk without its header. */
static size_t next_chunk(const struct esi_epoch_arena *arena)
{
    uint64_t share = esi_arena_bytes(arena) / CHUNK_SHARE;

    if (arena->mapped_bytes)
        return arena->mapped_bytes - sizeof(struct esi_arena_chunk);
    share = share < LARGEST_CHUNK ? share : LARGEST_CHUNK;
    return share > FIRST_CHUNK ? share & ~(uint64_t)7 : FIRST_CHUNK;
}

void *esi_arena_take(struct esi_epoch_arena *arena, size_t bytes)
{
    struct esi_arena_chunk *chunk;
    void *taken;
    size_t next;

    bytes = (bytes + 7) & ~(size_t)7;
    arena->used += bytes;
    if (bytes > arena->left) {
        next = next_chunk(arena);
        if (bytes > next / (arena->mapped_bytes ? PAGES_SHARE : PIECE_SHARE)) {
            /* The present chunk stays in use. */
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

uint64_t esi_arena_bytes(const struct esi_epoch_arena *arena)
{
    return atomic_load_explicit(&arena->bytes, memory_order_relaxed);
}

/* === Arrays of words ============================================================== */

/*
 * A buddy allocator of words.
 *
 * Word 0 of each array, free or not, contains its position in its block, the sizes of
 * both, and whether it is free.  Words 1 and 2 of a free array are its neighbours in
 * the free list.  All are stored with release: a late reader that sees one of them also
 * sees that the log's turn has changed.
 */

enum {
    LEAST_BLOCK_LOG2 = 9,
    LARGEST_BLOCK_LOG2 = 17,
    BLOCK_SHARE = 16,
    ALIGNMENT = 64
};

/* The contents of word 0; `at` and sizes are in words. */
struct word_array {
    _Atomic uint64_t *words;
    uint64_t at; /* in the block */
    unsigned log2, block_log2;
    bool is_free;
};

static void words_put(_Atomic uint64_t *words, unsigned at, uint64_t word)
{
    atomic_store_explicit(&words[at], word, memory_order_release);
}

static uint64_t words_get(const _Atomic uint64_t *words, unsigned at)
{
    return atomic_load_explicit(&words[at], memory_order_relaxed);
}

static void write_header(const struct word_array *array)
{
    words_put(array->words, 0,
              array->at << 24 | (uint64_t)array->block_log2 << 16 |
                  (uint64_t)array->is_free << 8 | array->log2);
}

static struct word_array read_header(_Atomic uint64_t *words)
{
    uint64_t header = words_get(words, 0);

    return (struct word_array){.words = words,
                               .at = header >> 24,
                               .block_log2 = header >> 16 & 0xff,
                               .is_free = header >> 8 & 1,
                               .log2 = header & 0xff};
}

/* --- Lists of free arrays --------------------------------------------------------- */

static _Atomic uint64_t *pointer_of(uint64_t word)
{
    return (_Atomic uint64_t *)(uintptr_t)word;
}

static void add_free(struct esi_words *words, struct word_array array)
{
    _Atomic uint64_t *next = words->free[array.log2];

    array.is_free = true;
    write_header(&array);
    words_put(array.words, 1, (uintptr_t)next);
    words_put(array.words, 2, 0);
    if (next)
        words_put(next, 2, (uintptr_t)array.words);
    words->free[array.log2] = array.words;
}

static void remove_free(struct esi_words *words, const struct word_array *array)
{
    _Atomic uint64_t *next = pointer_of(words_get(array->words, 1));
    _Atomic uint64_t *before = pointer_of(words_get(array->words, 2));

    if (before)
        words_put(before, 1, (uintptr_t)next);
    else
        words->free[array->log2] = next;
    if (next)
        words_put(next, 2, (uintptr_t)before);
}

/* --- Allocation ------------------------------------------------------------------- */

unsigned esi_words_log2(uint64_t numbers)
{
    unsigned log2 = ESI_WORDS_LEAST_LOG2;

    while (log2 < ESI_WORDS_SIZES && (UINT64_C(1) << log2) < numbers + 1)
        log2++;
    return log2;
}

/* Allocates a block as one array.  Its size is proportional to the memory held, so that
 * little is unused. */
static bool add_block(struct esi_words *words, unsigned log2)
{
    struct word_array array = {.log2 = LEAST_BLOCK_LOG2};
    uint64_t share = esi_arena_bytes(&words->arena) / BLOCK_SHARE;
    unsigned char *memory;

    while (array.log2 < LARGEST_BLOCK_LOG2 &&
           sizeof(uint64_t) << (array.log2 + 1) <= share)
        array.log2++;
    array.log2 = array.log2 > log2 ? array.log2 : log2;
    array.block_log2 = array.log2;
    memory =
        esi_arena_take(&words->arena, (sizeof(uint64_t) << array.log2) + ALIGNMENT);
    if (!memory)
        return false;
    memory += ALIGNMENT - (uintptr_t)memory % ALIGNMENT;
    array.words = (_Atomic uint64_t *)(void *)memory;
    add_free(words, array);
    return true;
}

uintptr_t esi_words_take(struct esi_words *words, unsigned log2)
{
    unsigned larger = log2;
    struct word_array array;

    while (larger < ESI_WORDS_SIZES && !words->free[larger])
        larger++;
    if (larger == ESI_WORDS_SIZES) {
        if (log2 >= ESI_WORDS_SIZES || !add_block(words, log2))
            return 0;
        for (larger = log2; !words->free[larger];)
            larger++;
    }
    array = read_header(words->free[larger]);
    remove_free(words, &array);
    while (array.log2 > log2) {
        struct word_array half = array;

        half.log2 = --array.log2;
        half.words += UINT64_C(1) << half.log2;
        half.at += UINT64_C(1) << half.log2;
        add_free(words, half);
    }
    array.is_free = false;
    write_header(&array);
    return (uintptr_t)array.words | log2;
}

void esi_words_give_back(struct esi_words *words, uintptr_t given)
{
    struct word_array array = read_header(esi_words_at(given));

    while (array.log2 < array.block_log2) {
        uint64_t size = UINT64_C(1) << array.log2;
        struct word_array buddy =
            read_header(array.at & size ? array.words - size : array.words + size);

        if (!buddy.is_free || buddy.log2 != array.log2)
            break;
        remove_free(words, &buddy);
        array.words = array.at & size ? buddy.words : array.words;
        array.at &= ~size;
        array.log2++;
    }
    add_free(words, array);
}
