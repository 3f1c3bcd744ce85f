/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* shiviz_log.c - an execution of a ShiViz log, and the messages derived from its
 * clocks. */
#include "config.h"

#include "monitors/eventset/formats/shiviz_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library_words.h"
#include "base/lower_bound.h"

/* === Events and their clocks ====================================================== */

int esi_shiviz_log_init(struct esi_shiviz_log *log,
                        const struct esi_shiviz_text *text,
                        struct esi_shiviz_pair *match)
{
    *log = (struct esi_shiviz_log){
        .text = text,
        .match = match,
        .host = (size_t)esi_match_find_name(match, "host"),
        .clock = (size_t)esi_match_find_name(match, "clock"),
        .line = text->first_line,
    };
    esi_segmented_init(&log->events, sizeof(struct esi_shiviz_event), 6);
    esi_segmented_init(&log->hosts, sizeof(struct esi_shiviz_host), 4);
    esi_segmented_init(&log->entries, sizeof(struct esi_shiviz_entry), 8);
    esi_segmented_init(&log->groups, sizeof(struct esi_shiviz_piece), 8);
    log->numbers = json_object();
    return log->numbers ? 0 : -ENOMEM;
}

void esi_shiviz_log_fini(struct esi_shiviz_log *log)
{
    json_decref(log->numbers);
    esi_segmented_fini(&log->events);
    esi_segmented_fini(&log->hosts);
    esi_segmented_fini(&log->entries);
    esi_segmented_fini(&log->groups);
}

/* The line number of a position; positions must increase. */
static int count_lines(struct esi_shiviz_log *log, size_t at)
{
    const char *text = log->text->text;
    const char *next;

    while (log->line_at < at &&
           (next = memchr(text + log->line_at, '\n', at - log->line_at))) {
        log->line++;
        log->line_at = (size_t)(next - text) + 1;
    }
    return log->line;
}

/* --- Clocks ----------------------------------------------------------------------- */

/* Finds or adds a host and returns its number.  Names are the keys of the table, which
 * do not move. */
static int number_host(struct esi_shiviz_log *log,
                       const char *name,
                       int line,
                       uint32_t *ret_host)
{
    const json_t *known = json_object_get(log->numbers, name);
    struct esi_shiviz_host host = {.line = line};
    uint64_t number = esi_segmented_count(&log->hosts);

    if (known) {
        *ret_host = (uint32_t)json_integer_value(known);
        return 0;
    }
    if (json_object_set_new_nocheck(log->numbers, name,
                                    json_integer((json_int_t)number)) < 0)
        return -ENOMEM;
    host.name = json_object_iter_key(json_object_iter_at(log->numbers, name));
    if (esi_segmented_push(&log->hosts, &host) < 0)
        return -ENOMEM;
    *ret_host = (uint32_t)number;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct esi_shiviz_entry *one = a;
    const struct esi_shiviz_entry *other = b;

    return one->host < other->host ? -1 : one->host > other->host;
}

/* Entries of 0 are dropped. */
static int take_entry(struct esi_shiviz_log *log,
                      struct esi_shiviz_event *event,
                      struct esi_shiviz_entry *entries,
                      const char *name,
                      const json_t *value,
                      struct es_error *error)
{
    json_int_t number = json_integer_value(value);
    struct esi_shiviz_entry *entry = &entries[event->entries];

    if (!json_is_integer(value) || number < 0 || number > UINT32_MAX - 2)
        return es_error_set_at(error, -EINVAL, log->text->source, event->line, 0,
                               "the clock's entry of host '%s' is not a number of "
                               "events",
                               name);
    if (number == 0)
        return 0;
    entry->value = (uint32_t)number;
    event->entries++;
    return number_host(log, name, event->line, &entry->host);
}

static int take_entries(struct esi_shiviz_log *log,
                        struct esi_shiviz_event *event,
                        json_t *clock,
                        struct es_error *error)
{
    struct esi_shiviz_entry *entries;
    const char *name;
    json_t *value;
    uint64_t at;

    entries = esi_segmented_extend(&log->entries, json_object_size(clock), &at);
    if (!entries)
        return -ENOMEM;
    json_object_foreach(clock, name, value)
    {
        int result = take_entry(log, event, entries, name, value, error);

        if (result < 0)
            return result;
    }
    qsort(entries, event->entries, sizeof *entries, compare_entries);
    event->clock = entries;
    return 0;
}

