/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top_trail.c - keeps the newest events of a rank in a ring. */
#include "config.h"

#include "monitors/top/top_trail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "monitors/events/events_print.h"
#include "monitors/top/top_rows.h"

enum {
    KEPT = 1024,     /* number of events; a power of two */
    OPEN_MOST = 16,  /* maximum number of operations in progress */
    PULLS_MOST = 16, /* per reading: a rank may write faster than it is read */
};

struct esi_top_trail {
    struct esi_events *events;
    const struct es_scope *scope;
    struct esi_event ring[KEPT];
    uint64_t count; /* total number of events */
    struct esi_event open[OPEN_MOST];
    size_t open_count;
};

static int keep_event(void *data, const struct esi_event *event)
{
    struct esi_top_trail *trail = data;

    if (event->activity.stop_ns)
        trail->ring[trail->count++ % KEPT] = *event;
    else if (trail->open_count < OPEN_MOST)
        trail->open[trail->open_count++] = *event;
    return 0;
}

static int pass_loss(void *data, const struct es_origin *origin, uint64_t lost)
{
    (void)data;
    (void)origin;
    (void)lost;
    return 0;
}

static struct esi_event_sink sink_of(struct esi_top_trail *trail)
{
    return (struct esi_event_sink){
        .event = keep_event, .loss = pass_loss, .data = trail};
}

void esi_top_trail_close(struct esi_top_trail *trail)
{
    if (!trail)
        return;
    esi_events_destroy(trail->events);
    free(trail);
}

int esi_top_trail_open(struct es_run *run,
                       struct es_servers *servers,
                       int rank,
                       struct es_error *error,
                       struct esi_top_trail **ret_trail)
{
    struct esi_events_config config = {.last = KEPT, .sites = true};
    struct esi_top_trail *trail = calloc(1, sizeof *trail);
    struct esi_event_sink sink;
    char ranks[16];
    int result;

    if (!trail)
        return -ENOMEM;
    sink = sink_of(trail);
    snprintf(ranks, sizeof ranks, "%d", rank);
    es_scope_config_init(&config.scope);
    config.scope.view.selection.ranks = ranks;
    config.scope.sorting = ES_SORTING_STOP;
    config.scope.servers = servers;
    result = esi_events_create(run, &config, error, &trail->events);
    if (result == 0)
        result = esi_events_read_backlog(trail->events, true, &sink);
    if (result < 0) {
        esi_top_trail_close(trail);
        return result;
    }
    trail->scope = esi_follower_scope(esi_events_follower(trail->events));
    *ret_trail = trail;
    return 0;
}

int esi_top_trail_read(struct esi_top_trail *trail)
{
    struct esi_event_sink sink = sink_of(trail);
    int result = 1;

    for (int i = 0; i < PULLS_MOST && result > 0; i++)
        result = esi_events_read_new(trail->events, true, &sink);
    trail->open_count = 0;
    return result < 0 ? result : esi_events_read_open(trail->events, &sink);
}

/* --- The strip -------------------------------------------------------------------- */

static char mark_of(const struct es_operation *operation)
{
    switch (operation ? operation->op_class : ES_CLASS_OTHER) {
    case ES_CLASS_SEND:
        return 's';
    case ES_CLASS_RECEIVE:
    case ES_CLASS_COMPLETION:
        return 'r';
    case ES_CLASS_COLLECTIVE:
        return 'C';
    default:
        return 'o';
    }
}

/* The duration of a nonblocking operation is not time spent by the thread. */
static size_t add_span(struct esi_top_span *spans,
                       size_t count,
                       const struct esi_event *event,
                       uint64_t now_ns)
{
    const struct esi_activity *activity = &event->activity;
    const struct es_operation *operation = es_operation_find(activity->operation);

    if (event->origin->thread != 0 || (operation && operation->nonblocking))
        return count;
    spans[count] = (struct esi_top_span){
        activity->start_ns, esi_event_until_ns(event, now_ns), mark_of(operation)};
    return count + 1;
}

static int print_strip(const struct esi_top_trail *trail,
                       uint64_t span_ns,
                       size_t width,
                       FILE *stream)
{
    struct esi_top_span spans[KEPT + OPEN_MOST];
    uint64_t now_ns = es_scope_run_now_ns(trail->scope);
    char head[64], span[ESI_QUANTITY_BYTES];
    char strip[512];
    size_t count = 0, room;

    for (size_t i = 0; i < KEPT && i < trail->count; i++)
        count = add_span(spans, count, &trail->ring[i], now_ns);
    for (size_t i = 0; i < trail->open_count; i++)
        count = add_span(spans, count, &trail->open[i], now_ns);
    snprintf(head, sizeof head,
             "last %s: ", esi_quantity_time(span, sizeof span, (double)span_ns));
    room = width > strlen(head) + 8 ? width - strlen(head) : 8;
    room = room < sizeof strip ? room : sizeof strip - 1;
    esi_top_strip(spans, count, now_ns - span_ns, span_ns / room, room, strip);
    fprintf(stream, "%s%s\n", head, strip);
    return ferror(stream) ? -EIO : 0;
}

int esi_top_trail_print(const struct esi_top_trail *trail,
                        uint64_t span_ns,
                        size_t width,
                        size_t count,
                        FILE *stream)
{
    struct esi_events_printer printer = {
        .format = ESI_ROWS_TABLE,
        .stream = stream,
        .width = width,
        .start_ns = esi_events_start_ns(trail->events),
        .realtime_ns = es_scope_run_now_ns(trail->scope),
        .sites = true,
    };
    struct esi_event_sink sink = esi_events_printer_sink(&printer);
    int result = print_strip(trail, span_ns, width, stream);

    for (size_t i = 0; i < trail->open_count && --count > 0 && result == 0; i++)
        result = sink.event(sink.data, &trail->open[i]);
    for (uint64_t i = 1; i <= KEPT && i <= trail->count && count > 1 && result == 0;
         i++, count--)
        result = sink.event(sink.data, &trail->ring[(trail->count - i) % KEPT]);
    return result;
}
