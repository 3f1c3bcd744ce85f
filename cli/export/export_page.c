/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_page.c - writes a window of a run as a page that needs no server.  The replies
 * to the page's requests are stored in it as one JSON object (docs/view.md). */
#include "config.h"

#include "cli/export/export_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/duration.h"
#include "base/json_out.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "cli/page/page_assets.h"
#include "cli/page/page_reply.h"
#include "eventspace/operation.h"
#include "monitors/archive/archive_read.h"

/* Small enough for an email. */
#define PAGE_BYTES ((size_t)20 << 20)
/* Limit of the data before compression: a browser needs several times as much
 * memory. */
#define DATA_BYTES ((size_t)128 << 20)
/* The least data of an event. */
enum { EVENT_BYTES = 400 };
/* So many events fit, unless there are very many ranks or sites. */
enum { EVENTS_FIT = 80000 };
/* More than fits into a page, so that replies are only limited by size. */
#define ITEMS ((uint32_t)1 << 20)
/* Numbers that describe the order of events. */
#define ORDER_NUMBERS ((size_t)1 << 20)

/* The selected part of an archive, as a pass over its tuples finds it. */
struct page_estimate {
    uint64_t events; /* at least */
    uint64_t begin_ns, end_ns;
    uint64_t stops[EVENTS_FIT]; /* of the newest events, by number modulo EVENTS_FIT */
};

struct page_export {
    const struct esi_export_picture *wanted;
    struct esi_page_model model;
    struct esi_diagram *diagram;
    struct esi_diagram_extent extent;
    struct esi_page_query *query; /* owned, like `rows` */
    uint32_t *rows;
    size_t row_count;
    uint64_t from_ns, to_ns;
    struct esi_json_text json; /* replies so far */
    size_t bytes;              /* approximate size */
    int result;
    struct page_estimate *estimate; /* owned; NULL = not an archive */
};

/* --- Selection -------------------------------------------------------------------- */

/* Consecutive rows form one range. */
static int add_range(struct esi_page_query *query, uint32_t number)
{
    struct esi_page_range *last = &query->ranges[query->range_count];

    if (query->range_count > 0 && last[-1].last + 1 == number) {
        last[-1].last = number;
        return 0;
    }
    if (query->range_count == ESI_PAGE_RANGES_MAX)
        return -E2BIG;
    *last = (struct esi_page_range){number, number};
    query->range_count++;
    return 0;
}

/* Lists the selected rows and sets the ranges of the following queries. */
static int list_rows(struct page_export *export)
{
    int result = esi_export_picture_rows(export->wanted, export->diagram, &export->rows,
                                         &export->row_count);

    for (size_t i = 0; i < export->row_count && result == 0; i++)
        result = add_range(export->query, export->rows[i]);
    return result;
}

/* --- Replies ---------------------------------------------------------------------- */

/* Relative to the start of the run, as in requests. */
static double relative_ns(const struct page_export *export, uint64_t ns)
{
    return (double)(ns - export->extent.begin[ESI_DIAGRAM_TIME]);
}

/* Starts a request for the selected rows and time. */
static struct esi_page_query *begin_query(struct page_export *export, const char *path)
{
    struct esi_page_query *query = export->query;
    size_t ranges = query->range_count;

    esi_page_query_begin(query, path);
    query->range_count = ranges;
    query->from = relative_ns(export, export->from_ns);
    query->to = relative_ns(export, export->to_ns);
    query->limit = ITEMS;
    return query;
}

/* Adds the reply to the request, if there is space. */
static void put_reply(struct page_export *export, const char *key)
{
    struct esi_page_reply reply;

    if (export->result < 0)
        return;
    esi_page_reply_make(&export->model, export->query, &reply);
    if (reply.status != 200) {
        export->result = -ENOMEM;
    } else {
        reply.bytes[strcspn(reply.bytes, "\n")] = '\0';
        esi_json_out_raw(&export->json.out, key, reply.bytes);
        export->bytes += reply.length;
        if (export->bytes > DATA_BYTES)
            export->result = -EFBIG;
    }
    esi_page_reply_fini(&reply);
}

static void put_rows(struct page_export *export)
{
    struct esi_page_query *query = begin_query(export, "/api/rows");

    esi_json_out_begin_array(&export->json.out, "rows");
    for (size_t i = 0; i < query->range_count; i++) {
        query->first = query->ranges[i].first;
        query->count = query->ranges[i].last - query->first + 1;
        put_reply(export, NULL);
    }
    esi_json_out_end(&export->json.out);
}

/* The first event of a row in or after the window; 0 = none. */
static uint32_t first_event(const struct page_export *export,
                            uint32_t row,
                            struct esi_diagram_event *ret_event)
{
    struct es_event_id id;

