/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_load.c - steps of a pattern, with collective operations between them. */
#include "config.h"

#include "bench/order_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/order_patterns.h"

uint32_t order_draw_below(struct order_stream *stream, uint32_t limit)
{
    stream->draw ^= stream->draw << 13;
    stream->draw ^= stream->draw >> 7;
    stream->draw ^= stream->draw << 17;
    return (uint32_t)((stream->draw >> 11) % limit);
}

static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : greatest_divisor(b, a % b);
}

/* Chooses another order of ranks: a stride that is coprime to their number. */
static void shuffle_ranks(struct order_stream *stream)
{
    do
        stream->stride = 1 + order_draw_below(stream, stream->ranks);
    while (greatest_divisor(stream->stride, stream->ranks) != 1);
    stream->offset = order_draw_below(stream, stream->ranks);
}

uint32_t order_visit(const struct order_stream *stream, uint32_t i)
{
    return (uint32_t)(((uint64_t)i * stream->stride + stream->offset) % stream->ranks);
}

struct es_event_id order_emit(struct order_stream *stream,
                              uint32_t trace,
                              enum es_event_kind kind,
                              const struct es_event_id *partners,
                              uint32_t partner_count)
{
    struct es_set_event event = {
        .id = {.trace = trace, .index = ++stream->counts[trace]},
        .kind = kind,
        .partner_count = partner_count,
        .partners = partners,
        .type = "",
        .text = ""};

    stream->made++;
    if (stream->code >= 0)
        stream->code = stream->sink->event(stream->sink->data, &event);
    return event.id;
}

/* --- The command line ------------------------------------------------------------- */

bool order_load_number(const char *text, uint64_t *ret_number)
{
    char *end;

    errno = 0;
    *ret_number = strtoull(text, &end, 10);
    return *text != '\0' && *end == '\0' && errno == 0;
}

bool order_load_option(struct order_load_config *config, int option, const char *text)
{
    uint64_t number = 0;

    if (option == 'p') {
        config->pattern = text;
        return true;
    }
    if (!order_load_number(text, &number))
        return false;
    switch (option) {
    case 'n':
        config->ranks = (uint32_t)number;
        return number <= UINT32_MAX - 1;
    case 'e':
        config->events = number;
        return true;
    case 'k':
        config->every = (uint32_t)number;
        return number <= UINT32_MAX;
    case 'r':
        config->rooted = (uint32_t)number;
        return number <= UINT32_MAX;
    case 's':
        config->seed = number;
        return true;
    default:
        return false;
    }
}

/* --- Collective operations -------------------------------------------------------- */

static struct es_event_id *enter(struct order_stream *stream)
{
    for (uint32_t i = 0; i < stream->ranks; i++) {
        uint32_t rank = order_visit(stream, i);

        stream->partners[rank] = order_emit(stream, rank, ES_EVENT_SEND, NULL, 0);
    }
    return stream->partners;
}

static void all_to_all(struct order_stream *stream)
{
    const struct es_event_id *enters = enter(stream);
    uint32_t world = order_load_traces(stream->config) - 1;
    struct es_event_id release;

    order_emit(stream, world, ES_EVENT_RECEIVE, enters, stream->ranks);
    release = order_emit(stream, world, ES_EVENT_SEND, NULL, 0);
    for (uint32_t i = 0; i < stream->ranks; i++)
        order_emit(stream, order_visit(stream, i), ES_EVENT_RECEIVE, &release, 1);
}

static void reduce_and_broadcast(struct order_stream *stream)
{
    const struct es_event_id *enters = enter(stream);

    for (uint32_t rank = 0; rank < stream->ranks; rank++)
        order_emit(stream, rank, ES_EVENT_RECEIVE, enters,
                   rank == 0 ? stream->ranks : 0);
    enters = enter(stream);
    for (uint32_t rank = 0; rank < stream->ranks; rank++)
        order_emit(stream, rank, ES_EVENT_RECEIVE, enters, rank > 0);
}

/* --- Streaming -------------------------------------------------------------------- */

static const struct order_pattern *find_pattern(const char *name)
{
    const struct order_pattern *pattern = order_patterns;

    while (pattern->help.name && strcmp(pattern->help.name, name) != 0)
        pattern++;
    return pattern->help.name ? pattern : NULL;
}

const struct order_load_help *order_load_patterns(void)
{
    static struct order_load_help helps[32];
    size_t count = 0;

    while (order_patterns[count].help.name) {
        helps[count] = order_patterns[count].help;
        count++;
    }
    return helps;
}

