/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* causal_event.c - fills events and passes them to the sink. */
#include "config.h"

#include "monitors/causality/causal_event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/causality/causal_completion.h"
#include "tuplespace/operation_table.h"

enum { ATTRIBUTES_MAX = 18 };

int esi_output_init(struct esi_causal_output *output,
                    const struct esi_causality_config *config,
                    struct esi_matching *matching)
{
    output->config = config;
    output->matching = matching;
    esi_texts_init(&output->names);
    output->types = calloc((size_t)esi_operation_last + 1, sizeof *output->types);
    return output->types ? 0 : -ENOMEM;
}

void esi_output_fini(struct esi_causal_output *output)
{
    for (size_t i = 0; output->types && i <= esi_operation_last; i++) {
        free(output->types[i].enter);
        free(output->types[i].exit);
        free(output->types[i].open);
    }
    free(output->types);
    esi_texts_fini(&output->names);
}

/* --- Types ------------------------------------------------------------------------ */

static const char *make_name(char **name, const char *operation, const char *what)
{
    if (!*name && asprintf(name, "%s %s", operation, what) < 0)
        *name = NULL;
    return *name ? *name : operation;
}

/* Returns a name such as "MPI_Send", "MPI_Barrier enter" or "MPI_Recv open". */
static const char *type_of(struct esi_causal_output *output,
                           const struct esi_placed *placed)
{
    const struct esi_item *item = placed->item;
    const struct es_operation *operation = item->operation;
    struct esi_type_names *names;

    if (!operation)
        return "?";
    names = &output->types[operation->code];
    if (placed->role == ESI_ROLE_ENTER ||
        (placed->role == ESI_ROLE_SEND && item->halves))
        return make_name(&names->enter, operation->name, "enter");
    if (placed->role == ESI_ROLE_EXIT ||
        (placed->role == ESI_ROLE_RECEIVE && item->halves))
        return make_name(&names->exit, operation->name, "exit");
    if (item->told.tuple.stop == 0 && placed->role == ESI_ROLE_WHOLE)
        return make_name(&names->open, operation->name, "open");
    return operation->name;
}

/* --- Attributes ------------------------------------------------------------------- */

struct attributes {
    struct es_event_attribute items[ATTRIBUTES_MAX];
    size_t count;
};

static void add_text(struct attributes *attributes, const char *name, const char *text)
{
    attributes->items[attributes->count++] =
        (struct es_event_attribute){.name = name, .text = text};
}

static void add_number(struct attributes *attributes, const char *name, int64_t number)
{
    attributes->items[attributes->count++] =
        (struct es_event_attribute){.name = name, .number = number};
}

static void add_order(struct attributes *attributes, const struct esi_item *item)
{
    add_number(attributes, "instance", item->instance->facts.number);
    if (item->instance->facts.operation->order == ES_ORDER_ALL_TO_ALL && !item->empty)
        add_text(attributes, "synchronizing",
                 item->instance->facts.operation->synchronizing ? "required"
                                                                : "assumed");
}

static bool has_tag(const struct esi_item *item)
{
    const struct es_operation *operation = item->operation;

    return operation && (operation->op_class == ES_CLASS_SEND ||
                         operation->op_class == ES_CLASS_RECEIVE || operation->probe);
}

static bool is_on_window(const struct esi_item *item)
{
    return item->operation && item->operation->op_class == ES_CLASS_ONE_SIDED;
}

static void fill_attributes(struct attributes *attributes, const struct esi_item *item)
{
    const struct esi_run_process *process = item->element->thread->of->process;
    const struct es_tuple *tuple = &item->told.tuple;

    attributes->count = 0;
    if (item->operation) {
        add_text(attributes, "operation", item->operation->name);
        add_text(attributes, "class", es_class_name(item->operation->op_class));
    }
    if (process->rank >= 0)
        add_number(attributes, "rank", process->rank);
    add_text(attributes, "host", process->host);
    if (item->member)
        add_text(attributes, "communicator", item->member->communicator->name);
    if (tuple->peer >= 0)
        add_number(attributes, "peer", tuple->peer);
    if (tuple->operation & ES_OPERATION_ANY_SOURCE)
        add_text(attributes, "source", "any");
    if (has_tag(item) && tuple->tag >= 0)
        add_number(attributes, "tag", tuple->tag);
    if (is_on_window(item) && tuple->tag >= 0)
        add_number(attributes, "window", tuple->tag);
    add_number(attributes, "bytes", es_tuple_bytes(tuple));
    if (es_tuple_error(tuple) != 0)
        add_text(attributes, "failed", es_error_name(es_tuple_error(tuple)));
    if (item->instance)
        add_order(attributes, item);
    add_number(attributes, "start", (int64_t)item->told.start_ns);
    if (tuple->stop != 0)
        add_number(attributes, "stop", (int64_t)item->told.stop_ns);
    else
        add_text(attributes, "state", "open");
    if (item->told.site && *item->told.site)
        add_text(attributes, "site", item->told.site);
}

