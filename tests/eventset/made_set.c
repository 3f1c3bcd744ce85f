/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_set.c - creates event sets of random computations. */
#include "config.h"

#include "tests/eventset/made_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *must_have(size_t count, size_t size)
{
    void *made = calloc(count ? count : 1, size);

    if (!made)
        abort();
    return made;
}

struct made_computation *made_set_computation(uint64_t seed,
                                              unsigned round,
                                              uint32_t events,
                                              uint64_t *draw)
{
    struct made_config config = {
        .shape = (enum made_shape)(round % MADE_SHAPES),
        .seed = seed + round,
        .traces = 2 + random_below(draw, 9),
        .events = 1 + random_below(draw, events),
        .is_sparse = round % 3 == 0,
    };

    return made_computation_create(&config);
}

/* --- Orders ----------------------------------------------------------------------- */

/* Returns the number of events of the trace that come next. */
static uint32_t burst(enum made_order order, uint32_t left, uint64_t *draw)
{
    uint32_t most = order == MADE_ORDER_TRACES   ? left
                    : order == MADE_ORDER_BURSTS ? 9
                                                 : 1;

    return order == MADE_ORDER_BURSTS && left > 0
               ? 1 + random_below(draw, most < left ? most : left)
               : (most < left ? most : left);
}

uint32_t *made_set_order(const struct made_computation *made,
                         enum made_order order,
                         uint64_t *draw)
{
    uint32_t *numbers = must_have(made->count, sizeof *numbers);
    uint32_t *taken = must_have(made->traces, sizeof *taken);
    uint32_t next = made->traces;

    for (uint32_t at = 0; at < made->count;) {
        uint32_t trace, count;

        if (order == MADE_ORDER_GIVEN) {
            numbers[at] = at;
            at++;
            continue;
        }
        trace = order == MADE_ORDER_TRACES ? --next : random_below(draw, made->traces);
        count = burst(order, made->counts[trace] - taken[trace], draw);
        for (; count > 0; count--)
            numbers[at++] = made->numbers[trace][taken[trace]++];
    }
    free(taken);
    return numbers;
}

/* --- The canonical order ---------------------------------------------------------- */

/* Whether the predecessors of an event have been given. */
static bool is_ready(const struct made_computation *made,
                     const bool *given,
                     uint32_t number)
{
    const struct made_event *event = &made->events[number];

    if (event->id.index > 1 &&
        !given[made->numbers[event->id.trace][event->id.index - 2]])
        return false;
    for (uint32_t i = 0; event->kind == ES_EVENT_RECEIVE && i < event->partner_count;
         i++)
        if (!given[made_number(made, event->partners[i])])
            return false;
    return true;
}

static uint32_t other_half(const struct made_computation *made, uint32_t number)
{
    return made_number(made, made->events[number].partners[0]);
}

uint32_t *made_set_canonical(const struct made_computation *made, const uint32_t *order)
{
    uint32_t *canonical = must_have(made->count + 1, sizeof *canonical);
    bool *given = must_have(made->count, sizeof *given);

    for (uint32_t count = 0; count < made->count;) {
        uint32_t at, number = 0;

        /* A sync is ready if both halves are; it is taken at the place of the half that
         * comes first. */
        for (at = 0; at < made->count; at++) {
            number = order[at];
            if (!given[number] && is_ready(made, given, number) &&
                (made->events[number].kind != ES_EVENT_SYNC ||
                 is_ready(made, given, other_half(made, number))))
                break;
        }
        if (at == made->count)
            abort();
        given[number] = true;
        canonical[count++] = number;
        if (made->events[number].kind == ES_EVENT_SYNC) {
            given[other_half(made, number)] = true;
            canonical[count++] = other_half(made, number);
        }
    }
    free(given);
    return canonical;
}

/* --- What events have besides ----------------------------------------------------- */

enum { ATTRIBUTES_MAX = 3 };

/* The texts and attributes of an event. */
struct extras {
    char type[16];
    char text[160];
    char value[32];
    struct es_event_attribute attributes[ATTRIBUTES_MAX];
    size_t attribute_count;
};

static void make_extras(uint32_t number, struct extras *ret_extras)
{
    static const char *const values[] = {"a \"quoted\" text", "007", "-0",
                                         "\xc3\xa4\t\\", ""};
    struct extras *extras = ret_extras;
    size_t length = number % 11 == 0 ? 150 : number % 5;

    if (number % 4)
        snprintf(extras->type, sizeof extras->type, "type %u", number % 7);
    else
        extras->type[0] = '\0';
    memset(extras->text, 'x', length);
    extras->text[length] = '\0';
    snprintf(extras->value, sizeof extras->value, "%s", values[number % 5]);
    extras->attribute_count = number % (ATTRIBUTES_MAX + 1);
    extras->attributes[0] =
        (struct es_event_attribute){.name = "number", .number = (int64_t)number - 20};
    extras->attributes[1] =
        (struct es_event_attribute){.name = "value", .text = extras->value};
    extras->attributes[2] = (struct es_event_attribute){
        .name = number % 2 ? "odd" : "even",
        .number = number % 3 ? INT64_MAX - number : INT64_MIN + number};
}

