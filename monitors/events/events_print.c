/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* events_print.c - prints events; each format is a row of a table. */
#include "config.h"

#include "monitors/events/events_print.h"

#include <errno.h>
#include <inttypes.h>

#include "base/quantity.h"
#include "base/table.h"
#include "eventspace/operation.h"
#include "monitors/events/summaries_print.h"
#include "monitors/follow/activity.h"
#include "monitors/follow/describe.h"

static enum es_class class_of(const struct esi_activity *activity)
{
    const struct es_operation *operation = es_operation_find(activity->operation);

    return operation ? (enum es_class)operation->op_class : ES_CLASS_NONE;
}

/* --- Text --------------------------------------------------------------------- */

enum { SECONDS = 40, DECIMALS = 9 };

/* Prints the decimals that are significant with an error of `error_ns`, and blanks for
 * the others. */
static void format_seconds(const struct esi_events_printer *printer,
                           uint64_t time_ns,
                           uint64_t error_ns,
                           char out[SECONDS])
{
    int64_t shown = esi_events_shown_time(printer, time_ns);
    uint64_t size = shown < 0 ? 0 - (uint64_t)shown : (uint64_t)shown;
    uint64_t digit_ns = 10;
    int length =
        snprintf(out, SECONDS, "%s%" PRIu64 ".%09" PRIu64, shown < 0 ? "-" : "",
                 size / UINT64_C(1000000000), size % UINT64_C(1000000000));

    if (error_ns > INT64_MAX)
        return;
    for (int i = 1; i < DECIMALS && digit_ns <= error_ns; i++, digit_ns *= 10)
        out[length - i] = ' ';
}

/* In calls on requests, `bytes` counts the requests; in open receives it is the buffer
 * size. */
static bool has_payload(const struct esi_activity *activity)
{
    enum es_class op_class = class_of(activity);

    return activity->bytes && !activity->awaited && op_class != ES_CLASS_COMPLETION &&
           (activity->stop_ns || op_class != ES_CLASS_RECEIVE);
}

static void print_event(const struct esi_events_printer *printer,
                        const struct esi_event *event)
{
    const struct esi_activity *activity = &event->activity;
    uint64_t end_ns = esi_event_until_ns(event, printer->realtime_ns);
    bool is_open = activity->stop_ns == 0;
    char seconds[SECONDS];
    char thread[32];
    char span[32];
    char words[600];

    format_seconds(
        printer, printer->by_start || is_open ? activity->start_ns : activity->stop_ns,
        activity->error_ns, seconds);
    snprintf(thread, sizeof thread, "%d.%d", event->origin->rank,
             event->origin->thread);
    esi_quantity_time(
        span, sizeof span,
        end_ns > activity->start_ns ? (double)(end_ns - activity->start_ns) : 0);
    esi_describe_activity(words, sizeof words, activity);
    if (has_payload(activity))
        esi_describe_append(words, sizeof words, ", %" PRIu32 " bytes",
                            activity->bytes);
    if (is_open)
        esi_describe_append(words, sizeof words,
                            event->ended ? ", under way when its process ended"
                                         : ", still under way");
    if (event->site && *event->site)
        esi_describe_append(words, sizeof words, ", at %s", event->site);
    esi_text_line_print(printer->stream, printer->width, "%16s %8s %9s  %s", seconds,
                        thread, span, words);
}

/* --- JSON Lines and CSV ----------------------------------------------------------- */

static void describe_origin(struct esi_row *row, const struct es_origin *origin)
{
    static const struct es_origin nobody = {.rank = 0};
    const struct es_origin *shown = origin ? origin : &nobody;

    esi_row_signed(esi_row_if(row, origin), "rank", NULL, shown->rank);
    esi_row_signed(esi_row_if(row, origin), "thread", NULL, shown->thread);
    esi_row_text(row, "host", NULL, shown->host);
    esi_row_text(row, "element", NULL, shown->name);
}

/* In CSV also lost tuples. */
static void describe_event(struct esi_row *row, const void *record)
{
    static const struct esi_event none = {.activity.present = false};
    const struct esi_event_line *line = record;
    const struct esi_event *event = line->event ? line->event : &none;
    const struct esi_activity *activity = &event->activity;
    bool is = line->event != NULL;

    esi_row_text(row, "type", NULL, line->type);
    describe_origin(row, line->origin);
    esi_row_unsigned(esi_row_if(row, is), "position", NULL, event->position);
    esi_row_text(row, "operation", NULL,
                 is ? es_operation_name(activity->operation) : NULL);
    esi_row_text(row, "class", NULL, is ? es_class_name(class_of(activity)) : NULL);
    esi_activity_describe(row, activity, line->printer->start_ns);
    if (esi_row_is_json(row))
        esi_row_unsigned(esi_row_if(row, activity->error_ns <= INT64_MAX), "error_ns",
                         NULL, activity->error_ns);
    else
        esi_row_unsigned(esi_row_if(row, !is), "lost", NULL, line->lost);
    esi_row_text(row, "awaits", NULL, esi_activity_awaits(activity));
    if (line->printer->sites)
        esi_row_text(row, "site", NULL,
                     event->site && *event->site ? event->site : NULL);
}

