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

struct es_events_config {
    struct es_view view; /* borrowed for the call */
    enum es_sorting sorting;
    uint64_t window_ns; /* sorting keeps events back so long */
    uint64_t since_ns;  /* only what completed at or after this real time; 0 = all */
    size_t last;   /* of what is there at the start only so many, the newest; 0 = all */
    bool lossless; /* programs wait for us where their elements are set to block */
    bool skip_backlog; /* nothing of what is there at the start */
    struct es_servers
        *servers; /* all hosts of the run; NULL = this host only; borrowed */
    const struct es_tree_config *tree; /* how events are gathered; NULL = as scopes do
                                          without being told; borrowed for the call */
    size_t max;                 /* tuples in one pull at most; 0 = as scopes do */
    enum es_repair_mode repair; /* of times that cannot be */
};

struct es_event {
    const struct es_origin *origin; /* borrowed from the scope */
    uint64_t position;
    struct es_activity activity;
};

/* Where events go.  A negative result ends the reading and is passed on. */
struct es_event_sink {
    int (*event)(void *data, const struct es_event *event);
    /* `lost` tuples of an element are missing at this point. */
    int (*loss)(void *data, const struct es_origin *origin, uint64_t lost);
    /* Of a tree that sums up: see es_events_give_summaries(). */
    int (*summary)(void *data, const struct es_summary_row *row);
    void *data;
};

struct es_events;

/* Borrows the run.  -EINVAL with words where the view is not understood. */
int es_events_create(struct es_run *run,
                     const struct es_events_config *config,
                     struct es_error *error,
                     struct es_events **ret_events);
/* Accepts NULL. */
void es_events_destroy(struct es_events *events);

/* Gives what was there when the reading began; call it first.  `drain`: also what
 * sorting would still keep back.  0 or -errno. */
int es_events_read_backlog(struct es_events *events,
                           bool drain,
                           const struct es_event_sink *sink);

/* Gives what has come since, and lets elements join that have appeared.  Returns 1 when
 * there is more to be had at once, else 0, or -errno. */
int es_events_read_new(struct es_events *events,
                       bool drain,
                       const struct es_event_sink *sink);

/* Whether the tree sums up: then there are no events but summaries. */
bool es_events_are_summed_up(const struct es_events *events);

/* Gives the summaries of what was read since they were given last: one for each group.
 */
int es_events_give_summaries(struct es_events *events,
                             const struct es_event_sink *sink);

/* Gives the operations under way, also those that ended processes were in.  There are
 * none where the tree sums up. */
int es_events_read_open(struct es_events *events, const struct es_event_sink *sink);

/* For what is known of the run and of the reading.  Borrowed. */
const struct esi_follower *es_events_follower(const struct es_events *events);

/* Run time at which the run began, as its first process saw it. */
uint64_t es_events_start_ns(const struct es_events *events);

/* What was repaired of the events given so far.  False: nothing is repaired here, as
 * was asked for or because the tree sums up. */
bool es_events_repairs(const struct es_events *events,
                       struct es_time_repair_totals *ret_totals);

#endif
