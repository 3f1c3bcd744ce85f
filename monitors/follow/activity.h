/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* activity.h - converts tuples to activities: with ranks, communicators and times for
 * people. */
#ifndef ES_MONITORS_FOLLOW_ACTIVITY_H
#define ES_MONITORS_FOLLOW_ACTIVITY_H

#include "base/rows.h"
#include "eventspace/scope.h"
#include "monitors/follow/thread_state.h"

/* Fills what follows from the tuple alone.  The caller adds the communicator, the
 * peer's world rank and the times. */
void esi_activity_init(const struct es_tuple *tuple, struct esi_activity *ret_activity);

/* Notes in `has_no_peer` if the peer is no rank of a communicator of `size` ranks (of
 * its remote group, if there is one); 0 = not known. */
void esi_activity_check_peer(struct esi_activity *activity, int64_t size);

/* Converts a tuple of an origin. */
void esi_activity_read(const struct es_scope *scope,
                       uint32_t origin,
                       const struct es_tuple *tuple,
                       struct esi_activity *ret_activity);

/* Describes communicator, peer, tag, bytes, sequence, error and times.  The times are
 * start_unix_ns and stop_unix_ns, only in JSON, and start_ns and stop_ns relative to
 * the start of the run (`start_ns`), which are omitted from JSON if that is 0 (not
 * known). An activity that is not present has all members, without values. */
void esi_activity_describe(struct esi_row *row,
                           const struct esi_activity *activity,
                           uint64_t start_ns);

/* Describes the first five of these. */
void esi_activity_describe_subject(struct esi_row *row,
                                   const struct esi_activity *activity);

/* The awaited operation; NULL if there is none or it is not known. */
const char *esi_activity_awaits(const struct esi_activity *activity);

#endif
