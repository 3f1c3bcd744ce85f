/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Repairs impossible times, so that no message arrives before it was sent.
 *
 * The clocks of different processes agree only within their error bounds, so a receive
 * may seem to stop before its send has started.  The repair takes the operations of all
 * processes, those of each process in order of their stops, finds those that belong
 * together (time_link.h), and returns them with possible times:
 *
 *   - a receive stops after its send has started;
 *   - members leave an all-to-all operation not before the last has entered; those
 *     that receive from the root not before the root; a root that receives from all
 *     not before all;
 *   - the order of times within a process is preserved.
 *
 * Times are only moved forward, and as little as these rules allow (docs/clocks.md,
 * "Repaired times"). Contradictions beyond the bounds of both clocks are left unchanged
 * and counted: then an estimate of a clock or a match is wrong.
 *
 *   esi_time_repair_create(&config, &repair);
 *   for each operation:  esi_time_repair_add(repair, &timed, payload);
 *   periodically:        esi_time_repair_expire(repair, now_ns - window_ns);
 *   at the end:          esi_time_repair_finish(repair);
 *
 * An operation is held back until its match is known, at most for `window_ns` of run
 * time, and while at most `max_held` operations are held.  Memory: the operations held
 * back, and `max_open` incomplete matches.
 *
 * A repair may be used by one thread at a time.
 */
#ifndef ES_MONITORS_EVENTS_TIME_REPAIR_H
#define ES_MONITORS_EVENTS_TIME_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/events/time_link.h"

enum esi_repair_mode {
    ES_REPAIR_NONE,
    ES_REPAIR_BOUND,   /* within the clocks' error bounds; few times change */
    ES_REPAIR_LOGICAL, /* controlled logical clock: spans are nearly preserved, and
                          all impossible times are repaired, even beyond the bounds */
};

/* An operation.  Times are run time. */
struct esi_timed {
    uint32_t process; /* process number, which identifies the clock; small */
    uint64_t start_ns;
    uint64_t stop_ns;
    uint64_t error_ns; /* bound of both */
    struct esi_time_link link;
};

/* Called for each operation, with repaired times.  A negative result ends the call that
 * delivered it and is returned; the operation counts as delivered. */
typedef int (*esi_time_repair_fn)(void *data,
                                  const struct esi_timed *timed,
                                  void *payload);

struct esi_time_repair_config {
    enum esi_repair_mode mode;
    uint64_t latency_ns; /* minimum duration of a message */
    double control;      /* of the logical clock; 0 = 0.99 */
    uint64_t window_ns;
    size_t max_held;      /* 0 = 65536 */
    size_t max_open;      /* 0 = 65536 */
    size_t payload_bytes; /* kept with each operation */
    bool sorted;          /* deliver by repaired stop; otherwise in the order of
                             adding */
    esi_time_repair_fn give;
    void *data;
};

struct esi_time_repair_totals {
    uint64_t operations;
    uint64_t checked;    /* stops that were compared with the starts before them */
    uint64_t repaired;   /* of these, impossible and repaired */
    uint64_t beyond;     /* of these, impossible by more than the clocks' bounds */
    uint64_t moved;      /* operations with a changed time */
    uint64_t largest_ns; /* the largest change */
    uint64_t unmatched; /* stops for which not all starts before them arrived in time */
    uint64_t disordered; /* operations added after later ones of their process */
};

struct esi_time_repair;

/* Copies the configuration.  Returns 0 or -ENOMEM. */
int esi_time_repair_create(const struct esi_time_repair_config *config,
                           struct esi_time_repair **ret_repair);
/* Accepts NULL. Operations held back are discarded. */
void esi_time_repair_destroy(struct esi_time_repair *repair);

/* Copies both.  May deliver this operation and others.  Returns 0; -EINVAL (it stops
 * before it starts, or its process number is 2^20 or more); -ENOMEM (it was not added);
 * or the result of `give`. */
int esi_time_repair_add(struct esi_time_repair *repair,
                        const struct esi_timed *timed,
                        const void *payload);

/* Stops waiting for the matches of operations that stopped at or before this time. */
int esi_time_repair_expire(struct esi_time_repair *repair, uint64_t time_ns);

/* Delivers all operations held back. */
int esi_time_repair_finish(struct esi_time_repair *repair);

void esi_time_repair_totals(const struct esi_time_repair *repair,
                            struct esi_time_repair_totals *ret_totals);

#endif
