/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets as JSON trace events, for Perfetto and chrome://tracing.
 *
 * A trace is a thread.  An event with times is a slice; enter and exit of a collective
 * operation form one slice.  Slices of a thread must nest.  Operations that do not
 * nest, and nonblocking ones, become asynchronous pairs, with a slice of zero length at
 * the event to which message arrows can be attached (chrome_slices.h). Events without
 * times are placed after all their predecessors: a set without any times is shown in
 * logical time, one microsecond per step.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/eventset/formats/chrome_slices.h"
#include "monitors/eventset/formats/export_private.h"
#include "monitors/eventset/set_line.h"
#include "monitors/eventset/segmented.h"

enum {
    TRACES_PID = 1, /* traces that are not ranks */
    RANKS_PID = 2,  /* rank 0; the other ranks follow */
    STEP_NS = 1000, /* of logical time */
};

/* A thread, and the times of its events. */
struct chrome_trace {
    uint32_t pid;
    struct esi_chrome_slices slices;
    struct esi_segmented anchors; /* int64_t: the time of each event, for arrows */
    int64_t last_ns;              /* the latest time of its events */
};

struct chrome_export {
    struct esi_segmented traces; /* struct chrome_trace */
    bool has_times;              /* some event had times */
    int64_t start_ns;
    uint64_t flows; /* number of arrows so far */
};

static struct chrome_trace *trace_at(struct esi_export *export, uint32_t trace)
{
    struct chrome_export *chrome = export->state;

    return esi_segmented_at(&chrome->traces, trace);
}

static int begin_chrome(struct esi_export *export, struct es_error *error)
{
    struct chrome_export *chrome = calloc(1, sizeof *chrome);

    (void)error;
    if (!chrome)
        return -ENOMEM;
    esi_segmented_init(&chrome->traces, sizeof(struct chrome_trace), 4);
    chrome->start_ns = export->config.has_start ? export->config.start_ns : 0;
    export->state = chrome;
    /* The display unit comes first, so that each event can begin with a comma. */
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
          "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,"
          "\"args\":{\"name\":\"traces\"}}\n",
          export->stream);
    return 0;
}

static void destroy_chrome(void *state)
{
    struct chrome_export *chrome = state;

    if (!chrome)
        return;
    for (uint64_t i = 0; i < esi_segmented_count(&chrome->traces); i++) {
        struct chrome_trace *trace = esi_segmented_at(&chrome->traces, i);

        esi_chrome_slices_fini(&trace->slices);
        esi_segmented_fini(&trace->anchors);
    }
    esi_segmented_fini(&chrome->traces);
    free(chrome);
}

/* --- Output ----------------------------------------------------------------------- */

static double print_microseconds(const struct esi_export *export, int64_t time_ns)
{
    const struct chrome_export *chrome = export->state;

    return (double)(time_ns - chrome->start_ns) / 1000;
}

/* Starts a trace event, up to its time; the caller ends it. */
static void begin_record(struct esi_export *export,
                         struct esi_json_out *out,
                         const char *phase,
                         const char *name,
                         uint32_t trace)
{
    fputc(',', export->stream);
    esi_json_out_init(out, export->stream);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "ph", phase);
    esi_json_out_string(out, "name", name);
    esi_json_out_unsigned(out, "pid", trace_at(export, trace)->pid);
    esi_json_out_unsigned(out, "tid", (uint64_t)trace + 1);
}

static void write_name(struct esi_export *export,
                       const char *what,
                       uint32_t trace,
                       const char *name)
{
    struct esi_json_out out;

    begin_record(export, &out, "M", what, trace);
    esi_json_out_begin_object(&out, "args");
    esi_json_out_string(&out, "name", name);
    esi_json_out_end(&out);
    esi_json_out_end(&out);
}

static void write_arguments(struct esi_json_out *out, const struct es_set_event *event)
{
    static const char *const times[] = {"start", "stop", "class", NULL};

    esi_json_out_begin_object(out, "args");
    esi_json_out_unsigned(out, "index", event->id.index);
    esi_json_out_string(out, "kind", esi_event_kind_name(event->kind));
    if (*event->text)
        esi_json_out_string(out, "text", event->text);
    esi_json_out_begin_object(out, "attributes");
    esi_attributes_write(out, event, times);
    esi_json_out_end(out);
    esi_json_out_end(out);
}

static void write_category(struct esi_json_out *out, const struct es_set_event *event)
{
    const struct es_event_attribute *class = esi_attribute_find(event, "class");

    esi_json_out_string(out, "cat",
                        class && class->text ? class->text
                                             : esi_event_kind_name(event->kind));
}

