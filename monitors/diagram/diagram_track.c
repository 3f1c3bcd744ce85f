/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_track.c - running sums of a thread's activity along one axis. */
#include "config.h"

#include "monitors/diagram/diagram_track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_track_fini(struct esi_track *track)
{
    free(track->marks);
}

int esi_track_add(struct esi_track *track, const struct esi_track_item *item)
{
    if (track->sums.items % ESI_TRACK_BLOCK == 0) {
        struct esi_track_mark *mark;

        if (ESI_ARRAY_RESERVE(track->marks, track->mark_capacity,
                              track->mark_count + 1) < 0)
            return -ENOMEM;
        mark = &track->marks[track->mark_count++];
        mark->begin = item->begin;
        mark->items = track->sums.items;
        memcpy(mark->of, &track->sums.of[1], sizeof mark->of);
    }
    track->sums.items++;
    if (item->state != ESI_DIAGRAM_COMPUTING)
        track->sums.of[item->state] += item->end - item->begin;
    if (item->end > track->end)
        track->end = item->end;
    return 0;
}

void esi_track_thin(struct esi_track *track, uint64_t first, size_t marks_max)
{
    size_t old = 0, kept = 0;

    if (track->mark_count <= marks_max)
        return;
    while (old + 1 < track->mark_count && track->marks[old + 1].items <= first)
        old++;
    for (size_t i = 0; i < track->mark_count; i++)
        if (i >= old || i % 2 == 0)
            track->marks[kept++] = track->marks[i];
    track->mark_count = kept;
}

struct esi_track_walk esi_track_walk(const struct esi_track *track,
                                     const struct esi_track_items *items)
{
    return (struct esi_track_walk){.track = track, .items = *items};
}

/* Galloping search. */
static void go_to(struct esi_track_walk *walk, uint64_t position)
{
    const struct esi_track_mark *marks = walk->track->marks;
    size_t low = walk->mark, step = 1, high;

    while (low + step < walk->track->mark_count && marks[low + step].begin <= position)
        low += step, step *= 2;
    high = low + step < walk->track->mark_count ? low + step : walk->track->mark_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (marks[middle].begin <= position)
            low = middle;
        else
            high = middle;
    }
    walk->mark = low;
}

/* Adds the part of a block before a position, by interpolation. */
static void add_share(const struct esi_track *track,
                      size_t mark,
                      uint64_t position,
                      struct esi_track_sums *sums)
{
    const struct esi_track_mark *from = &track->marks[mark];
    bool is_last = mark + 1 == track->mark_count;
    uint64_t end = is_last ? track->end : from[1].begin;
    uint64_t last = is_last ? track->sums.items : from[1].items;
    double share = position >= end
                       ? 1
                       : (double)(position - from->begin) / (double)(end - from->begin);

    for (int state = 1; state < ESI_DIAGRAM_STATES; state++) {
        uint64_t behind = is_last ? track->sums.of[state] : from[1].of[state - 1];

        sums->of[state] += (uint64_t)((double)(behind - from->of[state - 1]) * share);
    }
    sums->items += (uint64_t)((double)(last - sums->items) * share);
}

/* Adds the items of a block up to a position. */
static void add_items(const struct esi_track_walk *walk,
                      uint64_t position,
                      struct esi_track_sums *sums)
{
    const struct esi_track *track = walk->track;
    const struct esi_track_mark *mark = &track->marks[walk->mark];
    uint64_t last =
        walk->mark + 1 < track->mark_count ? mark[1].items : track->sums.items;

    for (uint64_t number = mark->items; number < last; number++) {
        struct esi_track_item item = walk->items.at(walk->items.data, number);

        if (item.begin >= position)
            break;
        sums->items++;
        sums->of[item.state] +=
            (item.end < position ? item.end : position) - item.begin;
    }
}

void esi_track_sums_at(struct esi_track_walk *walk,
                       uint64_t position,
                       struct esi_track_sums *ret_sums)
{
    const struct esi_track *track = walk->track;

    *ret_sums = (struct esi_track_sums){.items = 0};
    if (track->mark_count == 0 || track->marks[0].begin >= position)
        return;
    go_to(walk, position);
    memcpy(&ret_sums->of[1], track->marks[walk->mark].of, sizeof track->marks->of);
    ret_sums->items = track->marks[walk->mark].items;
    if (ret_sums->items >= walk->items.first)
        add_items(walk, position, ret_sums);
    else
        add_share(track, walk->mark, position, ret_sums);
}
