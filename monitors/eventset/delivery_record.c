/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delivery_record.c - packs events into bytes without pointers. */
#include "config.h"

#include "monitors/eventset/delivery_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Its texts follow all others in the order of the attributes: name, then value. */
struct packed_attribute {
    int64_t number;
    uint32_t name_bytes; /* with its end, as the next */
    uint32_t text_bytes; /* 0: it is a number */
};

_Static_assert(sizeof(struct esi_record) % 8 == 0, "partners follow");
_Static_assert(sizeof(struct es_event_id) == 8, "attributes follow");

/* Of a send none are given. */
static uint32_t partner_count(const struct es_set_event *event)
{
    return event->kind == ES_EVENT_SEND ? 0 : event->partner_count;
}

static size_t texts_at(uint32_t partners, size_t attributes)
{
    return sizeof(struct esi_record) + partners * sizeof(struct es_event_id) +
           attributes * sizeof(struct packed_attribute);
}

size_t esi_record_size(const struct es_set_event *event)
{
    size_t size = texts_at(partner_count(event), event->attribute_count);

    size += strlen(event->type) + 1 + strlen(event->text) + 1;
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        size += strlen(attribute->name) + 1;
        if (attribute->text)
            size += strlen(attribute->text) + 1;
    }
    return size;
}

/* Returns bytes copied. */
static uint32_t append(char **at, const char *text)
{
    size_t bytes = strlen(text) + 1;

    memcpy(*at, text, bytes);
    *at += bytes;
    return (uint32_t)bytes;
}

static struct packed_attribute *packed_of(const struct esi_record *record)
{
    return (struct packed_attribute *)(void *)((char *)(uintptr_t)record +
                                               texts_at(record->partner_count, 0));
}

static char *texts_of(const struct esi_record *record)
{
    return (char *)(uintptr_t)record +
           texts_at(record->partner_count, record->attribute_count);
}

void esi_record_pack(struct esi_record *record, const struct es_set_event *event)
{
    struct packed_attribute *packed;
    char *at;

    *record = (struct esi_record){
        .index = event->id.index,
        .partner_count = partner_count(event),
        .attribute_count = (uint32_t)event->attribute_count,
        .kind = (uint8_t)event->kind,
    };
    if (record->partner_count > 0)
        memcpy(record + 1, event->partners,
               record->partner_count * sizeof *event->partners);
    packed = packed_of(record);
    at = texts_of(record);
    record->type_bytes = append(&at, event->type);
    record->text_bytes = append(&at, event->text);
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        packed[i].number = attribute->number;
        packed[i].name_bytes = append(&at, attribute->name);
        packed[i].text_bytes = attribute->text ? append(&at, attribute->text) : 0;
    }
}

void esi_record_room_fini(struct esi_record_room *room)
{
    free(room->attributes);
    *room = (struct esi_record_room){0};
}

static int make_room(struct esi_record_room *room, size_t count)
{
    struct es_event_attribute *grown;

    if (count <= room->capacity)
        return 0;
    grown = realloc(room->attributes, 2 * count * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    room->attributes = grown;
    room->capacity = 2 * count;
    return 0;
}

int esi_record_unpack(const struct esi_record *record,
                      uint32_t trace,
                      struct esi_record_room *room,
                      struct es_set_event *ret_event)
{
    const struct packed_attribute *packed = packed_of(record);
    const char *type = texts_of(record);
    const char *at = type + record->type_bytes + record->text_bytes;

    if (make_room(room, record->attribute_count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < record->attribute_count; i++) {
        const char *value = at + packed[i].name_bytes;
        room->attributes[i] = (struct es_event_attribute){
            .name = at,
            .text = packed[i].text_bytes > 0 ? value : NULL,
            .number = packed[i].number,
        };
        at = value + packed[i].text_bytes;
    }
    *ret_event = (struct es_set_event){
        .id = {trace, record->index},
        .kind = (enum es_event_kind)record->kind,
        .partner_count = record->partner_count,
        .partners = record->partner_count > 0 ? esi_record_partners(record) : NULL,
        .type = type,
        .text = type + record->type_bytes,
        .attributes = room->attributes,
        .attribute_count = record->attribute_count,
    };
    return 0;
}