static void write_slice(struct esi_export *export,
                        const struct es_set_event *event,
                        const char *name,
                        const struct esi_chrome_span *span)
{
    struct esi_json_out out;

    begin_record(export, &out, "X", name, event->id.trace);
    write_category(&out, event);
    esi_json_out_real(&out, "ts", print_microseconds(export, span->start_ns));
    esi_json_out_real(&out, "dur", (double)(span->stop_ns - span->start_ns) / 1000);
    write_arguments(&out, event);
    esi_json_out_end(&out);
}

/* One end of an asynchronous pair, identified by its event. */
static void write_async(struct esi_export *export,
                        struct es_event_id event,
                        const char *phase,
                        const char *name,
                        int64_t time_ns)
{
    struct esi_json_out out;
    char id[32];

    snprintf(id, sizeof id, "%" PRIu32 ":%" PRIu32, event.trace, event.index);
    begin_record(export, &out, phase, name, event.trace);
    esi_json_out_string(&out, "cat", "operation");
    esi_json_out_string(&out, "id", id);
    esi_json_out_real(&out, "ts", print_microseconds(export, time_ns));
    esi_json_out_end(&out);
}

static void write_arrow_end(struct esi_export *export,
                            const char *phase,
                            struct es_event_id id,
                            int64_t time_ns)
{
    struct chrome_export *chrome = export->state;
    struct esi_json_out out;

    begin_record(export, &out, phase, "message", id.trace);
    esi_json_out_string(&out, "cat", "message");
    esi_json_out_unsigned(&out, "id", chrome->flows);
    if (*phase == 'f')
        esi_json_out_string(&out, "bp", "e");
    esi_json_out_real(&out, "ts", print_microseconds(export, time_ns));
    esi_json_out_end(&out);
}

/* --- Traces ----------------------------------------------------------------------- */

/* "RANK.THREAD": returns the rank, or -1. */
static long rank_of(const char *name)
{
    char *end;
    long rank;

    if (name[strspn(name, "0123456789.")] || *name == '.')
        return -1;
    rank = strtol(name, &end, 10);
    if (*end != '.' || end[1] == '\0' || strchr(end + 1, '.') || rank > 1 << 30)
        return -1;
    return rank;
}

static int take_trace(struct esi_export *export, uint32_t trace, const char *name)
{
    struct chrome_export *chrome = export->state;
    struct chrome_trace row;
    long rank = rank_of(name);
    char shown[32];

    row =
        (struct chrome_trace){.pid = rank < 0 ? TRACES_PID : RANKS_PID + (uint32_t)rank,
                              .last_ns = INT64_MIN};
    esi_segmented_init(&row.anchors, sizeof(int64_t), 4);
    if (esi_segmented_push(&chrome->traces, &row) < 0)
        return -ENOMEM;
    if (rank >= 0) {
        snprintf(shown, sizeof shown, "rank %ld", rank);
        write_name(export, "process_name", trace, shown);
    }
    write_name(export, "thread_name", trace, name);
    return 0;
}

/* --- Times of events -------------------------------------------------------------- */

static int64_t anchor_of(struct esi_export *export, struct es_event_id id)
{
    struct esi_segmented *anchors = &trace_at(export, id.trace)->anchors;

    return id.index <= esi_segmented_count(anchors)
               ? *(int64_t *)esi_segmented_at(anchors, id.index - 1)
               : INT64_MIN;
}

/* The latest time of its predecessors; INT64_MIN = none. */
static int64_t latest_before(struct esi_export *export,
                             const struct es_set_event *event)
{
    int64_t latest = INT64_MIN;

    if (event->id.index > 1)
        latest = anchor_of(export,
                           (struct es_event_id){event->id.trace, event->id.index - 1});
    for (uint32_t i = 0; i < event->partner_count; i++) {
        int64_t anchor = anchor_of(export, event->partners[i]);

        if (anchor > latest)
            latest = anchor;
    }
    return latest;
}

/* Uses the times of the event, or assigns logical ones. */
static void find_span(struct esi_export *export,
                      const struct es_set_event *event,
                      struct esi_chrome_span *ret_span)
{
    struct chrome_export *chrome = export->state;
    int64_t start;
    int64_t stop;

    bool has_start = esi_event_number(event, "start", &start);

