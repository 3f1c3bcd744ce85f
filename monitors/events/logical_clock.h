/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A process's clock as it is shown: its own, pushed ahead where it must not be earlier.
 *
 * The controlled logical clock of Rabenseifner ("The controlled logical clock - a
 * global time for trace based software monitoring of parallel applications in
 * workstation clusters", 1997): a time that is too early for what it received jumps
 * ahead; what comes after follows with slope `control`, until the process's own clock
 * has caught up.  With control 0 it stands still until then, so that the fewest times
 * change; with one a little below 1 spans between events are nearly kept, and more
 * times are shifted, each a little.
 *
 * What is shown is never earlier than the clock itself, and never goes backwards as the
 * clock goes on: the order of a process's times stays.  Pure arithmetic.
 */
#ifndef ES_MONITORS_EVENTS_LOGICAL_CLOCK_H
#define ES_MONITORS_EVENTS_LOGICAL_CLOCK_H

#include <stdint.h>

/* Jumps that are remembered, for times of the past that are asked for late: the start
 * of an operation is known when it has stopped.  Times before them are not shifted. */
#define ES_LOGICAL_JUMPS 64

struct esi_logical_jump {
    uint64_t at_ns; /* of the process's clock */
    uint64_t to_ns;
    uint64_t error_ns; /* bound of the clock that it was made for */
};

/* A value type, all zeros but `control`. */
struct esi_logical_clock {
    double control; /* 0 to 1 */
    unsigned count;
    struct esi_logical_jump jumps[ES_LOGICAL_JUMPS]; /* in order of `at_ns` */
};

/* What is shown for a time of the process's clock.  Where that is not the time itself,
 * `*error_ns` becomes the bound of the clock that is to blame; else it is left. */
uint64_t esi_logical_clock_at(const struct esi_logical_clock *clock,
                              uint64_t time_ns,
                              uint64_t *error_ns);

/* From the time `jump->at_ns` on nothing earlier than `jump->to_ns` is shown.  Without
 * effect where that is so already.  The oldest jump is forgotten if need be. */
void esi_logical_clock_jump(struct esi_logical_clock *clock,
                            const struct esi_logical_jump *jump);

#endif
