/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * events_repair.h - repairs the times of a scope's events (time_repair.h), and holds
 * them while the repair waits.
 */
#ifndef ES_MONITORS_EVENTS_EVENTS_REPAIR_H
#define ES_MONITORS_EVENTS_EVENTS_REPAIR_H

#include "monitors/events/events.h"

struct esi_events_repair;

struct esi_events_repair_config {
    struct esi_follower *follower; /* the source of all events; borrowed */
    enum esi_repair_mode mode;     /* not NONE */
    enum es_sorting sorting;       /* of the events that are added */
    uint64_t window_ns; /* how long an event waits for its match; 0 = 10 ms */
    /* Receives the events.  A negative result ends the call that delivered the
     * event. */
    int (*give)(void *data, const struct esi_event *event);
    void *data;
};

int esi_events_repair_create(const struct esi_events_repair_config *config,
                             struct esi_events_repair **ret_repair);
/* Accepts NULL. */
void esi_events_repair_destroy(struct esi_events_repair *repair);

/* Returns 0, -ENOMEM or the result of `give`. */
int esi_events_repair_add(struct esi_events_repair *repair,
                          const struct esi_event *event);

/* Call when no more data is available: delivers events that have waited for the
 * window. */
int esi_events_repair_rest(struct esi_events_repair *repair);

/* Delivers all events held back. */
int esi_events_repair_finish(struct esi_events_repair *repair);

void esi_events_repair_totals(const struct esi_events_repair *repair,
                              struct esi_time_repair_totals *ret_totals);

#endif
