/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * keeper.h - a queue between a stage and its one child, for stages that keep tuples
 * between pulls.
 *
 * The keeper takes tuples from the child with serials of its own, so that the child may
 * forget them, and keeps what it gave until that is acknowledged: it lies at the front
 * of the queue and is given again until then.
 */
#ifndef ES_WRAPPERS_STAGES_KEEPER_H
#define ES_WRAPPERS_STAGES_KEEPER_H

#include "eventspace/stage.h"
#include "wrappers/stages/lane.h"

/* Part of a stage's state; all zero is an empty one. */
struct esi_keeper {
    struct esi_lane queue; /* its keys are not used */
    size_t given;          /* tuples at the front that the pull `serial` gave */
    uint64_t serial;       /* 0 = what was given has arrived, or counts as not given */
    struct es_batch scratch;  /* what the child gave last */
    struct es_batch reported; /* reports that were not acknowledged yet */
};

void esi_keeper_fini(struct esi_keeper *keeper);

/* Drops what has arrived.  At the beginning of each pull and each announcement. */
void esi_keeper_settle(struct esi_keeper *keeper, const struct es_pull *pull);

/* The next request to the child, for `room` tuples. */
struct es_pull esi_keeper_request(const struct esi_keeper *keeper,
                                  const struct es_pull *pull,
                                  size_t room);

/* Pulls the child until the queue has `capacity` tuples or there is no more.  Notices
 * and operations under way go straight into the batch, of which this stage's part
 * begins at `first`. */
int esi_keeper_take(struct es_stage *stage,
                    struct esi_keeper *keeper,
                    const struct es_pull *pull,
                    size_t capacity,
                    size_t first,
                    struct es_batch *batch);

/* Gives up to `count` tuples from the front, as far as the pull's limit allows, and the
 * reports.  Sets batch->more where the limit stands in the way. */
int esi_keeper_give(struct esi_keeper *keeper,
                    const struct es_pull *pull,
                    size_t count,
                    size_t first,
                    struct es_batch *batch);

void esi_keeper_foreach_kept(const struct esi_keeper *keeper,
                             es_stage_kept_fn fn,
                             void *data);

#endif
