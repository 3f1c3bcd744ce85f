/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What `eventspace order` must know of a whole event set before it can begin. */
#include "config.h"

#include "cli/order_prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "monitors/eventset/trace_names.h"

#define NO_HOST UINT32_MAX

struct first_pass {
    struct es_set_sink counts; /* `event` NULL: communications are not asked for */
    bool wants_hosts;
    struct esi_trace_names hosts;
    uint32_t *host_of; /* of each trace, NO_HOST before it is known */
    size_t traces;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct first_pass *pass = data;
    uint32_t *grown;

    if (pass->counts.event) {
        int result = pass->counts.trace(pass->counts.data, trace, name);

        if (result < 0)
            return result;
    }
    if (!pass->wants_hosts)
        return 0;
    if ((pass->traces & (pass->traces - 1)) == 0) { /* a power of two: grows */
        grown = realloc(pass->host_of,
                        (pass->traces ? 2 * pass->traces : 1) * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        pass->host_of = grown;
    }
    pass->host_of[pass->traces++] = NO_HOST;
    return 0;
}

/* Hosts are few, and each trace is looked up once. */
static int number_host(struct esi_trace_names *hosts,
                       const char *name,
                       uint32_t *ret_host)
{
    for (uint32_t i = 0; i < hosts->count; i++)
        if (strcmp(hosts->names[i], name) == 0) {
            *ret_host = i;
            return 0;
        }
    *ret_host = hosts->count;
    return esi_trace_names_add(hosts, name);
}

static int take_host(struct first_pass *pass, const struct es_set_event *event)
{
    uint32_t *host = &pass->host_of[event->id.trace];

    for (size_t i = 0; *host == NO_HOST && i < event->attribute_count; i++)
        if (strcmp(event->attributes[i].name, "host") == 0 && event->attributes[i].text)
            return number_host(&pass->hosts, event->attributes[i].text, host);
    return 0;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct first_pass *pass = data;
    int result = 0;

    if (pass->wants_hosts)
        result = take_host(pass, event);
    if (result == 0 && pass->counts.event)
        result = pass->counts.event(pass->counts.data, event);
    return result;
}

/* Traces without a host are each by themselves. */
static void number_the_rest(struct first_pass *pass)
{
    uint32_t next = pass->hosts.count;

    for (size_t i = 0; i < pass->traces; i++)
        if (pass->host_of[i] == NO_HOST)
            pass->host_of[i] = next++;
}

int esi_order_prepare(struct esi_event_source *source,
                      bool communications,
                      bool hosts,
                      struct esi_order_knowledge *ret_knowledge)
{
    struct first_pass pass = {.wants_hosts = hosts};
    const struct es_set_sink sink = {
        .trace = take_trace, .event = take_event, .data = &pass};
    int status;

    *ret_knowledge = (struct esi_order_knowledge){.seed_count = 0};
    if (communications) {
        if (esi_communications_create(&ret_knowledge->communications) < 0)
            return esi_command_fail(ES_EXIT_USAGE, "no memory");
        pass.counts = esi_communications_sink(ret_knowledge->communications);
    }
    status = esi_event_source_keep(source);
    if (status == ES_EXIT_SUCCESS)
        status = esi_event_source_read(source, hosts, &sink, NULL);
    number_the_rest(&pass);
    esi_trace_names_fini(&pass.hosts);
    ret_knowledge->seeds = pass.host_of;
    ret_knowledge->seed_count = pass.traces;
    return status;
}

void esi_order_knowledge_fini(struct esi_order_knowledge *knowledge)
{
    esi_communications_destroy(knowledge->communications);
    free(knowledge->seeds);
}
