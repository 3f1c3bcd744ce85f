/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* activity.c - makes activities of tuples. */
#include "config.h"

#include "monitors/activity.h"

#include <string.h>

static void read_communicator(const struct es_scope *scope,
                              uint32_t origin,
                              const struct es_tuple *tuple,
                              struct es_activity *activity)
{
    struct es_communicator_info info;

    if (tuple->communicator == ES_COMMUNICATOR_NONE ||
        es_scope_communicator(scope, origin, tuple->communicator, &info) < 0)
        return;
    activity->has_communicator = true;
    memcpy(activity->key, info.key, sizeof activity->key);
    memcpy(activity->communicator, info.name, sizeof activity->communicator);
    activity->communicator[sizeof activity->communicator - 1] = '\0';
}

void esi_activity_read(const struct es_scope *scope,
                       uint32_t origin,
                       const struct es_tuple *tuple,
                       struct es_activity *ret_activity)
{
    const struct es_clock *clock = es_scope_origin(scope, origin)->clock;
    struct es_activity activity = {
        .present = true,
        .operation = tuple->operation,
        .communicator_index = tuple->communicator,
        .origin = origin,
        .peer = es_scope_peer(scope, origin, tuple),
        .tag = tuple->tag,
        .bytes = tuple->bytes,
        .sequence = tuple->sequence,
        .start_ns = es_clock_realtime_ns(clock, tuple->start, NULL),
        .stop_ns = tuple->stop ? es_clock_realtime_ns(clock, tuple->stop, NULL) : 0,
    };

    if (activity.peer < ES_PEER_ANY)
        activity.peer = ES_PEER_UNKNOWN;
    read_communicator(scope, origin, tuple, &activity);
    *ret_activity = activity;
}
