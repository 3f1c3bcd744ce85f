/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A part of an event set, as an event set of its own: some traces, and of each of these
 * what is behind its beginning.
 *
 *   esi_set_part_create(&config, &part);
 *   ... an ordered stream (event.h) into esi_set_part_sink(part) ...
 *   esi_set_part_destroy(part);
 *
 * Traces and events are counted anew, also where the first events of a trace are not in
 * the stream.  A receive keeps those of its sends that are in
 * the part, and a sync whose other half is not becomes a unary event.  What was ordered
 * by events that are left out alone is concurrent in the part.
 *
 * One part is one thread's at a time.
 */
#ifndef ES_MONITORS_EVENTSET_SET_PART_H
#define ES_MONITORS_EVENTSET_SET_PART_H

#include <stdbool.h>

#include "eventspace/event.h"

struct esi_set_part_config {
    struct es_set_sink sink; /* where the part goes */
    /* Whether a trace is in the part; NULL = all are. */
    bool (*has_trace)(void *data, const char *name);
    /* Whether the part of a trace begins with this event; asked until it does.  The
     * other half of a sync may begin it earlier.  NULL = with its first. */
    bool (*begins_with)(void *data, const struct es_set_event *event);
    void *data; /* borrowed */
};

struct esi_set_part;

/* 0 or -ENOMEM. */
int esi_set_part_create(const struct esi_set_part_config *config,
                        struct esi_set_part **ret_part);
/* Accepts NULL. */
void esi_set_part_destroy(struct esi_set_part *part);

/* Takes an ordered stream; what it gives is ordered, too.  -ENOMEM, -EINVAL: the stream
 * is not ordered; or what the part's sink gave. */
struct es_set_sink esi_set_part_sink(struct esi_set_part *part);

#endif
