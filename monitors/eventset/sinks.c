/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* sinks.c - passes a stream on to several sinks. */
#include "config.h"

#include "monitors/eventset/sinks.h"

static int all_traces(void *data, uint32_t trace, const char *name)
{
    struct esi_sinks *sinks = data;
    int result = 0;

    for (size_t i = 0; result == 0 && i < sinks->count; i++)
        if (sinks->items[i].trace)
            result = sinks->items[i].trace(sinks->items[i].data, trace, name);
    sinks->has_refused |= result < 0;
    return result < 0 ? result : 0;
}

static int all_events(void *data, const struct es_set_event *event)
{
    struct esi_sinks *sinks = data;
    int result = 0;

    for (size_t i = 0; result == 0 && i < sinks->count; i++)
        if (sinks->items[i].event)
            result = sinks->items[i].event(sinks->items[i].data, event);
    sinks->has_refused |= result < 0;
    return result < 0 ? result : 0;
}

struct es_set_sink esi_sinks_sink(struct esi_sinks *sinks)
{
    return (struct es_set_sink){
        .trace = all_traces, .event = all_events, .data = sinks};
}
