/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * events_repair.h - repairs the times of a scope's events (time_repair.h): tells the
 * repair which events belong together, and holds them while it waits.
 */
#ifndef ES_MONITORS_EVENTS_EVENTS_REPAIR_H
#define ES_MONITORS_EVENTS_EVENTS_REPAIR_H

#include "monitors/events/events.h"

struct esi_events_repair;

struct esi_events_repair_config {
    const struct es_scope *scope; /* that all events come from; borrowed */
    enum esi_repair_mode mode;    /* not NONE */
    enum es_sorting sorting;      /* of the events that are added */
    uint64_t window_ns;           /* how long an event waits for its match; 0 = 10 ms */
    /* Gets the events.  A negative result ends the call that gave it. */
    int (*give)(void *data, const struct esi_event *event);
    void *data;
};

int esi_events_repair_create(const struct esi_events_repair_config *config,
                             struct esi_events_repair **ret_repair);
/* Accepts NULL. */
void esi_events_repair_destroy(struct esi_events_repair *repair);

/* 0, -ENOMEM or what `give` returned. */
int esi_events_repair_add(struct esi_events_repair *repair,
                          const struct esi_event *event);

/* At the end of a reading that found no more: what has waited for the window is given.
 */
int esi_events_repair_rest(struct esi_events_repair *repair);

/* Gives all that is held back. */
int esi_events_repair_finish(struct esi_events_repair *repair);

void esi_events_repair_totals(const struct esi_events_repair *repair,
                              struct esi_time_repair_totals *ret_totals);

/* What an event of world rank `rank` joins, on a communicator of `size` members.  An
 * operation that need not make anybody wait, such as a broadcast of nothing, joins
 * nothing. */
void esi_time_link_read(const struct esi_activity *activity,
                        int rank,
                        int size,
                        struct esi_time_link *ret_link);

#endif
