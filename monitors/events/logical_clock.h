/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The displayed clock of a process: its own clock, moved forward where that is too
 * early.
 *
 * The controlled logical clock of Rabenseifner ("The controlled logical clock - a
 * global time for trace based software monitoring of parallel applications in
 * workstation clusters", 1997): a time that is too early for a received message jumps
 * forward; later times follow with slope `control`, until the process's own clock has
 * caught up.  With control 0 the displayed clock stops until then, so that the fewest
 * times change; with a value slightly below 1, spans between events are nearly
 * preserved, but more times are shifted, each a little.
 *
 * The displayed clock is never earlier than the clock itself, and is monotonic: the
 * order of a process's times is preserved.  Pure arithmetic.
 */
#ifndef ES_MONITORS_EVENTS_LOGICAL_CLOCK_H
#define ES_MONITORS_EVENTS_LOGICAL_CLOCK_H

#include <stdint.h>

/* Number of jumps remembered for past times that are queried late: the start of an
 * operation is known when it has stopped.  Times before them are not shifted. */
#define ES_LOGICAL_JUMPS 64

struct esi_logical_jump {
    uint64_t at_ns; /* on the process's clock */
    uint64_t to_ns;
    uint64_t error_ns; /* error bound of the clock that caused it */
};

/* A value type; initially all zero except `control`. */
struct esi_logical_clock {
    double control; /* 0 to 1 */
    unsigned count;
    struct esi_logical_jump jumps[ES_LOGICAL_JUMPS]; /* sorted by `at_ns` */
};

/* Converts a time of the process's clock to the displayed clock.  If the result
 * differs, `*error_ns` is set to the error bound of the clock that caused the jump. */
uint64_t esi_logical_clock_at(const struct esi_logical_clock *clock,
                              uint64_t time_ns,
                              uint64_t *error_ns);

/* From the time `jump->at_ns` on, the displayed clock shows at least `jump->to_ns`. No
 * effect if it already does.  Discards the oldest jump if there are too many. */
void esi_logical_clock_jump(struct esi_logical_clock *clock,
                            const struct esi_logical_jump *jump);

#endif
