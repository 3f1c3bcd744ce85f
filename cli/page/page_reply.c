/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_reply.c - replies about the run, its rows, calls and events. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "cli/page/page_asked.h"
#include "cli/page/page_watch.h"

/* --- Replies ---------------------------------------------------------------------- */

void esi_page_reply_fini(struct esi_page_reply *reply)
{
    free(reply->bytes);
    reply->bytes = NULL;
}

static const char json_type[] = "application/json";

static void describe_failure(struct esi_row *row, const void *text)
{
    esi_row_text(row, "error", NULL, text);
}

/* Returns whether the reply has the object. */
static bool put_object(struct esi_page_reply *reply,
                       esi_row_describe *describe,
                       const void *record)
{
    FILE *stream = open_memstream(&reply->bytes, &reply->length);

    if (stream)
        esi_rows_print_json(stream, describe, record);
    if (stream && fclose(stream) == 0)
        return true;
    esi_page_reply_fini(reply);
    return false;
}

void esi_page_reply_fail(struct esi_page_reply *reply,
                         int status,
                         const char *format,
                         ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *reply = (struct esi_page_reply){.status = status, .type = json_type};
    if (!put_object(reply, describe_failure, text))
        reply->status = 503;
}

/* --- Rows and positions ----------------------------------------------------------- */

/* The end of a range, limited to the existing rows. */
static uint64_t end_of_range(const struct esi_page_asked *asked,
                             const struct esi_page_range *range)
{
    uint64_t end = (uint64_t)range->last + 1;

    return end < asked->extent.rows ? end : asked->extent.rows;
}

bool esi_page_list_rows(const struct esi_page_asked *asked,
                        struct esi_page_row_list *ret_list)
{
    const struct esi_page_range all = {0, (uint32_t)asked->extent.rows - 1};
    const struct esi_page_range *ranges = asked->query->ranges;
    size_t count = asked->query->range_count, total = 0;
    struct esi_page_row_list list = {.count = 0};

    if (count == 0) {
        ranges = &all;
        count = asked->extent.rows > 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].last >= asked->extent.rows && !asked->is_growing) {
            esi_page_reply_fail(asked->reply, 400,
                                "rows: there are %zu rows, but no row %u",
                                asked->extent.rows, ranges[i].last);
            return false;
        }
        if (ranges[i].first < asked->extent.rows)
            total += end_of_range(asked, &ranges[i]) - ranges[i].first;
    }
    list.items = calloc(total + 1, sizeof *list.items);
    if (!list.items) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        for (uint32_t row = ranges[i].first; row < end_of_range(asked, &ranges[i]);
             row++)
            list.items[list.count++] = row;
    *ret_list = list;
    return true;
}

/* The origin of positions on an axis. */
static uint64_t origin_of(const struct esi_page_asked *asked,
                          enum esi_diagram_axis axis)
{
    return axis == ESI_DIAGRAM_TIME ? asked->extent.begin[ESI_DIAGRAM_TIME] : 0;
}

double esi_page_ns(const struct esi_page_asked *asked, uint64_t ns)
{
    uint64_t begin = asked->extent.begin[ESI_DIAGRAM_TIME];

    if (begin == 0)
        return 0; /* no event yet that times could be relative to */
    return ns >= begin ? (double)(ns - begin) : -(double)(begin - ns);
}

uint64_t esi_page_place_of(const struct esi_page_asked *asked,
                           enum esi_diagram_axis axis,
                           double position)
{
    uint64_t origin = origin_of(asked, axis);

    if (position < 0)
        return position <= -(double)origin ? 0 : origin - (uint64_t)-position;
    /* No position of a window is later than a time of an archive can be. */
    return origin + (position < 0x1p63 ? (uint64_t)position : INT64_MAX);
}

enum esi_diagram_axis esi_page_axis_of(const struct esi_page_asked *asked)
{
    return asked->query->axis == ESI_PAGE_TIME_AXIS ? ESI_DIAGRAM_TIME
                                                    : ESI_DIAGRAM_LEVEL;
}

struct esi_diagram_window esi_page_window_of(const struct esi_page_asked *asked)
{
    const struct esi_page_query *query = asked->query;
    enum esi_diagram_axis axis = esi_page_axis_of(asked);
    struct esi_diagram_window window = {
        .axis = axis,
        .from = esi_page_place_of(asked, axis, floor(query->from)),
        .to = esi_page_place_of(asked, axis, ceil(query->to)),
        .columns = 1,
    };

    if (window.to <= window.from)
        window.to = window.from + 1;
    return window;
}

