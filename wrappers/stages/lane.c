/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.c - the queues of stages that hold tuples. */
#include "config.h"

#include "wrappers/stages/lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "wrappers/stages/stage.h"

void esi_lane_fini(struct esi_lane *lane)
{
    es_batch_fini(&lane->batch);
    free(lane->keys);
    *lane = (struct esi_lane){0};
}

void esi_lane_clear(struct esi_lane *lane)
{
    lane->batch.count = lane->first = 0;
}

/* Reclaims the room at the front when that costs no more than the tuples that have
 * left. */
static void move_to_front(struct esi_lane *lane)
{
    size_t count = esi_lane_count(lane);

    if (lane->first == 0 || lane->first < count)
        return;
    memmove(lane->batch.tuples, esi_lane_tuples(lane),
            count * sizeof *lane->batch.tuples);
    memmove(lane->batch.marks, esi_lane_marks(lane), count * sizeof *lane->batch.marks);
    if (lane->keys)
        memmove(lane->keys, esi_lane_keys(lane), count * sizeof *lane->keys);
    lane->batch.count = count;
    lane->first = 0;
}

int esi_lane_reserve(struct esi_lane *lane, size_t extra)
{
    int result;

    move_to_front(lane);
    result = es_batch_reserve(&lane->batch, extra);
    return result < 0 ? result
                      : ESI_ARRAY_RESERVE(lane->keys, lane->key_capacity,
                                          lane->batch.count + extra);
}

void esi_lane_push(struct esi_lane *lane,
                   uint64_t key,
                   const struct es_tuple *tuple,
                   const struct es_mark *mark)
{
    size_t place = lane->batch.count++;

    lane->keys[place] = key;
    lane->batch.tuples[place] = *tuple;
    lane->batch.marks[place] = *mark;
}

void esi_lane_settle(struct esi_lane *lane, size_t index)
{
    size_t place = lane->first + index;
    uint64_t key = lane->keys[place];
    struct es_tuple tuple = lane->batch.tuples[place];
    struct es_mark mark = lane->batch.marks[place];

    for (; place > lane->first && lane->keys[place - 1] > key; place--) {
        lane->keys[place] = lane->keys[place - 1];
        es_batch_move(&lane->batch, place, place - 1);
    }
    lane->keys[place] = key;
    lane->batch.tuples[place] = tuple;
    lane->batch.marks[place] = mark;
}

/* Moves tuples that are not held, from `first` on, to the batch. */
static int pass_on(struct es_batch *fresh,
                   size_t first,
                   size_t most_open,
                   struct es_batch *batch)
{
    size_t kept = first;
    int result = esi_batch_append_reports(batch, fresh);

    while (kept < fresh->count && !es_batch_is_open(fresh, kept))
        kept++;
    for (size_t i = kept; i < fresh->count && result == 0; i++) {
        if (!es_batch_is_open(fresh, i)) {
            es_batch_move(fresh, kept++, i);
        } else if (most_open > 0) {
            result = esi_batch_append_tuples(batch, fresh, i, 1);
            most_open--;
        }
    }
    fresh->count = kept;
    return result;
}

int esi_lane_pull(struct esi_lane *lane,
                  struct es_stage *child,
                  struct es_pull *pull,
                  size_t most_open,
                  struct es_batch *batch)
{
    struct es_batch *fresh = &lane->batch;
    size_t first;
    int result;

    move_to_front(lane);
    first = fresh->count;
    fresh->report_count = 0;
    fresh->notice_count = 0;
    fresh->more = false;
    pull->serial = ++lane->serial;
    result = es_stage_pull(child, pull, fresh);
    lane->exhausted = !fresh->more;
    return result < 0 ? result : pass_on(fresh, first, most_open, batch);
}

int esi_lane_emit(struct esi_lane *lane, size_t count, struct es_batch *batch)
{
    int result = esi_batch_append_tuples(batch, &lane->batch, lane->first, count);

    if (result < 0)
        return result;
    lane->first += count;
    if (esi_lane_count(lane) == 0)
        esi_lane_clear(lane);
    return 0;
}