/* A clock printed as the content of a string: `{\"a\":1}`. NULL if it is not one. */
static json_t *load_escaped(const char *text, size_t length)
{
    char *plain = malloc(length);
    size_t count = 0;
    json_t *clock;

    if (!plain)
        return NULL;
    for (size_t i = 0; i < length; i++)
        if (text[i] != '\\' || i + 1 == length || text[i + 1] != '"')
            plain[count++] = text[i];
    clock = json_loadb(plain, count, JSON_REJECT_DUPLICATES, NULL);
    free(plain);
    return clock;
}

static void fail_clock(struct esi_shiviz_log *log,
                       size_t at,
                       const json_error_t *fault,
                       struct es_error *error)
{
    int line = count_lines(log, at);
    int column = (int)(at - log->line_at);
    char words[JSON_ERROR_TEXT_LENGTH];

    es_error_set_at(error, -EINVAL, log->text->source, line + fault->line - 1,
                    fault->line == 1 ? column + fault->position : fault->column,
                    "the clock is not JSON: %s",
                    esi_library_words(fault->text, words, sizeof words));
}

static json_t *load_clock(struct esi_shiviz_log *log,
                          size_t at,
                          size_t length,
                          struct es_error *error)
{
    const char *text = log->text->text + at;
    json_error_t fault;
    json_t *clock = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    int line;

    if (!clock)
        clock = load_escaped(text, length);
    if (!clock) {
        fail_clock(log, at, &fault, error);
        return NULL;
    }
    line = count_lines(log, at);
    if (json_is_object(clock) && json_object_size(clock) > 0)
        return clock;
    es_error_set_at(error, -EINVAL, log->text->source, line,
                    (int)(at - log->line_at) + 1,
                    "the clock is not a JSON object of hosts and numbers");
    json_decref(clock);
    return NULL;
}

/* --- Events ----------------------------------------------------------------------- */

static int take_own(struct esi_shiviz_log *log,
                    struct esi_shiviz_event *event,
                    struct es_error *error)
{
    struct esi_shiviz_piece piece = event->groups[log->host];
    struct esi_shiviz_host *host;
    char *name = strndup(log->text->text + piece.start, piece.length);
    const json_t *known = name ? json_object_get(log->numbers, name) : NULL;

    if (!name)
        return -ENOMEM;
    event->host = known ? (uint32_t)json_integer_value(known) : UINT32_MAX;
    for (uint32_t i = 0; i < event->entries; i++)
        if (event->clock[i].host == event->host)
            event->own = event->clock[i].value;
    if (event->own == 0) {
        es_error_set_at(error, -EINVAL, log->text->source, event->line, 0,
                        "the clock of an event of host '%s' has no entry of that host",
                        name);
        free(name);
        return -EINVAL;
    }
    free(name);
    host = esi_shiviz_log_host(log, event->host);
    if (host->events++ == 0)
        host->trace = log->traces++;
    return 0;
}

/* Stores the groups of the match. */
static const struct esi_shiviz_piece *take_groups(struct esi_shiviz_log *log)
{
    size_t names = esi_match_names(log->match);
    uint64_t at;
    struct esi_shiviz_piece *groups = esi_segmented_extend(&log->groups, names, &at);

    for (size_t i = 0; groups && i < names; i++)
        groups[i] = esi_match_group(log->match, i);
    return groups;
}

static int take_event(struct esi_shiviz_log *log, size_t at, struct es_error *error)
{
    struct esi_shiviz_event event = {.groups = take_groups(log)};
    struct esi_shiviz_piece piece;
    json_t *clock;
    int result;

    if (!event.groups)
        return -ENOMEM;
    piece = event.groups[log->clock];
    if (piece.length == SIZE_MAX || event.groups[log->host].length == SIZE_MAX)
        return es_error_set_at(error, -EINVAL, log->text->source, count_lines(log, at),
                               0,
                               "the regular expression finds an event without host or "
                               "clock");
    clock = load_clock(log, piece.start, piece.length, error);
    if (!clock)
        return -EINVAL;
    event.line = log->line;
    result = take_entries(log, &event, clock, error);
    json_decref(clock);
    if (result == 0)
        result = take_own(log, &event, error);
    return result == 0 ? esi_segmented_push(&log->events, &event) : result;
}

