/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_bounds.h - finds those of many intervals that lie in a window.
 *
 * Intervals are numbered as they are added, and may overlap.  Each block of 16, each of
 * 256 and so on has bounds: the least begin and the greatest end.  A search skips all
 * blocks that are outside the window, the largest first.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_BOUNDS_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

enum {
    ESI_BOUNDS_BITS = 4, /* of the number of parts of a block */
    ESI_BOUNDS_LEVELS = 7,
};

struct esi_bounds_block {
    uint64_t begin;
    uint64_t end;
};

/* Zero is an empty set. */
struct esi_bounds {
    struct {
        struct esi_bounds_block *blocks; /* owned */
        size_t count, capacity;
        uint64_t first; /* number of blocks[0] */
    } levels[ESI_BOUNDS_LEVELS];
};

void esi_bounds_fini(struct esi_bounds *bounds);

/* Adds the interval with the next number.  Returns 0 or -ENOMEM. */
int esi_bounds_add(struct esi_bounds *bounds,
                   uint64_t number,
                   uint64_t begin,
                   uint64_t end);

/* Forgets intervals before a number; the bounds of its blocks stay as they are. */
void esi_bounds_drop(struct esi_bounds *bounds, uint64_t first);

/* The first number from `number` on whose interval may begin before `to` and end at or
 * after `from`; `last` if there is none below.  O(log n) for each block that is
 * skipped. */
uint64_t esi_bounds_next(const struct esi_bounds *bounds,
                         uint64_t number,
                         uint64_t last,
                         uint64_t from,
                         uint64_t to);

#endif
