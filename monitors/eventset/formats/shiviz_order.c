/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Makes messages of the vector clocks of an execution. */
#include "config.h"

#include "monitors/eventset/formats/shiviz_order.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t host_count(const struct esi_shiviz_order *order)
{
    return (uint32_t)es_rows_count(&order->log->hosts);
}

static uint32_t event_count(const struct esi_shiviz_order *order)
{
    return (uint32_t)es_rows_count(&order->log->events);
}

static const char *host_name(const struct esi_shiviz_order *order, uint32_t host)
{
    return esi_shiviz_log_host(order->log, host)->name;
}

uint32_t esi_shiviz_order_event(const struct esi_shiviz_order *order,
                                uint32_t host,
                                uint32_t own)
{
    return order->at[order->starts[host] + own - 1];
}

/* --- Own entries ------------------------------------------------------------------ */

enum { NO_EVENT = UINT32_MAX };

static int place_event(struct esi_shiviz_order *order,
                       uint32_t number,
                       struct es_error *error)
{
    const struct esi_shiviz_event *event = esi_shiviz_log_event(order->log, number);
    const struct esi_shiviz_host *host = esi_shiviz_log_host(order->log, event->host);
    uint32_t *at;

    if (event->own > host->events)
        return es_error_set_at(
            error, -EINVAL, order->log->text->source, event->line, 0,
            "the clock of host '%s' says %u, and the log has %u of its events; a "
            "host's own clock starts at 1 and rises by 1",
            host->name, event->own, host->events);
    at = &order->at[order->starts[event->host] + event->own - 1];
    if (*at != NO_EVENT)
        return es_error_set_at(
            error, -EINVAL, order->log->text->source, event->line, 0,
            "event %u of host '%s' is there twice, first in line %d; a host's own "
            "clock rises by 1",
            event->own, host->name, esi_shiviz_log_event(order->log, *at)->line);
    *at = number;
    return 0;
}

static int place_events(struct esi_shiviz_order *order, struct es_error *error)
{
    uint32_t hosts = host_count(order);
    uint32_t start = 0;
    int result = 0;

    for (uint32_t host = 0; host < hosts; host++) {
        order->starts[host] = start;
        start += esi_shiviz_log_host(order->log, host)->events;
    }
    for (uint32_t i = 0; i < event_count(order); i++)
        order->at[i] = NO_EVENT;
    for (uint32_t i = 0; result == 0 && i < event_count(order); i++)
        result = place_event(order, i, error);
    return result;
}

/* --- Predecessors ----------------------------------------------------------------- */

