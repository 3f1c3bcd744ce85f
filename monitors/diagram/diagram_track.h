/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_track.h - running sums of a thread's activity along one axis.
 *
 * Items are added in the order of the axis and do not overlap.  Each block of items has
 * a mark: the start of the block, and the sums of everything before it.  The sums at a
 * position are those of the mark before it plus the items between; if the items are not
 * kept, the block is interpolated.  Old marks are thinned out, so that memory is
 * bounded and old data has a lower resolution.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_TRACK_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_TRACK_H

#include "monitors/diagram/diagram.h"

enum { ESI_TRACK_BLOCK = 16 }; /* items per mark */

/* `of[ESI_DIAGRAM_COMPUTING]` is not used: computing is the rest. */
struct esi_track_sums {
    uint64_t of[ESI_DIAGRAM_STATES];
    uint64_t items;
};

struct esi_track_mark {
    uint64_t begin; /* start of the block's first item */
    uint64_t items; /* number of items before it */
    uint64_t of[ESI_DIAGRAM_STATES - 1];
};

struct esi_track {
    struct esi_track_mark *marks; /* owned */
    size_t mark_count, mark_capacity;
    struct esi_track_sums sums; /* of all items */
    uint64_t end;               /* end of the last one */
};

struct esi_track_item {
    uint64_t begin;
    uint64_t end;
    enum esi_diagram_state state;
};

/* Access to the items. */
struct esi_track_items {
    struct esi_track_item (*at)(const void *data, uint64_t number);
    const void *data;
    uint64_t first; /* number of the first kept item */
};

/* A walk along a track in ascending order. */
struct esi_track_walk {
    const struct esi_track *track;
    struct esi_track_items items;
    size_t mark; /* the last one known to be at or before the position */
};

void esi_track_fini(struct esi_track *track);

/* Adds the next item.  Returns 0 or -ENOMEM. */
int esi_track_add(struct esi_track *track, const struct esi_track_item *item);

/* If there are more than `marks_max` marks, removes every second of those whose blocks
 * are entirely before item `first` and thus not kept. */
void esi_track_thin(struct esi_track *track, uint64_t first, size_t marks_max);

/* Starts before the first item. */
struct esi_track_walk esi_track_walk(const struct esi_track *track,
                                     const struct esi_track_items *items);
/* The sums up to a position, which must not be lower than the previous one.  An item
 * counts as soon as it has started.  O(log of the distance). */
void esi_track_sums_at(struct esi_track_walk *walk,
                       uint64_t position,
                       struct esi_track_sums *ret_sums);

#endif
