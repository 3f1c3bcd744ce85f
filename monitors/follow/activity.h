/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* activity.h - makes activities of tuples: ranks, communicators and times as people
 * read them. */
#ifndef ES_MONITORS_FOLLOW_ACTIVITY_H
#define ES_MONITORS_FOLLOW_ACTIVITY_H

#include "eventspace/scope.h"
#include "monitors/follow/thread_state.h"

/* Converts a tuple of an origin. */
void esi_activity_read(const struct es_scope *scope,
                       uint32_t origin,
                       const struct es_tuple *tuple,
                       struct esi_activity *ret_activity);

#endif
