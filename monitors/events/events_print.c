/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* events_print.c - writes events; each format is a row of a table. */
#include "config.h"

#include "monitors/events/events_print.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "eventspace/operation.h"
#include "monitors/follow/describe.h"
#include "monitors/events/summaries_print.h"

/* Signed: a clock of another process may have seen the event before the run's first
 * pairing. */
static int64_t shown_time(const struct esi_events_printer *printer, uint64_t time_ns)
{
    return (int64_t)(time_ns - printer->start_ns);
}

static const char *class_of(const struct esi_activity *activity)
{
    const struct es_operation *operation = es_operation_find(activity->operation);

    return es_class_name(operation ? (enum es_class)operation->op_class
                                   : ES_CLASS_NONE);
}

static int state_of(const struct esi_events_printer *printer)
{
    return ferror(printer->stream) ? -EIO : 0;
}

/* The operation waited for; NULL where there is none or it is not known. */
static const char *awaits_of(const struct esi_activity *activity)
{
    return activity->awaited ? es_operation_name(activity->awaited) : NULL;
}

/* --- Text --------------------------------------------------------------------- */

static void print_seconds(const struct esi_events_printer *printer, uint64_t time_ns)
{
    int64_t shown = shown_time(printer, time_ns);
    uint64_t size = shown < 0 ? 0 - (uint64_t)shown : (uint64_t)shown;
    char text[40];

    snprintf(text, sizeof text, "%s%" PRIu64 ".%09" PRIu64, shown < 0 ? "-" : "",
             size / UINT64_C(1000000000), size % UINT64_C(1000000000));
    esi_plain_print(printer->stream, "%16s", text);
}

static void text_header(const struct esi_events_printer *printer)
{
    esi_plain_print(printer->stream, "%16s %8s %9s  %s\n",
                    printer->by_start ? "STARTED s" : "STOPPED s", "THREAD", "LASTED",
                    "OPERATION");
}

/* Calls about requests count them there, and an open receive its buffer. */
static bool has_payload(const struct esi_activity *activity)
{
    const char *name = class_of(activity);

    return activity->bytes && !activity->awaited && strcmp(name, "completion") != 0 &&
           (activity->stop_ns || strcmp(name, "receive") != 0);
}

static int text_event(void *data, const struct esi_event *event)
{
    const struct esi_events_printer *printer = data;
    const struct esi_activity *activity = &event->activity;
    uint64_t end_ns = activity->stop_ns ? activity->stop_ns : printer->realtime_ns;
    char thread[32];
    char span[32];
    char words[256];

    snprintf(thread, sizeof thread, "%d.%d", event->origin->rank,
             event->origin->thread);
    esi_describe_span(span, sizeof span,
                      end_ns > activity->start_ns ? end_ns - activity->start_ns : 0);
    esi_describe_activity(words, sizeof words, activity);
    print_seconds(printer, printer->by_start || !activity->stop_ns ? activity->start_ns
                                                                   : activity->stop_ns);
    esi_plain_print(printer->stream, " %8s %9s  %s", thread, span, words);
    if (has_payload(activity))
        fprintf(printer->stream, ", %" PRIu32 " bytes", activity->bytes);
    fputs(activity->stop_ns ? "\n" : ", under way since then\n", printer->stream);
    return state_of(printer);
}

static int text_loss(void *data, const struct es_origin *origin, uint64_t lost)
{
    const struct esi_events_printer *printer = data;

    esi_plain_print(printer->stream,
                    "%16s %5d.%d %9s  %" PRIu64 " events of %s are lost\n", "-",
                    origin->rank, origin->thread, "-", lost, origin->name);
    return state_of(printer);
}

static void text_losses(const struct esi_events_printer *printer,
                        uint64_t lost,
                        uint64_t missed)
{
    fprintf(printer->stream,
            "%" PRIu64 " events lost while reading, %" PRIu64
            " overwritten before the reading began\n",
            lost, missed);
}

/* --- JSON Lines --------------------------------------------------------------- */

static void json_header(const struct esi_events_printer *printer)
{
    (void)printer;
}

