/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* set_messages.c - counts the messages of an ordered stream. */
#include "config.h"

#include "monitors/eventset/set_messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The stored state of an event. */
enum { NOTHING, OPEN_SEND, OPEN_RECEIVE, MATCHED_SEND };

void esi_set_messages_fini(struct esi_set_messages *messages)
{
    for (uint32_t i = 0; i < messages->count; i++)
        free(messages->traces[i].ends);
    free(messages->traces);
    *messages = (struct esi_set_messages){.count = 0};
}

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct esi_set_messages *messages = data;

    (void)trace;
    if (ESI_ARRAY_RESERVE(messages->traces, messages->capacity, messages->count + 1u) <
        0)
        return -ENOMEM;
    messages->traces[messages->count++] = (struct esi_trace_messages){
        .is_of_collectives = strncmp(name, "comm:", 5) == 0};
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), most = strlen(end);

    return length >= most && strcmp(text + length - most, end) == 0;
}

/* Collective operations of MPI programs consist of two events each. */
static bool is_message(const struct esi_trace_messages *trace,
                       const struct es_set_event *event)
{
    return !trace->is_of_collectives && !ends_with(event->type, " enter") &&
           !ends_with(event->type, " exit");
}

static void match_sends(struct esi_set_messages *messages,
                        const struct es_set_event *event)
{
    for (uint32_t i = 0; i < event->partner_count; i++) {
        struct es_event_id id = event->partners[i];
        char *end = &messages->traces[id.trace].ends[id.index - 1];

        if (*end == NOTHING)
            continue; /* a send of a collective operation */
        messages->unmatched_sends -= *end == OPEN_SEND;
        *end = MATCHED_SEND;
        messages->matched++;
    }
}

/* Determines the stored state of the event itself. */
static int count_message(struct esi_set_messages *messages,
                         const struct es_set_event *event)
{
    switch (event->kind) {
    case ES_EVENT_SEND:
        messages->unmatched_sends++;
        return OPEN_SEND;
    case ES_EVENT_RECEIVE:
        match_sends(messages, event);
        if (event->partner_count > 0)
            return NOTHING;
        messages->unmatched_receives++;
        return OPEN_RECEIVE;
    case ES_EVENT_SYNC:
        /* Both halves arrive; the one on the later trace counts. */
        messages->matched += event->partners[0].trace < event->id.trace;
        return NOTHING;
    case ES_EVENT_UNARY:
        break;
    }
    return NOTHING;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct esi_set_messages *messages = data;
    struct esi_trace_messages *trace = &messages->traces[event->id.trace];

    if (ESI_ARRAY_RESERVE(trace->ends, trace->capacity, trace->count + 1u) < 0)
        return -ENOMEM;
    trace->ends[trace->count++] =
        (char)(is_message(trace, event) ? count_message(messages, event) : NOTHING);
    return 0;
}

struct es_set_sink esi_set_messages_sink(struct esi_set_messages *messages)
{
    return (struct es_set_sink){
        .trace = take_trace, .event = take_event, .data = messages};
}

void esi_set_messages_foreach_unmatched(const struct esi_set_messages *messages,
                                        bool sends,
                                        bool (*call)(void *data, struct es_event_id id),
                                        void *data)
{
    for (uint32_t i = 0; i < messages->count; i++) {
        const struct esi_trace_messages *trace = &messages->traces[i];

        for (uint32_t at = 0; at < trace->count; at++)
            if (trace->ends[at] == (sends ? OPEN_SEND : OPEN_RECEIVE) &&
                !call(data, (struct es_event_id){i, at + 1}))
                return;
    }
}
