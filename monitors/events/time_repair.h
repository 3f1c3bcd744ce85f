/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Repair of impossible times: no message is shown to arrive before it was sent.
 *
 * Clocks of several processes agree within the bounds of their errors only, so a
 * receive may seem to stop before its send has started.  The repair is fed with the
 * operations of all processes, each process's in the order in which they stopped, finds
 * what belongs together (time_match.h), and gives them back with times that are
 * possible:
 *
 *   - a receive stops after its send has started;
 *   - members leave an all-to-all operation not before the last has entered, those who
 *     get from the root not before the root, the root that gets from all not before
 * all;
 *   - the order of times within a process stays.
 *
 * Times are only ever moved on, and as little as these rules allow (docs/monitors.md,
 * "Repaired times").  What is not explained by the bounds of the clocks at both ends is
 * left as it is and counted: then an estimate of a clock is wrong, or a match.
 *
 *   esi_time_repair_create(&config, &repair);
 *   for each operation:  esi_time_repair_add(repair, &timed, payload);
 *   now and then:        esi_time_repair_expire(repair, now_ns - window_ns);
 *   at the end:          esi_time_repair_finish(repair);
 *
 * An operation is held back until its match is known, for `window_ns` of run time at
 * most, and while at most `max_held` are.  Memory: what is held back, and `max_open`
 * matches that are not complete.
 *
 *   one repair is one thread's at a time.
 */
#ifndef ES_MONITORS_EVENTS_TIME_REPAIR_H
#define ES_MONITORS_EVENTS_TIME_REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/events/time_match.h"

enum esi_repair_mode {
    ES_REPAIR_NONE,
    ES_REPAIR_BOUND,   /* within the clocks' bounds; few times change */
    ES_REPAIR_LOGICAL, /* controlled logical clock: spans are nearly kept, and whatever
                          is impossible is repaired, also beyond the bounds */
};

/* What an operation means for its match: bits. */
enum esi_time_end {
    ES_TIME_BEFORE = 1, /* its start comes before the others' stops */
    ES_TIME_AFTER = 2,  /* its stop comes after the others' starts */
};

struct esi_time_link {
    struct esi_ends_key key; /* kind 0 = the operation joins nothing */
    unsigned ends;           /* bits of enum esi_time_end */
    uint32_t members;        /* ends there are: of a message 2 */
    uint32_t befores;        /* of these, with ES_TIME_BEFORE: of a message 1 */
};

/* An operation.  Times are run time. */
struct esi_timed {
    uint32_t process; /* whose clock: small numbers */
    uint64_t start_ns;
    uint64_t stop_ns;
    uint64_t error_ns; /* bound of both */
    struct esi_time_link link;
};

/* Called for each operation, with its times as repaired.  A negative result ends the
 * adding, settling or finishing and is passed on; the operation counts as given. */
typedef int (*esi_time_repair_fn)(void *data,
                                  const struct esi_timed *timed,
                                  void *payload);

struct esi_time_repair_config {
    enum esi_repair_mode mode;
    uint64_t latency_ns; /* that a message takes at least */
    double control;      /* of the logical clock; 0 = 0.99 */
    uint64_t window_ns;
    size_t max_held;      /* 0 = 65536 */
    size_t max_open;      /* 0 = 65536 */
    size_t payload_bytes; /* kept with each operation */
    bool sorted;          /* give by repaired stop; else in the order of adding */
    esi_time_repair_fn give;
    void *data;
};

struct esi_time_repair_totals {
    uint64_t operations;
    uint64_t checked;    /* stops that were compared with what comes before them */
    uint64_t repaired;   /* of these, impossible and made possible */
    uint64_t beyond;     /* of these, impossible by more than the clocks' bounds */
    uint64_t moved;      /* operations with a time that was changed */
    uint64_t largest_ns; /* by which one was */
    uint64_t unmatched; /* stops that did not find all that comes before them in time */
    uint64_t disordered; /* operations that came after later ones of their process */
};

struct esi_time_repair;

/* Copies the configuration.  -ENOMEM. */
int esi_time_repair_create(const struct esi_time_repair_config *config,
                           struct esi_time_repair **ret_repair);
/* Accepts NULL.  What is held back is not given. */
void esi_time_repair_destroy(struct esi_time_repair *repair);

/* Copies both.  May give this and others.  0, -EINVAL (it stops before it starts, or
 * its process number is 2^20 or more), -ENOMEM (then it is not held), or what `give`
 * returned. */
int esi_time_repair_add(struct esi_time_repair *repair,
                        const struct esi_timed *timed,
                        const void *payload);

/* Gives up waiting for the matches of what stopped at this time or before. */
int esi_time_repair_expire(struct esi_time_repair *repair, uint64_t time_ns);

/* Gives all that is held back. */
int esi_time_repair_finish(struct esi_time_repair *repair);

void esi_time_repair_totals(const struct esi_time_repair *repair,
                            struct esi_time_repair_totals *ret_totals);

#endif
