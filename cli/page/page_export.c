/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_export.c - exports a window as a file: its calls, its events, or a picture. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rows.h"
#include "cli/page/page_asked.h"
#include "monitors/diagram/diagram_svg.h"
#include "monitors/eventset/formats/export.h"
#include "monitors/eventset/set_part.h"

enum {
    CALLS_MAX = 1 << 20,  /* per file */
    EVENTS_MAX = 1 << 19, /* per file of trace events */
    ROWS_MAX = 2000,      /* per picture */
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

/* Returns 0, -ENOMEM, or -EFBIG if there are too many for a file. */
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

/* Closes the stream of a file, and makes it the reply if there was no error. */
static void finish_export(const struct esi_page_asked *asked,
                          struct esi_page_reply *reply,
                          FILE *stream,
                          int result)
{
    bool is_chrome = asked->query->format == ESI_PAGE_CHROME;

    if (stream && fclose(stream) != 0)
        result = -ENOMEM;
    if (result == 0) {
        *asked->reply = *reply;
        return;
    }
    esi_page_reply_fini(reply);
    if (result == -EFBIG)
        esi_page_reply_fail(asked->reply, 400, "from: the window has more than %d %s",
                            is_chrome ? EVENTS_MAX : CALLS_MAX,
                            is_chrome ? "events" : "calls");
    else
        esi_page_reply_fail(asked->reply, 503, "no memory");
}

static void export_csv(const struct esi_page_asked *asked,
                       const struct esi_page_row_list *list)
{
    struct esi_page_reply reply = {
        .status = 200, .type = "text/csv; charset=utf-8", .file = "eventspace.csv"};
    FILE *stream = open_memstream(&reply.bytes, &reply.length);

    finish_export(asked, &reply, stream,
                  stream ? write_calls(asked, list, stream) : -ENOMEM);
}

/* --- Trace events ----------------------------------------------------------------- */

/* The exported events of a row. */
struct exported_row {
    bool is_wanted;
    bool is_begun;
    uint32_t end; /* index of the first event after the window; 0 = none yet */
};

struct exported_events {
    struct esi_diagram_window window;
    struct esi_diagram_row *rows;  /* owned, as the next ones */
    struct exported_row *exported; /* by row */
    uint32_t *row_of;              /* by trace; UINT32_MAX = not a thread */
    uint32_t traces;
    uint32_t trace; /* next trace to be named */
    size_t left;    /* number of events that the file can still hold */
};

static struct exported_row *exported_row(struct exported_events *events, uint32_t trace)
{
    uint32_t row = trace < events->traces ? events->row_of[trace] : UINT32_MAX;

    return row != UINT32_MAX && events->exported[row].is_wanted ? &events->exported[row]
                                                                : NULL;
}

/* Called for one trace after the other. */
static bool has_trace(void *data, const char *name)
{
    struct exported_events *events = data;

    (void)name;
    return exported_row(events, events->trace++) != NULL;
}

/* The row of the event's partner; NULL if that is not in the file. */
static struct exported_row *partner_row(struct exported_events *events,
                                        const struct esi_diagram_event *event)
{
    if (event->partner.index == 0 || event->kind == ES_EVENT_SEND)
        return NULL;
    return exported_row(events, event->partner.trace);
}

/* Whether the event is after the window or refers to one that is: the file contains the
 * causes of all its events, except those before the window. */
static bool is_behind(struct exported_events *events,
                      const struct esi_diagram_event *event)
{
    bool is_time = events->window.axis == ESI_DIAGRAM_TIME;
    const struct exported_row *partner = partner_row(events, event);

    if (partner && partner->end > 0 && event->partner.index >= partner->end)
        return true;
    return (is_time ? event->call.begin_ns : event->level) >= events->window.to;
}

static bool is_ahead(const struct exported_events *events,
                     const struct esi_diagram_event *event)
{
    if (events->window.axis == ESI_DIAGRAM_LEVEL)
        return event->level < events->window.from;
    return event->call.end_ns > 0 && event->call.end_ns < events->window.from;
}

static int is_exported(void *data, const struct esi_diagram_event *event)
{
    struct exported_events *events = data;
    struct exported_row *row = exported_row(events, event->id.trace), *partner;

    if (!row || row->end > 0)
        return 0;
    if (is_behind(events, event)) {
        row->end = event->id.index;
        return 0;
    }
    if (!row->is_begun && is_ahead(events, event))
        return 0;
    row->is_begun = true;
    partner = partner_row(events, event);
    if (partner && event->kind == ES_EVENT_SYNC)
        partner->is_begun = true; /* both halves are in the file */
    return events->left-- > 0 ? 1 : -EFBIG;
}

static int list_traces(const struct esi_page_asked *asked,
                       const struct esi_page_row_list *list,
                       struct exported_events *events)
{
    size_t rows = asked->extent.rows;

