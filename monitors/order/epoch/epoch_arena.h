/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Memory that is given out piece by piece and freed all at once: what
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
struct esi_epoch_arena {
    uint32_t era; /* the owner's: which one it is of those that it had */
    struct esi_arena_chunk *newest;
    unsigned char *free;
    size_t left;
    size_t mapped_bytes; /* of each chunk, if they are pages; 0 = they are not */
    uint64_t used;       /* given out */
    _Atomic uint64_t bytes;
};

void esi_arena_fini(struct esi_epoch_arena *arena);

/* From now on chunks are whole pages, of that many bytes or as many as are asked for.
 */
void esi_arena_use_pages(struct esi_epoch_arena *arena, size_t chunk_bytes);

/* Moves all that is held to `ret_kept`, and begins anew as the next era. */
void esi_arena_renew(struct esi_epoch_arena *arena, struct esi_epoch_arena *ret_kept);

/* Calls for each chunk, of pages, until that returns something else than 0, which is
 * returned.  The memory may be replaced by the same bytes from elsewhere. */
int esi_arena_each(const struct esi_epoch_arena *arena,
                   int (*visit)(void *data, void *memory, size_t bytes),
                   void *data);

/* Aligned to 8 bytes, not cleared.  NULL: -ENOMEM. */
void *esi_arena_take(struct esi_epoch_arena *arena, size_t bytes);

/* All that is held, used or not. */
uint64_t esi_arena_bytes(const struct esi_epoch_arena *arena);

/*
 * Arrays of a power of two of words for logs, from a buddy allocator
 * (K. C. Knowlton, A fast storage allocator, 1965): arrays that logs have outgrown are
 * joined to larger ones, or split, for other logs.
 *
 * Memory goes from one log to another but never away, so that a late reader without a
 * lock reads nonsense at worst.  A reference to an array has the array's size in it,
 * so that such a reader stays within memory that is there.
 *
 * All calls but esi_words_at() and esi_words_room() are the writer's.
 */

enum {
    ESI_WORDS_LEAST_LOG2 = 3, /* 64 bytes, to which arrays are aligned */
    ESI_WORDS_SIZES = 32
};

/* Caller's memory, zeroed. */
struct esi_words {
    struct esi_epoch_arena arena;
    _Atomic uint64_t *free[ESI_WORDS_SIZES];
};

/* The words of an array; number i of a log is word i + 1, and word 0 is private.  An
 * array is its address and, in the low bits, the logarithm of its size; 0 = none. */
static inline _Atomic uint64_t *esi_words_at(uintptr_t array)
{
    return (_Atomic uint64_t *)(array & ~(uintptr_t)(ESI_WORDS_SIZES - 1));
}

/* Numbers that an array has room for. */
static inline uint32_t esi_words_room(uintptr_t array)
{
    return array ? (UINT32_C(1) << (array & (ESI_WORDS_SIZES - 1))) - 1 : 0;
}

/* The size that so many numbers need; ESI_WORDS_SIZES: there is none as large. */
unsigned esi_words_log2(uint64_t numbers);

/* 0: there is no memory. */
uintptr_t esi_words_take(struct esi_words *words, unsigned log2);

/* Takes the array back.  The log's turn has changed before. */
void esi_words_give_back(struct esi_words *words, uintptr_t array);

#endif
