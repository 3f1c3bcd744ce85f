/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.h - what a stage has taken from a child and keeps: a queue. */
#ifndef ES_WRAPPERS_STAGES_LANE_H
#define ES_WRAPPERS_STAGES_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/stage.h"

/* A growing queue of tuples; caller's memory, all zero is an empty one.  A child is
 * pulled straight into its batch, and what leaves is copied as it lies. */
struct esi_lane {
    struct es_batch batch; /* owned; queued are its tuples from `first` on */
    uint64_t *keys;        /* owned; of these tuples, for stages that have keys */
    size_t key_capacity;
    size_t first;
    uint64_t serial; /* of the last pull of the child, whose consumer the lane is */
    bool exhausted;  /* the child has no more at present */
};

void esi_lane_fini(struct esi_lane *lane);

static inline size_t esi_lane_count(const struct esi_lane *lane)
{
    return lane->batch.count - lane->first;
}

/* The keys, tuples and marks of the queue, its front first; NULL where there have been
 * none yet. */
static inline uint64_t *esi_lane_keys(const struct esi_lane *lane)
{
    return lane->keys ? lane->keys + lane->first : NULL;
}

static inline const struct es_tuple *esi_lane_tuples(const struct esi_lane *lane)
{
    return lane->batch.tuples ? lane->batch.tuples + lane->first : NULL;
}

static inline const struct es_mark *esi_lane_marks(const struct esi_lane *lane)
{
    return lane->batch.marks ? lane->batch.marks + lane->first : NULL;
}

/* Pulls `child` for the lane, with the lane's next serial.  Reports, notices and
 * operations under way (`most_open` of these at most) go to `batch` at once: the next
 * pull sees what is under way then.  The completed ones are queued, without keys.
 * 0 or -errno. */
int esi_lane_pull(struct esi_lane *lane,
                  struct es_stage *child,
                  struct es_pull *pull,
                  size_t most_open,
                  struct es_batch *batch);

/* Makes room for `extra` more tuples with keys; those that are queued have keys.  0 or
 * -ENOMEM. */
int esi_lane_reserve(struct esi_lane *lane, size_t extra);

/* Puts a tuple behind the others.  Room must be there. */
void esi_lane_push(struct esi_lane *lane,
                   uint64_t key,
                   const struct es_tuple *tuple,
                   const struct es_mark *mark);

/* Moves the tuple at `index` of the queue to its place by the keys among those before
 * it.  Children emit their tuples nearly in order, so the place is near. */
void esi_lane_settle(struct esi_lane *lane, size_t index);

/* Moves `count` tuples from the front to the batch.  0 or -ENOMEM. */
int esi_lane_emit(struct esi_lane *lane, size_t count, struct es_batch *batch);

/* Forgets what is queued. */
void esi_lane_clear(struct esi_lane *lane);

#endif
