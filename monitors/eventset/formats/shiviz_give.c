/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Gives the events of an execution in the order of the log, but those that an event
 * follows before it.
 */
#include "config.h"

#include "monitors/eventset/formats/shiviz_give.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What an event of the log became. */
struct given {
    struct es_event_id last; /* the only one, or the send of both; index 0 = not yet */
};

struct giving {
    const struct esi_shiviz_order *order;
    const struct esi_shiviz_log *log;
    const struct es_set_sink *sink;
    struct es_shiviz_statistics *statistics;
    uint32_t first_trace;
    size_t event_group;
    int type_group;               /* -1 = none */
    struct given *given;          /* of each event of the log */
    uint32_t *indexes;            /* of the latest event of each host */
    struct es_rows waiting;       /* uint32_t: events that wait for others, a stack */
    uint64_t waiting_count;       /* that many of them are used */
    struct es_event_id *partners; /* of the event that is given, as many as hosts */
    struct es_event_attribute *attributes;
    char *texts; /* the texts of one event, each ended by a byte 0 */
    size_t texts_capacity;
};

/* --- One event -------------------------------------------------------------------- */

static int reserve_texts(struct giving *giving, const struct esi_shiviz_event *event)
{
    size_t names = esi_match_names(giving->log->match);
    size_t bytes = 1;
    char *grown;

    for (size_t i = 0; i < names; i++)
        if (event->groups[i].length != SIZE_MAX)
            bytes += event->groups[i].length + 1;
    if (bytes <= giving->texts_capacity)
        return 0;
    grown = realloc(giving->texts, 2 * bytes);
    if (!grown)
        return -ENOMEM;
    giving->texts = grown;
    giving->texts_capacity = 2 * bytes;
    return 0;
}

/* A group's text, put at *next; "" if it took no part. */
static const char *copy_text(const struct giving *giving,
                             struct esi_piece piece,
                             char **next)
{
    char *text = *next;

    if (piece.length == SIZE_MAX)
        return "";
    memcpy(text, giving->log->text->text + piece.start, piece.length);
    text[piece.length] = '\0';
    *next += piece.length + 1;
    return text;
}

static bool is_attribute(const struct giving *giving, size_t group)
{
    return group != giving->log->host && group != giving->log->clock &&
           group != giving->event_group && (int)group != giving->type_group;
}

static int describe(struct giving *giving,
                    const struct esi_shiviz_event *event,
                    struct es_set_event *ret_event)
{
    const struct esi_shiviz_pair *match = giving->log->match;
    char *next;

    if (reserve_texts(giving, event) < 0)
        return -ENOMEM;
    next = giving->texts;
    *ret_event = (struct es_set_event){
        .type = giving->type_group < 0
                    ? ""
                    : copy_text(giving, event->groups[giving->type_group], &next),
        .text = copy_text(giving, event->groups[giving->event_group], &next),
        .attributes = giving->attributes,
    };
    for (size_t i = 0; i < esi_match_names(match); i++)
        if (is_attribute(giving, i) && event->groups[i].length != SIZE_MAX)
            giving->attributes[ret_event->attribute_count++] =
                (struct es_event_attribute){
                    .name = esi_match_name(match, i),
                    .text = copy_text(giving, event->groups[i], &next),
                };
    return 0;
}

static int give_one(struct giving *giving, uint32_t host, struct es_set_event *event)
{
    event->id = (struct es_event_id){
        .trace = giving->first_trace + esi_shiviz_log_host(giving->log, host)->trace,
        .index = ++giving->indexes[host],
    };
    giving->statistics->events++;
    return giving->sink->event(giving->sink->data, event);
}

/* A receive, and after it the send. */
static int give_halves(struct giving *giving, uint32_t host, struct es_set_event *event)
{
    struct es_event_attribute *half = &giving->attributes[event->attribute_count++];
    int result;

    *half = (struct es_event_attribute){.name = "half", .text = "receive"};
    result = give_one(giving, host, event);
    if (result < 0)
        return result;
    half->text = "send";
    event->kind = ES_EVENT_SEND;
    event->partners = NULL;
    event->partner_count = 0;
    giving->statistics->split_events++;
    return give_one(giving, host, event);
}

static int give(struct giving *giving, uint32_t number)
{
    const struct esi_shiviz_event *event = esi_shiviz_log_event(giving->log, number);
    const struct esi_shiviz_place *place = &giving->order->places[number];
    struct es_set_event out;
    int result = describe(giving, event, &out);

    if (result < 0)
        return result;
    for (uint32_t i = 0; i < place->count; i++)
        giving->partners[i] = giving->given[place->sends[i]].last;
    out.partners = place->count ? giving->partners : NULL;
    out.partner_count = place->count;
    out.kind = place->count      ? ES_EVENT_RECEIVE
               : place->is_named ? ES_EVENT_SEND
                                 : ES_EVENT_UNARY;
    result = place->count && place->is_named ? give_halves(giving, event->host, &out)
                                             : give_one(giving, event->host, &out);
    giving->given[number].last = out.id;
    giving->statistics->log_events++;
    return result;
}

