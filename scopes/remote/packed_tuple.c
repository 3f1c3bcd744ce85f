/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* packed_tuple.c - encodes tuples as differences. */
#include "config.h"

#include "scopes/remote/packed_tuple.h"

/* The words of each bit of a mask change together: lower halves of both times and the
 * sequence; upper halves (first in the other byte order); operation and communicator;
 * peer, tag and bytes. */
static const struct {
    unsigned count;
    unsigned words[3];
} groups[] = {{3, {0, 3, 5}}, {2, {1, 4}}, {1, {2}}, {3, {6, 7, 8}}};
enum { GROUPS = sizeof groups / sizeof *groups };

const unsigned char esi_packed_word_counts[1 << GROUPS] = {
    0, 3, 2, 5, 1, 4, 3, 6, 3, 6, 5, 8, 4, 7, 6, 9,
};

static inline uint32_t load_word(const struct es_tuple *tuple, size_t index)
{
    uint32_t word;

    memcpy(&word, (const char *)tuple + index * sizeof word, sizeof word);
    return word;
}

static inline void store_word(struct es_tuple *tuple, size_t index, uint32_t word)
{
    memcpy((char *)tuple + index * sizeof word, &word, sizeof word);
}

/* The bits in which a word and the next one differ. */
static inline uint64_t pair_differs(const struct es_tuple *tuple,
                                    const struct es_tuple *before,
                                    size_t index)
{
    uint64_t pair, other;

    memcpy(&pair, (const char *)tuple + index * sizeof(uint32_t), sizeof pair);
    memcpy(&other, (const char *)before + index * sizeof(uint32_t), sizeof other);
    return pair ^ other;
}

/* Returns true if the tuples differ only in words of the first group. */
static inline bool is_alike(const struct es_tuple *tuple, const struct es_tuple *before)
{
    return (pair_differs(tuple, before, 1) | pair_differs(tuple, before, 6) |
            (load_word(tuple, 4) ^ load_word(before, 4)) |
            (load_word(tuple, 8) ^ load_word(before, 8))) == 0;
}

/* Stores all words; the next word overwrites one that did not change.  Branches would
 * be hard to predict. */
static unsigned char write_any(const struct es_tuple *tuple,
                               const struct es_tuple *before,
                               uint32_t *words)
{
    unsigned mask = 0;

#pragma GCC unroll 4
    for (unsigned bit = 0; bit < GROUPS; bit++) {
        uint32_t differs = 0;

#pragma GCC unroll 3
        for (unsigned i = 0; i < groups[bit].count; i++) {
            uint32_t word = load_word(tuple, groups[bit].words[i]);

            differs |= word ^ load_word(before, groups[bit].words[i]);
            words[i] = word;
        }
        words += differs ? groups[bit].count : 0;
        mask |= (unsigned)(differs != 0) << bit;
    }
    return (unsigned char)mask;
}

unsigned char esi_packed_words_write(const struct es_tuple *tuple,
                                     const struct es_tuple *before,
                                     uint32_t *words)
{
    if (!is_alike(tuple, before)) /* rare, therefore easy to predict */
        return write_any(tuple, before, words);
    for (unsigned i = 0; i < groups[0].count; i++)
        words[i] = load_word(tuple, groups[0].words[i]);
    return 1;
}

/* Loads word by word: a wider load would have to wait for the preceding stores of
 * words. */
static inline void read_words(const unsigned char *in,
                              unsigned mask,
                              struct es_tuple *before,
                              struct es_tuple *tuple)
{
#pragma GCC unroll 4
    for (unsigned bit = 0; bit < GROUPS; bit++) {
        bool differs = mask >> bit & 1;

#pragma GCC unroll 3
        for (unsigned i = 0; i < groups[bit].count; i++) {
            uint32_t word = load_word(before, groups[bit].words[i]);

            if (differs) {
                memcpy(&word, in + i * sizeof word, sizeof word);
                store_word(before, groups[bit].words[i], word);
            }
            store_word(tuple, groups[bit].words[i], word);
        }
        in += differs ? groups[bit].count * sizeof(uint32_t) : 0;
    }
}

void esi_packed_tuples_read(struct esi_wire_reader *words,
                            const unsigned char *masks,
                            size_t count,
                            struct es_tuple *before,
                            size_t stride,
                            struct es_tuple *ret_tuples)
{
    struct esi_wire_reader in = *words;

    for (size_t i = 0; i < count; i++, before += stride) {
        size_t bytes;

        if (masks[i] == 0) {
            ret_tuples[i] = *before;
            continue;
        }
        bytes = esi_packed_word_counts[masks[i] % (1 << GROUPS)] * sizeof(uint32_t);
        if (masks[i] >> GROUPS || bytes > esi_wire_left(&in)) {
            words->failed = true;
            return;
        }
        read_words(in.at, masks[i], before, &ret_tuples[i]);
        in.at += bytes;
    }
    *words = in;
}
