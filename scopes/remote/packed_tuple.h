/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Encodes a tuple as the words in which it differs from a tuple known to both ends, and
 * a mask of one byte.  A bit of the mask stands for a group of words of which at least
 * one differs.
 *
 * Tuples of an element mostly differ in their times.  The latest tuple of an element
 * that has written nothing since the previous pull does not differ at all.
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

/* Number of words, by mask. */
extern const unsigned char esi_packed_word_counts[16];

/* Returns true if the mask of the tuple is 0. */
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

/* esi_packed_tuple_write() for masks other than 0. */
unsigned char esi_packed_words_write(const struct es_tuple *tuple,
                                     const struct es_tuple *before,
                                     uint32_t *words);

/* Writes the words that differ and returns the mask.  Requires room for all words of a
 * tuple. */
static inline unsigned char esi_packed_tuple_write(const struct es_tuple *tuple,
                                                   const struct es_tuple *before,
                                                   uint32_t *words)
{
    return esi_packed_tuple_is_same(tuple, before)
               ? 0
               : esi_packed_words_write(tuple, before, words);
}

/* Reads `count` tuples by their masks.  Each is decoded against the tuple in `before`,
 * which it replaces.  `stride` is the distance to the `before` of the next tuple: 1, or
 * 0 if each tuple is encoded against its predecessor.  Errors are those of the
 * reader. */
void esi_packed_tuples_read(struct esi_wire_reader *words,
                            const unsigned char *masks,
                            size_t count,
                            struct es_tuple *before,
                            size_t stride,
                            struct es_tuple *ret_tuples);

#endif
