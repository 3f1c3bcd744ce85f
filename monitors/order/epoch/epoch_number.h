/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_number.h - arrays of small numbers of 1, 2 or 4 bytes or of any number of bits;
 * for blocks. */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_NUMBER_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_NUMBER_H

#include <stdint.h>
#include <string.h>

enum { ESI_BITS_SLACK = 8 }; /* readable bytes required after the last bits */

static inline uint8_t esi_width_of(uint32_t largest)
{
    return largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
}

static inline uint32_t esi_number_get(const unsigned char *numbers,
                                      unsigned width,
                                      uint32_t at)
{
    uint16_t two;
    uint32_t four;

    switch (width) {
    case 1:
        return numbers[at];
    case 2:
        memcpy(&two, numbers + (size_t)at * sizeof two, sizeof two);
        return two;
    default:
        memcpy(&four, numbers + (size_t)at * sizeof four, sizeof four);
        return four;
    }
}

static inline void esi_number_put(unsigned char *numbers,
                                  unsigned width,
                                  uint32_t at,
                                  uint32_t number)
{
    uint16_t two = (uint16_t)number;

    switch (width) {
    case 1:
        numbers[at] = (uint8_t)number;
        break;
    case 2:
        memcpy(numbers + (size_t)at * sizeof two, &two, sizeof two);
        break;
    default:
        memcpy(numbers + (size_t)at * sizeof number, &number, sizeof number);
        break;
    }
}

/* Returns how many of the first `count` numbers, which are sorted, are at most
 * `own`. */
static inline uint32_t esi_number_rank(const unsigned char *numbers,
                                       unsigned width,
                                       uint32_t count,
                                       uint32_t own)
{
    uint32_t low = 0;

    while (low < count) {
        uint32_t middle = low + (count - low) / 2;

        if (esi_number_get(numbers, width, middle) <= own)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static inline uint8_t esi_bits_of(uint32_t largest)
{
    return largest ? (uint8_t)(32 - __builtin_clz(largest)) : 0;
}

/* Returns the number of bits that are set.  Without an instruction for it the compiler
 * would call a function (Hacker's Delight, 5-1). */
static inline uint32_t esi_bits_count(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) +
           (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

static inline uint64_t esi_bits_bytes(uint64_t bits)
{
    return (bits + 7) / 8;
}

/* Returns at least 57 bits from bit `at` on, lowest first; higher bits are
 * undefined. */
static inline uint64_t esi_bits_get(const unsigned char *bits, uint64_t at)
{
    uint64_t word;

    memcpy(&word, bits + (at >> 3), sizeof word);
    return word >> (at & 7);
}

/* A writer of bits.  The caller sets `next` and zeroes the other fields. */
struct esi_bits {
    unsigned char *next;
    uint64_t word; /* `filled` of its bits are in use */
    unsigned filled;
};

/* Appends a number of at most 57 bits. */
static inline void esi_bits_add(struct esi_bits *bits, unsigned width, uint64_t number)
{
    bits->word |= number << bits->filled;
    bits->filled += width;
    memcpy(bits->next, &bits->word, sizeof bits->word);
    bits->next += bits->filled >> 3;
    bits->word = bits->filled >= 64 ? 0 : bits->word >> (bits->filled & ~7u);
    bits->filled &= 7;
}

#endif