/* --- Emitting --------------------------------------------------------------------- */

/* Passes the operation of an event to the listener. */
static int tell_call(const struct esi_causal_output *output,
                     const struct esi_placed *placed,
                     const struct es_set_event *event,
                     const struct esi_edge *edges)
{
    struct esi_item *item = placed->item;
    const struct esi_instance *instance = item->instance;
    struct esi_causal_call call = {
        .told = &item->told,
        .operation = item->operation,
        .role = (enum esi_role)placed->role,
        .posted = item->action == ESI_POSTED,
        .thread = item->element->thread->of,
        .member = item->member,
        .lost = item->lost,
        .number = item->call,
        .again = item->was_told,
        .instance = instance ? instance->serial : 0,
        .edges = edges,
        .all = instance && event->partner_count == 1 &&
               event->partners[0].trace == instance->series->trace,
    };

    item->was_told = true;
    if (esi_completion_follow(output->matching, output->config->held_max, item, event,
                              &call) < 0)
        return -ENOMEM;
    return output->config->listener.told(output->config->listener.data, event, &call);
}

/* Finds the call of the program that the next event of a thread is a part of, for a
 * listener.  Calls of a thread do not overlap, so an operation that starts before the
 * last call ends is of that call, as is one that starts with it: a call may have no
 * length. */
static struct esi_edge begin_event(const struct esi_causal_output *output,
                                   const struct esi_placed *placed)
{
    struct esi_item *item = placed->item;
    struct esi_causal_thread *thread = item->element->thread;
    const struct esi_causal_tuple *told = &item->told;
    bool posts = item->action == ESI_POSTED;

    if (!output->config->listener.told)
        return (struct esi_edge){.operation = NULL};
    if (item->operation && item->operation->nonblocking && !posts) {
        item->call = 0;
    } else if (thread->calls == 0 || posts ||
               (told->start_ns >= thread->call_end_ns &&
                told->start_ns != thread->call_begin_ns)) {
        item->call = ++thread->calls;
        thread->call_begin_ns = told->start_ns;
        thread->call_end_ns = told->stop_ns;
    } else {
        item->call = thread->calls;
        if (told->stop_ns > thread->call_end_ns)
            thread->call_end_ns = told->stop_ns;
    }
    return (struct esi_edge){
        .operation = item->operation,
        .ns = told->start_ns,
        .done = item->operation && item->operation->posts ? 0 : item->call,
        .trace = thread->trace,
        .error_ns =
            told->error_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)told->error_ns};
}

static int emit_event(struct esi_causal_output *output,
                      const struct esi_placed *placed,
                      struct es_set_event *event,
                      const struct esi_edge *edges)
{
    const struct es_set_sink *sink = &output->config->sink;
    struct attributes attributes;
    int result;

    event->type = type_of(output, placed);
    event->text = "";
    if (output->config->attributes) {
        fill_attributes(&attributes, placed->item);
        event->attributes = attributes.items;
        event->attribute_count = attributes.count;
    }
    output->matching->totals.events++;
    if (output->config->listener.told) {
        result = tell_call(output, placed, event, edges);
        if (result < 0)
            return result;
    }
    return sink->event ? sink->event(sink->data, event) : 0;
}

int esi_trace_add(struct esi_causal_output *output,
                  const char *name,
                  uint32_t *ret_trace)
{
    const struct es_set_sink *sink = &output->config->sink;
    int result = sink->trace ? sink->trace(sink->data, output->trace_count, name) : 0;

    if (result < 0)
        return result;
    *ret_trace = output->trace_count++;
    return 0;
}

int esi_event_emit(struct esi_causal_output *output,
                   const struct esi_placed *placed,
                   enum es_event_kind kind,
                   struct esi_emitted *ret_emitted)
{
    const struct esi_partners *partners = &output->matching->partners;
    struct esi_causal_thread *thread = placed->item->element->thread;
    struct es_set_event event = {
        .id = {thread->trace, thread->count + 1},
        .kind = kind,
    };

