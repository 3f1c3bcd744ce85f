/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram.c - converts events to calls of threads. */
#include "config.h"

#include "monitors/diagram/diagram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/diagram/diagram_private.h"
#include "tuplespace/operation_codes.h"

#define CALLS_MAX ((size_t)1 << 22)
#define ORDER_BYTES (UINT64_C(1) << 30)
#define NO_WHAT UINT32_MAX
#define STAYS UINT64_MAX
enum { LEAST_CALLS = 256 }; /* minimum number kept per thread */

/* --- Texts ------------------------------------------------------------------------ */

static const char *const state_names[] = {"computing", "send",  "receive", "collective",
                                          "poll",      "other", "lost"};

const char *esi_diagram_state_name(enum esi_diagram_state state)
{
    return state_names[state];
}

static enum esi_diagram_state state_of(const struct es_operation *operation)
{
    if (!operation)
        return ESI_DIAGRAM_OTHER;
    switch ((enum es_class)operation->op_class) {
    case ES_CLASS_SEND:
        return ESI_DIAGRAM_SEND;
    case ES_CLASS_RECEIVE:
        return ESI_DIAGRAM_RECEIVE;
    case ES_CLASS_COMPLETION:
        return operation->poll ? ESI_DIAGRAM_POLL : ESI_DIAGRAM_RECEIVE;
    case ES_CLASS_COLLECTIVE:
        return ESI_DIAGRAM_COLLECTIVE;
    default:
        return ESI_DIAGRAM_OTHER;
    }
}

static int add_text(struct esi_texts *texts, const char *text, uint32_t *ret_number)
{
    return esi_texts_add(texts, text, strlen(text), ret_number);
}

static bool is_what(const struct esi_diagram *diagram,
                    uint32_t number,
                    const struct esi_causal_call *call,
                    const char *site)
{
    const struct esi_diagram_what *what = &diagram->whats[number];

    return what->operation == call->operation &&
           what->communicator == esi_causal_call_communicator(call) &&
           strcmp(esi_texts_at(&diagram->texts, what->site), site) == 0;
}

static int add_what(struct esi_diagram *diagram,
                    const struct esi_causal_call *call,
                    const char *site,
                    uint64_t hash)
{
    struct esi_diagram_what what = {.operation = call->operation,
                                    .communicator = esi_causal_call_communicator(call),
                                    .communicator_name = NO_WHAT};

    if (add_text(&diagram->texts, site, &what.site) < 0 ||
        (what.communicator && add_text(&diagram->texts, what.communicator->name,
                                       &what.communicator_name) < 0) ||
        ESI_ARRAY_RESERVE(diagram->whats, diagram->what_capacity,
                          diagram->what_count + 1) < 0 ||
        esi_hash_reserve(&diagram->what_table, diagram->what_count + 1) < 0)
        return -ENOMEM;
    esi_hash_insert(&diagram->what_table, hash, diagram->what_count);
    diagram->whats[diagram->what_count++] = what;
    return 0;
}

/* Finds or adds the shared properties of a call: usually those of its thread's last
 * one. */
static uint32_t find_what(struct esi_diagram *diagram,
                          struct esi_diagram_thread *thread,
                          const struct esi_causal_call *call)
{
    const char *site = call->told->site ? call->told->site : "";
    uint64_t hash;

    if (thread->last_what != NO_WHAT && is_what(diagram, thread->last_what, call, site))
        return thread->last_what;
    hash =
        esi_hash_mix_text(esi_hash_mix((uintptr_t)call->operation,
                                       (uintptr_t)esi_causal_call_communicator(call)),
                          site);
    ESI_HASH_FOREACH(slot, &diagram->what_table, hash) {
        uint32_t number = esi_hash_index(&diagram->what_table, slot);

        if (is_what(diagram, number, call, site))
            return thread->last_what = number;
    }
    if (add_what(diagram, call, site, hash) < 0)
        return NO_WHAT;
    return thread->last_what = (uint32_t)diagram->what_count - 1;
}