void esi_page_put_event(const struct esi_page_asked *asked,
                        struct esi_row *row,
                        const char *key,
                        struct es_event_id id)
{
    int number = id.index > 0 ? esi_diagram_row_of(asked->diagram, id.trace) : -ENOENT;
    struct esi_diagram_event event;

    if (!esi_row_begin_array(esi_row_if(row, number >= 0), key))
        return;
    esi_row_signed(row, NULL, NULL, number);
    esi_row_unsigned(row, NULL, NULL, id.index);
    if (esi_diagram_event(asked->diagram, id, &event) == 0) {
        esi_row_real(row, NULL, NULL, esi_page_ns(asked, event.ns));
        esi_row_unsigned(row, NULL, NULL, event.level);
    }
    esi_row_end(row);
}

void esi_page_put_call(struct esi_row *row, const struct esi_diagram_call *call)
{
    esi_row_text(row, "operation", NULL, call->operation ? call->operation->name : "?");
    esi_row_text(row, "communicator", NULL, call->communicator);
    esi_row_text(row, "site", NULL, call->site);
    esi_row_signed(row, "peer", NULL, call->peer);
    esi_row_unsigned(row, "state", NULL, call->state);
}

/* --- The run ---------------------------------------------------------------------- */

static void put_ranks(struct esi_row *row,
                      const char *key,
                      const struct esi_page_ranks *ranks)
{
    esi_row_begin_array(row, key);
    for (size_t i = 0; i < ranks->count; i++)
        esi_row_signed(row, NULL, NULL, ranks->items[i]);
    esi_row_end(row);
}

static void put_verdict(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct esi_page_verdict verdict;
    bool is_known = esi_page_watch_copy(asked->model->watch, &verdict) == 0;

    if (esi_row_begin_object(esi_row_if(row, is_known && verdict.headline),
                             "verdict")) {
        esi_row_text(row, "text", NULL, verdict.headline);
        esi_row_bool(row, "certain", NULL, verdict.is_certain);
        put_ranks(row, "ranks", &verdict.ranks);
        put_ranks(row, "cycle", &verdict.cycle);
        esi_row_end(row);
    }
    esi_page_verdict_fini(&verdict);
}

/* What changes while a run goes on or is being read. */
static void put_progress(const struct esi_page_asked *asked,
                         struct esi_row *row,
                         const struct esi_page_state *state)
{
    const struct esi_diagram_extent *extent = &asked->extent;
    char begin_ns[24];

    snprintf(begin_ns, sizeof begin_ns, "%" PRIu64, extent->begin[ESI_DIAGRAM_TIME]);
    esi_row_unsigned(row, "changes", NULL, extent->changes);
    esi_row_text(row, "begin_ns", NULL, begin_ns);
    esi_row_real(row, "end", NULL, esi_page_ns(asked, extent->end[ESI_DIAGRAM_TIME]));
    esi_row_begin_array(row, "levels");
    esi_row_unsigned(row, NULL, NULL, extent->begin[ESI_DIAGRAM_LEVEL]);
    esi_row_unsigned(row, NULL, NULL, extent->end[ESI_DIAGRAM_LEVEL]);
    esi_row_end(row);
    esi_row_unsigned(row, "rows", NULL, extent->rows);
    esi_row_unsigned(row, "events", NULL, extent->events);
    esi_row_bool(row, "over", NULL, state->is_over);
    esi_row_begin_object(row, "reading");
    esi_row_bool(row, "done", NULL, state->is_read);
    esi_row_unsigned(row, "events", NULL, extent->events);
    esi_row_end(row);
}

void esi_page_put_error(const struct esi_page_asked *asked, struct esi_row *row)
{
    uint64_t error_ns = asked->extent.worst_error_ns;

    esi_row_unsigned(esi_row_if(row, error_ns != UINT64_MAX), "error_ns", NULL,
                     error_ns);
}

