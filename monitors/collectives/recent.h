/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Statistics of collective operations over the most recent time span, in slices of a
 * sixteenth of the span, of which the old ones are discarded.
 *
 * One set may be used by one thread at a time.
 */
#ifndef ES_MONITORS_COLLECTIVES_RECENT_H
#define ES_MONITORS_COLLECTIVES_RECENT_H

#include "monitors/collectives/collective_statistics.h"

struct esi_recent;

/* `span_ns` 0: nothing is ever discarded. */
int esi_recent_create(uint64_t span_ns, struct esi_recent **ret_recent);
/* Accepts NULL. */
void esi_recent_destroy(struct esi_recent *recent);

/* Adds an instance by its start time, unless it is too old.  Returns 0 or -ENOMEM. */
int esi_recent_add(struct esi_recent *recent,
                   const struct esi_collective_instance *instance);

/* Adds to `statistics` all instances that began in the span before the newest start,
 * and up to a sixteenth more.  Returns 0 or -ENOMEM. */
int esi_recent_sum_up(const struct esi_recent *recent,
                      struct esi_collective_statistics *statistics);

#endif