static int find_type(struct esi_diagram *diagram,
                     const char *type,
                     uint16_t *ret_number)
{
    size_t slot = esi_hash_u64((uintptr_t)type) >> 56;
    uint32_t number;

    if (diagram->type_cache[slot].type != type) {
        if (add_text(&diagram->types, type, &number) < 0)
            return -ENOMEM;
        diagram->type_cache[slot].type = type;
        diagram->type_cache[slot].number = (uint16_t)number;
    }
    *ret_number = diagram->type_cache[slot].number;
    return 0;
}

/* --- Traces ----------------------------------------------------------------------- */

static int add_trace(void *data, uint32_t number, const char *name)
{
    struct esi_diagram *diagram = data;
    struct esi_diagram_trace trace = {.row = UINT32_MAX};
    int result = -ENOMEM;
    uint32_t text;

    pthread_mutex_lock(&diagram->lock);
    if (ESI_ARRAY_RESERVE(diagram->traces, diagram->trace_capacity,
                          diagram->trace_count + 1) == 0 &&
        add_text(&diagram->texts, name, &text) == 0) {
        trace.name = esi_texts_at(&diagram->texts, text);
        diagram->traces[diagram->trace_count++] = trace;
        result = diagram->order_sink.trace(diagram->order_sink.data, number, name);
    }
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

uint32_t esi_diagram_host_number(struct esi_diagram *diagram, const char *name)
{
    size_t known = esi_texts_count(&diagram->hosts);
    uint32_t number, none;

    if (add_text(&diagram->texts, "", &none) < 0 ||
        ESI_ARRAY_RESERVE(diagram->clusters, diagram->cluster_capacity, known + 1) <
            0 ||
        add_text(&diagram->hosts, name, &number) < 0)
        return UINT32_MAX;
    if (number == known)
        diagram->clusters[number] = esi_texts_at(&diagram->texts, none);
    return number;
}

struct esi_diagram_thread *esi_diagram_thread_of(const struct esi_diagram *diagram,
                                                 uint32_t trace)
{
    return trace < diagram->trace_count
               ? esi_diagram_thread(diagram, diagram->traces[trace].row)
               : NULL;
}

static struct esi_diagram_thread *add_thread(struct esi_diagram *diagram,
                                             uint32_t trace,
                                             const struct esi_causal_call *call)
{
    struct esi_diagram_thread *thread;
    uint32_t host = esi_diagram_host_number(diagram, call->thread->process->host);

    if (host == UINT32_MAX ||
        ESI_ARRAY_RESERVE(diagram->threads, diagram->thread_capacity,
                          diagram->thread_count + 1) < 0 ||
        ESI_ARRAY_RESERVE(diagram->rows, diagram->row_capacity,
                          (size_t)call->thread->number + 1) < 0)
        return NULL;
    thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    thread->trace = trace;
    thread->rank = call->thread->process->rank;
    thread->thread = call->thread->thread;
    thread->host = host;
    thread->last_what = NO_WHAT;
    diagram->has_hosts |=
        diagram->thread_count > 0 && diagram->threads[0]->host != host;
    diagram->traces[trace].row = (uint32_t)diagram->thread_count;
    diagram->rows[call->thread->number] = (uint32_t)diagram->thread_count;
    diagram->threads[diagram->thread_count++] = thread;
    return thread;
}

static struct esi_diagram_thread *thread_for(struct esi_diagram *diagram,
                                             uint32_t trace,
                                             const struct esi_causal_call *call)
{
    struct esi_diagram_thread *thread = esi_diagram_thread_of(diagram, trace);

    return thread ? thread : add_thread(diagram, trace, call);
}

/* --- Levels ----------------------------------------------------------------------- */

/* The level of an earlier event, or a lower bound if it is no longer kept. */
static uint32_t level_of(const struct esi_diagram *diagram,
                         const struct es_event_id *id)
{
    const struct esi_diagram_trace *trace = &diagram->traces[id->trace];
    const struct esi_diagram_thread *thread;
    const struct esi_diagram_moment *moment;

    if (trace->levels)
        return trace->count - id->index < ESI_DIAGRAM_JUNCTION
                   ? trace->levels[id->index % ESI_DIAGRAM_JUNCTION]
                   : trace->level;
    thread = esi_diagram_thread(diagram, trace->row);
    moment = thread ? esi_diagram_moment_at(thread, id->index) : NULL;
    return moment ? moment->level : trace->level;
}

/* Both halves of a sync have the same level: the first one considers both threads. */
static uint32_t level_for(const struct esi_diagram *diagram,
                          const struct es_set_event *event)
{
    uint32_t level = diagram->traces[event->id.trace].level + 1;

    for (uint32_t i = 0; i < event->partner_count; i++) {
        const struct es_event_id *id = &event->partners[i];
        const struct esi_diagram_trace *trace;
        uint32_t least;

        if (id->trace >= diagram->trace_count)
            continue;
        trace = &diagram->traces[id->trace];
        if (event->kind == ES_EVENT_SYNC)
            least = id->index > trace->count ? trace->level + 1 : level_of(diagram, id);
        else
            least = level_of(diagram, id) + 1;
        if (least > level)
            level = least;
    }
    return level;
}

static int note_level(struct esi_diagram *diagram,
                      const struct es_set_event *event,
                      bool is_junction,
                      uint32_t level)
{
    struct esi_diagram_trace *trace = &diagram->traces[event->id.trace];

    if (is_junction && !trace->levels)
        trace->levels = calloc(ESI_DIAGRAM_JUNCTION, sizeof *trace->levels);
    if (is_junction && !trace->levels)
        return -ENOMEM;
    if (is_junction)
        trace->levels[event->id.index % ESI_DIAGRAM_JUNCTION] = level;
    trace->level = level;
    trace->count = event->id.index;
    if (diagram->extent.begin[ESI_DIAGRAM_LEVEL] == 0 ||
        level < diagram->extent.begin[ESI_DIAGRAM_LEVEL])
        diagram->extent.begin[ESI_DIAGRAM_LEVEL] = level;
    if (level >= diagram->extent.end[ESI_DIAGRAM_LEVEL])
        diagram->extent.end[ESI_DIAGRAM_LEVEL] = (uint64_t)level + 1;
    return 0;
}

/* --- Discarding ------------------------------------------------------------------- */

static void drop_spans(struct esi_diagram_spans *spans, size_t count)
{
    if (count == 0)
        return; /* there may be no items at all */
    spans->count -= count;
    spans->first += count;
    memmove(spans->items, spans->items + count, spans->count * sizeof *spans->items);
}

/* Discards the events before a thread's kept calls, and the flights that these
 * ended. */
static void drop_moments(struct esi_diagram_thread *thread, uint32_t event)
{
    uint64_t first = (event - 1) / ESI_TRACK_BLOCK * ESI_TRACK_BLOCK;
    size_t count = first > thread->moment_first ? first - thread->moment_first : 0;
    size_t flights = 0;

    if (count > thread->moment_count)
        count = thread->moment_count;
    thread->moment_count -= count;
    thread->moment_first += count;
    memmove(thread->moments, thread->moments + count,
            thread->moment_count * sizeof *thread->moments);
    while (flights < thread->flights.count &&
           thread->flights.items[flights].event <= thread->moment_first)
        flights++;
    drop_spans(&thread->flights, flights);
    esi_bounds_drop(&thread->bounds, thread->flights.first);
}

/* Discards half of the calls of a thread that has more than its share. */
static void forget_calls(struct esi_diagram *diagram, struct esi_diagram_thread *thread)
{
    size_t share = diagram->config.calls_max / diagram->thread_count;
    size_t count;

    if (share < LEAST_CALLS)
        share = LEAST_CALLS;
    if (thread->calls.count + thread->flights.count <= share)
        return;
    count = thread->calls.count / 2 / ESI_TRACK_BLOCK * ESI_TRACK_BLOCK;
    if (count == 0)
        return;
    drop_spans(&thread->calls, count);
    drop_moments(thread, thread->calls.items[0].event);
    diagram->extent.forgotten += count;
    esi_track_thin(&thread->tracks[ESI_DIAGRAM_TIME], thread->calls.first,
                   share / ESI_TRACK_BLOCK * 4);
    esi_track_thin(&thread->tracks[ESI_DIAGRAM_LEVEL], thread->moment_first,
                   share / ESI_TRACK_BLOCK * 4);
}

/* --- Calls ------------------------------------------------------------------------ */

static struct esi_diagram_span *add_span(struct esi_diagram_spans *spans)
{
    if (ESI_ARRAY_RESERVE(spans->items, spans->capacity, spans->count + 1) < 0)
        return NULL;
    return &spans->items[spans->count++];
}

static int track_call(struct esi_diagram_thread *thread,
                      const struct esi_diagram_span *span)
{
    const struct esi_track_item item = {span->begin_ns, span->end_ns,
                                        (enum esi_diagram_state)span->state};

    return esi_track_add(&thread->tracks[ESI_DIAGRAM_TIME], &item);
}

static int fill_span(struct esi_diagram *diagram,
                     struct esi_diagram_thread *thread,
                     uint32_t event,
                     const struct esi_causal_call *call,
                     struct esi_diagram_span *ret_span)
{
    const struct esi_causal_tuple *told = call->told;

    *ret_span = (struct esi_diagram_span){
        .begin_ns = told->start_ns,
        .end_ns = told->stop_ns,
        .event = event,
        .what = find_what(diagram, thread, call),
        .peer = told->tuple.peer,
        .tag = told->tuple.tag,
        .bytes = es_tuple_bytes(&told->tuple),
        .state = (uint8_t)state_of(call->operation),
        .nonblocking = call->operation && call->operation->nonblocking && !call->posted,
        .any_source = told->tuple.operation & ES_OPERATION_ANY_SOURCE,
    };
    return ret_span->what == NO_WHAT ? -ENOMEM : 0;
}

static int add_call(struct esi_diagram *diagram,
                    struct esi_diagram_thread *thread,
                    struct esi_diagram_span *span)
{
    const struct esi_track *track = &thread->tracks[ESI_DIAGRAM_TIME];
    struct esi_diagram_span *added;

    if (span->begin_ns < track->end)
        span->begin_ns = track->end;
    if (span->end_ns < span->begin_ns)
        span->end_ns = span->begin_ns;
    added = add_span(&thread->calls);
    if (!added)
        return -ENOMEM;
    *added = *span;
    diagram->extent.calls++;
    /* An operation in progress may have been seen before. */
    if (thread->begin_ns == 0 || span->begin_ns < thread->begin_ns)
        thread->begin_ns = span->begin_ns;
    if (thread->is_open && thread->open_round != STAYS &&
        thread->open.begin_ns <= span->begin_ns)
        thread->is_open = false;
    return track_call(thread, span);
}

/* The number of the call that an event belongs to. */
static int place_call(struct esi_diagram *diagram,
                      struct esi_diagram_thread *thread,
                      uint32_t event,
                      const struct esi_causal_call *call,
                      uint32_t *ret_number)
{
    struct esi_diagram_span span;
    int result;

    if (call->number > 0 && call->number == thread->last_call) {
        *ret_number = (uint32_t)(thread->calls.first + thread->calls.count - 1);
        return 0;
    }
    result = fill_span(diagram, thread, event, call, &span);
    if (result == 0 && span.nonblocking) {
        struct esi_diagram_span *flight = NULL;

        if (esi_bounds_add(&thread->bounds,
                           thread->flights.first + thread->flights.count, span.begin_ns,
                           span.end_ns) == 0)
            flight = add_span(&thread->flights);
        if (!flight)
            return -ENOMEM;
        *flight = span;
        *ret_number = ESI_DIAGRAM_FLIGHT |
                      (uint32_t)(thread->flights.first + thread->flights.count - 1);
        return 0;
    }
    if (result == 0)
        result = add_call(diagram, thread, &span);
    thread->last_call = call->number;
    thread->lost += call->lost;
    *ret_number = (uint32_t)(thread->calls.first + thread->calls.count - 1);
    return result;
}

/* --- Events ----------------------------------------------------------------------- */

static uint64_t time_of(const struct esi_causal_call *call)
{
    bool at_start = call->told->stop_ns == 0 || call->role == ESI_ROLE_SEND ||
                    call->role == ESI_ROLE_ENTER;

    return at_start ? call->told->start_ns : call->told->stop_ns;
}

/* An event of a thread; NULL if it is not kept. */
static struct esi_diagram_moment *moment_of(const struct esi_diagram *diagram,
                                            struct es_event_id id)
{
    const struct esi_diagram_thread *thread = esi_diagram_thread_of(diagram, id.trace);

    return thread ? esi_diagram_moment_at(thread, id.index) : NULL;
}

/* Sets the receive as the partner of its send. */
static void tell_sender(const struct esi_diagram *diagram,
                        const struct es_set_event *event)
{
    struct esi_diagram_moment *moment = moment_of(diagram, event->partners[0]);

    if (moment && moment->role == ESI_ROLE_SEND && moment->partner.index == 0)
        moment->partner = event->id;
}

/* Of the events that an event refers to, the last one: it was awaited. */
static struct es_event_id last_partner(const struct esi_diagram *diagram,
                                       const struct es_set_event *event)
{
    struct es_event_id last = event->partners[0];
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < event->partner_count && event->partner_count > 1; i++) {
        const struct esi_diagram_moment *moment =
            moment_of(diagram, event->partners[i]);

        if (moment && moment->ns > last_ns) {
            last = event->partners[i];
            last_ns = moment->ns;
        }
    }
    return last;
}