static void make_run(const struct esi_page_asked *asked, struct esi_row *row)
{
    const struct esi_diagram_extent *extent = &asked->extent;
    double cores = esi_page_feed_cost(asked->model->feed);
    struct esi_page_state state;

    esi_page_feed_state(asked->model->feed, &state);
    esi_row_text(row, "name", NULL, state.name);
    esi_row_text(row, "kind", NULL, state.is_archive ? "archive" : "run");
    esi_row_bool(row, "live", NULL, !state.is_over && !state.is_read);
    esi_row_text(row, "recording_end", NULL, *state.end ? state.end : NULL);
    put_progress(asked, row, &state);
    esi_row_unsigned(row, "calls", NULL, extent->calls);
    esi_row_unsigned(row, "lost", NULL, extent->lost);
    esi_row_unsigned(row, "forgotten", NULL, extent->forgotten);
    esi_page_put_error(asked, row);
    esi_row_begin_array(row, "states");
    for (int i = 0; i < ESI_DIAGRAM_STATES; i++)
        esi_row_text(row, NULL, NULL,
                     esi_diagram_state_name((enum esi_diagram_state)i));
    esi_row_end(row);
    put_verdict(asked, row);
    /* What this command costs this host. */
    if (esi_row_begin_object(esi_row_if(row, cores >= 0), "cost")) {
        esi_row_real(row, "cores", NULL, cores);
        esi_row_end(row);
    }
}

/* While only stored rows and sums are known, the length of the run is theirs. */
static void find_extent(struct esi_page_asked *asked, bool of_sums)
{
    struct esi_page_feed *feed = asked->model->feed;
    struct esi_diagram *sums = esi_page_feed_sums(feed);
    struct esi_diagram_extent known;

    asked->diagram = esi_page_feed_diagram(feed);
    esi_diagram_extent(asked->diagram, &asked->extent);
    if (sums == asked->diagram)
        return;
    esi_diagram_extent(sums, &known);
    asked->extent.begin[ESI_DIAGRAM_TIME] = known.begin[ESI_DIAGRAM_TIME];
    asked->extent.end[ESI_DIAGRAM_TIME] = known.end[ESI_DIAGRAM_TIME];
    asked->is_growing = !of_sums;
    if (!of_sums)
        return;
    asked->diagram = sums;
    asked->extent.rows = known.rows;
    asked->extent.lost = known.lost;
    asked->extent.worst_error_ns = known.worst_error_ns;
}

/* An update of a stream. */
struct page_update {
    struct esi_page_asked asked;
    struct esi_page_state state;
    uint64_t from_ns; /* time of the first change */
};

static void describe_update(struct esi_row *row, const void *record)
{
    const struct page_update *told = record;

    put_progress(&told->asked, row, &told->state);
    esi_row_real(row, "from", NULL, esi_page_ns(&told->asked, told->from_ns));
}

int esi_page_reply_update(const struct esi_page_model *model,
                          struct esi_page_update *update,
                          char **ret_text)
{
    struct page_update told = {.asked = {.model = model}};
    const struct esi_diagram_extent *extent = &told.asked.extent;
    struct esi_page_reply reply;

    esi_page_feed_state(model->feed, &told.state);
    find_extent(&told.asked, true);
    if (extent->changes == update->changes && told.state.is_over == update->is_over &&
        told.state.is_read == update->is_read &&
        extent->end[ESI_DIAGRAM_TIME] == update->end_ns)
        return 0;
    told.from_ns = esi_page_feed_take_earliest(model->feed, update->stream);
    if (told.from_ns > update->end_ns)
        told.from_ns = update->end_ns;
    if (told.from_ns < extent->begin[ESI_DIAGRAM_TIME])
        told.from_ns = extent->begin[ESI_DIAGRAM_TIME];
    update->changes = extent->changes;
    update->end_ns = extent->end[ESI_DIAGRAM_TIME];
    update->is_over = told.state.is_over;
    update->is_read = told.state.is_read;
    if (!put_object(&reply, describe_update, &told))
        return -ENOMEM;
    *ret_text = reply.bytes;
    return 1;
}

/* --- Rows ------------------------------------------------------------------------- */

/* Waits by rank. */
struct rank_waits {
    double *waited; /* owned, like `caused` */
    double *caused;
    int ranks;
};

static int take_waits(void *data, struct esi_delay *delay)
{
    struct rank_waits *waits = data;
    size_t count;
    const struct esi_delay_row *rows = esi_delay_rows(delay, ESI_DELAY_BY_RANK, &count);

    for (size_t i = 0; i < count; i++)
        if (rows[i].rank >= waits->ranks)
            waits->ranks = rows[i].rank + 1;
    waits->waited = calloc((size_t)waits->ranks + 1, sizeof *waits->waited);
    waits->caused = calloc((size_t)waits->ranks + 1, sizeof *waits->caused);
    if (!waits->waited || !waits->caused)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (rows[i].rank >= 0) {
            waits->waited[rows[i].rank] = rows[i].times.waited;
            waits->caused[rows[i].rank] = rows[i].times.caused;
        }
    return 0;
}