static void make_event(const struct made_computation *made,
                       uint32_t number,
                       struct extras *extras,
                       struct es_set_event *ret_event)
{
    const struct made_event *event = &made->events[number];
    bool has_partners = event->kind != ES_EVENT_SEND && event->partner_count > 0;

    make_extras(number, extras);
    *ret_event = (struct es_set_event){
        .id = event->id,
        .kind = event->kind,
        .partner_count = has_partners ? event->partner_count : 0,
        .partners = has_partners ? event->partners : NULL,
        .type = extras->type,
        .text = extras->text,
        .attributes = extras->attributes,
        .attribute_count = extras->attribute_count,
    };
}

int made_set_traces(const struct made_computation *made, const struct es_set_sink *sink)
{
    char name[16];
    int code = 0;

    for (uint32_t trace = 0; code == 0 && trace < made->traces; trace++) {
        snprintf(name, sizeof name, "P%u", trace);
        code = sink->trace(sink->data, trace, name);
    }
    return code;
}

int made_set_event(const struct made_computation *made,
                   uint32_t number,
                   const struct es_set_sink *sink)
{
    struct es_set_event event;
    struct extras extras;

    make_event(made, number, &extras, &event);
    return sink->event(sink->data, &event);
}

static bool is_same_attribute(const struct es_event_attribute *a,
                              const struct es_event_attribute *b)
{
    if (strcmp(a->name, b->name) != 0 || !a->text != !b->text)
        return false;
    return a->text ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

bool made_set_is(const struct made_computation *made,
                 uint32_t number,
                 const struct es_set_event *event)
{
    struct es_set_event wanted;
    struct extras extras;

    make_event(made, number, &extras, &wanted);
    if (event->id.trace != wanted.id.trace || event->id.index != wanted.id.index ||
        event->kind != wanted.kind || event->partner_count != wanted.partner_count ||
        strcmp(event->type, wanted.type) != 0 ||
        strcmp(event->text, wanted.text) != 0 ||
        event->attribute_count != wanted.attribute_count)
        return false;
    for (uint32_t i = 0; i < wanted.partner_count; i++)
        if (event->partners[i].trace != wanted.partners[i].trace ||
            event->partners[i].index != wanted.partners[i].index)
            return false;
    for (size_t i = 0; i < wanted.attribute_count; i++)
        if (!is_same_attribute(&event->attributes[i], &wanted.attributes[i]))
            return false;
    return true;
}

/* --- Files ------------------------------------------------------------------------ */

static void write_string(FILE *stream, const char *text)
{
    putc('"', stream);
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || *text == '\t')
            fprintf(stream, "\\u%04x", *text);
        else
            putc(*text, stream);
    putc('"', stream);
}

/* Lists the receives of a send, except every third one. */
static void write_receives(const struct made_computation *made,
                           uint32_t send,
                           FILE *stream)
{
    const char *comma = "";

    fputs(", \"partners\": [", stream);
    for (uint32_t number = 0; number < made->count; number++)
        for (uint32_t i = 0;
             number % 3 != 0 && made->events[number].kind == ES_EVENT_RECEIVE &&
             i < made->events[number].partner_count;
             i++)
            if (made_number(made, made->events[number].partners[i]) == send) {
                fprintf(stream, "%s[%u, %u]", comma, made->events[number].id.trace,
                        made->events[number].id.index);
                comma = ", ";
            }
    putc(']', stream);
}

static void write_partners(const struct es_set_event *event, FILE *stream)
{
    fputs(", \"partners\": [", stream);
    for (uint32_t i = 0; i < event->partner_count; i++)
        fprintf(stream, "%s[%u, %u]", i ? ", " : "", event->partners[i].trace,
                event->partners[i].index);
    putc(']', stream);
}

static void write_attributes(const struct es_set_event *event, FILE *stream)
{
    fputs(", \"attributes\": {", stream);
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        fputs(i ? ", " : "", stream);
        write_string(stream, attribute->name);
        fputs(": ", stream);
        if (attribute->text)
            write_string(stream, attribute->text);
        else
            fprintf(stream, "\"%" PRId64 "\"", attribute->number);
    }
    putc('}', stream);
}

void made_set_write(const struct made_computation *made,
                    const uint32_t *order,
                    bool lists_partners,
                    FILE *stream)
{
    static const char *const kinds[] = {"unary", "send", "receive", "sync"};

    fputs("{\"format\": \"eventspace-events\", \"version\": 1, \"traces\": [", stream);
    for (uint32_t trace = 0; trace < made->traces; trace++)
        fprintf(stream, "%s\"P%u\"", trace ? ", " : "", trace);
    fputs("]}\n", stream);
    for (uint32_t at = 0; at < made->count; at++) {
        uint32_t number = order[at];
        struct es_set_event event;
        struct extras extras;

        make_event(made, number, &extras, &event);
        fprintf(stream, "{\"trace\": %u, \"index\": %u, \"kind\": \"%s\", \"type\": ",
                event.id.trace, event.id.index, kinds[event.kind]);
        write_string(stream, event.type);
        fputs(", \"text\": ", stream);
        write_string(stream, event.text);
        if (event.kind == ES_EVENT_SEND && lists_partners && number % 4 != 0)
            write_receives(made, number, stream);
        else
            write_partners(&event, stream);
        write_attributes(&event, stream);
        fputs(number % 10 == 0 ? " }\n\n" : "}\n", stream);
    }
}