static uint32_t every_of(const struct order_load_config *config)
{
    const struct order_pattern *pattern = find_pattern(config->pattern);

    if (config->every > 0 || !pattern)
        return config->every;
    return pattern->every;
}

/* Chooses the sizes of a grid of `dimensions`, as similar as divisors allow. */
static void shape_grid(uint32_t ranks, unsigned dimensions, uint32_t sizes[3])
{
    uint32_t left = ranks;

    sizes[0] = sizes[1] = sizes[2] = 1;
    for (unsigned i = 0; i + 1 < dimensions; i++) {
        uint32_t best = 1;

        for (uint32_t size = 1; size <= left; size++) {
            uint64_t volume = 1;

            for (unsigned j = i; j < dimensions; j++)
                volume *= size;
            if (volume > left)
                break;
            if (left % size == 0)
                best = size;
        }
        sizes[i] = best;
        left /= best;
    }
    if (dimensions > 0)
        sizes[dimensions - 1] = left;
}

/* Number of traces of the pattern's own communicators, which follow the ranks. */
static uint32_t own_communicators(const struct order_load_config *config)
{
    const struct order_pattern *pattern = find_pattern(config->pattern);
    uint32_t sizes[3];

    if (!pattern || !pattern->has_lines)
        return 0;
    shape_grid(config->ranks, pattern->dimensions, sizes);
    return sizes[0] + sizes[1];
}

uint32_t order_load_traces(const struct order_load_config *config)
{
    return config->ranks + own_communicators(config) + (every_of(config) > 0);
}

static void tell_traces(struct order_stream *stream)
{
    uint32_t traces = order_load_traces(stream->config);

    for (uint32_t trace = 0; trace < traces && stream->code >= 0; trace++) {
        bool is_world = trace + 1 == traces && every_of(stream->config) > 0;
        char name[24];

        snprintf(name, sizeof name, trace < stream->ranks ? "%u.0" : "comm:%u", trace);
        stream->code = stream->sink->trace(stream->sink->data, trace,
                                           is_world ? "comm:world" : name);
    }
}

static void run_steps(struct order_stream *stream, const struct order_pattern *pattern)
{
    const struct order_load_config *config = stream->config;
    uint32_t every = every_of(config);

    for (uint64_t step = 1; stream->code >= 0 && stream->made < config->events;
         step++) {
        shuffle_ranks(stream);
        pattern->step(stream, step);
        if (every > 0 && step % every == 0)
            all_to_all(stream);
        if (config->rooted > 0 && step % config->rooted == 0)
            reduce_and_broadcast(stream);
    }
}

static int make_stream(struct order_stream *stream, const struct order_pattern *pattern)
{
    size_t traces = order_load_traces(stream->config);
    size_t ranks = stream->ranks;

    stream->counts = calloc(traces, sizeof *stream->counts);
    stream->sends = calloc(ranks * ORDER_DIRECTIONS, sizeof *stream->sends);
    stream->targets = calloc(ranks, sizeof *stream->targets);
    stream->partners = calloc(ranks, sizeof *stream->partners);
    stream->requests = calloc(ORDER_REQUESTS, sizeof *stream->requests);
    shape_grid(stream->ranks, pattern->dimensions, stream->sizes);
    return stream->counts && stream->sends && stream->targets && stream->partners &&
                   stream->requests
               ? 0
               : -ENOMEM;
}

int order_load_stream(const struct order_load_config *config,
                      const struct es_set_sink *sink,
                      struct es_error *error)
{
    const struct order_pattern *pattern = find_pattern(config->pattern);
    struct order_stream stream = {.config = config,
                                  .sink = sink,
                                  .ranks = config->ranks,
                                  .draw = config->seed * UINT64_C(2654435761) + 1};

    if (!pattern || config->ranks < 2)
        return es_error_set(error, -EINVAL, "no pattern '%s' of %u ranks",
                            config->pattern, config->ranks);
    stream.code = make_stream(&stream, pattern);
    if (stream.code >= 0)
        tell_traces(&stream);
    if (stream.code >= 0)
        run_steps(&stream, pattern);
    free(stream.counts);
    free(stream.sends);
    free(stream.targets);
    free(stream.partners);
    free(stream.requests);
    free(stream.plane.curve);
    free(stream.plane.weights);
    free(stream.plane.owners);
    free(stream.plane.near);
    if (stream.code < 0)
        return es_error_set(error, stream.code, "%s", strerror(-stream.code));
    return 0;
}
