/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* packed_tuple.c - tuples as differences to those before. */
#include "config.h"

#include "scopes/remote/packed_tuple.h"

/* The word of each bit of a mask.  The last bit is of two words, which change together:
 * the upper halves of both times, in the other byte order the lower ones. */
static const unsigned char single_words[] = {0, 2, 3, 5, 6, 7, 8};
enum { SINGLE_WORDS = sizeof single_words, PAIR_FIRST = 1, PAIR_SECOND = 4 };

_Static_assert(SINGLE_WORDS + 2 == ES_TUPLE_WORDS, "a mask names all words");

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

/* Each word is stored, and overwritten by the next one where it is the same as before:
 * which words change is hard to foresee. */
unsigned char esi_packed_words_write(const struct es_tuple *tuple,
                                     const struct es_tuple *before,
                                     uint32_t **words)
{
    uint32_t *out = *words;
    unsigned mask = 0;

#pragma GCC unroll 7
    for (unsigned bit = 0; bit < SINGLE_WORDS; bit++) {
        uint32_t word = load_word(tuple, single_words[bit]);
        bool differs = word != load_word(before, single_words[bit]);

        *out = word;
        out += differs;
        mask |= (unsigned)differs << bit;
    }
    out[0] = load_word(tuple, PAIR_FIRST);
    out[1] = load_word(tuple, PAIR_SECOND);
    if (out[0] != load_word(before, PAIR_FIRST) ||
        out[1] != load_word(before, PAIR_SECOND)) {
        out += 2;
        mask |= 1u << SINGLE_WORDS;
    }
    *words = out;
    return (unsigned char)mask;
}

/* Whether there are so many words.  Few tuples are so near the end that they have to be
 * counted. */
static inline bool has_words(const struct esi_wire_reader *words, unsigned mask)
{
    size_t left = esi_wire_left(words);
    unsigned named = 0;

    if (left >= sizeof(struct es_tuple))
        return true;
    for (unsigned bit = 0; bit <= SINGLE_WORDS; bit++)
        named += (mask >> bit & 1) * (bit < SINGLE_WORDS ? 1 : 2);
    return left >= named * sizeof(uint32_t);
}

/* Takes the next word, or the one before. */
static inline const unsigned char *read_word(const unsigned char *in,
                                             bool differs,
                                             size_t index,
                                             struct es_tuple *before,
                                             struct es_tuple *tuple)
{
    uint32_t word = load_word(before, index);

    if (differs) {
        memcpy(&word, in, sizeof word);
        in += sizeof word;
        store_word(before, index, word);
    }
    store_word(tuple, index, word);
    return in;
}

/* Word by word: a longer load would have to wait for the stores of words before it. */
void esi_packed_words_read(struct esi_wire_reader *words,
                           unsigned char mask,
                           struct es_tuple *before,
                           struct es_tuple *ret_tuple)
{
    const unsigned char *in = words->at;
    bool pair = mask >> SINGLE_WORDS;

    if (!has_words(words, mask)) {
        words->failed = true;
        return;
    }
#pragma GCC unroll 7
    for (unsigned bit = 0; bit < SINGLE_WORDS; bit++)
        in = read_word(in, mask >> bit & 1, single_words[bit], before, ret_tuple);
    in = read_word(in, pair, PAIR_FIRST, before, ret_tuple);
    in = read_word(in, pair, PAIR_SECOND, before, ret_tuple);
    words->at = in;
}
