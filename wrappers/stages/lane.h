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

/* Puts an entry behind the others.  Room must be there. */
static inline void esi_lane_push(struct esi_lane *lane, const struct esi_entry *entry)
{
    lane->entries[lane->first + lane->count++] = *entry;
}

/* Puts an entry in its place.  Room must be there.  Children emit their tuples nearly
 * in order, so the place is near the end. */
void esi_lane_insert(struct esi_lane *lane, const struct esi_entry *entry);

static inline const struct esi_entry *esi_lane_head(const struct esi_lane *lane)
{
    return &lane->entries[lane->first];
}

static inline void esi_lane_pop(struct esi_lane *lane)
{
    lane->count--;
    lane->first = lane->count ? lane->first + 1 : 0;
}

/* Moves `count` entries from the front to the batch.  0 or -ENOMEM. */
static inline int esi_lane_emit(struct esi_lane *lane,
                                size_t count,
                                struct es_batch *batch)
{
    int result = es_batch_reserve(batch, count);

    for (; result == 0 && count > 0; count--) {
        batch->tuples[batch->count] = esi_lane_head(lane)->tuple;
        batch->marks[batch->count++] = esi_lane_head(lane)->mark;
        esi_lane_pop(lane);
    }
    return result;
}

/* From the first key to the last. */
static inline uint64_t esi_lane_depth_ns(const struct esi_lane *lane)
{
    const struct esi_entry *entries = lane->entries + lane->first;

    return lane->count ? entries[lane->count - 1].key_ns - entries[0].key_ns : 0;
}

#endif
