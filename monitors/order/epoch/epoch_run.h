/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * epoch_run.h - the segments of a trace, in runs of neighbours: what was sealed while
 * one arena was in use lies in one run, so that it can go away with that arena.
 *
 * Runs form a list from the newest to the oldest, with a second link that jumps further
 * back, so that a run is found in O(log runs).  The links are not followed to runs of
 * which everything is forgotten: those may be gone.
 *
 *   call                      may run together with
 *   esi_run_find, _back       all others, about events that are not forgotten
 *   others                    not with each other
 */
#ifndef ES_MONITORS_ORDER_EPOCH_EPOCH_RUN_H
#define ES_MONITORS_ORDER_EPOCH_EPOCH_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitors/order/epoch/epoch_arena.h"

struct esi_segment {
    uint32_t first;             /* own index of its first event */
    uint32_t cut;               /* the last that the trace has passed */
    const unsigned char *block; /* NULL: it learnt nothing besides */
};

/* Immutable but for segments that are added to the newest one. */
struct esi_run {
    const struct esi_run *older;
    const struct esi_run *jump; /* an older one; NULL = none */
    uint32_t jump_first;        /* its `first`; 0 = none */
    uint32_t jump_depth;
    uint32_t depth; /* runs that are older */
    uint32_t era;   /* of the arena that it lies in */
    uint32_t first; /* own index of its first event */
    uint32_t room;
    _Atomic uint32_t count;
    struct esi_segment segments[];
};

/* One segment of them all. */
struct esi_run_place {
    const struct esi_run *run;
    uint32_t at;
};

static inline const struct esi_segment *esi_run_segment(
    const struct esi_run_place *place)
{
    return &place->run->segments[place->at];
}

/* The segment of an event that is in one, from the newest run on. */
struct esi_run_place esi_run_find(const struct esi_run *newest, uint32_t own);

/* Goes to the segment before, if that has the same cut and not all of it is among the
 * trace's first `forgotten` events.  Returns whether it has. */
bool esi_run_back(struct esi_run_place *place, uint32_t forgotten);

/* A run with room for a segment more, which may be `newest` itself; `first` is the
 * segment's first event.  NULL: -ENOMEM. */
struct esi_run *esi_run_reserve(struct esi_run *newest,
                                uint32_t first,
                                uint32_t forgotten,
                                struct esi_arena *arena);

/* There is room. */
void esi_run_add(struct esi_run *run, const struct esi_segment *segment);

#endif
