/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.h - a queue of tuples that a stage has taken from a child and holds. */
#ifndef ES_WRAPPERS_STAGES_LANE_H
#define ES_WRAPPERS_STAGES_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/stage.h"

/* A growing queue of tuples, in caller's memory; zero is an empty one.  Children append
 * directly to its batch, and tuples that leave are copied from it. */
struct esi_lane {
    struct es_batch batch; /* owned; its tuples from `first` on are queued */
    uint64_t *keys;        /* owned; of these tuples, in stages with keys */
    size_t key_capacity;
    size_t first;
    uint64_t serial; /* of the last pull of the child, for
                        which the lane is the consumer */
    bool exhausted;  /* the child currently has no more */
};

void esi_lane_fini(struct esi_lane *lane);

static inline size_t esi_lane_count(const struct esi_lane *lane)
{
    return lane->batch.count - lane->first;
}

/* The keys, tuples and marks of the queue, starting at its front; NULL if there have
 * been none. */
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

/* Pulls `child` for the lane, with the lane's next serial.  Reports, notices and at
 * most `most_open` operations under way are passed directly to `batch`, because the
 * next pull will see those under way then.  Completed ones are queued without keys.
 * Returns 0 or -errno. */
int esi_lane_pull(struct esi_lane *lane,
                  struct es_stage *child,
                  struct es_pull *pull,
                  size_t most_open,
                  struct es_batch *batch);

/* Makes room for `extra` more tuples with keys; those queued have keys.  Returns 0 or
 * -ENOMEM. */
int esi_lane_reserve(struct esi_lane *lane, size_t extra);

/* Appends a tuple.  Requires room. */
void esi_lane_push(struct esi_lane *lane,
                   uint64_t key,
                   const struct es_tuple *tuple,
                   const struct es_mark *mark);

/* Moves the tuple at `index` of the queue to its place among those before it, by key.
 * Children emit tuples nearly in order, so the distance is small. */
void esi_lane_settle(struct esi_lane *lane, size_t index);

/* Moves `count` tuples from the front to the batch.  Returns 0 or -ENOMEM. */
int esi_lane_emit(struct esi_lane *lane, size_t count, struct es_batch *batch);

/* Discards the queue. */
void esi_lane_clear(struct esi_lane *lane);

#endif
