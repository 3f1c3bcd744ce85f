/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* activity.h - makes activities of tuples: ranks, communicators and times as people
 * read them. */
#ifndef ES_MONITORS_FOLLOW_ACTIVITY_H
#define ES_MONITORS_FOLLOW_ACTIVITY_H

#include "base/rows.h"
#include "eventspace/scope.h"
#include "monitors/follow/thread_state.h"

/* What the tuple says by itself.  The communicator, the peer's world rank and times are
 * for the caller. */
void esi_activity_init(const struct es_tuple *tuple, struct esi_activity *ret_activity);

/* Converts a tuple of an origin. */
void esi_activity_read(const struct es_scope *scope,
                       uint32_t origin,
                       const struct es_tuple *tuple,
                       struct esi_activity *ret_activity);

/* Members of a row: communicator, peer, tag, bytes, sequence and times.  These are
 * start_unix_ns and stop_unix_ns, in JSON only, and since `start_ns`, the run's start,
 * start_ns and stop_ns, which are not in JSON where that is 0: not known.  All are
 * there of an activity that is not present, without values. */
void esi_activity_describe(struct esi_row *row,
                           const struct esi_activity *activity,
                           uint64_t start_ns);

/* The first five of these: what it is about. */
void esi_activity_describe_subject(struct esi_row *row,
                                   const struct esi_activity *activity);

/* The operation waited for; NULL where there is none or it is not known. */
const char *esi_activity_awaits(const struct esi_activity *activity);

#endif
