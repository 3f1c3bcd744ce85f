/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_bounds.c - finds those of many intervals that lie in a window. */
#include "config.h"

#include "monitors/diagram/diagram_bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_bounds_fini(struct esi_bounds *bounds)
{
    for (int level = 0; level < ESI_BOUNDS_LEVELS; level++)
        free(bounds->levels[level].blocks);
}

int esi_bounds_add(struct esi_bounds *bounds,
                   uint64_t number,
                   uint64_t begin,
                   uint64_t end)
{
    for (int level = 0; level < ESI_BOUNDS_LEVELS; level++) {
        uint64_t block = number >> ESI_BOUNDS_BITS * (level + 1);
        struct esi_bounds_block *last;

        if (bounds->levels[level].count == 0)
            bounds->levels[level].first = block;
        if (block - bounds->levels[level].first == bounds->levels[level].count) {
            if (ESI_ARRAY_RESERVE(bounds->levels[level].blocks,
                                  bounds->levels[level].capacity,
                                  bounds->levels[level].count + 1) < 0)
                return -ENOMEM;
            bounds->levels[level].blocks[bounds->levels[level].count++] =
                (struct esi_bounds_block){begin, end};
            continue;
        }
        last = &bounds->levels[level].blocks[block - bounds->levels[level].first];
        if (begin < last->begin)
            last->begin = begin;
        if (end > last->end)
            last->end = end;
    }
    return 0;
}

void esi_bounds_drop(struct esi_bounds *bounds, uint64_t first)
{
    for (int level = 0; level < ESI_BOUNDS_LEVELS; level++) {
        struct esi_bounds_block *blocks = bounds->levels[level].blocks;
        uint64_t block = first >> ESI_BOUNDS_BITS * (level + 1);
        size_t count = bounds->levels[level].count;

        if (count == 0 || block <= bounds->levels[level].first)
            continue;
        if (block - bounds->levels[level].first < count)
            count = (size_t)(block - bounds->levels[level].first);
        bounds->levels[level].count -= count;
        bounds->levels[level].first += count;
        memmove(blocks, blocks + count, bounds->levels[level].count * sizeof *blocks);
    }
}

uint64_t esi_bounds_next(const struct esi_bounds *bounds,
                         uint64_t number,
                         uint64_t last,
                         uint64_t from,
                         uint64_t to)
{
    int level = ESI_BOUNDS_LEVELS;

    while (number < last && level > 0) {
        const struct esi_bounds_block *block;
        uint64_t of;

        for (level = ESI_BOUNDS_LEVELS; level > 0; level--) {
            of = number >> ESI_BOUNDS_BITS * level;
            block =
                &bounds->levels[level - 1].blocks[of - bounds->levels[level - 1].first];
            if (block->begin >= to || block->end < from) {
                number = (of + 1) << ESI_BOUNDS_BITS * level;
                break;
            }
        }
    }
    return number < last ? number : last;
}
