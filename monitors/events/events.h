/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The get-event monitor (section 5.2 of the EventSpace paper): gathers events without
 * processing them further.
 *
 * Works on runs that live, hang or are dead: it reads what the segments still hold and,
 * if asked, what comes.
 */
#ifndef ES_MONITORS_EVENTS_EVENTS_H
#define ES_MONITORS_EVENTS_EVENTS_H

#include "eventspace/scope.h"
#include "monitors/events/summaries.h"
#include "monitors/events/time_repair.h"
#include "monitors/follow/follower.h"
#include "monitors/follow/thread_state.h"

struct esi_events_config {
    struct es_scope_config scope; /* how events are gathered; texts borrowed for the
                                     call */
    uint64_t since_ns; /* only what completed at or after this real time; 0 = all */
    size_t last; /* of what is there at the start only so many, the newest; 0 = all */
    enum esi_repair_mode repair; /* of times that cannot be */
    bool sites;                  /* events say where in the program they were called */
};

struct esi_event {
    const struct es_origin *origin; /* borrowed from the scope */
    uint64_t position;
    const char *site; /* NULL = not asked for; "" = not known; lives as the events */
    struct esi_activity activity;
};

/* Where events go.  A negative result ends the reading and is passed on. */
struct esi_event_sink {
    int (*event)(void *data, const struct esi_event *event);
    /* `lost` tuples of an element are missing at this point. */
    int (*loss)(void *data, const struct es_origin *origin, uint64_t lost);
    /* Of a tree that sums up: see esi_events_give_summaries(). */
    int (*summary)(void *data, const struct esi_summary_row *row);
    void *data;
};

struct esi_events;

/* Borrows the run.  -EINVAL with words where the view is not understood. */
int esi_events_create(struct es_run *run,
                      const struct esi_events_config *config,
                      struct es_error *error,
                      struct esi_events **ret_events);
/* Accepts NULL. */
void esi_events_destroy(struct esi_events *events);

/* Gives what was there when the reading began; call it first.  `drain`: also what
 * sorting would still keep back.  0 or -errno. */
int esi_events_read_backlog(struct esi_events *events,
                            bool drain,
                            const struct esi_event_sink *sink);

/* Gives what has come since, and lets elements join that have appeared.  Returns 1 when
 * there is more to be had at once, else 0, or -errno. */
int esi_events_read_new(struct esi_events *events,
                        bool drain,
                        const struct esi_event_sink *sink);

/* Whether the tree sums up: then there are no events but summaries. */
bool esi_events_are_summed_up(const struct esi_events *events);

/* Gives the summaries of what was read since they were given last: one for each group.
 */
int esi_events_give_summaries(struct esi_events *events,
                              const struct esi_event_sink *sink);

/* Gives the operations under way, also those that ended processes were in.  There are
 * none where the tree sums up. */
int esi_events_read_open(struct esi_events *events, const struct esi_event_sink *sink);

/* For what is known of the run and of the reading.  Borrowed. */
const struct esi_follower *esi_events_follower(const struct esi_events *events);

/* Run time at which the run began, as its first process saw it. */
uint64_t esi_events_start_ns(const struct esi_events *events);

/* What was repaired of the events given so far.  False: nothing is repaired here, as
 * was asked for or because the tree sums up. */
bool esi_events_repairs(const struct esi_events *events,
                        struct esi_time_repair_totals *ret_totals);

#endif
