/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* recorder_clock.c - converts ticks of a host to run time, permanently. */
#include "config.h"

#include "monitors/archive/recorder_clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct knot {
    uint64_t ticks;
    uint64_t run_ns;
};

struct esi_recorder_clock {
    char host[256];
    struct es_clock clock; /* the first record seen */
    struct knot *knots;    /* owned; at least one */
    size_t count;
    size_t capacity;
    size_t recent; /* index of the knot at the beginning of the last used piece */
};

/* Uses the current estimate, but the clock record of the curve. */
static uint64_t estimate_time(const struct esi_recorder_clock *clock,
                              const struct es_origin *origin,
                              uint64_t ticks)
{
    struct es_origin same = *origin;

    same.clock = &clock->clock;
    return es_origin_run_ns(&same, ticks, NULL);
}

/* Keeps the curve from decreasing. */
static int add_knot(struct esi_recorder_clock *clock, uint64_t ticks, uint64_t run_ns)
{
    if (ESI_ARRAY_RESERVE(clock->knots, clock->capacity, clock->count + 1) < 0)
        return -ENOMEM;
    if (clock->count > 0 && run_ns < clock->knots[clock->count - 1].run_ns)
        run_ns = clock->knots[clock->count - 1].run_ns;
    clock->knots[clock->count++] = (struct knot){ticks, run_ns};
    return 0;
}

int esi_recorder_clock_create(const struct es_origin *origin,
                              struct esi_recorder_clock **ret_clock)
{
    struct esi_recorder_clock *clock = calloc(1, sizeof *clock);
    int result;

    if (!clock)
        return -ENOMEM;
    snprintf(clock->host, sizeof clock->host, "%s", origin->host);
    clock->clock = *origin->clock;
    result = add_knot(clock, clock->clock.base_ticks,
                      estimate_time(clock, origin, clock->clock.base_ticks));
    if (result < 0) {
        esi_recorder_clock_destroy(clock);
        return result;
    }
    *ret_clock = clock;
    return 0;
}

void esi_recorder_clock_destroy(struct esi_recorder_clock *clock)
{
    int saved_errno = errno;

    if (!clock)
        return;
    free(clock->knots);
    free(clock);
    errno = saved_errno;
}

bool esi_recorder_clock_is_of(const struct esi_recorder_clock *clock,
                              const struct es_origin *origin)
{
    return clock->clock.kind == origin->clock->kind &&
           strcmp(clock->host, origin->host) == 0;
}

/* Extends the curve to `ticks`, which are beyond its last knot. */
static int lengthen_table(struct esi_recorder_clock *clock,
                          const struct es_origin *origin,
                          uint64_t ticks)
{
    uint64_t second = clock->clock.frequency_hz ? clock->clock.frequency_hz : 1;
    uint64_t end = ticks > UINT64_MAX - second ? UINT64_MAX : ticks + second;

    return add_knot(clock, end, estimate_time(clock, origin, end));
}

/* Interpolates between two knots, independently of the current estimate. */
static uint64_t interpolate_time(const struct knot *before, uint64_t ticks)
{
    const struct knot *after = before + 1;
    unsigned __int128 rise = after->run_ns - before->run_ns;

    return before->run_ns +
           (uint64_t)(rise * (ticks - before->ticks) / (after->ticks - before->ticks));
}

/* Returns the index of the last knot at or before `ticks`; there must be a later
 * one. */
static size_t find_piece(const struct esi_recorder_clock *clock, uint64_t ticks)
{
    size_t low = 0;
    size_t high = clock->count - 2;

    if (clock->recent <= high && clock->knots[clock->recent].ticks <= ticks &&
        ticks < clock->knots[clock->recent + 1].ticks)
        return clock->recent;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (clock->knots[middle].ticks <= ticks)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int esi_recorder_clock_convert(struct esi_recorder_clock *clock,
                               const struct es_origin *origin,
                               uint64_t ticks,
                               uint64_t *ret_run_ns)
{
    const struct knot *first = clock->knots;
    int result = 0;

    if (ticks <= first->ticks) {
        uint64_t before = es_clock_span_ns(&clock->clock, first->ticks - ticks);

        *ret_run_ns = first->run_ns > before ? first->run_ns - before : 0;
        return 0;
    }
    if (ticks == UINT64_MAX) /* from a damaged segment; there must be a knot beyond
                                `ticks` */
        ticks--;
    if (ticks >= clock->knots[clock->count - 1].ticks)
        result = lengthen_table(clock, origin, ticks);
    if (result < 0)
        return result;
    clock->recent = find_piece(clock, ticks);
    *ret_run_ns = interpolate_time(&clock->knots[clock->recent], ticks);
    return 0;
}
