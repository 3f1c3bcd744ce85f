/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Classes of message sizes: powers of eight, since algorithms change with the
 * magnitude.
 *
 *   1: 0 bytes, 2: 1 to 7, 3: 8 to 63, ... 12: 2^30 and more.  0 = no class.
 */
#ifndef ES_MONITORS_COLLECTIVES_SIZE_CLASS_H
#define ES_MONITORS_COLLECTIVES_SIZE_CLASS_H

#include <stdint.h>

static inline unsigned esi_size_class_of(uint32_t bytes)
{
    unsigned size_class = 1;

    for (; bytes > 0; bytes >>= 3)
        size_class++;
    return size_class;
}

/* For a class other than 0. */
static inline uint64_t esi_size_class_least(unsigned size_class)
{
    return size_class < 2 ? 0 : UINT64_C(1) << 3 * (size_class - 2);
}

static inline uint64_t esi_size_class_most(unsigned size_class)
{
    return esi_size_class_least(size_class + 1) - 1;
}

#endif