static void put_known(struct esi_json_out *out,
                      const char *key,
                      int64_t value,
                      bool known)
{
    if (known)
        esi_json_out_signed(out, key, value);
    else
        esi_json_out_null(out, key);
}

/* A number, "any" or null. */
static void put_partner(struct esi_json_out *out, const char *key, int value)
{
    if (value == ES_PEER_ANY)
        esi_json_out_string(out, key, "any");
    else
        put_known(out, key, value, value >= 0);
}

static void put_origin(struct esi_json_out *out, const struct es_origin *origin)
{
    esi_json_out_signed(out, "rank", origin->rank);
    esi_json_out_signed(out, "thread", origin->thread);
    esi_json_out_string(out, "host", origin->host);
    esi_json_out_string(out, "element", origin->name);
}

static int json_event(void *data, const struct esi_event *event)
{
    const struct esi_events_printer *printer = data;
    const struct esi_activity *activity = &event->activity;
    bool open = activity->stop_ns == 0;
    struct esi_json_out out;

    esi_json_out_init(&out, printer->stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", open ? "open" : "event");
    put_origin(&out, event->origin);
    esi_json_out_unsigned(&out, "position", event->position);
    esi_json_out_string(&out, "operation", es_operation_name(activity->operation));
    esi_json_out_string(&out, "class", class_of(activity));
    esi_json_out_string(&out, "communicator",
                        activity->has_communicator ? activity->communicator : NULL);
    put_partner(&out, "peer", activity->peer);
    if (activity->tag == ES_TAG_ANY)
        esi_json_out_string(&out, "tag", "any");
    else
        esi_json_out_signed(&out, "tag", activity->tag);
    esi_json_out_unsigned(&out, "bytes", activity->bytes);
    put_known(&out, "sequence", activity->sequence,
              activity->sequence != ES_SEQUENCE_UNKNOWN);
    esi_json_out_signed(&out, "start_ns", shown_time(printer, activity->start_ns));
    put_known(&out, "stop_ns", shown_time(printer, activity->stop_ns), !open);
    put_known(&out, "error_ns", (int64_t)activity->error_ns,
              activity->error_ns <= INT64_MAX);
    esi_json_out_string(&out, "awaits", awaits_of(activity));
    esi_json_out_end(&out);
    return state_of(printer);
}

static int json_loss(void *data, const struct es_origin *origin, uint64_t lost)
{
    const struct esi_events_printer *printer = data;
    struct esi_json_out out;

    esi_json_out_init(&out, printer->stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "loss");
    put_origin(&out, origin);
    esi_json_out_unsigned(&out, "lost", lost);
    esi_json_out_end(&out);
    return state_of(printer);
}

static void put_repairs(struct esi_json_out *out,
                        const struct esi_time_repair_totals *repairs)
{
    esi_json_out_unsigned(out, "times_checked", repairs->checked);
    esi_json_out_unsigned(out, "times_repaired", repairs->repaired);
    esi_json_out_unsigned(out, "times_beyond_bounds", repairs->beyond);
    esi_json_out_unsigned(out, "times_unmatched", repairs->unmatched);
    esi_json_out_unsigned(out, "events_moved", repairs->moved);
    esi_json_out_unsigned(out, "largest_repair_ns", repairs->largest_ns);
}

static void json_losses(const struct esi_events_printer *printer,
                        uint64_t lost,
                        uint64_t missed)
{
    struct esi_json_out out;

    esi_json_out_init(&out, printer->stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "end");
    esi_json_out_unsigned(&out, "lost", lost);
    esi_json_out_unsigned(&out, "overwritten_before", missed);
    if (printer->repairs)
        put_repairs(&out, printer->repairs);
    esi_json_out_end(&out);
}

/* --- CSV ---------------------------------------------------------------------- */

static void csv_header(const struct esi_events_printer *printer)
{
    fputs("type,rank,thread,host,element,position,operation,class,communicator,peer,"
          "tag,bytes,sequence,start_ns,stop_ns,lost,awaits\r\n",
          printer->stream);
}

static void csv_origin(const struct esi_events_printer *printer,
                       const char *type,
                       const struct es_origin *origin)
{
    esi_plain_print(printer->stream, "%s,%d,%d,", type, origin->rank, origin->thread);
    esi_csv_text(printer->stream, origin->host);
    fputc(',', printer->stream);
    esi_csv_text(printer->stream, origin->name);
}

static void csv_number(const struct esi_events_printer *printer,
                       int64_t value,
                       bool known)
{
    fputc(',', printer->stream);
    if (known)
        fprintf(printer->stream, "%" PRId64, value);
}

static void csv_partner(const struct esi_events_printer *printer, int value, bool known)
{
    if (value == ES_PEER_ANY)
        fputs(",any", printer->stream);
    else
        csv_number(printer, value, known);
}

static int csv_event(void *data, const struct esi_event *event)
{
    const struct esi_events_printer *printer = data;
    const struct esi_activity *activity = &event->activity;
    const char *awaits = awaits_of(activity);
    bool open = activity->stop_ns == 0;

    csv_origin(printer, open ? "open" : "event", event->origin);
    fprintf(printer->stream, ",%" PRIu64 ",", event->position);
    esi_csv_text(printer->stream, es_operation_name(activity->operation));
    esi_plain_print(printer->stream, ",%s,", class_of(activity));
    esi_csv_text(printer->stream,
                 activity->has_communicator ? activity->communicator : "");
    csv_partner(printer, activity->peer, activity->peer >= 0);
    csv_partner(printer, activity->tag, true);
    csv_number(printer, activity->bytes, true);
    csv_number(printer, activity->sequence, activity->sequence != ES_SEQUENCE_UNKNOWN);
    csv_number(printer, shown_time(printer, activity->start_ns), true);
    csv_number(printer, shown_time(printer, activity->stop_ns), !open);
    fputs(",,", printer->stream);
    esi_csv_text(printer->stream, awaits ? awaits : "");
    fputs("\r\n", printer->stream);
    return state_of(printer);
}

static int csv_loss(void *data, const struct es_origin *origin, uint64_t lost)
{
    const struct esi_events_printer *printer = data;

    if (printer->summed_up) {
        esi_summaries_print_csv_loss(printer, origin, lost);
        return state_of(printer);
    }
    csv_origin(printer, "loss", origin);
    fprintf(printer->stream, ",,,,,,,,,,,%" PRIu64 ",\r\n", lost);
    return state_of(printer);
}

static void csv_losses(const struct esi_events_printer *printer,
                       uint64_t lost,
                       uint64_t missed)
{
    if (printer->summed_up) {
        esi_summaries_print_csv_end(printer, lost + missed);
        return;
    }
    fprintf(printer->stream, "end,,,,,,,,,,,,,,,%" PRIu64 ",\r\n", lost + missed);
}

/* --- The table ---------------------------------------------------------------- */

static const struct {
    void (*header)(const struct esi_events_printer *printer);
    int (*event)(void *data, const struct esi_event *event);
    int (*loss)(void *data, const struct es_origin *origin, uint64_t lost);
    void (*losses)(const struct esi_events_printer *printer,
                   uint64_t lost,
                   uint64_t missed);
} formats[] = {
    [ES_EVENTS_TEXT] = {text_header, text_event, text_loss, text_losses},
    [ES_EVENTS_JSON] = {json_header, json_event, json_loss, json_losses},
    [ES_EVENTS_CSV] = {csv_header, csv_event, csv_loss, csv_losses},
};

static int print_summary(void *data, const struct esi_summary_row *row)
{
    return esi_summaries_print_row(data, row);
}

void esi_events_print_header(const struct esi_events_printer *printer)
{
    if (printer->summed_up)
        esi_summaries_print_header(printer);
    else
        formats[printer->format].header(printer);
}

struct esi_event_sink esi_events_printer_sink(struct esi_events_printer *printer)
{
    return (struct esi_event_sink){.event = formats[printer->format].event,
                                   .loss = formats[printer->format].loss,
                                   .summary = print_summary,
                                   .data = printer};
}

void esi_events_print_losses(const struct esi_events_printer *printer,
                             uint64_t lost,
                             uint64_t missed)
{
    formats[printer->format].losses(printer, lost, missed);
}
