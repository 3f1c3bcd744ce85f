/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* pattern_sets.c - the names of the synthetic event sets, and common functions of their
 * makers. */
#include "config.h"

#include "bench/pattern_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/pattern_set_maker.h"

static const struct pattern_set_help helps[] = {
    {"tcp", "two clients, a server and their sockets (303 events on 8 traces)"},
    {"ucpp", "two monitors behind a semaphore with a fault (177,735 on 11)"},
    {"pvm-merge", "merge sort over a binary tree (138 on 16)"},
    {"pvm-life", "tokens that wander between neighbours (5,898 on 48)"},
    {"large", "halo exchange with collective operations now and then (-n, -e)"},
    {NULL, NULL},
};

static void (*const makers[])(struct pattern_set_maker *) = {
    make_tcp_set, make_ucpp_set, make_pvm_merge_set, make_pvm_life_set, make_large_set,
};

const struct pattern_set_help *pattern_sets(void)
{
    return helps;
}

void pattern_set_config_init(struct pattern_set_config *config, const char *name)
{
    *config = (struct pattern_set_config){
        .name = name, .seed = 55, .ranks = 1000, .events = 1000000};
}

uint32_t set_draw(struct pattern_set_maker *maker, uint32_t limit)
{
    maker->draw ^= maker->draw << 13;
    maker->draw ^= maker->draw >> 7;
    maker->draw ^= maker->draw << 17;
    return (uint32_t)((maker->draw >> 11) % limit);
}

uint32_t set_trace(struct pattern_set_maker *maker, const char *name)
{
    uint32_t trace = maker->traces;
    uint32_t *counts = realloc(maker->counts, (trace + 1) * sizeof *counts);

    if (!counts) {
        maker->code = maker->code < 0 ? maker->code : -ENOMEM;
        return trace;
    }
    counts[trace] = 0;
    maker->counts = counts;
    maker->traces++;
    if (maker->code >= 0)
        maker->code = maker->sink->trace(maker->sink->data, trace, name);
    return trace;
}

struct es_event_id set_event(struct pattern_set_maker *maker,
                             struct es_set_event *event)
{
    if (maker->code < 0)
        return event->id;
    event->id.index = ++maker->counts[event->id.trace];
    event->type = event->type ? event->type : "";
    event->text = event->text ? event->text : "";
    maker->made++;
    maker->code = maker->sink->event(maker->sink->data, event);
    return event->id;
}

void set_unary(struct pattern_set_maker *maker,
               uint32_t trace,
               const char *type,
               const char *text)
{
    struct es_set_event event = {
        .id.trace = trace, .kind = ES_EVENT_UNARY, .type = type, .text = text};

    set_event(maker, &event);
}

struct es_event_id set_send(struct pattern_set_maker *maker,
                            uint32_t trace,
                            const char *type,
                            const char *text)
{
    struct es_set_event event = {
        .id.trace = trace, .kind = ES_EVENT_SEND, .type = type, .text = text};

    return set_event(maker, &event);
}

void set_receive(struct pattern_set_maker *maker,
                 uint32_t trace,
                 const char *type,
                 const char *text,
                 struct es_event_id from)
{
    struct es_set_event event = {.id.trace = trace,
                                 .kind = ES_EVENT_RECEIVE,
                                 .partner_count = 1,
                                 .partners = &from,
                                 .type = type,
                                 .text = text};

    set_event(maker, &event);
}

void set_message(struct pattern_set_maker *maker,
                 uint32_t from,
                 const char *send_type,
                 uint32_t to,
                 const char *receive_type)
{
    set_receive(maker, to, receive_type, NULL, set_send(maker, from, send_type, NULL));
}

/* --- Streaming -------------------------------------------------------------------- */

/* Its index, or that of the terminator. */
static size_t find_set(const char *name)
{
    size_t number = 0;

    while (helps[number].name && strcmp(helps[number].name, name) != 0)
        number++;
    return number;
}

int pattern_set_stream(const struct pattern_set_config *config,
                       const struct es_set_sink *sink,
                       struct es_error *error)
{
    size_t number = find_set(config->name);
    struct pattern_set_maker maker = {.config = config,
                                      .sink = sink,
                                      .draw = config->seed * UINT64_C(2654435761) + 1};

    if (!helps[number].name)
        return es_error_set(error, -EINVAL, "no event set '%s'", config->name);
    if (config->ranks < 2)
        return es_error_set(error, -EINVAL,
                            "an event set of %u ranks: expected 2 or more",
                            config->ranks);
    makers[number](&maker);
    free(maker.counts);
    if (maker.code < 0)
        return es_error_set(error, maker.code, "%s", strerror(-maker.code));
    return 0;
}
