/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Statistics of collective operations over the newest span of time: slices of a
 * sixteenth of the span, of which the old ones are forgotten as time goes on.
 *
 *   one set is one thread's at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_RECENT_H
#define ES_MONITORS_COLLECTIVES_RECENT_H

#include "monitors/collectives/collective_statistics.h"

struct esi_recent;

/* `span_ns` 0: nothing is ever forgotten. */
int esi_recent_create(uint64_t span_ns, struct esi_recent **ret_recent);
/* Accepts NULL. */
void esi_recent_destroy(struct esi_recent *recent);

/* Enters an instance by the time at which it began, unless it is too old.  -ENOMEM. */
int esi_recent_add(struct esi_recent *recent,
                   const struct esi_collective_instance *instance);

/* Adds what began in the span before the newest beginning, and up to a sixteenth more,
 * to `statistics`.  -ENOMEM. */
int esi_recent_sum_up(const struct esi_recent *recent,
                      struct esi_collective_statistics *statistics);

#endif
