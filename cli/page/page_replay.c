/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_replay.c - the kept events in the form of event sets (docs/event-sets.md). */
#include "config.h"

#include <stdlib.h>

#include "cli/page/page_asked.h"
#include "eventspace/operation.h"

enum { ATTRIBUTES = 14 };

struct esi_diagram_row *esi_page_copy_rows(const struct esi_page_asked *asked)
{
    size_t count = asked->extent.rows;
    struct esi_diagram_row *rows = calloc(count + 1, sizeof *rows);

    for (size_t i = 0; rows && i < count; i++)
        esi_diagram_row(asked->diagram, (uint32_t)i, &rows[i]);
    return rows;
}

/* --- Attributes ------------------------------------------------------------------- */

struct attribute_list {
    struct es_event_attribute items[ATTRIBUTES];
    size_t count;
};

static void add_text(struct attribute_list *list, const char *name, const char *text)
{
    if (text && *text)
        list->items[list->count++] =
            (struct es_event_attribute){.name = name, .text = text};
}

static void add_number(struct attribute_list *list, const char *name, int64_t number)
{
    list->items[list->count++] =
        (struct es_event_attribute){.name = name, .number = number};
}

static bool has_tag(const struct es_operation *operation)
{
    return operation->op_class == ES_CLASS_SEND ||
           operation->op_class == ES_CLASS_RECEIVE || operation->probe;
}

/* The attributes of event sets: docs/event-sets.md. */
static void list_attributes(struct attribute_list *list,
                            const struct esi_diagram_row *row,
                            const struct esi_diagram_call *call)
{
    list->count = 0;
    if (call->operation) {
        add_text(list, "operation", call->operation->name);
        add_text(list, "class",
                 es_class_name((enum es_class)call->operation->op_class));
    }
    if (row->rank >= 0)
        add_number(list, "rank", row->rank);
    add_text(list, "host", row->host);
    add_text(list, "communicator", call->communicator);
    if (call->peer >= 0)
        add_number(list, "peer", call->peer);
    add_text(list, "source", call->any_source ? "any" : NULL);
    if (call->operation && has_tag(call->operation) && call->tag >= 0)
        add_number(list, "tag", call->tag);
    add_number(list, "bytes", call->bytes);
    add_number(list, "start", (int64_t)call->begin_ns);
    if (call->end_ns > 0)
        add_number(list, "stop", (int64_t)call->end_ns);
    else
        add_text(list, "state", "open");
    add_text(list, "site", call->site);
}

/* --- Events ----------------------------------------------------------------------- */

static int pass_event(void *data, const struct esi_diagram_event *event)
{
    const struct esi_page_replay *replay = data;
    struct attribute_list list;
    struct es_set_event told = {
        .id = event->id, .kind = event->kind, .type = event->type, .text = ""};
    int is_wanted = replay->is_wanted(replay->data, event);

    if (is_wanted <= 0)
        return is_wanted;
    if (event->partner.index > 0 && event->kind != ES_EVENT_SEND) {
        told.partner_count = 1;
        told.partners = &event->partner;
    }
    list_attributes(&list, &replay->rows[event->row], &event->call);
    told.attributes = list.items;
    told.attribute_count = list.count;
    return replay->sink.event(replay->sink.data, &told);
}

/* Traces that are not threads are communicators. */
static int pass_traces(const struct esi_page_asked *asked,
                       const struct esi_page_replay *replay)
{
    uint32_t count = es_order_traces(esi_diagram_order(asked->diagram));
    int result = 0;

    for (uint32_t trace = 0; trace < count && result == 0; trace++) {
        int row = esi_diagram_row_of(asked->diagram, trace);
        bool is_thread = row >= 0 && (size_t)row < asked->extent.rows;

        result = replay->sink.trace(replay->sink.data, trace,
                                    is_thread ? replay->rows[row].name : "comm:");
    }
    return result;
}

int esi_page_replay(const struct esi_page_asked *asked,
                    const struct esi_page_replay *replay)
{
    int result = replay->sink.trace ? pass_traces(asked, replay) : 0;

    return result == 0 ? esi_diagram_replay(asked->diagram, pass_event, (void *)replay)
                       : result;
}