static int add_moment(struct esi_diagram *diagram,
                      struct esi_diagram_thread *thread,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call,
                      uint32_t level,
                      uint32_t number)
{
    enum esi_diagram_state state = state_of(call->operation);
    const struct esi_track_item item = {level, (uint64_t)level + 1, state};
    struct esi_diagram_moment *moment;

    if (ESI_ARRAY_RESERVE(thread->moments, thread->moment_capacity,
                          thread->moment_count + 1) < 0)
        return -ENOMEM;
    moment = &thread->moments[thread->moment_count++];
    *moment = (struct esi_diagram_moment){.ns = time_of(call),
                                          .level = level,
                                          .call = number,
                                          .waiter = UINT32_MAX,
                                          .kind = (uint8_t)event->kind,
                                          .role = (uint8_t)call->role};
    if (event->partner_count > 0)
        moment->partner = last_partner(diagram, event);
    if (find_type(diagram, event->type, &moment->type) < 0)
        return -ENOMEM;
    return esi_track_add(&thread->tracks[ESI_DIAGRAM_LEVEL], &item);
}

/* Finds out whether a call of the thread waited for what an event received. */
static void judge_wait(const struct esi_diagram *diagram,
                       const struct esi_diagram_thread *thread,
                       struct esi_diagram_moment *received,
                       uint64_t number)
{
    const struct esi_diagram_thread *sender =
        esi_diagram_thread_of(diagram, received->partner.trace);
    const struct esi_diagram_moment *sent =
        sender ? esi_diagram_moment_at(sender, received->partner.index) : NULL;
    const struct esi_diagram_span *call;

    if (!sent || sender == thread || number < thread->calls.first)
        return;
    call = esi_diagram_span_at(&thread->calls, number);
    if (esi_wait_end(esi_diagram_wait_begin(diagram, call), call->end_ns, sent->ns,
                     esi_wait_error(thread->error_ns, sender->error_ns,
                                    thread->host == sender->host)) > 0)
        received->waiter = (uint32_t)number;
}

