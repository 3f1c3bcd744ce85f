/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A tuple as the words in which it differs from a tuple that both ends know, and a mask
 * of one byte that names groups of words, of which one differs at least.
 *
 * An element's tuples differ in their times, mostly, and the latest tuple of an element
 * that has written nothing since the pull before in nothing at all.
 *
 * Pure logic.  Words stay in the sender's byte order.
 */
#ifndef ES_SCOPES_REMOTE_PACKED_TUPLE_H
#define ES_SCOPES_REMOTE_PACKED_TUPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/wire.h"
#include "eventspace/tuple.h"

/* How many words there are, by mask. */
extern const unsigned char esi_packed_word_counts[16];

/* Whether the mask of the tuple is 0. */
static inline bool esi_packed_tuple_is_same(const struct es_tuple *tuple,
                                            const struct es_tuple *before)
{
    uint64_t differs = tuple->bytes ^ before->bytes;

    for (size_t i = 0; i < offsetof(struct es_tuple, bytes); i += sizeof differs) {
        uint64_t a, b;

        memcpy(&a, (const char *)tuple + i, sizeof a);
        memcpy(&b, (const char *)before + i, sizeof b);
        differs |= a ^ b;
    }
    return differs == 0;
}

/* esi_packed_tuple_write() where the mask is not 0. */
unsigned char esi_packed_words_write(const struct es_tuple *tuple,
                                     const struct es_tuple *before,
                                     uint32_t *words);

/* Writes the words that differ and returns the mask.  There must be room for all words
 * of a tuple. */
static inline unsigned char esi_packed_tuple_write(const struct es_tuple *tuple,
                                                   const struct es_tuple *before,
                                                   uint32_t *words)
{
    return esi_packed_tuple_is_same(tuple, before)
               ? 0
               : esi_packed_words_write(tuple, before, words);
}

/* Reads `count` tuples by their masks, each with the one `before`, in whose place it is
 * put; the next tuple's is `stride` behind that: 1, or 0 where the tuples follow each
 * other.  Fails as the reader does. */
void esi_packed_tuples_read(struct esi_wire_reader *words,
                            const unsigned char *masks,
                            size_t count,
                            struct es_tuple *before,
                            size_t stride,
                            struct es_tuple *ret_tuples);

#endif
