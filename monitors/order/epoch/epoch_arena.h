/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Memory that is allocated in pieces and freed all at once, so that lock-free readers
 * never access freed memory.
 *
 * The chunks come from malloc(), or are separate pages if they are to be returned to
 * the system or moved to a file later.
 *
 * Used by one writer; any thread may read the number of bytes.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_ARENA_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct esi_arena_chunk;

/* Allocated and zeroed by the caller; all fields except `era` are private. */
struct esi_epoch_arena {
    uint32_t era; /* set by the owner: number of this arena among those that the owner
                     has had */
    struct esi_arena_chunk *newest;
    unsigned char *free;
    size_t left;
    size_t mapped_bytes; /* size of a chunk if chunks are pages; otherwise 0 */
    uint64_t used;       /* bytes allocated to users */
    _Atomic uint64_t bytes;
};

void esi_arena_fini(struct esi_epoch_arena *arena);

/* Makes all further chunks whole pages, of `chunk_bytes` or of the size of a larger
 * request. */
void esi_arena_use_pages(struct esi_epoch_arena *arena, size_t chunk_bytes);

/* Moves all memory to `ret_kept` and starts empty, as the next era. */
void esi_arena_renew(struct esi_epoch_arena *arena, struct esi_epoch_arena *ret_kept);

/* Calls `visit` for each chunk, which must be pages, until it returns nonzero; returns
 * that value.  `visit` may replace the memory by a mapping of the same bytes. */
int esi_arena_each(const struct esi_epoch_arena *arena,
                   int (*visit)(void *data, void *memory, size_t bytes),
                   void *data);

/* Returns memory that is aligned to 8 bytes and not cleared, or NULL if there is
 * none. */
void *esi_arena_take(struct esi_epoch_arena *arena, size_t bytes);

/* Returns the number of bytes held, used or not. */
uint64_t esi_arena_bytes(const struct esi_epoch_arena *arena);

/*
 * Arrays of words for logs, whose sizes are powers of two, from a buddy allocator (K.
 * C. Knowlton, A fast storage allocator, 1965): arrays that logs have outgrown are
 * joined to larger arrays, or split, for other logs.
 *
 * Memory moves between logs but is never freed, so a late lock-free reader at worst
 * reads garbage.  A reference to an array includes its size, so such a reader stays
 * within allocated memory.
 *
 * Only the writer may call these functions, except esi_words_at() and esi_words_room().
 */

enum {
    ESI_WORDS_LEAST_LOG2 = 3, /* 64 bytes, the alignment of arrays */
    ESI_WORDS_SIZES = 32
};

/* Allocated and zeroed by the caller. */
struct esi_words {
    struct esi_epoch_arena arena;
    _Atomic uint64_t *free[ESI_WORDS_SIZES];
};

/* Returns the words of an array.  Word 0 is private; number i of a log is word i + 1.
 * An array is represented by its address with the logarithm of its size in the low
 * bits; 0 = none. */
static inline _Atomic uint64_t *esi_words_at(uintptr_t array)
{
    return (_Atomic uint64_t *)(array & ~(uintptr_t)(ESI_WORDS_SIZES - 1));
}

/* Returns how many numbers fit into an array. */
static inline uint32_t esi_words_room(uintptr_t array)
{
    return array ? (UINT32_C(1) << (array & (ESI_WORDS_SIZES - 1))) - 1 : 0;
}

/* Returns the log2 of the array size needed for `numbers` numbers, or ESI_WORDS_SIZES
 * if it is too large. */
unsigned esi_words_log2(uint64_t numbers);

/* Returns an array, or 0 if there is no memory. */
uintptr_t esi_words_take(struct esi_words *words, unsigned log2);

/* Frees an array.  The caller must have changed the log's turn before. */
void esi_words_give_back(struct esi_words *words, uintptr_t array);

#endif