/* A receive was awaited by its call, or by a probe before it; one that another call has
 * started, by the call that completes it. */
static void find_waits(const struct esi_diagram *diagram,
                       struct esi_diagram_thread *thread,
                       const struct esi_causal_call *call,
                       uint32_t number)
{
    struct esi_diagram_moment *last = &thread->moments[thread->moment_count - 1];
    const struct es_operation *operation = call->operation;

    if (!operation || call->told->stop_ns == 0)
        return;
    if (call->role == ESI_ROLE_RECEIVE && thread->probe > thread->calls.first) {
        const struct esi_diagram_span *probe =
            esi_diagram_span_at(&thread->calls, thread->probe - 1);

        if (probe->peer == call->told->tuple.peer &&
            probe->tag == call->told->tuple.tag) {
            judge_wait(diagram, thread, last, thread->probe - 1);
            thread->probe = 0;
        }
    }
    if (operation->nonblocking)
        return;
    if (call->role == ESI_ROLE_RECEIVE || call->role == ESI_ROLE_EXIT) {
        judge_wait(diagram, thread, last, number);
    } else if (call->role == ESI_ROLE_WHOLE && operation->probe) {
        thread->probe = (uint64_t)number + 1;
    }
    for (size_t i = 0; i < call->completed_count; i++) {
        struct esi_diagram_moment *received =
            esi_diagram_moment_at(thread, call->completed[i].index);

        if (received)
            judge_wait(diagram, thread, received, number);
    }
}

