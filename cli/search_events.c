/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_events.c - the events that a command searches, read in one pass into their
 * order, their classes, and what is shown of them. */
#include "config.h"

#include "cli/search_events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/now.h"

/* All get each event; the order first, as it refuses what is not in order. */
struct events_reading {
    struct es_set_sink order;
    struct es_set_sink domains;
    const struct esi_search_file *file;
    const struct esi_search_events *events;
};

static int take_trace(void *data, uint32_t trace, const char *name)
{
    struct events_reading *reading = data;
    int result = reading->order.trace(reading->order.data, trace, name);

    return result < 0 ? result
                      : reading->domains.trace(reading->domains.data, trace, name);
}

/* Whether the newest event of its trace is in a class, or may be in one when its
 * partner comes. */
static bool may_match(const struct events_reading *reading,
                      const struct es_set_event *event)
{
    const struct esi_domains *domains = reading->events->domains;
    uint32_t classes = esi_pattern_classes(reading->file->file);

    if (event->kind != ES_EVENT_UNARY && esi_domains_have_partners(domains))
        return true;
    for (uint32_t i = 0; i < classes; i++) {
        const struct esi_domain *domain = esi_domains_class(domains, i);
        uint32_t slot =
            domain ? esi_domain_slot_of(domain, event->id.trace) : ES_PATTERN_NONE;

        if (slot != ES_PATTERN_NONE) {
            struct esi_domain_column column = esi_domain_column(domain, slot);
            if (column.count > 0 && column.indexes[column.count - 1] == event->id.index)
                return true;
        }
    }
    return false;
}

static int take_event(void *data, const struct es_set_event *event)
{
    struct events_reading *reading = data;
    struct esi_details *details = reading->events->details;
    int result = reading->order.event(reading->order.data, event);

    if (result == 0)
        result = reading->domains.event(reading->domains.data, event);
    if (result < 0 || !details)
        return result;
    if (may_match(reading, event))
        return esi_details_add(details, event);
    esi_details_pass(details, event);
    return 0;
}

static int create_order(const struct esi_search_options *given, struct es_order **order)
{
    struct es_error error = {.text = ""};
    struct esi_order_config config;
    int result;

    esi_order_config_init(&config);
    config.store = given->store;
    result = esi_order_create(&config, &error, order);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot order events so")
                      : ES_EXIT_SUCCESS;
}

/* Only what the predicates reach is kept. */
static int create_domains(const struct esi_search_file *file,
                          struct esi_domains **domains)
{
    struct es_error error = {.text = ""};
    bool *predicates = calloc(es_pattern_predicates(file->file) + 1u, sizeof(bool));
    bool *classes = calloc(esi_pattern_classes(file->file) + 1u, sizeof(bool));
    int result = -ENOMEM;

    if (predicates && classes) {
        for (uint32_t i = 0; i < file->predicate_count; i++)
            esi_pattern_reach(file->file, file->predicates[i], predicates, classes);
        result = esi_domains_create(file->file, predicates, NULL, domains, &error);
    }
    free(predicates);
    free(classes);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                               "cannot sort events into classes")
                      : ES_EXIT_SUCCESS;
}

static int read_all(const struct esi_search_options *given,
                    const struct esi_search_file *file,
                    struct esi_search_events *events)
{
    struct events_reading reading = {
        .order = es_order_sink(events->order),
        .domains = esi_domains_sink(events->domains),
        .file = file,
        .events = events,
    };
    const struct es_set_sink sink = {
        .trace = take_trace, .event = take_event, .data = &reading};
    uint64_t start_ns = esi_now_ns(CLOCK_MONOTONIC);
    int status = esi_event_source_read(
        &given->source, events->details || esi_domains_need_attributes(events->domains),
        &sink, &events->facts);

    if (status != ES_EXIT_SUCCESS)
        return status;
    if (es_order_sink_end(events->order) < 0)
        return esi_command_fail(ES_EXIT_USAGE,
                                "cannot read the events: %s ends with half a sync",
                                given->source.path);
    if (esi_domains_finish(events->domains) < 0)
        return esi_command_fail(ES_EXIT_USAGE, "no memory");
    events->read_ns = esi_now_ns(CLOCK_MONOTONIC) - start_ns;
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
    if (status == ES_EXIT_SUCCESS && esi_search_options_show_details(given) &&
        esi_details_create(0, &ret_events->details) < 0)
        status = esi_command_fail(ES_EXIT_USAGE, "no memory");
    if (status == ES_EXIT_SUCCESS)
        status = read_all(given, file, ret_events);
    return status;
}

void esi_search_events_fini(struct esi_search_events *events)
{
    esi_details_destroy(events->details);
    esi_domains_destroy(events->domains);
    es_order_destroy(events->order);
    *events = (struct esi_search_events){.order = NULL};
}
