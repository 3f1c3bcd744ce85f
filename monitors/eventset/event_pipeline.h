/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A reader of events on a thread of its own, whose events another thread gets. */
#ifndef ES_MONITORS_EVENTSET_EVENT_PIPELINE_H
#define ES_MONITORS_EVENTSET_EVENT_PIPELINE_H

#include "eventspace/error.h"
#include "eventspace/event.h"

/* Reads all events into a sink.  0 or -errno. */
typedef int esi_event_read_fn(void *data,
                              const struct es_set_sink *sink,
                              struct es_error *error);

/* What read(data, sink, error) would do, with `read` on a thread of its own and the
 * sink on the calling one.  A few thousand events lie between them.  Where both fail,
 * what the sink returned stands: it was at an earlier event. */
int esi_event_pipeline_read(esi_event_read_fn *read,
                            void *data,
                            const struct es_set_sink *sink,
                            struct es_error *error);

#endif