static void describe_loss(struct esi_row *row, const void *record)
{
    const struct esi_event_line *line = record;

    esi_row_text(row, "type", NULL, line->type);
    describe_origin(row, line->origin);
    esi_row_unsigned(row, "lost", NULL, line->lost);
}

static void describe_end(struct esi_row *row, const void *record)
{
    const struct esi_event_line *line = record;
    const struct esi_time_repair_totals *repairs = line->printer->repairs;

    esi_row_text(row, "type", NULL, line->type);
    esi_row_unsigned(row, "lost", NULL, line->lost);
    esi_row_unsigned(row, "overwritten_before", NULL, line->missed);
    if (!repairs)
        return;
    esi_row_unsigned(row, "times_checked", NULL, repairs->checked);
    esi_row_unsigned(row, "times_repaired", NULL, repairs->repaired);
    esi_row_unsigned(row, "times_beyond_bounds", NULL, repairs->beyond);
    esi_row_unsigned(row, "times_unmatched", NULL, repairs->unmatched);
    esi_row_unsigned(row, "events_moved", NULL, repairs->moved);
    esi_row_unsigned(row, "largest_repair_ns", NULL, repairs->largest_ns);
}

/* The row type of all lines of CSV. */
static esi_row_describe *csv_row_of(const struct esi_events_printer *printer)
{
    return printer->summed_up ? esi_summary_describe : describe_event;
}

static int print_line(const struct esi_events_printer *printer,
                      esi_row_describe *describe,
                      struct esi_event_line line)
{
    struct esi_rows rows;

    line.printer = printer;
    esi_rows_init(&rows, printer->format, printer->stream, describe);
    esi_rows_add(&rows, &line);
    return esi_rows_finish(&rows);
}

/* --- Any format ------------------------------------------------------------------- */

static int take_event(void *data, const struct esi_event *event)
{
    struct esi_events_printer *printer = data;

    printer->shown++;
    if (printer->format != ESI_ROWS_TABLE)
        return print_line(
            printer, describe_event,
            (struct esi_event_line){.type = event->activity.stop_ns ? "event" : "open",
                                    .event = event,
                                    .origin = event->origin});
    print_event(printer, event);
    return ferror(printer->stream) ? -EIO : 0;
}

static int take_summary(void *data, const struct esi_summary_row *row)
{
    struct esi_events_printer *printer = data;

    printer->shown++;
    if (printer->format != ESI_ROWS_TABLE)
        return print_line(printer, esi_summary_describe,
                          (struct esi_event_line){.type = "summary",
                                                  .summary = row,
                                                  .origin = row->origin});
    esi_summary_print_text(printer, row);
    return ferror(printer->stream) ? -EIO : 0;
}

static int take_loss(void *data, const struct es_origin *origin, uint64_t lost)
{
    const struct esi_events_printer *printer = data;

    if (printer->format != ESI_ROWS_TABLE)
        return print_line(
            printer,
            printer->format == ESI_ROWS_CSV ? csv_row_of(printer) : describe_loss,
            (struct esi_event_line){.type = "loss", .origin = origin, .lost = lost});
    esi_text_line_print(printer->stream, printer->width,
                        "%16s %5d.%d %9s  %" PRIu64 " events of %s are lost", "-",
                        origin->rank, origin->thread, "-", lost, origin->name);
    return ferror(printer->stream) ? -EIO : 0;
}

struct esi_event_sink esi_events_printer_sink(struct esi_events_printer *printer)
{
    return (struct esi_event_sink){.event = take_event,
                                   .loss = take_loss,
                                   .summary = take_summary,
                                   .data = printer};
}

void esi_events_print_header(const struct esi_events_printer *printer)
{
    struct esi_rows rows;

    if (printer->format == ESI_ROWS_CSV) {
        esi_rows_init(&rows, ESI_ROWS_CSV, printer->stream, csv_row_of(printer));
        esi_rows_begin(&rows, &(struct esi_event_line){.printer = printer});
    } else if (printer->format == ESI_ROWS_TABLE && printer->summed_up) {
        fprintf(printer->stream, "%16s %10s  %s\n", "LAST s", "OPERATIONS", "OF");
    } else if (printer->format == ESI_ROWS_TABLE) {
        fprintf(printer->stream, "%16s %8s %9s  %s\n",
                printer->by_start ? "STARTED s" : "STOPPED s", "THREAD", "LASTED",
                "OPERATION");
    }
}

void esi_events_print_losses(const struct esi_events_printer *printer,
                             uint64_t lost,
                             uint64_t missed)
{
    struct esi_event_line line = {.type = "end", .lost = lost, .missed = missed};

    if (printer->format == ESI_ROWS_JSON) {
        print_line(printer, describe_end, line);
    } else if (printer->format == ESI_ROWS_CSV) {
        line.lost += missed;
        print_line(printer, csv_row_of(printer), line);
    }
}