    if (esi_event_number(event, "stop", &stop) || has_start) {
        start = has_start ? start : stop;
        stop = esi_event_number(event, "stop", &stop) && stop > start ? stop : start;
        if (!chrome->has_times && !export->config.has_start)
            chrome->start_ns = start;
        chrome->has_times = true;
        *ret_span = (struct esi_chrome_span){start, stop};
        return;
    }
    start = latest_before(export, event);
    if (start == INT64_MIN)
        start = chrome->start_ns;
    else if (!chrome->has_times)
        start += STEP_NS;
    stop = chrome->has_times ? start : start + STEP_NS;
    *ret_span = (struct esi_chrome_span){start, stop};
}

/* --- Events ----------------------------------------------------------------------- */

enum step { STEP_WHOLE, STEP_ENTER, STEP_EXIT };

/* Strips the last word of "MPI_Bcast enter". */
static enum step name_of(const struct es_set_event *event,
                         char name[ESI_CHROME_NAME_BYTES])
{
    static const char *const words[] = {[STEP_ENTER] = " enter", [STEP_EXIT] = " exit"};
    size_t length;

    snprintf(name, ESI_CHROME_NAME_BYTES, "%s", *event->type ? event->type : "event");
    length = strlen(name);
    for (enum step step = STEP_ENTER; step <= STEP_EXIT; step++) {
        size_t tail = strlen(words[step]);

        if (length > tail && strcmp(name + length - tail, words[step]) == 0) {
            name[length - tail] = '\0';
            return step;
        }
    }
    return STEP_WHOLE;
}

static int write_arrows(struct esi_export *export,
                        const struct es_set_event *event,
                        int64_t anchor_ns)
{
    struct chrome_export *chrome = export->state;

    if (event->kind != ES_EVENT_RECEIVE)
        return 0;
    for (uint32_t i = 0; i < event->partner_count; i++) {
        int64_t sent_ns = anchor_of(export, event->partners[i]);

        if (sent_ns == INT64_MIN)
            return -EINVAL;
        chrome->flows++;
        export->counts.messages++;
        export->counts.backward += sent_ns > anchor_ns;
        write_arrow_end(export, "s", event->partners[i], sent_ns);
        write_arrow_end(export, "f", event->id, anchor_ns);
    }
    return 0;
}

static void write_point(struct esi_export *export,
                        const struct es_set_event *event,
                        const char *name,
                        int64_t time_ns)
{
    struct esi_chrome_span span = {time_ns, time_ns};

    write_slice(export, event, name, &span);
}

/* Writes a slice if it nests, otherwise an asynchronous pair and a slice of zero
 * length. */
static void write_span(struct esi_export *export,
                       const struct es_set_event *event,
                       const char *name,
                       const struct esi_chrome_span *span,
                       int64_t anchor_ns)
{
    struct esi_chrome_slices *slices = &trace_at(export, event->id.trace)->slices;

    if (esi_chrome_slices_has(slices, name, span))
        return;
    if (!esi_chrome_is_nonblocking(name) && esi_chrome_slices_add(slices, name, span)) {
        write_slice(export, event, name, span);
        return;
    }
    write_async(export, event->id, "b", name, span->start_ns);
    write_async(export, event->id, "e", name, span->stop_ns);
    write_point(export, event, name, anchor_ns);
}

/* Starts the asynchronous pair of an entered operation, with a slice of zero length at
 * its enter. */
static void begin_async(struct esi_export *export,
                        uint32_t trace,
                        const struct esi_chrome_slice *entered)
{
    struct es_set_event event = {
        .id = {trace, entered->index}, .kind = ES_EVENT_SEND, .text = ""};

    write_async(export, event.id, "b", entered->name, entered->span.start_ns);
    write_point(export, &event, entered->name, entered->span.start_ns);
}

/* An entered operation is still in progress when others start: makes it
 * asynchronous. */
static void show_pending(struct esi_export *export, uint32_t trace)
{
    struct esi_chrome_slice *pending =
        esi_chrome_slices_pending(&trace_at(export, trace)->slices);

    if (!pending)
        return;
    pending->shown = true;
    begin_async(export, trace, pending);
}

/* Writes an exit whose enter did not contain the stop time.  By the clocks, it may be
 * before the enter. */