    if (esi_diagram_nearest(export->diagram, row, ESI_DIAGRAM_TIME, export->from_ns,
                            &id) < 0)
        return 0;
    while (esi_diagram_event(export->diagram, id, ret_event) == 0 &&
           ret_event->ns >= export->from_ns)
        id.index--;
    id.index++;
    while (esi_diagram_event(export->diagram, id, ret_event) == 0 &&
           ret_event->ns < export->from_ns)
        id.index++;
    return id.index;
}

/* Calls `visit` for each event of a row in the window. */
static void foreach_event(struct page_export *export,
                          uint32_t row,
                          void (*visit)(struct page_export *export,
                                        const struct esi_diagram_event *event,
                                        void *data),
                          void *data)
{
    struct esi_diagram_event event;
    struct es_event_id id = {.index = first_event(export, row, &event)};

    if (id.index == 0)
        return;
    id.trace = event.id.trace;
    for (; esi_diagram_event(export->diagram, id, &event) == 0 &&
           event.ns <= export->to_ns && export->result == 0;
         id.index++)
        visit(export, &event, data);
}

static void put_event(struct page_export *export,
                      const struct esi_diagram_event *event,
                      void *data)
{
    (void)data;
    begin_query(export, "/api/event")->a =
        (struct esi_page_event){event->row, event->id.index};
    put_reply(export, NULL);
}

/* --- Order ------------------------------------------------------------------------ */

/* The latest known events of other rows, updated from event to event. */
struct page_order {
    struct esi_json_text json;
    uint32_t *known;  /* owned; by row position, for the last event */
    uint32_t *traces; /* owned; likewise */
    size_t numbers;   /* number written so far */
    int result;
};

/* [row, index, other row, its last preceding event, ...] */
static void put_order(struct page_export *export,
                      const struct esi_diagram_event *event,
                      void *data)
{
    struct page_order *order = data;
    const struct es_order *events = esi_diagram_order(export->diagram);
    struct esi_json_out *out = &order->json.out;
    bool has_begun = false;

    if (order->result == 0 && order->numbers > ORDER_NUMBERS)
        order->result = -E2BIG;
    for (size_t i = 0; i < export->row_count && order->result == 0; i++) {
        int64_t last =
            es_order_greatest_predecessor(events, event->id, order->traces[i]);

        if (last < 0)
            order->result = (int)last;
        if (last <= order->known[i] || export->rows[i] == event->row)
            continue;
        if (!has_begun) {
            esi_json_out_begin_array(out, NULL);
            esi_json_out_unsigned(out, NULL, event->row);
            esi_json_out_unsigned(out, NULL, event->id.index);
            has_begun = true;
        }
        order->known[i] = (uint32_t)last;
        esi_json_out_unsigned(out, NULL, export->rows[i]);
        esi_json_out_unsigned(out, NULL, order->known[i]);
        order->numbers += 2;
    }
    if (has_begun)
        esi_json_out_end(out);
}

static void list_order(struct page_export *export, struct page_order *order)
{
    struct esi_diagram_row row;

    for (size_t i = 0; i < export->row_count; i++) {
        esi_diagram_row(export->diagram, export->rows[i], &row);
        order->traces[i] = row.trace;
    }
    esi_json_out_begin_array(&order->json.out, NULL);
    for (size_t i = 0; i < export->row_count && order->result == 0; i++) {
        memset(order->known, 0, export->row_count * sizeof *order->known);
        foreach_event(export, export->rows[i], put_order, order);
    }
    esi_json_out_end(&order->json.out);
}

/* null if it is too large, or no longer known. */
static void put_past(struct page_export *export)
{
    struct page_order order = {.known = calloc(export->row_count, sizeof *order.known),
                               .traces =
                                   calloc(export->row_count, sizeof *order.traces)};
    char *text = NULL;
    size_t length = 0;

    if (!order.known || !order.traces || esi_json_text_begin(&order.json) < 0) {
        export->result = -ENOMEM;
    } else {
        list_order(export, &order);
        if (esi_json_text_finish(&order.json, &text, &length) < 0)
            export->result = -ENOMEM;
        else if (order.result < 0)
            esi_json_out_null(&export->json.out, "past");
        else
            esi_json_out_raw(&export->json.out, "past", text);
    }
    export->bytes += length;
    free(text);
    free(order.known);
    free(order.traces);
}

/* --- Writing ---------------------------------------------------------------------- */

static void put_all(struct page_export *export)
{
    struct esi_json_out *out = &export->json.out;

    esi_json_out_begin_object(out, NULL);
    esi_json_out_real(out, "from", relative_ns(export, export->from_ns));
    esi_json_out_real(out, "to", relative_ns(export, export->to_ns));
    begin_query(export, "/api/run");
    put_reply(export, "run");
    put_rows(export);
    begin_query(export, "/api/calls");
    put_reply(export, "calls");
    begin_query(export, "/api/messages");
    put_reply(export, "messages");
    esi_json_out_begin_array(out, "events");
    for (size_t i = 0; i < export->row_count && export->result == 0; i++)
        foreach_event(export, export->rows[i], put_event, NULL);
    esi_json_out_end(out);
    if (export->result == 0)
        put_past(export);
    esi_json_out_end(out);
}

