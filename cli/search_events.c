/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_events.c - the events that a command searches, read in one pass into their
 * order and their classes. */
#include "config.h"

#include "cli/search_events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/now.h"

/* Both get each event; the order first, as it refuses what is not in order. */
struct both {
    struct es_set_sink order;
    struct es_set_sink domains;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct both *both = data;
    int result = both->order.trace(both->order.data, trace, name);

    return result < 0 ? result : both->domains.trace(both->domains.data, trace, name);
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct both *both = data;
    int result = both->order.event(both->order.data, event);

    return result < 0 ? result : both->domains.event(both->domains.data, event);
}

static int create_order(const struct esi_search_options *given, struct es_order **order)
{
    struct es_error error = {.text = ""};
    struct es_order_config config;
    int result;

    es_order_config_init(&config);
    config.store = given->store;
    result = es_order_create(&config, &error, order);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot order events so")
                      : ES_EXIT_SUCCESS;
}

/* Only what the predicates reach is kept. */
static int create_domains(const struct esi_search_file *file,
                          struct es_domains **domains)
{
    struct es_error error = {.text = ""};
    bool *predicates = calloc(es_pattern_predicates(file->file) + 1u, sizeof(bool));
    bool *classes = calloc(es_pattern_classes(file->file) + 1u, sizeof(bool));
    int result = -ENOMEM;

    if (predicates && classes) {
        for (uint32_t i = 0; i < file->predicate_count; i++)
            es_pattern_reach(file->file, file->predicates[i], predicates, classes);
        result = es_domains_create(file->file, predicates, NULL, domains, &error);
    }
    free(predicates);
    free(classes);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot sort events into classes")
                      : ES_EXIT_SUCCESS;
}

static int read_all(const struct esi_search_options *given,
                    struct esi_search_events *events)
{
    struct both both = {
        .order = es_order_sink(events->order),
        .domains = es_domains_sink(events->domains),
    };
    const struct es_set_sink sink = {
        .trace = take_trace, .event = take_event, .data = &both};
    uint64_t start_ns = es_now_ns(CLOCK_MONOTONIC);
    int status = esi_event_source_read(&given->source,
                                       es_domains_need_attributes(events->domains),
                                       &sink, &events->facts);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (es_order_sink_end(events->order) < 0)
        return esi_command_fail(ES_EXIT_USAGE,
                                "cannot read the events: %s ends with half a sync",
                                given->source.path);
    if (es_domains_finish(events->domains) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    events->read_ns = es_now_ns(CLOCK_MONOTONIC) - start_ns;
    esi_event_source_tell_missing(&events->facts);
    return ES_EXIT_SUCCESS;
}

int esi_search_events_read(const struct esi_search_options *given,
                           const struct esi_search_file *file,
                           struct esi_search_events *ret_events)
{
    int status;

    *ret_events = (struct esi_search_events){.order = NULL};
    status = create_order(given, &ret_events->order);
    if (status == ES_EXIT_SUCCESS)
        status = create_domains(file, &ret_events->domains);
    if (status == ES_EXIT_SUCCESS)
        status = read_all(given, ret_events);
    return status;
}

void esi_search_events_fini(struct esi_search_events *events)
{
    es_domains_destroy(events->domains);
    es_order_destroy(events->order);
    *events = (struct esi_search_events){.order = NULL};
}
