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

bool esi_page_begin_json(struct esi_page_asked *asked, struct esi_json_text *json)
{
    if (esi_json_text_begin(json) < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
        return false;
    }
    esi_json_out_begin_object(&json->out, NULL);
    return true;
}

void esi_page_end_json(struct esi_page_asked *asked, struct esi_json_text *json)
{
    struct esi_page_reply reply = {.status = 200, .type = json_type};

    esi_json_out_end(&json->out);
    if (esi_json_text_finish(json, &reply.bytes, &reply.length) < 0)
        esi_page_reply_fail(asked->reply, 503, "no memory");
    else
        *asked->reply = reply;
}

void esi_page_drop_json(struct esi_json_text *json)
{
    char *text = NULL;

    esi_json_text_finish(json, &text, NULL);
    free(text);
}

void esi_page_reply_fail(struct esi_page_reply *reply,
                         int status,
                         const char *format,
                         ...)
{
    struct esi_json_text json;
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *reply = (struct esi_page_reply){.status = status, .type = json_type};
    if (esi_json_text_begin(&json) == 0) {
        esi_json_out_begin_object(&json.out, NULL);
        esi_json_out_string(&json.out, "error", text);
        esi_json_out_end(&json.out);
        if (esi_json_text_finish(&json, &reply->bytes, &reply->length) == 0)
            return;
    }
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

bool esi_page_list_rows(struct esi_page_asked *asked,
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
                        struct esi_json_out *out,
                        const char *key,
                        struct es_event_id id)
{
    int row = id.index > 0 ? esi_diagram_row_of(asked->diagram, id.trace) : -ENOENT;
    struct esi_diagram_event event;

    if (row < 0) {
        esi_json_out_null(out, key);
        return;
    }
    esi_json_out_begin_array(out, key);
    esi_json_out_signed(out, NULL, row);
    esi_json_out_unsigned(out, NULL, id.index);
    if (esi_diagram_event(asked->diagram, id, &event) == 0) {
        esi_json_out_real(out, NULL, esi_page_ns(asked, event.ns));
        esi_json_out_unsigned(out, NULL, event.level);
    }
    esi_json_out_end(out);
}

/* --- The run ---------------------------------------------------------------------- */

static void put_text_number(struct esi_json_out *out, const char *key, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    esi_json_out_string(out, key, text);
}

static void put_ranks(struct esi_json_out *out,
                      const char *key,
                      const struct esi_page_ranks *ranks)
{
    esi_json_out_begin_array(out, key);
    for (size_t i = 0; i < ranks->count; i++)
        esi_json_out_signed(out, NULL, ranks->items[i]);
    esi_json_out_end(out);
}

static void put_verdict(const struct esi_page_asked *asked, struct esi_json_out *out)
{
    struct esi_page_verdict verdict;

    if (esi_page_watch_copy(asked->model->watch, &verdict) < 0 || !verdict.headline) {
        esi_page_verdict_fini(&verdict);
        esi_json_out_null(out, "verdict");
        return;
    }
    esi_json_out_begin_object(out, "verdict");
    esi_json_out_string(out, "text", verdict.headline);
    esi_json_out_bool(out, "certain", verdict.is_certain);
    put_ranks(out, "ranks", &verdict.ranks);
    put_ranks(out, "cycle", &verdict.cycle);
    esi_json_out_end(out);
    esi_page_verdict_fini(&verdict);
}

static void put_levels(struct esi_json_out *out,
                       const struct esi_diagram_extent *extent)
{
    esi_json_out_begin_array(out, "levels");
    esi_json_out_unsigned(out, NULL, extent->begin[ESI_DIAGRAM_LEVEL]);
    esi_json_out_unsigned(out, NULL, extent->end[ESI_DIAGRAM_LEVEL]);
    esi_json_out_end(out);
}

static void put_reading(struct esi_json_out *out,
                        const struct esi_page_state *state,
                        const struct esi_diagram_extent *extent)
{
    esi_json_out_begin_object(out, "reading");
    esi_json_out_bool(out, "done", state->is_read);
    esi_json_out_unsigned(out, "events", extent->events);
    esi_json_out_end(out);
}

/* The cost of this command for this host. */
static void put_cost(const struct esi_page_asked *asked, struct esi_json_out *out)
{
    double cores = esi_page_feed_cost(asked->model->feed);

    if (cores < 0) {
        esi_json_out_null(out, "cost");
        return;
    }
    esi_json_out_begin_object(out, "cost");
    esi_json_out_real(out, "cores", cores);
    esi_json_out_end(out);
}

static void make_run(struct esi_page_asked *asked)
{
    const struct esi_diagram_extent *extent = &asked->extent;
    struct esi_page_state state;
    struct esi_json_text json;

    if (!esi_page_begin_json(asked, &json))
        return;
    esi_page_feed_state(asked->model->feed, &state);
    esi_json_out_string(&json.out, "name", state.name);
    esi_json_out_string(&json.out, "kind", state.is_archive ? "archive" : "run");
    esi_json_out_bool(&json.out, "live", !state.is_over && !state.is_read);
    esi_json_out_bool(&json.out, "over", state.is_over);
    esi_json_out_string(&json.out, "recording_end", *state.end ? state.end : NULL);
    put_reading(&json.out, &state, extent);
    put_text_number(&json.out, "begin_ns", extent->begin[ESI_DIAGRAM_TIME]);
    esi_json_out_real(&json.out, "end",
                      esi_page_ns(asked, extent->end[ESI_DIAGRAM_TIME]));
    put_levels(&json.out, extent);
    esi_json_out_unsigned(&json.out, "rows", extent->rows);
    esi_json_out_unsigned(&json.out, "events", extent->events);
    esi_json_out_unsigned(&json.out, "calls", extent->calls);
    esi_json_out_unsigned(&json.out, "lost", extent->lost);
    esi_json_out_unsigned(&json.out, "forgotten", extent->forgotten);
    if (extent->worst_error_ns == UINT64_MAX)
        esi_json_out_null(&json.out, "error_ns");
    else
        esi_json_out_unsigned(&json.out, "error_ns", extent->worst_error_ns);
    esi_json_out_unsigned(&json.out, "changes", extent->changes);
    esi_json_out_begin_array(&json.out, "states");
    for (int i = 0; i < ESI_DIAGRAM_STATES; i++)
        esi_json_out_string(&json.out, NULL,
                            esi_diagram_state_name((enum esi_diagram_state)i));
    esi_json_out_end(&json.out);
    put_verdict(asked, &json.out);
    put_cost(asked, &json.out);
    esi_page_end_json(asked, &json);
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

int esi_page_reply_update(const struct esi_page_model *model,
                          struct esi_page_update *update,
                          char **ret_text)
{
    struct esi_page_asked asked = {.model = model};
    const struct esi_diagram_extent *extent = &asked.extent;
    struct esi_page_state state;
    struct esi_json_text json;
    uint64_t from_ns;

    esi_page_feed_state(model->feed, &state);
    find_extent(&asked, true);
    if (extent->changes == update->changes && state.is_over == update->is_over &&
        state.is_read == update->is_read &&
        extent->end[ESI_DIAGRAM_TIME] == update->end_ns)
        return 0;
    if (esi_json_text_begin(&json) < 0)
        return -ENOMEM;
    from_ns = esi_page_feed_take_earliest(model->feed, update->stream);
    if (from_ns > update->end_ns)
        from_ns = update->end_ns;
    if (from_ns < extent->begin[ESI_DIAGRAM_TIME])
        from_ns = extent->begin[ESI_DIAGRAM_TIME];
    esi_json_out_begin_object(&json.out, NULL);
    esi_json_out_unsigned(&json.out, "changes", extent->changes);
    put_text_number(&json.out, "begin_ns", extent->begin[ESI_DIAGRAM_TIME]);
    esi_json_out_real(&json.out, "end",
                      esi_page_ns(&asked, extent->end[ESI_DIAGRAM_TIME]));
    put_levels(&json.out, extent);
    esi_json_out_unsigned(&json.out, "rows", extent->rows);
    esi_json_out_unsigned(&json.out, "events", extent->events);
    esi_json_out_bool(&json.out, "over", state.is_over);
    put_reading(&json.out, &state, extent);
    esi_json_out_real(&json.out, "from", esi_page_ns(&asked, from_ns));
    esi_json_out_end(&json.out);
    update->changes = extent->changes;
    update->end_ns = extent->end[ESI_DIAGRAM_TIME];
    update->is_over = state.is_over;
    update->is_read = state.is_read;
    return esi_json_text_finish(&json, ret_text, NULL) < 0 ? -ENOMEM : 1;
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

static void put_open(const struct esi_page_asked *asked,
                     struct esi_json_out *out,
                     const struct esi_diagram_row *row)
{
    const struct esi_diagram_call *open = &row->open;

    if (!row->is_open) {
        esi_json_out_null(out, "open");
        return;
    }
    esi_json_out_begin_object(out, "open");
    esi_json_out_string(out, "operation",
                        open->operation ? open->operation->name : "?");
    esi_json_out_real(out, "since", esi_page_ns(asked, open->begin_ns));
    esi_json_out_signed(out, "peer", open->peer);
    esi_json_out_string(out, "site", open->site);
    esi_json_out_string(out, "communicator", open->communicator);
    esi_json_out_unsigned(out, "state", open->state);
    esi_json_out_end(out);
}

static void put_row(const struct esi_page_asked *asked,
                    struct esi_json_out *out,
                    uint32_t number,
                    const struct rank_waits *waits)
{
    struct esi_diagram_row row;
    bool has_waits;

    if (esi_diagram_row(asked->diagram, number, &row) < 0)
        return;
    has_waits = row.rank >= 0 && row.rank < waits->ranks;
    esi_json_out_begin_object(out, NULL);
    esi_json_out_unsigned(out, "row", number);
    esi_json_out_string(out, "name", row.name);
    esi_json_out_string(out, "host", row.host);
    esi_json_out_string(out, "cluster", row.cluster);
    esi_json_out_signed(out, "rank", row.rank);
    esi_json_out_signed(out, "thread", row.thread);
    esi_json_out_unsigned(out, "events", row.events);
    esi_json_out_real(out, "begin", esi_page_ns(asked, row.begin_ns));
    esi_json_out_real(out, "end", esi_page_ns(asked, row.end_ns));
    esi_json_out_unsigned(out, "lost", row.lost);
    esi_json_out_unsigned(out, "kept_from", row.kept_from);
    esi_json_out_bool(out, "over", row.is_over);
    put_open(asked, out, &row);
    esi_json_out_real(out, "waited", has_waits ? round(waits->waited[row.rank]) : 0);
    esi_json_out_real(out, "caused", has_waits ? round(waits->caused[row.rank]) : 0);
    esi_json_out_end(out);
}

static void make_rows(struct esi_page_asked *asked)
{
    const struct esi_page_query *query = asked->query;
    struct rank_waits waits = {.ranks = 0};
    struct esi_json_text json;

    if (esi_page_feed_use_delay(asked->model->feed, take_waits, &waits) < 0) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else if (esi_page_begin_json(asked, &json)) {
        esi_json_out_begin_array(&json.out, "rows");
        for (uint32_t i = 0; i < query->count; i++)
            if (asked->extent.rows > i && query->first < asked->extent.rows - i)
                put_row(asked, &json.out, query->first + i, &waits);
        esi_json_out_end(&json.out);
        esi_page_end_json(asked, &json);
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

static void put_texts(struct esi_json_out *out, const char *key, struct text_list *list)
{
    esi_json_out_begin_array(out, key);
    for (size_t i = 0; i < list->count; i++)
        esi_json_out_string(out, NULL, list->items[i]);
    esi_json_out_end(out);
    free(list->items);
}

struct call_texts {
    struct text_list operations;
    struct text_list communicators;
    struct text_list sites;
};

static void put_call(const struct esi_page_asked *asked,
                     struct esi_json_out *out,
                     uint32_t row,
                     const struct esi_diagram_call *call,
                     struct call_texts *texts)
{
    esi_json_out_begin_array(out, NULL);
    esi_json_out_unsigned(out, NULL, row);
    esi_json_out_real(out, NULL, esi_page_ns(asked, call->begin_ns));
    if (call->end_ns == 0)
        esi_json_out_null(out, NULL);
    else
        esi_json_out_real(out, NULL, esi_page_ns(asked, call->end_ns));
    esi_json_out_unsigned(out, NULL, call->level[0]);
    esi_json_out_unsigned(out, NULL, call->level[1]);
    esi_json_out_unsigned(out, NULL, call->state);
    esi_json_out_signed(out, NULL,
                        number_text(&texts->operations,
                                    call->operation ? call->operation->name : NULL));
    esi_json_out_signed(out, NULL,
                        number_text(&texts->communicators, call->communicator));
    esi_json_out_signed(out, NULL, number_text(&texts->sites, call->site));
    esi_json_out_signed(out, NULL, call->peer);
    esi_json_out_signed(out, NULL, call->tag);
    esi_json_out_unsigned(out, NULL, call->bytes);
    esi_json_out_unsigned(out, NULL, call->event);
    esi_json_out_unsigned(out, NULL, call->nonblocking);
    esi_json_out_end(out);
}

/* Writes calls row by row up to the limit.  Returns whether all were written. */
static bool put_calls(const struct esi_page_asked *asked,
                      struct esi_json_out *out,
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
            put_call(asked, out, rows->items[i], &room[j], texts);
        left -= count > 0 ? (size_t)count : 0;
    }
    return is_complete;
}

static void make_calls(struct esi_page_asked *asked)
{
    struct esi_diagram_call *room = calloc(asked->query->limit, sizeof *room);
    struct call_texts texts = {.operations = {.count = 0}};
    struct esi_page_row_list rows;
    struct esi_json_text json;
    bool is_complete;

    if (!room) {
        esi_page_reply_fail(asked->reply, 503, "no memory");
    } else if (esi_page_list_rows(asked, &rows)) {
        if (esi_page_begin_json(asked, &json)) {
            esi_json_out_begin_array(&json.out, "calls");
            is_complete = put_calls(asked, &json.out, &rows, room, &texts);
            esi_json_out_end(&json.out);
            esi_json_out_bool(&json.out, "complete", is_complete);
            put_texts(&json.out, "operations", &texts.operations);
            put_texts(&json.out, "communicators", &texts.communicators);
            put_texts(&json.out, "sites", &texts.sites);
            esi_page_end_json(asked, &json);
        }
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

void esi_page_reply_make(const struct esi_page_model *model,
                         const struct esi_page_query *query,
                         struct esi_page_reply *ret_reply)
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
    struct esi_page_asked asked = {.model = model, .query = query, .reply = ret_reply};

    *ret_reply = (struct esi_page_reply){.status = 503};
    find_extent(&asked, is_of_sums(query));
    makers[query->route](&asked);
}
