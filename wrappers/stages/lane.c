/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.c - the queues of a sort stage and the heap over them. */
#include "config.h"

#include "wrappers/stages/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void esi_lane_fini(struct esi_lane *lane)
{
    free(lane->entries);
    *lane = (struct esi_lane){0};
}

int esi_lane_reserve(struct esi_lane *lane, size_t extra)
{
    size_t capacity = lane->capacity ? lane->capacity : 16;
    struct esi_entry *entries;

    if (lane->first + lane->count + extra <= lane->capacity)
        return 0;
    if (lane->first) {
        memmove(lane->entries, lane->entries + lane->first,
                lane->count * sizeof *entries);
        lane->first = 0;
    }
    while (capacity < lane->count + extra)
        capacity *= 2;
    if (capacity == lane->capacity)
        return 0;
    entries = realloc(lane->entries, capacity * sizeof *entries);
    if (!entries)
        return -ENOMEM;
    lane->entries = entries;
    lane->capacity = capacity;
    return 0;
}

void esi_lane_insert(struct esi_lane *lane, const struct esi_entry *entry)
{
    struct esi_entry *entries = lane->entries + lane->first;
    size_t place = lane->count++;

    for (; place > 0 && entries[place - 1].key_ns > entry->key_ns; place--)
        entries[place] = entries[place - 1];
    entries[place] = *entry;
}

static uint64_t key_at(const struct esi_lane_heap *heap, size_t index)
{
    return esi_lane_head(heap->lanes[index])->key_ns;
}

static void swap(struct esi_lane_heap *heap, size_t a, size_t b)
{
    struct esi_lane *lane = heap->lanes[a];

    heap->lanes[a] = heap->lanes[b];
    heap->lanes[b] = lane;
}

void esi_lane_heap_push(struct esi_lane_heap *heap, struct esi_lane *lane)
{
    size_t at = heap->count++;

    heap->lanes[at] = lane;
    while (at > 0 && key_at(heap, at) < key_at(heap, (at - 1) / 2)) {
        swap(heap, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

void esi_lane_heap_settle_top(struct esi_lane_heap *heap)
{
    size_t at = 0;

    if (heap->lanes[0]->count == 0)
        heap->lanes[0] = heap->lanes[--heap->count];
    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count;
             child++)
            if (key_at(heap, child) < key_at(heap, least))
                least = child;
        if (least == at)
            return;
        swap(heap, at, least);
        at = least;
    }
}
