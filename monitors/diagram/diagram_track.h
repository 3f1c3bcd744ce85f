/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_track.h - running sums of what a thread was in, along one axis.
 *
 * Items come in the order of the axis and do not overlap.  A mark is kept for each
 * block of them: where the block begins, and the sums of all that is ahead of it.  The
 * sums at a position are those of the mark ahead of it and of the items between; where
 * the items are not kept any more the block counts as even.  Old marks are thinned out,
 * so that memory stays bounded, and what is old is told the less finely.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_TRACK_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_TRACK_H

#include "monitors/diagram/diagram.h"

enum { ESI_TRACK_BLOCK = 16 }; /* items between two new marks */

/* `of[ESI_DIAGRAM_COMPUTING]` is not used: that is what is left. */
struct esi_track_sums {
    uint64_t of[ESI_DIAGRAM_STATES];
    uint64_t items;
};

struct esi_track_mark {
    uint64_t begin; /* of the block's first item */
    uint64_t items; /* ahead of it */
    uint64_t of[ESI_DIAGRAM_STATES - 1];
};

struct esi_track {
    struct esi_track_mark *marks; /* owned */
    size_t mark_count, mark_capacity;
    struct esi_track_sums sums; /* of all items */
    uint64_t end;               /* of the last one */
};

struct esi_track_item {
    uint64_t begin;
    uint64_t end;
    enum esi_diagram_state state;
};

/* Where items are looked up. */
struct esi_track_items {
    struct esi_track_item (*at)(const void *data, uint64_t number);
    const void *data;
    uint64_t first; /* that is kept */
};

/* A walk along a track, from lower positions to higher ones. */
struct esi_track_walk {
    const struct esi_track *track;
    struct esi_track_items items;
    size_t mark; /* the last one known not to be behind the position */
};

void esi_track_fini(struct esi_track *track);

/* The next item.  0 or -ENOMEM. */
int esi_track_add(struct esi_track *track, const struct esi_track_item *item);

/* Of more than `marks_max` marks, drops every second of those whose blocks' items are
 * all ahead of number `first`, which are not kept. */
void esi_track_thin(struct esi_track *track, uint64_t first, size_t marks_max);

/* Begins ahead of everything. */
struct esi_track_walk esi_track_walk(const struct esi_track *track,
                                     const struct esi_track_items *items);
/* What was up to a position, which is not below the one asked for before.  An item
 * counts as soon as it has begun.  O(log of the distance). */
void esi_track_sums_at(struct esi_track_walk *walk,
                       uint64_t position,
                       struct esi_track_sums *ret_sums);

#endif
