/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* A part of an event set, as an event set of its own. */
#include "config.h"

#include "monitors/eventset/set_part.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A trace of the whole set. */
struct part_trace {
    bool is_taken;
    bool is_begun;   /* its next events are in the part */
    uint32_t number; /* in the part */
    uint32_t before; /* number of events before the part */
};

struct esi_set_part {
    struct esi_set_part_config config;
    struct part_trace *traces; /* owned */
    size_t count;
    size_t capacity;
    uint32_t taken;
    struct es_event_id *partners; /* of the current event; owned */
    size_t partner_capacity;
};

int esi_set_part_create(const struct esi_set_part_config *config,
                        struct esi_set_part **ret_part)
{
    struct esi_set_part *part = calloc(1, sizeof *part);

    if (!part)
        return -ENOMEM;
    part->config = *config;
    *ret_part = part;
    return 0;
}

void esi_set_part_destroy(struct esi_set_part *part)
{
    if (!part)
        return;
    free(part->traces);
    free(part->partners);
    free(part);
}

static int take_trace(void *data, uint32_t number, const char *name)
{
    struct esi_set_part *part = data;
    const struct esi_set_part_config *config = &part->config;
    struct part_trace trace = {.number = part->taken};

    if (number != part->count)
        return -EINVAL;
    if (ESI_ARRAY_RESERVE(part->traces, part->capacity, part->count + 1) < 0)
        return -ENOMEM;
    trace.is_taken = !config->has_trace || config->has_trace(config->data, name);
    part->traces[part->count++] = trace;
    if (!trace.is_taken)
        return 0;
    part->taken++;
    return config->sink.trace
               ? config->sink.trace(config->sink.data, trace.number, name)
               : 0;
}

/* --- Events ----------------------------------------------------------------------- */

static bool begins_with(const struct esi_set_part *part,
                        const struct es_set_event *event)
{
    const struct esi_set_part_config *config = &part->config;

    return !config->begins_with || config->begins_with(config->data, event);
}

/* Translates a partner to the part.  False if it is not in the part. */
static bool find_partner(struct esi_set_part *part,
                         bool is_sync,
                         struct es_event_id *partner)
{
    struct part_trace *trace =
        partner->trace < part->count ? &part->traces[partner->trace] : NULL;

    if (!trace || !trace->is_taken || partner->index <= trace->before)
        return false;
    /* The other half of a sync in the part arrives next. */
    if (is_sync && !trace->is_begun) {
        trace->before = partner->index - 1;
        trace->is_begun = true;
    }
    partner->trace = trace->number;
    partner->index -= trace->before;
    return trace->is_begun;
}

static int give_event(struct esi_set_part *part, const struct es_set_event *event)
{
    const struct part_trace *trace = &part->traces[event->id.trace];
    const struct es_set_sink *sink = &part->config.sink;
    bool is_sync = event->kind == ES_EVENT_SYNC;
    struct es_set_event given = *event;

    if (ESI_ARRAY_RESERVE(part->partners, part->partner_capacity,
                          event->partner_count) < 0)
        return -ENOMEM;
    given.id = (struct es_event_id){trace->number, event->id.index - trace->before};
    given.partners = event->partners ? part->partners : NULL;
    given.partner_count = 0;
    for (uint32_t i = 0; event->partners && i < event->partner_count; i++) {
        struct es_event_id partner = event->partners[i];

        if (find_partner(part, is_sync, &partner))
            part->partners[given.partner_count++] = partner;
    }
    if (is_sync && given.partner_count == 0)
        given.kind = ES_EVENT_UNARY;
    return sink->event ? sink->event(sink->data, &given) : 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_set_part *part = data;
    struct part_trace *trace;

    if (event->id.trace >= part->count)
        return -EINVAL;
    trace = &part->traces[event->id.trace];
    if (!trace->is_taken)
        return 0;
    if (!trace->is_begun && !begins_with(part, event)) {
        trace->before = event->id.index;
        return 0;
    }
    if (!trace->is_begun)
        trace->before = event->id.index - 1;
    trace->is_begun = true;
    return give_event(part, event);
}

struct es_set_sink esi_set_part_sink(struct esi_set_part *part)
{
    return (struct es_set_sink){.trace = take_trace, .event = take_event, .data = part};
}