/* The data as stored in the page. */
struct page_data {
    unsigned char *bytes; /* in zlib format; owned */
    size_t length;
};

static int compress_data(const char *text, size_t length, struct page_data *ret_data)
{
    uLongf room = compressBound((uLong)length);
    unsigned char *bytes = malloc(room);

    if (!bytes)
        return -ENOMEM;
    if (compress(bytes, &room, (const unsigned char *)text, (uLong)length) != Z_OK) {
        free(bytes);
        return -ENOMEM;
    }
    *ret_data = (struct page_data){bytes, room};
    return 0;
}

static size_t base64_bytes(const struct page_data *data)
{
    return (data->length + 2) / 3 * 4;
}

static void write_base64(const struct page_data *data, FILE *stream)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < data->length; i += 3) {
        size_t left = data->length - i;
        unsigned bits = (unsigned)data->bytes[i] << 16 |
                        (left > 1 ? (unsigned)data->bytes[i + 1] << 8 : 0) |
                        (left > 2 ? data->bytes[i + 2] : 0);

        putc(digits[bits >> 18], stream);
        putc(digits[bits >> 12 & 63], stream);
        putc(left > 1 ? digits[bits >> 6 & 63] : '=', stream);
        putc(left > 2 ? digits[bits & 63] : '=', stream);
    }
}

static int write_page(const struct page_export *export, const struct page_data *data)
{
    struct es_error error = {.text = ""};
    struct esi_output_file *file;
    int result = esi_output_file_open(export->wanted->path, &error, &file);

    if (result == 0) {
        FILE *stream = esi_output_file_stream(file);

        fputs(esi_page_saved[0], stream);
        write_base64(data, stream);
        fputs(esi_page_saved[1], stream);
        result = esi_output_file_close(file, &error);
    }
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot write the page")
                      : ES_EXIT_SUCCESS;
}

/* Makes all data of the page.  Returns 0, -ENOMEM, or -EFBIG if it is too large. */
static int make_data(struct page_export *export, struct page_data *ret_data)
{
    size_t page_bytes = strlen(esi_page_saved[0]) + strlen(esi_page_saved[1]);
    size_t length;
    char *text;
    int result;

    if (esi_json_text_begin(&export->json) < 0)
        return -ENOMEM;
    put_all(export);
    if (esi_json_text_finish(&export->json, &text, &length) < 0)
        return -ENOMEM;
    result = export->result;
    if (result == 0)
        result = compress_data(text, length, ret_data);
    if (result == 0 && page_bytes + base64_bytes(ret_data) > PAGE_BYTES)
        result = -EFBIG;
    free(text);
    return result;
}

/* --- Size ------------------------------------------------------------------------- */

/* Number of events of a tuple, at least. */
static uint64_t events_of(const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);

    switch (operation ? (enum es_class)operation->op_class : ES_CLASS_NONE) {
    case ES_CLASS_SEND:
    case ES_CLASS_RECEIVE:
        return 1;
    case ES_CLASS_COLLECTIVE:
        return 2;
    default:
        return 0;
    }
}

static void count_item(struct page_estimate *estimate,
                       const struct esi_archive_tables *tables,
                       const struct esi_export_picture *wanted,
                       const struct esi_archive_item *item)
{
    const struct es_tuple *tuple = &item->tuple;
    uint32_t process = tables->elements[item->element].process;
    uint64_t from_ns;

    if (item->lost > 0 || tuple->stop == 0)
        return;
    if (estimate->begin_ns == 0 || tuple->start < estimate->begin_ns)
        estimate->begin_ns = tuple->start;
    from_ns = estimate->begin_ns;
    if (tuple->stop < from_ns + wanted->begin_ns ||
        (wanted->end_ns > 0 && tuple->start > from_ns + wanted->end_ns) ||
        (wanted->range_count > 0 &&
         !esi_rank_ranges_have(wanted->ranges, wanted->range_count,
                               tables->processes[process].rank)))
        return;
    for (uint64_t left = events_of(tuple); left > 0; left--)
        estimate->stops[estimate->events++ % EVENTS_FIT] = tuple->stop;
    estimate->end_ns = tuple->stop;
}

