/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Event sets in their own format: see set_write.h. */
#include "config.h"

#include "monitors/eventset/formats/export_private.h"
#include "monitors/eventset/set_write.h"

static int begin_set(struct esi_export *export, struct es_error *error)
{
    struct esi_set_write *write;
    int result = esi_set_write_open(export->config.path, error, &write);

    if (result == 0)
        export->state = write;
    return result;
}

static int take_trace(struct esi_export *export, uint32_t trace, const char *name)
{
    struct es_set_sink sink = esi_set_write_sink(export->state);

    return sink.trace(sink.data, trace, name);
}

static int take_event(struct esi_export *export, const struct es_set_event *event)
{
    struct es_set_sink sink = esi_set_write_sink(export->state);

    if (export->config.traces_first)
        esi_set_write_traces_told(export->state);
    return sink.event(sink.data, event);
}

static int finish_set(struct esi_export *export, struct es_error *error)
{
    struct esi_set_write *write = export->state;

    export->state = NULL;
    return esi_set_write_close(write, error);
}

static void destroy_set(void *state)
{
    esi_set_write_destroy(state);
}

const struct esi_export_ops esi_export_set = {
    .name = "event-set",
    .writes_itself = true,
    .begin = begin_set,
    .trace = take_trace,
    .event = take_event,
    .finish = finish_set,
    .destroy = destroy_set,
};