    if (kind == ES_EVENT_RECEIVE) {
        event.partner_count = (uint32_t)partners->count;
        event.partners = partners->count > 0 ? partners->ids : NULL;
    }
    thread->count++;
    *ret_emitted = (struct esi_emitted){event.id, begin_event(output, placed)};
    return emit_event(output, placed, &event, partners->edges);
}

int esi_event_emit_sync(struct esi_causal_output *output,
                        const struct esi_placed *send,
                        const struct esi_placed *receive)
{
    struct esi_causal_thread *sender = send->item->element->thread;
    struct esi_causal_thread *receiver = receive->item->element->thread;
    struct es_event_id ids[2] = {{sender->trace, sender->count + 1},
                                 {receiver->trace, receiver->count + 1}};
    struct esi_edge edges[2] = {begin_event(output, send),
                                begin_event(output, receive)};
    struct es_set_event event = {
        .id = ids[0], .kind = ES_EVENT_SYNC, .partner_count = 1, .partners = &ids[1]};
    int result;

    sender->count++;
    receiver->count++;
    result = emit_event(output, send, &event, &edges[1]);
    if (result < 0)
        return result;
    event = (struct es_set_event){
        .id = ids[1], .kind = ES_EVENT_SYNC, .partner_count = 1, .partners = &ids[0]};
    return emit_event(output, receive, &event, &edges[0]);
}

/* --- Communicators' traces -------------------------------------------------------- */

/* Assigns the name to this trace if no trace has it yet; returns whether it did. */
static bool take_name(struct esi_texts *names, const char *name)
{
    uint32_t count = esi_texts_count(names);
    uint32_t number;

    return esi_texts_add(names, name, strlen(name), &number) < 0 || number == count;
}

static int add_trace_of(struct esi_causal_output *output, struct esi_series *series)
{
    const char *of = series->set->communicator->name;
    char name[192];
    int length = snprintf(name, sizeof name, "comm:%.100s", of);

    if (series->window >= 0)
        length += snprintf(name + length, sizeof name - (size_t)length, " window %lld",
                           (long long)series->window);
    for (unsigned number = 2; !take_name(&output->names, name); number++)
        snprintf(name + length, sizeof name - (size_t)length, "#%u", number);
    return esi_trace_add(output, name, &series->trace);
}

static void fill_junction(struct attributes *attributes,
                          const struct esi_instance *instance)
{
    attributes->count = 0;
    add_text(attributes, "operation", instance->facts.operation->name);
    add_text(attributes, "class", es_class_name(instance->facts.operation->op_class));
    add_text(attributes, "communicator", instance->series->set->communicator->name);
    add_number(attributes, "instance", instance->facts.number);
    add_text(attributes, "synchronizing",
             instance->facts.operation->synchronizing ? "required" : "assumed");
}

static int emit_junction(const struct esi_causal_output *output,
                         const struct es_set_event *event)
{
    const struct es_set_sink *sink = &output->config->sink;
    const struct esi_causal_listener *listener = &output->config->listener;
    int result = listener->told ? listener->told(listener->data, event, NULL) : 0;

    return result < 0 || !sink->event ? result : sink->event(sink->data, event);
}

int esi_event_emit_junction(struct esi_causal_output *output,
                            struct esi_instance *instance)
{
    const struct esi_partners *partners = &output->matching->partners;
    struct esi_series *series = instance->series;
    struct attributes attributes = {.count = 0};
    struct es_set_event event = {.kind = ES_EVENT_RECEIVE,
                                 .partner_count = (uint32_t)partners->count,
                                 .partners = partners->ids,
                                 .type = "join",
                                 .text = ""};
    int result = 0;

    if (series->trace == UINT32_MAX)
        result = add_trace_of(output, series);
    if (result < 0)
        return result;
    if (output->config->attributes)
        fill_junction(&attributes, instance);
    event.attributes = attributes.items;
    event.attribute_count = attributes.count;
    event.id = (struct es_event_id){series->trace, ++series->count};
    result = emit_junction(output, &event);
    if (result < 0)
        return result;
    event.id.index = ++series->count;
    event.kind = ES_EVENT_SEND;
    event.partner_count = 0;
    event.partners = NULL;
    event.type = "release";
    instance->release.id = event.id;
    output->matching->totals.events += 2;
    return emit_junction(output, &event);
}
