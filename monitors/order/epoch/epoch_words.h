/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_words.h - arrays of a power of two of words for logs, from a buddy allocator
 * (K. C. Knowlton, A fast storage allocator, 1965): arrays that logs have outgrown are
 * joined to larger ones, or split, for other logs.
 *
 * Memory goes from one log to another but never away, so that a late reader without a
 * lock reads nonsense at worst.  A reference to an array has the array's size in it,
 * so that such a reader stays within memory that is there.
 *
 * All calls but esi_words_at() and esi_words_room() are the writer's.
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_WORDS_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_WORDS_H

#include <stdatomic.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"

enum {
    ESI_WORDS_LEAST_LOG2 = 3, /* 64 bytes, to which arrays are aligned */
    ESI_WORDS_SIZES = 32
};

/* Caller's memory, zeroed. */
struct esi_words {
    struct esi_arena arena;
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
