/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delivery_record.h - events as bytes, for those that wait.
 */
#ifndef ES_MONITORS_EVENTSET_DELIVERY_RECORD_H
#define ES_MONITORS_EVENTSET_DELIVERY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/eventset/event.h"

/* Followed by partners, attributes (private) and texts. */
struct esi_record {
    uint64_t position; /* in the stream, from 1 */
    uint64_t line;     /* in the source; 0 = not known */
    uint32_t index;
    uint32_t partner_count;
    uint32_t attribute_count;
    uint32_t type_bytes; /* with its end, as the next */
    uint32_t text_bytes;
    uint8_t kind;
    uint8_t is_first_half; /* of a sync: the half that came first */
    uint8_t unused[2];
};

static inline const struct es_event_id *esi_record_partners(const struct esi_record *r)
{
    return (const struct es_event_id *)(const void *)(r + 1);
}

/* Bytes for an event. */
size_t esi_record_size(const struct es_set_event *event);
/* Fills in everything but `position`, `line` and `is_first_half`. */
void esi_record_pack(struct esi_record *record, const struct es_set_event *event);

/* Attributes of an unpacked event.  Zeros are an empty one. */
struct esi_record_room {
    struct es_event_attribute *attributes;
    size_t capacity;
};

void esi_record_room_fini(struct esi_record_room *room);

/* The event as it was; borrows from the record and the room.  0 or -ENOMEM. */
int esi_record_unpack(const struct esi_record *record,
                      uint32_t trace,
                      struct esi_record_room *room,
                      struct es_set_event *ret_event);

#endif
