/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * delivery_cycle.c - why events still wait when the stream is at its end.
 *
 * From the first event that waits of a trace to that of the trace which it waits for,
 * and so on, until nothing waits there, so that an event is missing, or a trace comes
 * up again: each of these events precedes the one before, so they lie on a cycle.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "monitors/eventset/delivery_private.h"

/* What the first event that waits of a trace waits for. */
static int find_awaited(struct es_delivery *delivery,
                        uint32_t trace,
                        struct es_event_id *ret_awaited)
{
    const struct esi_record *record = NULL;
    int code;

    if (delivery->traces[trace].awaited.index > 0) {
        *ret_awaited = delivery->traces[trace].awaited;
        return 0;
    }
    code = esi_delivery_front(delivery, trace, &record);
    /* Half a sync, for the other half. */
    if (code == 0)
        *ret_awaited = esi_record_partners(record)[0];
    return code;
}

static int line_of(const struct esi_record *record)
{
    return record->line > INT32_MAX ? INT32_MAX : (int)record->line;
}

static int tell_missing(struct es_delivery *delivery,
                        uint32_t trace,
                        struct es_event_id awaited,
                        struct es_error *error)
{
    const struct esi_record *record = NULL;
    int code = esi_delivery_front(delivery, trace, &record);

    if (code < 0)
        return code;
    return es_error_set_at(error, -EINVAL, delivery->config.source, line_of(record), 0,
                           "event %u of trace %u waits for event %u of trace %u, which "
                           "did not come",
                           record->index, trace, awaited.index, awaited.trace);
}

/* `trace` is on a cycle of traces: names the event on it that came first. */
static int tell_cycle(struct es_delivery *delivery,
                      uint32_t trace,
                      struct es_error *error)
{
    const struct esi_record *first = NULL, *record = NULL;
    uint32_t first_trace = trace, at = trace;
    struct es_event_id awaited = {0, 0}, first_awaited = {0, 0};

    do {
        int code = find_awaited(delivery, at, &awaited);
        if (code == 0)
            code = esi_delivery_front(delivery, at, &record);
        if (code < 0)
            return code;
        if (!first || record->position < first->position) {
            first = record;
            first_trace = at;
            first_awaited = awaited;
        }
        at = awaited.trace;
    } while (at != trace);
    return es_error_set_at(
        error, -EINVAL, delivery->config.source, line_of(first), 0,
        "a cycle: event %u of trace %u comes after event %u of trace %u, which comes "
        "after it",
        first->index, first_trace, first_awaited.index, first_awaited.trace);
}

/* The trace whose first event that waits came first of all. */
static int find_start(struct es_delivery *delivery, uint32_t *ret_trace)
{
    uint64_t first = UINT64_MAX;

    for (uint32_t trace = 0; trace < delivery->trace_count; trace++) {
        const struct esi_record *record = NULL;
        int code;

        if (esi_spool_is_empty(&delivery->traces[trace].waiting))
            continue;
        code = esi_delivery_front(delivery, trace, &record);
        if (code < 0)
            return code;
        if (record->position < first) {
            first = record->position;
            *ret_trace = trace;
        }
    }
    return 0;
}

int esi_delivery_explain(struct es_delivery *delivery, struct es_error *error)
{
    unsigned char *seen = calloc(delivery->trace_count, 1);
    struct es_event_id awaited;
    uint32_t trace = 0;
    int code = seen ? find_start(delivery, &trace) : -ENOMEM;

    while (code == 0 && !seen[trace]) {
        seen[trace] = 1;
        code = find_awaited(delivery, trace, &awaited);
        if (code == 0 && esi_spool_is_empty(&delivery->traces[awaited.trace].waiting))
            code = tell_missing(delivery, trace, awaited, error);
        trace = awaited.trace;
    }
    if (code == 0)
        code = tell_cycle(delivery, trace, error);
    free(seen);
    return code;
}