/* Reports that the logs of some hosts are missing. */
static int fail_hosts(const struct esi_shiviz_log *log,
                      const struct esi_shiviz_host *missing,
                      uint32_t missing_count,
                      struct es_error *error)
{
    char more[40] = "";

    if (missing_count > 1)
        snprintf(more, sizeof more, " (likewise %u more)", missing_count - 1);
    return es_error_set_at(error, -EINVAL, log->text->source, missing->line, 0,
                           "the clock names host '%s', which has no events here%s; put "
                           "the logs of all hosts into one file (cat HOST1.log "
                           "HOST2.log ... >ALL.log), in any order, and import that",
                           missing->name, more);
}

static int check_hosts(const struct esi_shiviz_log *log, struct es_error *error)
{
    const struct esi_shiviz_host *missing = NULL;
    uint32_t missing_count = 0;

    for (uint32_t i = 0; i < esi_segmented_count(&log->hosts); i++) {
        const struct esi_shiviz_host *host = esi_shiviz_log_host(log, i);

        if (host->events > 0)
            continue;
        missing = missing ? missing : host;
        missing_count++;
    }
    return missing ? fail_hosts(log, missing, missing_count, error) : 0;
}

int esi_shiviz_log_parse(struct esi_shiviz_log *log,
                         size_t start,
                         size_t end,
                         struct es_error *error)
{
    struct esi_shiviz_piece whole;
    int result;

    while ((result = esi_match_next(log->match, log->text->text, start, end, &whole)) >
           0) {
        result = take_event(log, whole.start, error);
        if (result < 0)
            return result;
        start = whole.start + whole.length;
        if (whole.length == 0)
            start = esi_match_step(log->text->text, start, end);
        if (start >= end)
            return check_hosts(log, error);
    }
    if (result == -E2BIG)
        return es_error_set_at(error, -EINVAL, log->text->source,
                               count_lines(log, start), 0,
                               "the regular expression takes too long from here on; "
                               "a simpler one is needed");
    return result < 0 ? result : check_hosts(log, error);
}

/* === Messages ===================================================================== */

static uint32_t host_count(const struct esi_shiviz_order *order)
{
    return (uint32_t)esi_segmented_count(&order->log->hosts);
}

static uint32_t event_count(const struct esi_shiviz_order *order)
{
    return (uint32_t)esi_segmented_count(&order->log->events);
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
            "event %u of host '%s' occurs twice, first in line %d; a host's own clock "
            "rises by 1",
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

static bool is_entry_before(const void *entry, const void *host)
{
    return ((const struct esi_shiviz_entry *)entry)->host < *(const uint32_t *)host;
}

static uint32_t entry_of(const struct esi_shiviz_event *event, uint32_t host)
{
    size_t at = esi_lower_bound(event->clock, event->entries, sizeof *event->clock,
                                is_entry_before, &host);

    return at < event->entries && event->clock[at].host == host ? event->clock[at].value
                                                                : 0;
}

/* Checks that everything known to `earlier` is in the clock of `event`, which is
 * expanded in order->clock, and that `earlier` does not know `event`. */
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

/* Of the events that are new in the clock of `event`, keeps those unknown to the
 * others. */
static int keep_sends(struct esi_shiviz_order *order,
                      const struct esi_shiviz_event *event,
                      const struct esi_shiviz_event *before,
                      struct esi_shiviz_place *place)
{
    uint64_t at;
    uint32_t *sends = esi_segmented_extend(&order->sends, event->entries, &at);

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

/* --- Lifecycle -------------------------------------------------------------------- */

int esi_shiviz_order_init(struct esi_shiviz_order *order,
                          const struct esi_shiviz_log *log,
                          struct es_error *error)
{
    uint32_t hosts;
    uint32_t events;
    int result;

    *order = (struct esi_shiviz_order){.log = log};
    esi_segmented_init(&order->sends, sizeof(uint32_t), 8);
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
    esi_segmented_fini(&order->sends);
}