static void put_row(const struct esi_page_asked *asked,
                    struct esi_row *row,
                    uint32_t number,
                    const struct rank_waits *waits)
{
    struct esi_diagram_row shown;
    bool has_waits;

    if (esi_diagram_row(asked->diagram, number, &shown) < 0)
        return;
    has_waits = shown.rank >= 0 && shown.rank < waits->ranks;
    esi_row_begin_object(row, NULL);
    esi_row_unsigned(row, "row", NULL, number);
    esi_row_text(row, "name", NULL, shown.name);
    esi_row_text(row, "host", NULL, shown.host);
    esi_row_text(row, "cluster", NULL, shown.cluster);
    esi_row_signed(row, "rank", NULL, shown.rank);
    esi_row_signed(row, "thread", NULL, shown.thread);
    esi_row_unsigned(row, "events", NULL, shown.events);
    esi_row_real(row, "begin", NULL, esi_page_ns(asked, shown.begin_ns));
    esi_row_real(row, "end", NULL, esi_page_ns(asked, shown.end_ns));
    esi_row_unsigned(row, "lost", NULL, shown.lost);
    esi_row_unsigned(row, "kept_from", NULL, shown.kept_from);
    esi_row_bool(row, "over", NULL, shown.is_over);
    if (esi_row_begin_object(esi_row_if(row, shown.is_open), "open")) {
        esi_page_put_call(row, &shown.open);
        esi_row_real(row, "since", NULL, esi_page_ns(asked, shown.open.begin_ns));
        esi_row_end(row);
    }
    esi_row_real(row, "waited", NULL, has_waits ? round(waits->waited[shown.rank]) : 0);
    esi_row_real(row, "caused", NULL, has_waits ? round(waits->caused[shown.rank]) : 0);
    esi_row_end(row);
}

