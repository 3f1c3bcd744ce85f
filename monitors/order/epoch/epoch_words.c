/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_words.c - a buddy allocator of words: see epoch_words.h.
 *
 * Word 0 of each array, free or not, says where it lies in its block of memory, how
 * large both are, and whether it is free; words 1 and 2 of a free one are its
 * neighbours in the list.  All is stored with release: a late reader that sees any of
 * it also sees that the log's turn has changed.
 */
#include "config.h"

#include "monitors/order/epoch/epoch_words.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    LEAST_BLOCK_LOG2 = 9,
    LARGEST_BLOCK_LOG2 = 17,
    BLOCK_SHARE = 16,
    ALIGNMENT = 64
};

/* What word 0 says; `at` and sizes in words. */
struct word_array {
    _Atomic uint64_t *words;
    uint64_t at; /* in the block */
    unsigned log2, block_log2;
    bool is_free;
};

static void put(_Atomic uint64_t *words, unsigned at, uint64_t word)
{
    atomic_store_explicit(&words[at], word, memory_order_release);
}

static uint64_t get(const _Atomic uint64_t *words, unsigned at)
{
    return atomic_load_explicit(&words[at], memory_order_relaxed);
}

static void write_header(const struct word_array *array)
{
    put(array->words, 0,
        array->at << 24 | (uint64_t)array->block_log2 << 16 |
            (uint64_t)array->is_free << 8 | array->log2);
}

static struct word_array read_header(_Atomic uint64_t *words)
{
    uint64_t header = get(words, 0);

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
    put(array.words, 1, (uintptr_t)next);
    put(array.words, 2, 0);
    if (next)
        put(next, 2, (uintptr_t)array.words);
    words->free[array.log2] = array.words;
}

static void remove_free(struct esi_words *words, const struct word_array *array)
{
    _Atomic uint64_t *next = pointer_of(get(array->words, 1));
    _Atomic uint64_t *before = pointer_of(get(array->words, 2));

    if (before)
        put(before, 1, (uintptr_t)next);
    else
        words->free[array->log2] = next;
    if (next)
        put(next, 2, (uintptr_t)before);
}

/* --- Taking ----------------------------------------------------------------------- */

unsigned esi_words_log2(uint64_t numbers)
{
    unsigned log2 = ESI_WORDS_LEAST_LOG2;

    while (log2 < ESI_WORDS_SIZES && (UINT64_C(1) << log2) < numbers + 1)
        log2++;
    return log2;
}

/* A block of memory as one array: a share of what there is, so that little of it is
 * not in use. */
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
