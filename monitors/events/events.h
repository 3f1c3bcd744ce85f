/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The get-event monitor (section 5.2 of the EventSpace paper): gathers events without
 * further processing.
 *
 * Works on live, hanging and dead runs: it reads what the segments still contain and,
 * on request, new events.
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
    uint64_t since_ns; /* only operations completed at or after this real time; 0 =
                          all */
    size_t last; /* only so many of the newest events present at the start; 0 = all */
    enum esi_repair_mode repair; /* of impossible times */
    bool sites;                  /* events contain their source location */
};

struct esi_event {
    const struct es_origin *origin; /* borrowed from the scope */
    uint64_t position;
    const char *site; /* NULL = not requested; "" = not known; valid as long as the
                         esi_events object */
    struct esi_activity activity;
    uint64_t ended_ns; /* of an operation in progress: when its process ended; 0 = it
                          is alive, or not known */
    bool ended;        /* its process has ended */
};

/* Until when the operation lasts: its end, that of its process, or now.  If its process
 * ended at an unknown time, its start. */
static inline uint64_t esi_event_until_ns(const struct esi_event *event,
                                          uint64_t now_ns)
{
    if (event->activity.stop_ns)
        return event->activity.stop_ns;
    if (event->ended_ns)
        return event->ended_ns;
    return event->ended ? event->activity.start_ns : now_ns;
}

/* Receives the events.  A negative result ends the reading and is returned. */
struct esi_event_sink {
    int (*event)(void *data, const struct esi_event *event);
    /* `lost` tuples of an element are missing at this position. */
    int (*loss)(void *data, const struct es_origin *origin, uint64_t lost);
    /* For a tree with summaries: see esi_events_give_summaries(). */
    int (*summary)(void *data, const struct esi_summary_row *row);
    void *data;
};

struct esi_events;

/* Borrows the run.  Returns 0, or -EINVAL with `error` filled if the view is
 * invalid. */
int esi_events_create(struct es_run *run,
                      const struct esi_events_config *config,
                      struct es_error *error,
                      struct esi_events **ret_events);
/* Accepts NULL. */
void esi_events_destroy(struct esi_events *events);

/* Delivers the events present when the reading began; call it first.  `drain`: also
 * those that sorting would still hold back.  Returns 0 or -errno. */
int esi_events_read_backlog(struct esi_events *events,
                            bool drain,
                            const struct esi_event_sink *sink);

/* Delivers new events, and lets new elements join.  Returns 1 if more data is
 * available, 0 if not, or -errno. */
int esi_events_read_new(struct esi_events *events,
                        bool drain,
                        const struct esi_event_sink *sink);

/* Whether the tree produces summaries instead of events. */
bool esi_events_are_summed_up(const struct esi_events *events);

/* Delivers the summaries of everything read since the last call, one per group. */
int esi_events_give_summaries(struct esi_events *events,
                              const struct esi_event_sink *sink);

/* Delivers the operations in progress, including the last operations of dead processes.
 * There are none if the tree produces summaries. */
int esi_events_read_open(struct esi_events *events, const struct esi_event_sink *sink);

/* Gives access to the state of the run and of the reading.  Borrowed. */
const struct esi_follower *esi_events_follower(const struct esi_events *events);

/* Run time of the start of the run, according to its first process. */
uint64_t esi_events_start_ns(const struct esi_events *events);

/* Returns the repairs of the events delivered so far.  False if nothing is repaired,
 * because of the configuration or because the tree produces summaries. */
bool esi_events_repairs(const struct esi_events *events,
                        struct esi_time_repair_totals *ret_totals);

#endif