/* Errors of the archive are reported when its events are read. */
static void estimate_archive(struct page_export *export, const char *directory)
{
    struct esi_archive_reader *reader;
    struct esi_archive_merge *merge;
    struct esi_archive_item item;

    export->estimate = calloc(1, sizeof *export->estimate);
    if (!export->estimate || esi_archive_open(directory, NULL, &reader) < 0)
        return;
    if (esi_archive_merge_create(reader, NULL, &merge) == 0) {
        while (esi_archive_merge_next(merge, &item, NULL) > 0)
            count_item(export->estimate, esi_archive_tables(reader), export->wanted,
                       &item);
        esi_archive_merge_destroy(merge);
    }
    esi_archive_read_close(reader);
}

/* Whether the page would certainly be too large. */
static bool is_too_large(const struct page_export *export)
{
    /* --since begins at the end, which is not known before. */
    return export->estimate && export->wanted->since_ns == 0 &&
           export->estimate->events > DATA_BYTES / EVENT_BYTES;
}

/* "; --since 350ms would fit"; "" = not known. */
static void format_part(const struct page_export *export, char *out, size_t size)
{
    const struct page_estimate *estimate = export->estimate;
    char begin[32], end[32];
    uint64_t span_ns, unit = 1;

    out[0] = '\0';
    if (!estimate || estimate->events <= EVENTS_FIT)
        return;
    span_ns = estimate->end_ns - estimate->stops[estimate->events % EVENTS_FIT];
    while (span_ns / unit >= 1000)
        unit *= 10;
    span_ns -= span_ns % unit;
    if (span_ns == 0)
        return;
    if (export->wanted->end_ns == 0) {
        esi_duration_format(span_ns, end, sizeof end);
        snprintf(out, size, "; --since %s would fit", end);
    } else if (span_ns < export->wanted->end_ns) {
        esi_duration_format(export->wanted->end_ns - span_ns, begin, sizeof begin);
        esi_duration_format(export->wanted->end_ns, end, sizeof end);
        snprintf(out, size, "; --begin %s --end %s would fit", begin, end);
    }
}

static int fail_too_large(const struct page_export *export)
{
    char part[128];

    format_part(export, part, sizeof part);
    return esi_command_fail(ES_EXIT_USAGE,
                            "the page would have more than %zu MiB, or %zu MiB of data "
                            "before compression: choose a smaller part with --rank, "
                            "--begin and --end, or --since%s",
                            PAGE_BYTES >> 20, DATA_BYTES >> 20, part);
}

static int make_page(struct page_export *export)
{
    struct page_data data = {.bytes = NULL};
    int result = make_data(export, &data);
    int status;

    if (result == -EFBIG)
        status = fail_too_large(export);
    else if (result < 0)
        status = esi_command_fail(ES_EXIT_USAGE, "no memory");
    else
        status = write_page(export, &data);
    free(data.bytes);
    return status;
}

static int export_read(struct page_export *export)
{
    int result;

    export->diagram = esi_page_feed_diagram(export->model.feed);
    esi_diagram_extent(export->diagram, &export->extent);
    result = list_rows(export);
    if (result == -E2BIG)
        return esi_command_fail(ES_EXIT_USAGE, "--rank: too many ranges");
    if (result < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    if (export->row_count == 0)
        return esi_command_fail(ES_EXIT_USAGE, "there is no event to show");
    if (!esi_export_picture_span(export->wanted, &export->extent, &export->from_ns,
                                 &export->to_ns))
        return ES_EXIT_USAGE;
    return make_page(export);
}

int esi_export_page(struct esi_event_source *source,
                    const struct esi_export_picture *wanted)
{
    struct esi_page_feed_config config = {.name = source->path,
                                          .follow = source->follow,
                                          .consumer = source->consumer,
                                          .diagram = {.calls_max = ESI_EXPORT_CALLS}};
    struct page_export export = {.wanted = wanted};
    struct esi_set_source_facts facts;
    enum esi_set_source_kind kind;
    int status = esi_event_source_refuse_set(source);

    if (status == ES_EXIT_SUCCESS)
        status = esi_event_source_find(source, &kind);
    if (status != ES_EXIT_SUCCESS)
        return status;
    config.is_archive = kind == ES_SET_SOURCE_ARCHIVE;
    if (config.is_archive)
        estimate_archive(&export, source->path);
    if (is_too_large(&export)) {
        status = fail_too_large(&export);
        free(export.estimate);
        return status;
    }
    export.query = calloc(1, sizeof *export.query);
    if (!export.query || esi_page_feed_create(&config, &export.model.feed) < 0) {
        free(export.query);
        free(export.estimate);
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    }
    status = esi_page_feed_read(export.model.feed, &facts);
    if (status == ES_EXIT_SUCCESS)
        status = export_read(&export);
    if (status == ES_EXIT_SUCCESS)
        esi_event_source_tell_missing(&facts);
    esi_page_feed_destroy(export.model.feed);
    free(export.rows);
    free(export.query);
    free(export.estimate);
    return status;
}
