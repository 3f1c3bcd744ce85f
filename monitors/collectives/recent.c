/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* recent.c - statistics in slices, of which old ones are discarded. */
#include "config.h"

#include "monitors/collectives/recent.h"

#include <errno.h>
#include <stdlib.h>

enum { PARTS = 16, SLICES = PARTS + 1 };

struct slice {
    struct esi_collective_statistics *statistics; /* owned; NULL = empty */
    uint64_t number; /* time divided by the slices' length */
};

struct esi_recent {
    uint64_t slice_ns; /* 0 = one slice for all */
    uint64_t newest;   /* number of the newest slice */
    struct slice slices[SLICES];
};

int esi_recent_create(uint64_t span_ns, struct esi_recent **ret_recent)
{
    struct esi_recent *recent = calloc(1, sizeof *recent);

    if (!recent)
        return -ENOMEM;
    if (span_ns > 0)
        recent->slice_ns = span_ns < PARTS ? 1 : span_ns / PARTS;
    *ret_recent = recent;
    return 0;
}

void esi_recent_destroy(struct esi_recent *recent)
{
    if (!recent)
        return;
    for (int i = 0; i < SLICES; i++)
        esi_collective_statistics_destroy(recent->slices[i].statistics);
    free(recent);
}

int esi_recent_add(struct esi_recent *recent,
                   const struct esi_collective_instance *instance)
{
    uint64_t number =
        recent->slice_ns ? instance->first_enter_ns / recent->slice_ns : 0;
    struct slice *slice = &recent->slices[number % SLICES];

    if (recent->newest > number && recent->newest - number >= SLICES)
        return 0;
    if (slice->statistics && slice->number != number) {
        esi_collective_statistics_destroy(slice->statistics);
        slice->statistics = NULL;
    }
    if (!slice->statistics && esi_collective_statistics_create(&slice->statistics) < 0)
        return -ENOMEM;
    slice->number = number;
    if (number > recent->newest)
        recent->newest = number;
    return esi_collective_statistics_add(slice->statistics, instance);
}

int esi_recent_sum_up(const struct esi_recent *recent,
                      struct esi_collective_statistics *statistics)
{
    int result = 0;

    /* Oldest first, so that groups keep their order of appearance. */
    for (uint64_t i = 0; i < SLICES; i++) {
        const struct slice *slice = &recent->slices[(recent->newest + 1 + i) % SLICES];

        if (slice->statistics && recent->newest - slice->number < SLICES &&
            esi_collective_statistics_merge(statistics, slice->statistics) < 0)
            result = -ENOMEM;
    }
    return result;
}
