/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A batch of events with all data that they point to, for passing between threads.
 *
 *   esi_event_batch_add(&batch, event);
 *   esi_event_batch_seal(&batch);
 *   for each of batch.events ...
 *   esi_event_batch_clear(&batch);
 *
 * A zeroed struct is an empty batch.  Clearing keeps the memory for reuse.
 */
#ifndef ES_MONITORS_EVENTSET_EVENT_BATCH_H
#define ES_MONITORS_EVENTSET_EVENT_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/event.h"

struct esi_text_chunk;

struct esi_event_batch {
    struct es_set_event *events; /* owned, as are the arrays below */
    size_t count;
    size_t capacity;
    struct es_event_id *partners; /* of all events */
    size_t partner_count;
    size_t partner_capacity;
    struct es_event_attribute *attributes; /* of all events */
    size_t attribute_count;
    size_t attribute_capacity;
    struct esi_text_chunk *texts; /* owned */
    size_t text_bytes;            /* used in the newest chunk */
    /* Texts in this buffer live as long as the batch and are not copied. */
    const char *kept; /* borrowed; may be NULL */
    size_t kept_bytes;
    bool types_are_kept; /* types of events are not copied, either */
};

/* Adds a copy of an event.  Returns 0 or -ENOMEM. */
int esi_event_batch_add(struct esi_event_batch *batch,
                        const struct es_set_event *event);
/* Sets the pointers of the events to their partners and attributes.  Nothing may be
 * added afterwards. */
void esi_event_batch_seal(struct esi_event_batch *batch);
void esi_event_batch_clear(struct esi_event_batch *batch);
void esi_event_batch_fini(struct esi_event_batch *batch);

/* Copies a text into the batch, where it stays until the batch is cleared.  NULL if out
 * of memory. */
const char *esi_event_batch_text(struct esi_event_batch *batch, const char *text);

#endif