static void write_exit(struct esi_export *export,
                       const struct es_set_event *event,
                       const char *name,
                       const struct esi_chrome_span *span,
                       int64_t anchor_ns)
{
    struct chrome_trace *trace = trace_at(export, event->id.trace);
    struct esi_chrome_slice entered;
    struct esi_chrome_span whole;
    struct es_event_id id;

    if (!esi_chrome_slices_leave(&trace->slices, name, &entered)) {
        /* The enter may already have shown the operation. */
        if (!esi_chrome_slices_has(&trace->slices, name, span))
            write_point(export, event, name, anchor_ns);
        return;
    }
    whole = (struct esi_chrome_span){entered.span.start_ns, entered.span.start_ns};
    whole.stop_ns = span->stop_ns > whole.stop_ns ? span->stop_ns : whole.stop_ns;
    /* Arrows are attached to slices. */
    if (anchor_ns < whole.start_ns)
        write_point(export, event, name, anchor_ns);
    if (!entered.shown && esi_chrome_slices_add(&trace->slices, name, &whole)) {
        write_slice(export, event, name, &whole);
        return;
    }
    id = (struct es_event_id){event->id.trace, entered.index};
    if (!entered.shown)
        begin_async(export, event->id.trace, &entered);
    write_async(export, id, "e", name, whole.stop_ns);
    write_point(export, event, name, anchor_ns);
}

/* Both events of an operation may contain its times; then the first one shows it. */
static int write_step(struct esi_export *export,
                      const struct es_set_event *event,
                      enum step step,
                      const char *name,
                      const struct esi_chrome_span *span,
                      int64_t anchor_ns)
{
    struct esi_chrome_slices *slices = &trace_at(export, event->id.trace)->slices;
    bool timed = esi_attribute_find(event, "stop") != NULL;

    if (step == STEP_EXIT) {
        write_exit(export, event, name, span, anchor_ns);
        return 0;
    }
    show_pending(export, event->id.trace);
    if (step == STEP_ENTER && !timed)
        return esi_chrome_slices_enter(slices, name, event->id.index, span->start_ns);
    write_span(export, event, name, span, anchor_ns);
    return 0;
}

/* An exit with only a stop time lasts from the enter of the operation. */
static void begin_with_enter(struct esi_export *export,
                             const struct es_set_event *event,
                             const char *name,
                             struct esi_chrome_span *span)
{
    const struct esi_chrome_slice *entered =
        esi_chrome_slices_entered(&trace_at(export, event->id.trace)->slices, name);

    if (entered && !esi_attribute_find(event, "start") &&
        esi_attribute_find(event, "stop") && entered->span.start_ns < span->start_ns)
        span->start_ns = entered->span.start_ns;
}

static int write_event(struct esi_export *export, const struct es_set_event *event)
{
    struct chrome_trace *trace = trace_at(export, event->id.trace);
    char name[ESI_CHROME_NAME_BYTES];
    enum step step = name_of(event, name);
    struct esi_chrome_span span;
    bool late = (event->kind == ES_EVENT_RECEIVE || step == STEP_EXIT) &&
                esi_attribute_find(event, "stop");
    int64_t anchor;
    int result;

    find_span(export, event, &span);
    if (step == STEP_EXIT)
        begin_with_enter(export, event, name, &span);
    trace->last_ns = span.stop_ns > trace->last_ns ? span.stop_ns : trace->last_ns;
    /* A send is at its start, a receive at its stop, within the slice; in logical time
     * an event is at its step. */
    anchor = late && span.stop_ns > span.start_ns ? span.stop_ns - 1 : span.start_ns;
    if (esi_segmented_push(&trace->anchors, &anchor) < 0)
        return -ENOMEM;
    result = write_step(export, event, step, name, &span, anchor);
    return result < 0 ? result : write_arrows(export, event, anchor);
}

/* Ends operations that were never left with the last event of their trace. */
static void end_entered(struct esi_export *export, uint32_t number)
{
    struct chrome_trace *trace = trace_at(export, number);
    struct esi_chrome_slice *slice;
    int64_t last;

    show_pending(export, number);
    while ((slice = esi_chrome_slices_last(&trace->slices)) != NULL) {
        last = slice->span.start_ns > trace->last_ns ? slice->span.start_ns
                                                     : trace->last_ns;
        write_async(export, (struct es_event_id){number, slice->index}, "e",
                    slice->name, last);
        esi_chrome_slices_drop_last(&trace->slices);
    }
}

static int finish_chrome(struct esi_export *export, struct es_error *error)
{
    (void)error;
    for (uint32_t trace = 0; trace < export->names.count; trace++)
        end_entered(export, trace);
    fputs("]}\n", export->stream);
    return 0;
}

const struct esi_export_ops esi_export_chrome = {
    .name = "chrome",
    .begin = begin_chrome,
    .trace = take_trace,
    .event = write_event,
    .finish = finish_chrome,
    .destroy = destroy_chrome,
};