/* Adds an operation that never ended: its event is the last of its thread. */
static int add_unended(struct esi_diagram *diagram,
                       struct esi_diagram_thread *thread,
                       uint32_t event,
                       const struct esi_causal_call *call,
                       uint64_t round)
{
    thread->is_open = true;
    thread->open_round = round;
    thread->open_until_ns = call->told->may_last ? 0 : call->told->until_ns;
    if (thread->open_until_ns > diagram->extent.end[ESI_DIAGRAM_TIME])
        diagram->extent.end[ESI_DIAGRAM_TIME] = thread->open_until_ns;
    if (thread->begin_ns == 0)
        thread->begin_ns = call->told->start_ns;
    return fill_span(diagram, thread, event, call, &thread->open);
}

static void note_extent(struct esi_diagram *diagram,
                        const struct esi_diagram_thread *thread,
                        const struct esi_causal_call *call)
{
    struct esi_diagram_extent *extent = &diagram->extent;
    uint64_t end_ns = time_of(call);

    if (extent->begin[ESI_DIAGRAM_TIME] == 0 ||
        thread->begin_ns < extent->begin[ESI_DIAGRAM_TIME])
        extent->begin[ESI_DIAGRAM_TIME] = thread->begin_ns;
    if (end_ns >= extent->end[ESI_DIAGRAM_TIME])
        extent->end[ESI_DIAGRAM_TIME] = end_ns + 1;
    if (call->told->error_ns > diagram->worst_error_ns)
        diagram->worst_error_ns = call->told->error_ns;
}

