/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* lane.c - the queues of a sort stage. */
#include "config.h"

#include "wrappers/stages/lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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

void esi_lane_insert(struct esi_lane *lane, const struct esi_entry *entry)
{
    struct esi_entry *entries = lane->entries + lane->first;
    size_t place = lane->count++;

    for (; place > 0 && entries[place - 1].key_ns > entry->key_ns; place--)
        entries[place] = entries[place - 1];
    entries[place] = *entry;
}
