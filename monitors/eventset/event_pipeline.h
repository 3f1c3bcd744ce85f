/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Runs a reader of events in a separate thread and delivers its events in the
 * caller's. */
#ifndef ES_MONITORS_EVENTSET_EVENT_PIPELINE_H
#define ES_MONITORS_EVENTSET_EVENT_PIPELINE_H

#include "eventspace/error.h"
#include "eventspace/event.h"

/* Reads all events into a sink.  The types of the events remain valid after it returns.
 * Returns 0 or -errno. */
typedef int esi_event_read_fn(void *data,
                              const struct es_set_sink *sink,
                              struct es_error *error);

/* Like read(data, sink, error), but runs `read` in a separate thread and the sink in
 * the calling one.  Buffers up to 16,384 events.  If both fail, returns the error of
 * the sink, which occurred at an earlier event. */
int esi_event_pipeline_read(esi_event_read_fn *read,
                            void *data,
                            const struct es_set_sink *sink,
                            struct es_error *error);

#endif