static int add_event(struct esi_diagram *diagram,
                     const struct es_set_event *event,
                     const struct esi_causal_call *call,
                     uint32_t level)
{
    struct esi_diagram_thread *thread = thread_for(diagram, event->id.trace, call);
    uint32_t number = NO_WHAT;
    int result;

    if (!thread)
        return -ENOMEM;
    if (call->told->stop_ns == 0)
        result = add_unended(diagram, thread, event->id.index, call, STAYS);
    else
        result = place_call(diagram, thread, event->id.index, call, &number);
    if (result == 0)
        result = add_moment(diagram, thread, event, call, level, number);
    if (result < 0)
        return result;
    if (event->kind == ES_EVENT_RECEIVE && event->partner_count > 0)
        tell_sender(diagram, event);
    thread->error_ns = call->told->error_ns;
    find_waits(diagram, thread, call, number);
    if (call->operation && call->operation->code == ES_OP_MPI_Finalize)
        thread->is_over = call->told->stop_ns != 0;
    note_extent(diagram, thread, call);
    forget_calls(diagram, thread);
    return result;
}

static int take_event(void *data,
                      const struct es_set_event *event,
                      const struct esi_causal_call *call)
{
    struct esi_diagram *diagram = data;
    uint32_t level;
    int result;

    pthread_mutex_lock(&diagram->lock);
    diagram->extent.changes++;
    diagram->extent.events++;
    level = level_for(diagram, event);
    result = diagram->order_sink.event(diagram->order_sink.data, event);
    if (result >= 0)
        result = note_level(diagram, event, !call, level);
    if (result >= 0 && call)
        result = add_event(diagram, event, call, level);
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

/* --- Operations in progress ------------------------------------------------------- */

static void begin_round(struct esi_diagram *diagram)
{
    for (size_t i = 0; i < diagram->thread_count; i++) {
        struct esi_diagram_thread *thread = diagram->threads[i];

        if (thread->is_open && thread->open_round != STAYS &&
            thread->open_round < diagram->round)
            thread->is_open = false;
    }
    diagram->round++;
    diagram->extent.changes++;
}

/* An operation that the stream has delivered meanwhile is no longer in progress. */
static int take_one_open(struct esi_diagram *diagram,
                         uint32_t trace,
                         const struct esi_causal_call *call)
{
    struct esi_diagram_thread *thread = thread_for(diagram, trace, call);

    if (!thread)
        return -ENOMEM;
    if (call->told->start_ns < thread->tracks[ESI_DIAGRAM_TIME].end ||
        thread->open_round == STAYS)
        return 0;
    return add_unended(diagram, thread, diagram->traces[trace].count + 1, call,
                       diagram->round);
}

static int take_open(void *data, uint32_t trace, const struct esi_causal_call *call)
{
    struct esi_diagram *diagram = data;
    int result = 0;

    pthread_mutex_lock(&diagram->lock);
    if (!call)
        begin_round(diagram);
    else if (trace < diagram->trace_count)
        result = take_one_open(diagram, trace, call);
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

/* --- Lifecycle -------------------------------------------------------------------- */

int esi_diagram_create(const struct esi_diagram_config *config,
                       struct esi_diagram **ret_diagram)
{
    struct esi_diagram *diagram = calloc(1, sizeof *diagram);

    if (!diagram)
        return -ENOMEM;
    if (pthread_mutex_init(&diagram->lock, NULL) != 0) {
        free(diagram);
        return -ENOMEM;
    }
    diagram->config = *config;
    if (diagram->config.calls_max == 0)
        diagram->config.calls_max = CALLS_MAX;
    esi_texts_init(&diagram->texts);
    esi_texts_init(&diagram->types);
    esi_texts_init(&diagram->hosts);
    if (diagram->config.order_bytes == 0)
        diagram->config.order_bytes = ORDER_BYTES;
    if (es_order_open(NULL, diagram->config.order_bytes, NULL, NULL, &diagram->order) <
        0) {
        esi_diagram_destroy(diagram);
        return -ENOMEM;
    }
    if (esi_diagram_instances_init(diagram) < 0) {
        esi_diagram_destroy(diagram);
        return -ENOMEM;
    }
    diagram->order_sink = es_order_sink(diagram->order);
    *ret_diagram = diagram;
    return 0;
}

static void destroy_thread(struct esi_diagram_thread *thread)
{
    free(thread->calls.items);
    free(thread->flights.items);
    esi_bounds_fini(&thread->bounds);
    free(thread->moments);
    for (int axis = 0; axis < ESI_DIAGRAM_AXES; axis++)
        esi_track_fini(&thread->tracks[axis]);
    free(thread);
}

static void destroy_trace(struct esi_diagram_trace *trace)
{
    free(trace->levels);
    esi_gaps_fini(&trace->gaps);
}

void esi_diagram_destroy(struct esi_diagram *diagram)
{
    if (!diagram)
        return;
    for (size_t i = 0; i < diagram->thread_count; i++)
        destroy_thread(diagram->threads[i]);
    for (size_t i = 0; i < diagram->trace_count; i++)
        destroy_trace(&diagram->traces[i]);
    free(diagram->threads);
    free(diagram->rows);
    free(diagram->traces);
    esi_diagram_instances_fini(diagram);
    esi_gaps_fini(&diagram->gaps);
    free(diagram->whats);
    free(diagram->clusters);
    esi_hash_fini(&diagram->what_table);
    esi_texts_fini(&diagram->texts);
    esi_texts_fini(&diagram->types);
    esi_texts_fini(&diagram->hosts);
    es_order_destroy(diagram->order);
    pthread_mutex_destroy(&diagram->lock);
    free(diagram);
}

/* The trace may have no row yet. */
static int take_gap(void *data, uint32_t trace, const struct esi_gap *gap)
{
    struct esi_diagram *diagram = data;
    int result = 0;

    pthread_mutex_lock(&diagram->lock);
    if (trace < diagram->trace_count)
        result = esi_gaps_add(&diagram->traces[trace].gaps, gap->begin_ns, gap->end_ns);
    if (result == 0)
        result = esi_gaps_add(&diagram->gaps, gap->begin_ns, gap->end_ns);
    diagram->extent.changes++;
    pthread_mutex_unlock(&diagram->lock);
    return result;
}

struct esi_causal_listener esi_diagram_listener(struct esi_diagram *diagram)
{
    return (struct esi_causal_listener){.told = take_event,
                                        .open = take_open,
                                        .gap = take_gap,
                                        .instance = esi_diagram_take_instance,
                                        .data = diagram};
}

struct es_set_sink esi_diagram_sink(struct esi_diagram *diagram)
{
    return (struct es_set_sink){.trace = add_trace, .data = diagram};
}

const struct es_order *esi_diagram_order(const struct esi_diagram *diagram)
{
    return diagram->order;
}
