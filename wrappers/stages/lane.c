/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.c - the queues of stages that keep tuples. */
#include "config.h"

#include "wrappers/stages/lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "wrappers/stages/stage.h"

void esi_lane_fini(struct esi_lane *lane)
{
    free(lane->entries);
    *lane = (struct esi_lane){0};
}

int esi_lane_reserve(struct esi_lane *lane, size_t extra)
{
    if (lane->first + lane->count + extra <= lane->capacity)
        return 0;
    if (lane->first) {
        memmove(lane->entries, lane->entries + lane->first,
                lane->count * sizeof *lane->entries);
        lane->first = 0;
    }
    return ESI_ARRAY_RESERVE(lane->entries, lane->capacity, lane->count + extra);
}

void esi_lane_settle(struct esi_lane *lane)
{
    struct esi_entry *entries = lane->entries + lane->first;
    size_t place = lane->count - 1;
    struct esi_entry entry = entries[place];

    for (; place > 0 && entries[place - 1].key_ns > entry.key_ns; place--)
        entries[place] = entries[place - 1];
    entries[place] = entry;
}

/* Moves what is not kept from `scratch` to the batch. */
static int pass_on(struct es_batch *scratch, size_t most_open, struct es_batch *batch)
{
    size_t kept = 0;
    int result = es_batch_reserve(batch, scratch->count);

    if (result == 0)
        result = esi_batch_append_reports(batch, scratch);
    if (result < 0)
        return result;
    for (size_t i = 0; i < scratch->count; i++) {
        if (!es_batch_is_open(scratch, i)) {
            if (kept != i)
                es_batch_move(scratch, kept, i);
            kept++;
        } else if (most_open > 0) {
            batch->tuples[batch->count] = scratch->tuples[i];
            batch->marks[batch->count++] = scratch->marks[i];
            most_open--;
        }
    }
    scratch->count = kept;
    return 0;
}

int esi_lane_pull(struct esi_lane *lane,
                  struct es_stage *child,
                  struct es_pull *pull,
                  size_t most_open,
                  struct es_batch *scratch,
                  struct es_batch *batch)
{
    int result;

    pull->serial = ++lane->serial;
    es_batch_clear(scratch);
    result = es_stage_pull(child, pull, scratch);
    lane->exhausted = !scratch->more;
    return result < 0 ? result : pass_on(scratch, most_open, batch);
}
