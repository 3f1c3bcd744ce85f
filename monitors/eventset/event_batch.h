/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A batch of events with all that they point to, to be handed from thread to thread.
 *
 *   esi_event_batch_add(&batch, event);
 *   esi_event_batch_seal(&batch);
 *   for each of batch.events ...
 *   esi_event_batch_clear(&batch);
 *
 * All zero is an empty batch.  Its memory is used again after clearing.
 */
#ifndef ES_MONITORS_EVENTSET_EVENT_BATCH_H
#define ES_MONITORS_EVENTSET_EVENT_BATCH_H

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
    size_t text_bytes;            /* in use of the newest chunk */
    /* Texts that lie in here live as long as the batch: they are not copied. */
    const char *kept; /* borrowed; may be NULL */
    size_t kept_bytes;
};

/* 0 or -ENOMEM. */
int esi_event_batch_add(struct esi_event_batch *batch,
                        const struct es_set_event *event);
/* Lets the events point to their partners and attributes; nothing is added behind. */
void esi_event_batch_seal(struct esi_event_batch *batch);
void esi_event_batch_clear(struct esi_event_batch *batch);
void esi_event_batch_fini(struct esi_event_batch *batch);

/* A copy of a text, as long as the batch is not cleared, or NULL without memory. */
const char *esi_event_batch_text(struct esi_event_batch *batch, const char *text);

#endif
