/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_pipeline.c - passes events in batches from the reader's thread to a sink. */
#include "config.h"

#include "monitors/eventset/event_pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/pipeline.h"
#include "monitors/eventset/event_batch.h"

enum { SLOTS = 4, BATCH_EVENTS = 4096, BATCH_PARTNERS = 1 << 16, BATCH_TRACES = 1024 };

struct batch_trace {
    size_t before; /* number of the event that it precedes */
    uint32_t trace;
    const char *name; /* in the batch's texts */
};

struct batch {
    struct esi_event_batch events;
    struct batch_trace *traces; /* owned */
    size_t trace_count;
    size_t trace_capacity;
};

struct event_pipeline {
    esi_event_read_fn *read;
    void *data;                     /* borrowed, like `error` */
    const struct es_set_sink *sink; /* used by the consumer */
    struct batch batches[SLOTS];
    /* Used by the producer: */
    struct esi_pipeline *pipeline;
    size_t slot; /* slot being filled */
    struct es_error error;
    bool is_refused; /* by the sink; used by the consumer */
};

/* --- Producer --------------------------------------------------------------------- */

static int pass_batch(struct event_pipeline *reading)
{
    return esi_pipeline_pass(reading->pipeline, &reading->slot);
}

static int put_trace(void *data, uint32_t trace, const char *name)
{
    struct event_pipeline *reading = data;
    struct batch *batch = &reading->batches[reading->slot];
    const char *kept = esi_event_batch_text(&batch->events, name);

    if (!kept || ESI_ARRAY_RESERVE(batch->traces, batch->trace_capacity,
                                   batch->trace_count + 1) < 0)
        return -ENOMEM;
    batch->traces[batch->trace_count++] =
        (struct batch_trace){batch->events.count, trace, kept};
    return batch->trace_count < BATCH_TRACES ? 0 : pass_batch(reading);
}

static int put_event(void *data, const struct es_set_event *event)
{
    struct event_pipeline *reading = data;
    struct esi_event_batch *events = &reading->batches[reading->slot].events;
    int result = esi_event_batch_add(events, event);

    if (result == 0 &&
        (events->count >= BATCH_EVENTS || events->partner_count >= BATCH_PARTNERS))
        result = pass_batch(reading);
    return result;
}

/* Passes on what was read before a failure, too. */
static int produce_events(void *data, struct esi_pipeline *pipeline)
{
    struct event_pipeline *reading = data;
    const struct es_set_sink sink = {put_trace, put_event, reading};
    int result, passed;

    reading->pipeline = pipeline;
    result = reading->read(reading->data, &sink, &reading->error);
    passed = pass_batch(reading);
    return result < 0 ? result : passed;
}

/* --- Consumer --------------------------------------------------------------------- */

/* Passes the traces that precede an event, from number *next on. */
static int give_traces(const struct es_set_sink *sink,
                       const struct batch *batch,
                       size_t before,
                       size_t *next)
{
    int result = 0;

    for (; result >= 0 && *next < batch->trace_count; ++*next) {
        const struct batch_trace *trace = &batch->traces[*next];

        if (trace->before > before)
            break;
        if (sink->trace)
            result = sink->trace(sink->data, trace->trace, trace->name);
    }
    return result;
}

static int give_batch(const struct es_set_sink *sink, const struct batch *batch)
{
    const struct esi_event_batch *events = &batch->events;
    size_t next = 0;
    int result = 0;

    for (size_t i = 0; i < events->count && result >= 0; i++) {
        if (next < batch->trace_count)
            result = give_traces(sink, batch, i, &next);
        if (result >= 0 && sink->event)
            result = sink->event(sink->data, &events->events[i]);
    }
    return result < 0 ? result : give_traces(sink, batch, events->count, &next);
}

static int consume_events(void *data, size_t slot)
{
    struct event_pipeline *reading = data;
    struct batch *batch = &reading->batches[slot];
    int result;

    esi_event_batch_seal(&batch->events);
    result = give_batch(reading->sink, batch);
    esi_event_batch_clear(&batch->events);
    batch->trace_count = 0;
    reading->is_refused = result < 0;
    return result;
}

int esi_event_pipeline_read(esi_event_read_fn *read,
                            void *data,
                            const struct es_set_sink *sink,
                            struct es_error *error)
{
    struct event_pipeline reading = {.read = read, .data = data, .sink = sink};
    int result;

    for (size_t i = 0; i < SLOTS; i++)
        reading.batches[i].events.types_are_kept = true;
    if (error)
        reading.error = *error;
    result = esi_pipeline_run(&(struct esi_pipeline_stages){
        produce_events, consume_events, &reading, SLOTS, false});
    for (size_t i = 0; i < SLOTS; i++) {
        esi_event_batch_fini(&reading.batches[i].events);
        free(reading.batches[i].traces);
    }
    if (error && !reading.is_refused)
        *error = reading.error;
    return result;
}
