/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as a digraph for graphviz: one cluster per trace, edges along traces and
 * for messages; the halves of a sync are joined by an undirected edge.
 *
 * Graphviz accepts a subgraph in several pieces, so events are written as they arrive.
 */
#include "config.h"

#include <inttypes.h>

#include "base/plain.h"
#include "monitors/eventset/formats/export_private.h"
#include "monitors/eventset/set_line.h"

static int begin_dot(struct esi_export *export, struct es_error *error)
{
    (void)error;
    fputs("digraph events {\n"
          "  rankdir=LR;\n"
          "  node [shape=box, fontsize=10];\n",
          export->stream);
    return 0;
}

static int write_trace(struct esi_export *export, uint32_t trace, const char *name)
{
    fprintf(export->stream, "  subgraph cluster_%" PRIu32 " { label=\"", trace);
    esi_plain_write_quoted(export->stream, name);
    fputs("\"; }\n", export->stream);
    return 0;
}

static void write_node(FILE *stream, const struct es_set_event *event)
{
    fprintf(stream,
            "  subgraph cluster_%" PRIu32 " { \"%" PRIu32 ":%" PRIu32 "\" [label=\"",
            event->id.trace, event->id.trace, event->id.index);
    esi_plain_write_quoted(stream, *event->type ? event->type
                                                : esi_event_kind_name(event->kind));
    if (*event->text) {
        fputs("\\n", stream);
        esi_plain_write_quoted(stream, event->text);
    }
    fputs("\"]; }\n", stream);
}

static void write_edge(FILE *stream,
                       struct es_event_id from,
                       struct es_event_id to,
                       const char *style)
{
    fprintf(stream, "  \"%" PRIu32 ":%" PRIu32 "\" -> \"%" PRIu32 ":%" PRIu32 "\"%s;\n",
            from.trace, from.index, to.trace, to.index, style);
}

static int write_event(struct esi_export *export, const struct es_set_event *event)
{
    struct es_event_id id = event->id;

    write_node(export->stream, event);
    if (id.index > 1)
        write_edge(export->stream, (struct es_event_id){id.trace, id.index - 1}, id,
                   " [weight=10, color=gray]");
    for (uint32_t i = 0; i < event->partner_count; i++)
        if (event->kind == ES_EVENT_RECEIVE)
            write_edge(export->stream, event->partners[i], id, "");
        else if (event->partners[i].trace < id.trace) /* once per sync */
            write_edge(export->stream, event->partners[i], id,
                       " [dir=none, style=bold]");
    return 0;
}

static int finish_dot(struct esi_export *export, struct es_error *error)
{
    (void)error;
    fputs("}\n", export->stream);
    return 0;
}

const struct esi_export_ops esi_export_dot = {
    .name = "dot",
    .begin = begin_dot,
    .trace = write_trace,
    .event = write_event,
    .finish = finish_dot,
};
