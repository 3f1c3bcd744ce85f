/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* keeper.c - a queue between a stage and its child. */
#include "config.h"

#include "wrappers/stages/keeper.h"

#include <errno.h>

void esi_keeper_fini(struct esi_keeper *keeper)
{
    esi_lane_fini(&keeper->queue);
    es_batch_fini(&keeper->scratch);
    es_batch_fini(&keeper->reported);
}

void esi_keeper_settle(struct esi_keeper *keeper, const struct es_pull *pull)
{
    if (keeper->serial && keeper->serial <= pull->acknowledged) {
        for (size_t i = 0; i < keeper->given; i++)
            esi_lane_pop(&keeper->queue);
        es_batch_clear(&keeper->reported);
    }
    if (keeper->serial)
        keeper->given = 0;
    keeper->serial = 0;
}

struct es_pull esi_keeper_request(const struct esi_keeper *keeper,
                                  const struct es_pull *pull,
                                  size_t room)
{
    struct es_pull part = *pull;

    part.serial = keeper->queue.serial + 1;
    part.acknowledged = keeper->queue.acknowledged;
    part.max = room;
    return part;
}

/* Moves what the child gave into the queue. */
static int take_scratch(struct esi_keeper *keeper,
                        size_t max,
                        size_t first,
                        struct es_batch *batch)
{
    const struct es_batch *scratch = &keeper->scratch;
    struct esi_lane *queue = &keeper->queue;
    int result = esi_lane_reserve(queue, scratch->count);

    if (result == 0)
        result = es_batch_reserve(batch, scratch->count);
    for (size_t i = 0; i < scratch->report_count && result == 0; i++)
        result = es_batch_report(&keeper->reported, &scratch->reports[i]);
    for (size_t i = 0; i < scratch->notice_count && result == 0; i++)
        result = es_batch_notice(batch, &scratch->notices[i]);
    if (result < 0)
        return result;
    for (size_t i = 0; i < scratch->count; i++) {
        if (!es_batch_is_open(scratch, i)) {
            queue->entries[queue->first + queue->count++] = (struct esi_entry){
                .tuple = scratch->tuples[i], .mark = scratch->marks[i]};
        } else if (batch->count - first < max) {
            /* The next pull sees what is under way then: it must not be kept. */
            batch->tuples[batch->count] = scratch->tuples[i];
            batch->marks[batch->count++] = scratch->marks[i];
        }
    }
    return 0;
}

/* Pulls the child once.  What it gave is acknowledged only when it is in the queue. */
static int take_once(struct es_stage *stage,
                     struct esi_keeper *keeper,
                     const struct es_pull *pull,
                     size_t room,
                     size_t first,
                     struct es_batch *batch)
{
    struct es_pull part = esi_keeper_request(keeper, pull, room);
    int result;

    keeper->queue.serial = part.serial;
    es_batch_clear(&keeper->scratch);
    result = es_stage_pull(stage->children[0], &part, &keeper->scratch);
    if (result == 0)
        result = take_scratch(keeper, pull->max, first, batch);
    if (result < 0)
        return result;
    keeper->queue.acknowledged = keeper->queue.serial;
    keeper->queue.exhausted = !keeper->scratch.more;
    return 0;
}

int esi_keeper_take(struct es_stage *stage,
                    struct esi_keeper *keeper,
                    const struct es_pull *pull,
                    size_t capacity,
                    size_t first,
                    struct es_batch *batch)
{
    keeper->queue.exhausted = false;
    while (!keeper->queue.exhausted && keeper->queue.count < capacity) {
        int result = take_once(stage, keeper, pull, capacity - keeper->queue.count,
                               first, batch);

        if (result < 0)
            return result;
    }
    return 0;
}

int esi_keeper_give(struct esi_keeper *keeper,
                    const struct es_pull *pull,
                    size_t count,
                    size_t first,
                    struct es_batch *batch)
{
    const struct esi_lane *queue = &keeper->queue;
    size_t left = pull->max - (batch->count - first);
    int result;

    if (count > left) {
        count = left;
        batch->more = true;
    }
    result = es_batch_reserve(batch, count);
    for (size_t i = 0; i < keeper->reported.report_count && result == 0; i++)
        result = es_batch_report(batch, &keeper->reported.reports[i]);
    if (result < 0)
        return result;
    for (size_t i = 0; i < count; i++) {
        const struct esi_entry *entry = &queue->entries[queue->first + i];

        batch->tuples[batch->count] = entry->tuple;
        batch->marks[batch->count++] = entry->mark;
    }
    keeper->given = count;
    keeper->serial = pull->serial;
    return 0;
}

void esi_keeper_foreach_kept(const struct esi_keeper *keeper,
                             es_stage_kept_fn fn,
                             void *data)
{
    const struct esi_lane *queue = &keeper->queue;

    for (size_t i = keeper->given; i < queue->count; i++)
        fn(data, &queue->entries[queue->first + i].mark);
}
