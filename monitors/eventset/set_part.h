/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A part of an event set, as an event set of its own: some traces, and of each of these
 * the events after a starting point.
 *
 *   esi_set_part_create(&config, &part);
 *   ... an ordered stream (event.h) into esi_set_part_sink(part) ...
 *   esi_set_part_destroy(part);
 *
 * Traces and events are renumbered, even if the first events of a trace are not in the
 * stream.  A receive keeps those of its sends that are in the part.  A sync whose other
 * half is not in the part becomes a unary event.  Events whose order follows only from
 * omitted events become concurrent.
 *
 * A part may be used by one thread at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_PART_H
#define ES_MONITORS_EVENTSET_SET_PART_H

#include <stdbool.h>

#include "eventspace/event.h"

struct esi_set_part_config {
    struct es_set_sink sink; /* receives the part */
    /* Whether a trace is in the part; NULL = all are. */
    bool (*has_trace)(void *data, const char *name);
    /* Whether the part of a trace starts at this event; called until it does.  The
     * other half of a sync may start it earlier.  NULL = with the first event. */
    bool (*begins_with)(void *data, const struct es_set_event *event);
    void *data; /* borrowed */
};

struct esi_set_part;

/* Returns 0 or -ENOMEM. */
int esi_set_part_create(const struct esi_set_part_config *config,
                        struct esi_set_part **ret_part);
/* Accepts NULL. */
void esi_set_part_destroy(struct esi_set_part *part);

/* Takes an ordered stream and passes on an ordered one.  Returns -ENOMEM, -EINVAL if
 * the stream is not ordered, or the error of the part's sink. */
struct es_set_sink esi_set_part_sink(struct esi_set_part *part);

#endif
