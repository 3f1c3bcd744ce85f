/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* raise.h - element-wise maximum of vectors, in place. */
#ifndef ES_MONITORS_ORDER_RAISE_H
#define ES_MONITORS_ORDER_RAISE_H

#include <stdint.h>

static inline void esi_raise_entry(uint32_t *entry, uint32_t value)
{
    if (value > *entry)
        *entry = value;
}

/* Raises the first `entries` elements of `vector` to those of `other`.  Works in blocks
 * of constant length, which the compiler vectorizes even if it does not vectorize loops
 * of unknown length. */
static inline void esi_raise_vector(uint32_t *restrict vector,
                                    const uint32_t *restrict other,
                                    uint32_t entries)
{
    enum { BLOCK = 16 };
    uint32_t i = 0;

    for (; i + BLOCK <= entries; i += BLOCK)
        for (uint32_t j = i; j < i + BLOCK; j++)
            vector[j] = other[j] > vector[j] ? other[j] : vector[j];
    for (; i < entries; i++)
        esi_raise_entry(&vector[i], other[i]);
}

#endif
