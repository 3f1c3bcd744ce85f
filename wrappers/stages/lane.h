/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.h - what a stage has taken from a child and keeps: a queue. */
#ifndef ES_WRAPPERS_STAGES_LANE_H
#define ES_WRAPPERS_STAGES_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/stage.h"

/* A tuple with the key that its stage orders or finds it by. */
struct esi_entry {
    uint64_t key_ns;
    struct es_tuple tuple;
    struct es_mark mark;
};

/* A growing queue of entries; caller's memory, all zero is an empty one. */
struct esi_lane {
    struct esi_entry *entries; /* owned */
    size_t first;
    size_t count;
    size_t capacity;
    uint64_t serial; /* of the last pull of the child, whose consumer the lane is */
    bool exhausted;  /* the child has no more at present */
};

void esi_lane_fini(struct esi_lane *lane);

/* Makes room for `extra` entries.  0 or -ENOMEM. */
int esi_lane_reserve(struct esi_lane *lane, size_t extra);

/* Pulls `child` for the lane, with the lane's next serial.  Reports, notices and
 * operations under way (`most_open` of these at most) go to `batch` at once: the next
 * pull sees what is under way then.  `scratch` is left with the completed ones.
 * 0 or -errno. */
int esi_lane_pull(struct esi_lane *lane,
                  struct es_stage *child,
                  struct es_pull *pull,
                  size_t most_open,
                  struct es_batch *scratch,
                  struct es_batch *batch);

/* A place behind the other entries, for the caller to fill.  Room must be there. */
static inline struct esi_entry *esi_lane_push(struct esi_lane *lane)
{
    return &lane->entries[lane->first + lane->count++];
}

/* Moves the last entry to its place by the keys.  Children emit their tuples nearly in
 * order, so the place is near the end. */
void esi_lane_settle(struct esi_lane *lane);

static inline const struct esi_entry *esi_lane_head(const struct esi_lane *lane)
{
    return &lane->entries[lane->first];
}

/* Moves `count` entries from the front to the batch.  0 or -ENOMEM. */
static inline int esi_lane_emit(struct esi_lane *lane,
                                size_t count,
                                struct es_batch *batch)
{
    const struct esi_entry *entries;
    int result = es_batch_reserve(batch, count);

    if (result < 0 || count == 0)
        return result;
    entries = esi_lane_head(lane);
    for (size_t i = 0; i < count; i++) {
        batch->tuples[batch->count] = entries[i].tuple;
        batch->marks[batch->count++] = entries[i].mark;
    }
    lane->count -= count;
    lane->first = lane->count ? lane->first + count : 0;
    return 0;
}

/* From the key of the entry at `index`, which there is, to the last. */
static inline uint64_t esi_lane_depth_ns(const struct esi_lane *lane, size_t index)
{
    const struct esi_entry *entries = lane->entries + lane->first;

    return entries[lane->count - 1].key_ns - entries[index].key_ns;
}

#endif
