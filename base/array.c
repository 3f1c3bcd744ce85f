/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* array.c - growing arrays of any type. */
#include "config.h"

#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 8 };

static size_t array_capacity(size_t capacity, size_t needed)
{
    size_t doubled = capacity < CAPACITY_MIN ? CAPACITY_MIN : capacity * 2;

    return doubled < needed ? needed : doubled;
}

/* The pointer is copied as bytes, because its type is the caller's. */
static int array_resize(void *items, size_t capacity, size_t item_bytes)
{
    void *old;
    void *grown;

    if (capacity > (size_t)PTRDIFF_MAX / item_bytes)
        return -ENOMEM;
    memcpy(&old, items, sizeof old);
    grown = realloc(old, capacity * item_bytes);
    if (grown == NULL)
        return -ENOMEM;
    memcpy(items, &grown, sizeof grown);
    return 0;
}

int esi_array_grow(void *items, size_t *capacity, size_t needed, size_t item_bytes)
{
    size_t grown = array_capacity(*capacity, needed);
    int result;

    if (needed <= *capacity)
        return 0;
    result = array_resize(items, grown, item_bytes);
    if (result == 0)
        *capacity = grown;
    return result;
}

int esi_array_grow_pair(void *items,
                        size_t item_bytes,
                        void *others,
                        size_t other_bytes,
                        size_t *capacity,
                        size_t needed)
{
    size_t grown = array_capacity(*capacity, needed);
    int result;

    if (needed <= *capacity)
        return 0;
    result = array_resize(items, grown, item_bytes);
    if (result == 0) /* else the first has a larger capacity
                        than recorded, which is harmless */
        result = array_resize(others, grown, other_bytes);
    if (result == 0)
        *capacity = grown;
    return result;
}