/* --- All of them ------------------------------------------------------------------ */

/* An event that must be given before; NO_EVENT: none. */
enum { NO_EVENT = UINT32_MAX };

static uint32_t find_missing(const struct giving *giving, uint32_t number)
{
    const struct esi_shiviz_event *event = esi_shiviz_log_event(giving->log, number);
    const struct esi_shiviz_place *place = &giving->order->places[number];

    if (event->own > 1) {
        uint32_t before =
            esi_shiviz_order_event(giving->order, event->host, event->own - 1);

        if (giving->given[before].last.index == 0)
            return before;
    }
    for (uint32_t i = 0; i < place->count; i++)
        if (giving->given[place->sends[i]].last.index == 0)
            return place->sends[i];
    return NO_EVENT;
}

static int wait_for(struct giving *giving, uint32_t number)
{
    if (giving->waiting_count < es_rows_count(&giving->waiting))
        *(uint32_t *)es_rows_at(&giving->waiting, giving->waiting_count) = number;
    else if (es_rows_push(&giving->waiting, &number) < 0)
        return -ENOMEM;
    giving->waiting_count++;
    return 0;
}

/* The clocks were checked: nothing waits for itself. */
static int give_with_missing(struct giving *giving, uint32_t number)
{
    int result = wait_for(giving, number);

    while (result == 0 && giving->waiting_count > 0) {
        uint32_t last =
            *(uint32_t *)es_rows_at(&giving->waiting, giving->waiting_count - 1);
        uint32_t missing = find_missing(giving, last);

        if (missing != NO_EVENT) {
            result = wait_for(giving, missing);
            continue;
        }
        giving->waiting_count--;
        result = give(giving, last);
    }
    return result;
}

static int tell_traces(const struct giving *giving, const char *prefix)
{
    uint32_t hosts = (uint32_t)es_rows_count(&giving->log->hosts);
    const char **names = calloc(hosts + 1u, sizeof *names);
    int result = names ? 0 : -ENOMEM;

    for (uint32_t i = 0; result == 0 && i < hosts; i++) {
        const struct esi_shiviz_host *host = esi_shiviz_log_host(giving->log, i);

        names[host->trace] = host->name;
    }
    for (uint32_t i = 0; result == 0 && i < hosts; i++) {
        char *name;

        if (asprintf(&name, "%s%s", prefix, names[i]) < 0) {
            result = -ENOMEM;
            break;
        }
        result = giving->sink->trace(giving->sink->data, giving->first_trace + i, name);
        free(name);
    }
    free(names);
    return result;
}

static int give_all(struct giving *giving, const char *prefix)
{
    uint32_t events = (uint32_t)es_rows_count(&giving->log->events);
    uint32_t hosts = (uint32_t)es_rows_count(&giving->log->hosts);
    int result;

    giving->given = calloc(events + 1u, sizeof *giving->given);
    giving->indexes = calloc(hosts + 1u, sizeof *giving->indexes);
    giving->partners = calloc(hosts + 1u, sizeof *giving->partners);
    giving->attributes =
        calloc(esi_match_names(giving->log->match) + 1, sizeof *giving->attributes);
    if (!giving->given || !giving->indexes || !giving->partners || !giving->attributes)
        return -ENOMEM;
    result = tell_traces(giving, prefix);
    for (uint32_t i = 0; result == 0 && i < events; i++)
        if (giving->given[i].last.index == 0)
            result = give_with_missing(giving, i);
    giving->statistics->traces += hosts;
    return result;
}

int esi_shiviz_give(const struct esi_shiviz_order *order,
                    const char *prefix,
                    const struct es_set_sink *sink,
                    struct es_shiviz_statistics *statistics)
{
    struct esi_shiviz_pair *match = order->log->match;
    struct giving giving = {
        .order = order,
        .log = order->log,
        .sink = sink,
        .statistics = statistics,
        .first_trace = statistics->traces,
        .event_group = (size_t)esi_match_find_name(match, "event"),
        .type_group = esi_match_find_name(match, "type"),
    };
    int result;

    es_rows_init(&giving.waiting, sizeof(uint32_t), 6);
    result = give_all(&giving, prefix);
    es_rows_fini(&giving.waiting);
    free(giving.given);
    free(giving.indexes);
    free(giving.partners);
    free(giving.attributes);
    free(giving.texts);
    return result;
}