static void make_rows(const struct esi_page_asked *asked, struct esi_row *row)
{
    const struct esi_page_query *query = asked->query;
    struct rank_waits waits = {.ranks = 0};

    if (esi_page_feed_use_delay(asked->model->feed, take_waits, &waits) < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else {
        esi_row_begin_array(row, "rows");
        for (uint32_t i = 0; i < query->count; i++)
            if (asked->extent.rows > i && query->first < asked->extent.rows - i)
                put_row(asked, row, query->first + i, &waits);
        esi_row_end(row);
    }
    free(waits.waited);
    free(waits.caused);
}

/* --- Calls ------------------------------------------------------------------------ */

/* The texts of a reply, which calls refer to by number.  A short list: searched
 * linearly from the end. */
struct text_list {
    const char **items; /* owned; texts borrowed */
    size_t count, capacity;
    size_t last;
};

/* -1 if there is none, or out of memory. */
static int64_t number_text(struct text_list *list, const char *text)
{
    if (!text || !*text)
        return -1;
    if (list->last < list->count && list->items[list->last] == text)
        return (int64_t)list->last;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == text)
            return (int64_t)(list->last = i);
    if (ESI_ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
        return -1;
    list->items[list->count] = text;
    return (int64_t)(list->last = list->count++);
}

static void put_texts(struct esi_row *row, const char *key, struct text_list *list)
{
    esi_row_begin_array(row, key);
    for (size_t i = 0; i < list->count; i++)
        esi_row_text(row, NULL, NULL, list->items[i]);
    esi_row_end(row);
    free(list->items);
}

struct call_texts {
    struct text_list operations;
    struct text_list communicators;
    struct text_list sites;
};

static void put_call(const struct esi_page_asked *asked,
                     struct esi_row *row,
                     uint32_t number,
                     const struct esi_diagram_call *call,
                     struct call_texts *texts)
{
    esi_row_begin_array(row, NULL);
    esi_row_unsigned(row, NULL, NULL, number);
    esi_row_real(row, NULL, NULL, esi_page_ns(asked, call->begin_ns));
    esi_row_real(esi_row_if(row, call->end_ns > 0), NULL, NULL,
                 esi_page_ns(asked, call->end_ns));
    esi_row_unsigned(row, NULL, NULL, call->level[0]);
    esi_row_unsigned(row, NULL, NULL, call->level[1]);
    esi_row_unsigned(row, NULL, NULL, call->state);
    esi_row_signed(row, NULL, NULL,
                   number_text(&texts->operations,
                               call->operation ? call->operation->name : NULL));
    esi_row_signed(row, NULL, NULL,
                   number_text(&texts->communicators, call->communicator));
    esi_row_signed(row, NULL, NULL, number_text(&texts->sites, call->site));
    esi_row_signed(row, NULL, NULL, call->peer);
    esi_row_signed(row, NULL, NULL, call->tag);
    esi_row_unsigned(row, NULL, NULL, call->bytes);
    esi_row_unsigned(row, NULL, NULL, call->event);
    esi_row_unsigned(row, NULL, NULL, call->nonblocking);
    esi_row_end(row);
}

/* Writes calls row by row up to the limit.  Returns whether all were written. */
static bool put_calls(const struct esi_page_asked *asked,
                      struct esi_row *row,
                      const struct esi_page_row_list *rows,
                      struct esi_diagram_call *room,
                      struct call_texts *texts)
{
    const struct esi_diagram_window window = esi_page_window_of(asked);
    size_t left = asked->query->limit;
    bool is_complete = true;

    for (size_t i = 0; i < rows->count && is_complete; i++) {
        int64_t count =
            esi_diagram_calls(asked->diagram, rows->items[i], &window, room, left);

        is_complete = count <= (int64_t)left;
        if (count > (int64_t)left)
            count = (int64_t)left;
        for (int64_t j = 0; j < count; j++)
            put_call(asked, row, rows->items[i], &room[j], texts);
        left -= count > 0 ? (size_t)count : 0;
    }
    return is_complete;
}

static void make_calls(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct esi_diagram_call *room = calloc(asked->query->limit, sizeof *room);
    struct call_texts texts = {.operations = {.count = 0}};
    struct esi_page_row_list rows;
    bool is_complete;

    if (!room) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else if (esi_page_list_rows(asked, &rows)) {
        esi_row_begin_array(row, "calls");
        is_complete = put_calls(asked, row, &rows, room, &texts);
        esi_row_end(row);
        esi_row_bool(row, "complete", NULL, is_complete);
        put_texts(row, "operations", &texts.operations);
        put_texts(row, "communicators", &texts.communicators);
        put_texts(row, "sites", &texts.sites);
        free(rows.items);
    }
    free(room);
}

/* --- All -------------------------------------------------------------------------- */

static bool is_of_sums(const struct esi_page_query *query)
{
    return query->route == ESI_PAGE_RUN || query->route == ESI_PAGE_ROWS ||
           ((query->route == ESI_PAGE_WINDOW || query->route == ESI_PAGE_PROFILE) &&
            query->axis == ESI_PAGE_TIME_AXIS);
}

/* The members of a reply, unless it is none of JSON or has failed. */
static void describe_reply(struct esi_row *row, const void *record)
{
    static esi_page_make_fn *const makers[ESI_PAGE_ROUTES] = {
        [ESI_PAGE_RUN] = make_run,
        [ESI_PAGE_ROWS] = make_rows,
        [ESI_PAGE_WINDOW] = esi_page_make_window,
        [ESI_PAGE_CALLS] = make_calls,
        [ESI_PAGE_MESSAGES] = esi_page_make_messages,
        [ESI_PAGE_MATRIX] = esi_page_make_matrix,
        [ESI_PAGE_PROFILE] = esi_page_make_profile,
        [ESI_PAGE_EVENT] = esi_page_make_event,
        [ESI_PAGE_NEAREST] = esi_page_make_nearest,
        [ESI_PAGE_CONE] = esi_page_make_cone,
        [ESI_PAGE_RELATION] = esi_page_make_relation,
        [ESI_PAGE_SEARCH] = esi_page_make_search,
        [ESI_PAGE_VERDICT] = esi_page_make_verdict,
        [ESI_PAGE_WAITS] = esi_page_make_waits,
        [ESI_PAGE_COLLECTIVES] = esi_page_make_collectives,
        [ESI_PAGE_TREES] = esi_page_make_trees,
        [ESI_PAGE_SCOPE] = esi_page_make_scope,
        [ESI_PAGE_EXPORT] = esi_page_make_export,
        [ESI_PAGE_METRICS] = esi_page_make_metrics,
    };
    const struct esi_page_asked *asked = record;

    makers[asked->query->route](asked, row);
}

void esi_page_reply_make(const struct esi_page_model *model,
                         const struct esi_page_query *query,
                         struct esi_page_reply *ret_reply)
{
    struct esi_page_reply reply = {.status = 200, .type = json_type};
    struct esi_page_asked asked = {.model = model, .query = query, .reply = ret_reply};

    *ret_reply = (struct esi_page_reply){.status = 0};
    find_extent(&asked, is_of_sums(query));
    if (!put_object(&reply, describe_reply, &asked))
        esi_page_reply_fail(&reply, 503, "no memory");
    if (ret_reply->status == 0)
        *ret_reply = reply;
    else
        esi_page_reply_fini(&reply);
}
