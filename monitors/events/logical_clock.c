/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* logical_clock.c - all jumps start lines of the same slope, so the last jump before a
 * time gives the maximum, and earlier ones can be ignored. */
#include "config.h"

#include "monitors/events/logical_clock.h"

#include <string.h>

static uint64_t line_at(const struct esi_logical_clock *clock,
                        const struct esi_logical_jump *jump,
                        uint64_t time_ns)
{
    return jump->to_ns + (uint64_t)(clock->control * (double)(time_ns - jump->at_ns));
}

/* Number of jumps at or before a time, which is usually the newest. */
static unsigned jumps_before(const struct esi_logical_clock *clock, uint64_t time_ns)
{
    unsigned count = clock->count;

    while (count > 0 && clock->jumps[count - 1].at_ns > time_ns)
        count--;
    return count;
}

uint64_t esi_logical_clock_at(const struct esi_logical_clock *clock,
                              uint64_t time_ns,
                              uint64_t *error_ns)
{
    unsigned before = jumps_before(clock, time_ns);
    uint64_t shown_ns;

    if (before == 0)
        return time_ns;
    shown_ns = line_at(clock, &clock->jumps[before - 1], time_ns);
    if (shown_ns <= time_ns)
        return time_ns;
    *error_ns = clock->jumps[before - 1].error_ns;
    return shown_ns;
}

/* Removes `count` jumps from `at` on. */
static void cut_clock(struct esi_logical_clock *clock, unsigned at, unsigned count)
{
    memmove(&clock->jumps[at], &clock->jumps[at + count],
            (clock->count - at - count) * sizeof clock->jumps[0]);
    clock->count -= count;
}

void esi_logical_clock_jump(struct esi_logical_clock *clock,
                            const struct esi_logical_jump *jump)
{
    uint64_t error_ns = 0;
    unsigned at;
    unsigned hidden = 0;

    if (esi_logical_clock_at(clock, jump->at_ns, &error_ns) >= jump->to_ns)
        return;
    if (clock->count == ES_LOGICAL_JUMPS)
        cut_clock(clock, 0, 1);
    at = jumps_before(clock, jump->at_ns);
    while (at + hidden < clock->count &&
           line_at(clock, jump, clock->jumps[at + hidden].at_ns) >=
               clock->jumps[at + hidden].to_ns)
        hidden++;
    cut_clock(clock, at, hidden);
    memmove(&clock->jumps[at + 1], &clock->jumps[at],
            (clock->count - at) * sizeof clock->jumps[0]);
    clock->jumps[at] = *jump;
    clock->count++;
}