    events->traces = es_order_traces(esi_diagram_order(asked->diagram));
    events->rows = esi_page_copy_rows(asked);
    events->exported = calloc(rows + 1, sizeof *events->exported);
    events->row_of = malloc((events->traces + 1) * sizeof *events->row_of);
    if (!events->rows || !events->exported || !events->row_of)
        return -ENOMEM;
    memset(events->row_of, 0xff, events->traces * sizeof *events->row_of);
    for (size_t i = 0; i < rows; i++)
        if (events->rows[i].trace < events->traces)
            events->row_of[events->rows[i].trace] = (uint32_t)i;
    for (size_t i = 0; i < list->count; i++)
        events->exported[list->items[i]].is_wanted = true;
    return 0;
}

/* Times are relative to the start of the run, as in the page. */
static int write_events(const struct esi_page_asked *asked,
                        struct exported_events *events,
                        FILE *stream)
{
    const struct esi_export_config config = {
        .format = "chrome",
        .stream = stream,
        .has_start = true,
        .start_ns = (int64_t)asked->extent.begin[ESI_DIAGRAM_TIME]};
    struct esi_set_part_config part_config = {.has_trace = has_trace, .data = events};
    struct esi_page_replay replay = {
        .rows = events->rows, .is_wanted = is_exported, .data = events};
    struct esi_set_part *part = NULL;
    struct esi_export *export = NULL;
    struct es_error error;
    int result = esi_export_create(&config, &error, &export);

    if (result == 0) {
        part_config.sink = esi_export_sink(export);
        result = esi_set_part_create(&part_config, &part);
    }
    if (result == 0) {
        replay.sink = esi_set_part_sink(part);
        result = esi_page_replay(asked, &replay);
    }
    if (result == 0)
        result = esi_export_finish(export, &error);
    esi_set_part_destroy(part);
    esi_export_destroy(export);
    return result;
}

static void export_chrome(const struct esi_page_asked *asked,
                          const struct esi_page_row_list *list)
{
    struct esi_page_reply reply = {
        .status = 200, .type = "application/json", .file = "eventspace.json"};
    struct exported_events events = {.window = esi_page_window_of(asked),
                                     .left = EVENTS_MAX};
    FILE *stream = open_memstream(&reply.bytes, &reply.length);
    int result = stream ? list_traces(asked, list, &events) : -ENOMEM;

    if (result == 0)
        result = write_events(asked, &events, stream);
    finish_export(asked, &reply, stream, result);
    free(events.rows);
    free(events.exported);
    free(events.row_of);
}

/* --- Pictures --------------------------------------------------------------------- */

/* A picture, with the cones of an event if one is given. */
static void export_svg(const struct esi_page_asked *asked,
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
        esi_page_reply_fail(asked->reply, 400, "rows: a picture can have at most %d",
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

void esi_page_make_export(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct esi_page_row_list list;

    (void)row;
    if (!esi_page_list_rows(asked, &list))
        return;
    if (asked->query->format == ESI_PAGE_SVG)
        export_svg(asked, &list);
    else if (asked->query->format == ESI_PAGE_CHROME)
        export_chrome(asked, &list);
    else
        export_csv(asked, &list);
    free(list.items);
}
