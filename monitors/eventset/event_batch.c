/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_batch.c - copies events, with their texts in chunks that never move. */
#include "config.h"

#include "monitors/eventset/event_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { CHUNK_BYTES = 1 << 14 };

struct esi_text_chunk {
    struct esi_text_chunk *next; /* the previous chunk */
    size_t bytes;
    char text[];
};

static int add_chunk(struct esi_event_batch *batch, size_t bytes)
{
    size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct esi_text_chunk *chunk = malloc(sizeof *chunk + room);

    if (!chunk)
        return -ENOMEM;
    chunk->next = batch->texts;
    chunk->bytes = room;
    batch->texts = chunk;
    batch->text_bytes = 0;
    return 0;
}

const char *esi_event_batch_text(struct esi_event_batch *batch, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy;

    if (bytes == 1)
        return "";
    if ((!batch->texts || bytes > batch->texts->bytes - batch->text_bytes) &&
        add_chunk(batch, bytes) < 0)
        return NULL;
    copy = batch->texts->text + batch->text_bytes;
    batch->text_bytes += bytes;
    return memcpy(copy, text, bytes);
}

static const char *keep_text(struct esi_event_batch *batch, const char *text)
{
    if (*text == '\0')
        return "";
    if (batch->kept && text >= batch->kept && text < batch->kept + batch->kept_bytes)
        return text;
    return esi_event_batch_text(batch, text);
}

static int keep_attributes(struct esi_event_batch *batch,
                           const struct es_set_event *event)
{
    if (ESI_ARRAY_RESERVE(batch->attributes, batch->attribute_capacity,
                          batch->attribute_count + event->attribute_count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < event->attribute_count; i++) {
        struct es_event_attribute *kept = &batch->attributes[batch->attribute_count++];

        *kept = event->attributes[i];
        kept->name = keep_text(batch, kept->name);
        if (kept->text)
            kept->text = keep_text(batch, kept->text);
        if (!kept->name || (event->attributes[i].text && !kept->text))
            return -ENOMEM;
    }
    return 0;
}

static int keep_partners(struct esi_event_batch *batch,
                         const struct es_set_event *event)
{
    if (ESI_ARRAY_RESERVE(batch->partners, batch->partner_capacity,
                          batch->partner_count + event->partner_count) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < event->partner_count; i++)
        batch->partners[batch->partner_count++] = event->partners[i];
    return 0;
}

int esi_event_batch_add(struct esi_event_batch *batch, const struct es_set_event *event)
{
    struct es_set_event *kept;

    if (ESI_ARRAY_RESERVE(batch->events, batch->capacity, batch->count + 1) < 0 ||
        keep_partners(batch, event) < 0 || keep_attributes(batch, event) < 0)
        return -ENOMEM;
    kept = &batch->events[batch->count];
    *kept = *event;
    if (!batch->types_are_kept)
        kept->type = keep_text(batch, event->type);
    kept->text = keep_text(batch, event->text);
    if (!kept->type || !kept->text)
        return -ENOMEM;
    batch->count++;
    return 0;
}

void esi_event_batch_seal(struct esi_event_batch *batch)
{
    size_t partner = 0, attribute = 0;

    for (size_t i = 0; i < batch->count; i++) {
        struct es_set_event *event = &batch->events[i];

        event->partners = event->partner_count > 0 ? &batch->partners[partner] : NULL;
        event->attributes =
            event->attribute_count > 0 ? &batch->attributes[attribute] : NULL;
        partner += event->partner_count;
        attribute += event->attribute_count;
    }
}

/* Keeps one chunk of the usual size. */
static void clear_texts(struct esi_event_batch *batch)
{
    struct esi_text_chunk *kept = NULL;

    while (batch->texts) {
        struct esi_text_chunk *chunk = batch->texts;

        batch->texts = chunk->next;
        if (!kept && chunk->bytes == CHUNK_BYTES) {
            kept = chunk;
            kept->next = NULL;
        } else {
            free(chunk);
        }
    }
    batch->texts = kept;
    batch->text_bytes = 0;
}

void esi_event_batch_clear(struct esi_event_batch *batch)
{
    clear_texts(batch);
    batch->count = 0;
    batch->partner_count = 0;
    batch->attribute_count = 0;
}

void esi_event_batch_fini(struct esi_event_batch *batch)
{
    esi_event_batch_clear(batch);
    free(batch->texts);
    free(batch->events);
    free(batch->partners);
    free(batch->attributes);
    *batch = (struct esi_event_batch){.count = 0};
}
