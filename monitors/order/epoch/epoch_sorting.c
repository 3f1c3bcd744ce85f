/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_sorting.c - the writer's memory for packing parts of logs. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/order/epoch/epoch_layout.h"

void esi_sorting_fini(struct esi_sorting *sorting)
{
    free(sorting->tallies);
    free(sorting->places);
    free(sorting->traces);
    free(sorting->steps);
    free(sorting->earlier);
    free(sorting->columns);
    free(sorting->patterns);
    free(sorting->slots);
    *sorting = (struct esi_sorting){0};
}

uint64_t esi_sorting_bytes(const struct esi_sorting *sorting)
{
    return sorting->tally_room * sizeof *sorting->tallies +
           sorting->trace_room * (sizeof *sorting->places + sizeof *sorting->traces) +
           sorting->earlier_room * sizeof *sorting->earlier +
           sorting->pattern_room *
               (sizeof *sorting->columns + sizeof *sorting->patterns) +
           sorting->slot_room * sizeof *sorting->slots +
           sorting->step_room * sizeof *sorting->steps;
}

int esi_sorting_reserve_traces(struct esi_sorting *sorting, uint32_t traces)
{
    size_t before = sorting->tally_room;

    if (ESI_ARRAY_RESERVE(sorting->earlier, sorting->earlier_room, traces) < 0 ||
        ESI_ARRAY_RESERVE_PAIR(sorting->places, sorting->traces, sorting->trace_room,
                               traces + 1u) < 0 || /* see tally_entries() */
        ESI_ARRAY_RESERVE(sorting->tallies, sorting->tally_room, traces) < 0)
        return -ENOMEM;
    memset(&sorting->tallies[before], 0,
           (sorting->tally_room - before) * sizeof *sorting->tallies);
    return 0;
}

/* Reserves the exact number: with few traces, steps are most of the store's memory. */
int esi_sorting_reserve_steps(struct esi_sorting *sorting, size_t steps)
{
    if (steps <= sorting->step_room)
        return 0;
    free(sorting->steps);
    sorting->steps = malloc(steps * sizeof *sorting->steps);
    sorting->step_room = sorting->steps ? steps : 0;
    return sorting->steps ? 0 : -ENOMEM;
}

int esi_sorting_reserve_patterns(struct esi_sorting *sorting)
{
    size_t slots = 16;

    while (slots < (size_t)sorting->trace_count * 2)
        slots *= 2;
    if (ESI_ARRAY_RESERVE_PAIR(sorting->columns, sorting->patterns,
                               sorting->pattern_room, sorting->trace_count + 1u) < 0 ||
        ESI_ARRAY_RESERVE(sorting->slots, sorting->slot_room, slots) < 0)
        return -ENOMEM;
    memset(sorting->slots, 0, slots * sizeof *sorting->slots);
    sorting->patterns[0] = (struct esi_steps_pattern){.count = 0};
    sorting->pattern_count = 1;
    sorting->slot_mask = (uint32_t)slots - 1;
    return 0;
}