static uint32_t entry_of(const struct esi_shiviz_event *event, uint32_t host)
{
    uint32_t low = 0;
    uint32_t high = event->entries;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (event->clock[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low < event->entries && event->clock[low].host == host
               ? event->clock[low].value
               : 0;
}

/* Whether all that `earlier` knows is in the clock of `event`, which is spread out in
 * order->clock, and does not hold `event` itself. */
static int check_known(const struct esi_shiviz_order *order,
                       const struct esi_shiviz_event *event,
                       const struct esi_shiviz_event *earlier,
                       struct es_error *error)
{
    for (uint32_t i = 0; i < earlier->entries; i++) {
        const struct esi_shiviz_entry *entry = &earlier->clock[i];

        if (entry->value > order->clock[entry->host])
            return es_error_set_at(
                error, -EINVAL, order->log->text->source, event->line, 0,
                "the clock knows %u events of host '%s', and event %u of host '%s' "
                "before it (line %d) knows %u",
                order->clock[entry->host], host_name(order, entry->host), earlier->own,
                host_name(order, earlier->host), earlier->line, entry->value);
    }
    if (earlier->host != event->host && entry_of(earlier, event->host) >= event->own)
        return es_error_set_at(
            error, -EINVAL, order->log->text->source, event->line, 0,
            "this event and event %u of host '%s' (line %d) are each before the other",
            earlier->own, host_name(order, earlier->host), earlier->line);
    return 0;
}

/* Of the events that rose above what the host knew, keeps those that no other knows.
 */
static int keep_sends(struct esi_shiviz_order *order,
                      const struct esi_shiviz_event *event,
                      const struct esi_shiviz_event *before,
                      struct esi_shiviz_place *place)
{
    uint64_t at;
    uint32_t *sends = es_rows_extend(&order->sends, event->entries, &at);

    if (!sends)
        return -ENOMEM;
    for (uint32_t i = 0; i < event->entries; i++) {
        const struct esi_shiviz_entry *entry = &event->clock[i];
        bool rose = entry->host != event->host &&
                    (!before || entry->value > entry_of(before, entry->host));

        if (rose && order->knowing[entry->host] == 1) {
            sends[place->count] =
                esi_shiviz_order_event(order, entry->host, entry->value);
            order->places[sends[place->count++]].is_named = true;
        }
    }
    place->sends = sends;
    return 0;
}

static int count_knowing(struct esi_shiviz_order *order,
                         const struct esi_shiviz_event *event,
                         const struct esi_shiviz_event *candidate,
                         struct es_error *error)
{
    for (uint32_t i = 0; i < candidate->entries; i++) {
        uint32_t host = candidate->clock[i].host;

        order->knowing[host] += candidate->clock[i].value == order->clock[host];
    }
    return check_known(order, event, candidate, error);
}

static int look_at_candidates(struct esi_shiviz_order *order,
                              const struct esi_shiviz_event *event,
                              const struct esi_shiviz_event *before,
                              uint32_t *ret_candidates,
                              struct es_error *error)
{
    *ret_candidates = 0;
    for (uint32_t i = 0; i < event->entries; i++) {
        const struct esi_shiviz_entry *entry = &event->clock[i];
        uint32_t number;
        int result;

        if (entry->host == event->host ||
            (before && entry->value <= entry_of(before, entry->host)))
            continue;
        if (entry->value > esi_shiviz_log_host(order->log, entry->host)->events)
            return es_error_set_at(
                error, -EINVAL, order->log->text->source, event->line, 0,
                "the clock knows %u events of host '%s', and the log has %u",
                entry->value, host_name(order, entry->host),
                esi_shiviz_log_host(order->log, entry->host)->events);
        number = esi_shiviz_order_event(order, entry->host, entry->value);
        result = count_knowing(order, event, esi_shiviz_log_event(order->log, number),
                               error);
        if (result < 0)
            return result;
        ++*ret_candidates;
    }
    return 0;
}

static int find_sends(struct esi_shiviz_order *order,
                      uint32_t number,
                      struct es_error *error)
{
    const struct esi_shiviz_event *event = esi_shiviz_log_event(order->log, number);
    const struct esi_shiviz_event *before = NULL;
    uint32_t candidates;
    int result;

    for (uint32_t i = 0; i < event->entries; i++) {
        order->clock[event->clock[i].host] = event->clock[i].value;
        order->knowing[event->clock[i].host] = 0;
    }
    if (event->own > 1) {
        before = esi_shiviz_log_event(
            order->log, esi_shiviz_order_event(order, event->host, event->own - 1));
        result = check_known(order, event, before, error);
        if (result < 0)
            return result;
    }
    result = look_at_candidates(order, event, before, &candidates, error);
    if (result == 0 && candidates > 0)
        result = keep_sends(order, event, before, &order->places[number]);
    for (uint32_t i = 0; i < event->entries; i++)
        order->clock[event->clock[i].host] = 0;
    return result;
}

/* --- Life ------------------------------------------------------------------------- */

int esi_shiviz_order_init(struct esi_shiviz_order *order,
                          const struct esi_shiviz_log *log,
                          struct es_error *error)
{
    uint32_t hosts;
    uint32_t events;
    int result;

    *order = (struct esi_shiviz_order){.log = log};
    es_rows_init(&order->sends, sizeof(uint32_t), 8);
    hosts = host_count(order);
    events = event_count(order);
    order->places = calloc(events + 1u, sizeof *order->places);
    order->at = calloc(events + 1u, sizeof *order->at);
    order->starts = calloc(hosts + 1u, sizeof *order->starts);
    order->clock = calloc(hosts + 1u, sizeof *order->clock);
    order->knowing = calloc(hosts + 1u, sizeof *order->knowing);
    if (!order->places || !order->at || !order->starts || !order->clock ||
        !order->knowing)
        return -ENOMEM;
    result = place_events(order, error);
    for (uint32_t i = 0; result == 0 && i < events; i++)
        result = find_sends(order, i, error);
    return result;
}

void esi_shiviz_order_fini(struct esi_shiviz_order *order)
{
    free(order->places);
    free(order->at);
    free(order->starts);
    free(order->clock);
    free(order->knowing);
    es_rows_fini(&order->sends);
}
