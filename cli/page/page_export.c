/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_export.c - a window as a file to be saved: its calls, or a picture. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rows.h"
#include "cli/page/page_asked.h"
#include "eventspace/operation.h"
#include "monitors/diagram/diagram_svg.h"

enum {
    CALLS_MAX = 1 << 20, /* of a file */
    ROWS_MAX = 2000,     /* of a picture */
};

/* A line of the file. */
struct exported_call {
    const struct esi_diagram_row *row;
    const struct esi_diagram_call *call;
};

static void describe_call(struct esi_row *row, const void *record)
{
    const struct exported_call *exported = record;
    const struct esi_diagram_call *call = exported->call;

    esi_row_text(row, "thread", NULL, exported->row->name);
    esi_row_text(row, "host", NULL, exported->row->host);
    esi_row_unsigned(row, "start_ns", NULL, call->begin_ns);
    esi_row_unsigned(esi_row_if(row, call->end_ns > 0), "stop_ns", NULL, call->end_ns);
    esi_row_text(row, "operation", NULL, call->operation ? call->operation->name : "?");
    esi_row_text(row, "state", NULL, esi_diagram_state_name(call->state));
    esi_row_text(row, "communicator", NULL, call->communicator);
    esi_row_signed(esi_row_if(row, call->peer >= 0), "peer", NULL, call->peer);
    esi_row_signed(esi_row_if(row, call->tag >= 0), "tag", NULL, call->tag);
    esi_row_unsigned(row, "bytes", NULL, call->bytes);
    esi_row_unsigned(row, "first_level", NULL, call->level[0]);
    esi_row_unsigned(row, "last_level", NULL, call->level[1]);
    esi_row_text(row, "site", NULL, call->site);
}

/* 0, -ENOMEM; -EFBIG: they are more than a file takes. */
static int write_row(const struct esi_page_asked *asked,
                     uint32_t number,
                     struct esi_rows *rows,
                     size_t *left)
{
    const struct esi_diagram_window window = esi_page_window_of(asked);
    struct esi_diagram_row row;
    struct esi_diagram_call *calls;
    int64_t count = esi_diagram_calls(asked->diagram, number, &window, NULL, 0), found;

    if (count <= 0 || esi_diagram_row(asked->diagram, number, &row) < 0)
        return 0;
    if ((size_t)count > *left)
        return -EFBIG;
    calls = calloc((size_t)count, sizeof *calls);
    if (!calls)
        return -ENOMEM;
    found = esi_diagram_calls(asked->diagram, number, &window, calls, (size_t)count);
    for (int64_t i = 0; i < count && i < found; i++)
        esi_rows_add(rows, &(struct exported_call){&row, &calls[i]});
    *left -= (size_t)count;
    free(calls);
    return 0;
}

static int write_calls(const struct esi_page_asked *asked,
                       const struct esi_page_row_list *list,
                       FILE *stream)
{
    const struct esi_diagram_row no_row = {.name = "", .host = ""};
    const struct esi_diagram_call no_call = {.site = ""};
    struct esi_rows rows;
    size_t left = CALLS_MAX;
    int result;

    esi_rows_init(&rows, ESI_ROWS_CSV, stream, describe_call);
    result = esi_rows_begin(&rows, &(struct exported_call){&no_row, &no_call});
    for (size_t i = 0; i < list->count && result == 0; i++)
        result = write_row(asked, list->items[i], &rows, &left);
    return result == 0 ? esi_rows_finish(&rows) : result;
}

/* Closes the stream of a file, and takes it as the reply where all went well. */
static void finish_export(struct esi_page_asked *asked,
                          struct esi_page_reply *reply,
                          FILE *stream,
                          int result)
{
    if (stream && fclose(stream) != 0)
        result = -ENOMEM;
    if (result == 0) {
        *asked->reply = *reply;
        return;
    }
    esi_page_reply_fini(reply);
    if (result == -EFBIG)
        esi_page_reply_fail(asked->reply, 400,
                            "from: the window has more than %d calls", CALLS_MAX);
    else
        esi_page_reply_fail(asked->reply, 503, "no memory");
}

static void export_csv(struct esi_page_asked *asked,
                       const struct esi_page_row_list *list)
{
    struct esi_page_reply reply = {
        .status = 200, .type = "text/csv; charset=utf-8", .file = "eventspace.csv"};
    FILE *stream = open_memstream(&reply.bytes, &reply.length);

    finish_export(asked, &reply, stream,
                  stream ? write_calls(asked, list, stream) : -ENOMEM);
}

/* A picture, with the cones of an event if one is named. */
static void export_svg(struct esi_page_asked *asked,
                       const struct esi_page_row_list *list)
{
    const struct esi_page_query *query = asked->query;
    struct esi_page_reply reply = {
        .status = 200, .type = "image/svg+xml", .file = "eventspace.svg"};
    struct esi_diagram_picture picture = {.window = esi_page_window_of(asked),
                                          .rows = list->items,
                                          .row_count = list->count};
    struct esi_page_state state;
    struct esi_diagram_event event;
    FILE *stream;

    if (list->count > ROWS_MAX) {
        esi_page_reply_fail(asked->reply, 400, "rows: a picture has %d at most",
                            ROWS_MAX);
        return;
    }
    if (query->given & ESI_PAGE_EVENT_ID) {
        if (!esi_page_find_event(asked, &query->a, &event))
            return;
        picture.event = event.id;
    }
    esi_page_feed_state(asked->model->feed, &state);
    picture.title = state.name;
    picture.window.columns = query->given & ESI_PAGE_COLUMNS ? query->columns : 1200;
    stream = open_memstream(&reply.bytes, &reply.length);
    finish_export(asked, &reply, stream,
                  stream ? esi_diagram_print_svg(asked->diagram, &picture, stream)
                         : -ENOMEM);
}

void esi_page_make_export(struct esi_page_asked *asked)
{
    struct esi_page_row_list list;

    if (!esi_page_list_rows(asked, &list))
        return;
    if (asked->query->format == ESI_PAGE_SVG)
        export_svg(asked, &list);
    else
        export_csv(asked, &list);
    free(list.items);
}
