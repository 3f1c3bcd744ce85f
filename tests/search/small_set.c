/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* small_set.c - small event sets: how they are created, changed and streamed. */
#include "config.h"

#include "tests/search/small_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "small_set: %s\n", what);
    abort();
}

static void copy_text(char target[SMALL_TEXT], const char *text)
{
    demand(strlen(text) < SMALL_TEXT, "a text is too long");
    strcpy(target, text);
}

static bool has(uint64_t events, uint32_t number)
{
    return events >> number & 1;
}

/* --- By hand ---------------------------------------------------------------------- */

void small_set_init(struct small_set *set)
{
    memset(set, 0, sizeof *set);
}

uint32_t small_set_trace(struct small_set *set, const char *name)
{
    demand(set->traces < SMALL_TRACES, "too many traces");
    copy_text(set->names[set->traces], name);
    return set->traces++;
}

uint32_t small_set_event(struct small_set *set,
                         uint32_t trace,
                         enum es_event_kind kind,
                         const char *type,
                         const char *text,
                         uint64_t partners)
{
    struct small_event *event = &set->events[set->count];

    demand(set->count < SMALL_EVENTS, "too many events");
    memset(event, 0, sizeof *event);
    event->id = (struct es_event_id){.trace = trace, .index = 1};
    for (uint32_t i = 0; i < set->count; i++)
        event->id.index += set->events[i].id.trace == trace;
    event->kind = kind;
    event->partners = partners;
    copy_text(event->type, type);
    copy_text(event->text, text);
    return set->count++;
}

uint32_t small_set_sync(struct small_set *set,
                        uint32_t trace,
                        uint32_t other,
                        const char *type)
{
    uint32_t first =
        small_set_event(set, trace, ES_EVENT_SYNC, type, "", SMALL_BIT(set->count + 1));

    small_set_event(set, other, ES_EVENT_SYNC, type, "", SMALL_BIT(first));
    return first;
}

static struct small_attribute *add_attribute(struct small_set *set, const char *name)
{
    struct small_event *event = &set->events[set->count - 1];
    struct small_attribute *attribute = &event->attributes[event->attribute_count];

    demand(event->attribute_count < SMALL_ATTRIBUTES, "too many attributes");
    event->attribute_count++;
    copy_text(attribute->name, name);
    return attribute;
}

void small_set_number(struct small_set *set, const char *name, int64_t number)
{
    struct small_attribute *attribute = add_attribute(set, name);
    char text[24];

    attribute->is_number = true;
    attribute->number = number;
    snprintf(text, sizeof text, "%" PRId64, number);
    copy_text(attribute->text, text);
}

void small_set_text(struct small_set *set, const char *name, const char *text)
{
    copy_text(add_attribute(set, name)->text, text);
}

/* --- The order -------------------------------------------------------------------- */

/* The immediate predecessors of an event: on its trace and by its message; of a sync
 * also those of the other half. */
static uint64_t immediate(const struct small_set *set, uint32_t number)
{
    const struct small_event *event = &set->events[number];
    uint64_t found = event->kind == ES_EVENT_RECEIVE ? event->partners : 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct small_event *other = &set->events[i];
        bool is_before = other->id.trace == event->id.trace &&
                         other->id.index + 1 == event->id.index;

        if (is_before)
            found |=
                SMALL_BIT(i) | (other->kind == ES_EVENT_SYNC ? other->partners : 0);
        /* A message from one half of a sync comes from both. */
        if (has(found, i) && other->kind == ES_EVENT_SYNC)
            found |= other->partners;
    }
    return found;
}

void small_set_close(struct small_set *set)
{
    bool is_changed = true;

    for (uint32_t i = 0; i < set->count; i++)
        set->before[i] = immediate(set, i);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->events[i].kind == ES_EVENT_SYNC)
            for (uint32_t j = 0; j < set->count; j++)
                if (has(set->events[i].partners, j))
                    set->before[i] |= immediate(set, j);
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = 0; i < set->count; i++)
            for (uint32_t j = 0; j < set->count; j++)
                if (has(set->before[i], j) && (set->before[j] & ~set->before[i])) {
                    set->before[i] |= set->before[j];
                    is_changed = true;
                }
    }
}

/* --- Random sets ------------------------------------------------------------------ */

static const char *pick(uint64_t *draw, const char *const *texts, uint32_t count)
{
    return texts[random_below(draw, count)];
}

/* Adds attributes like those of MPI events, with few values each. */
static void add_attributes(struct small_set *set, uint64_t *draw)
{
    static const char *const hosts[] = {"n1", "n2", "m1"};
    static const char *const words[] = {"x", "any", "007"};
    int64_t start = 1000 * (int64_t)(set->count + random_below(draw, 4));

    if (random_percent(draw, 70))
        small_set_number(set, "tag", random_below(draw, 3));
    else if (random_percent(draw, 40))
        small_set_text(set, "tag", pick(draw, words, 2));
    if (random_percent(draw, 60))
        small_set_number(set, "bytes", 512 * (int64_t)random_below(draw, 5));
    if (random_percent(draw, 50))
        small_set_text(set, "host", pick(draw, hosts, 3));
    if (random_percent(draw, 90)) {
        small_set_number(set, "start", start);
        if (random_percent(draw, 90))
            small_set_number(set, "stop", start + 500 * random_below(draw, 5));
    }
    if (random_percent(draw, 10))
        small_set_number(set, "time", start);
    else if (random_percent(draw, 5))
        small_set_number(set, "duration", 1000);
}

/* Adds an event of a computation with a type, a text and attributes. */
static void add_made(struct small_set *set,
                     const struct made_computation *made,
                     uint32_t number,
                     uint64_t *draw)
{
    static const char *const types[] = {"A", "A", "B", "B", "C", "C", "AB", "a.b"};
    static const char *const texts[] = {"", "", "x", "y", "M1(x)", "*", "q\"\\"};
    const struct made_event *event = &made->events[number];
    const char *type = pick(draw, types, 8);
    uint64_t partners = 0;

    for (uint32_t i = 0; i < event->partner_count; i++)
        partners |= SMALL_BIT(made_number(made, event->partners[i]));
    small_set_event(set, event->id.trace, event->kind, type, pick(draw, texts, 7),
                    partners);
    add_attributes(set, draw);
}

static bool is_small(const struct made_computation *made, uint32_t events)
{
    return made->count > 0 && made->count <= SMALL_EVENTS &&
           made->count <= events + events / 2 && made->traces <= SMALL_TRACES;
}

void small_set_random(uint64_t *draw, uint32_t events, struct small_set *ret_set)
{
    static const char *const names[] = {"P", "Q", "R", "PQ", "P.1"};
    struct made_computation *made = NULL;

    do {
        struct made_config config = {
            .shape = (enum made_shape)random_below(draw, MADE_SHAPES),
            .seed = random_below(draw, UINT32_MAX),
            .traces = 2 + random_below(draw, 4),
            .events = events,
            .is_sparse = random_percent(draw, 20),
            .is_lossy = random_percent(draw, 20),
        };
        made_computation_destroy(made);
        made = made_computation_create(&config);
    } while (!is_small(made, events));
    small_set_init(ret_set);
    for (uint32_t trace = 0; trace < made->traces; trace++)
        small_set_trace(
            ret_set,
            names[random_percent(draw, 80) ? trace % 5 : random_below(draw, 5)]);
    for (uint32_t i = 0; i < made->count; i++)
        add_made(ret_set, made, i, draw);
    small_set_close(ret_set);
    for (uint32_t i = 0; i < made->count; i++)
        for (uint32_t j = 0; j < made->count; j++)
            demand(has(ret_set->before[i], j) ==
                       made_precedes(made, made->events[j].id, made->events[i].id),
                   "two ways to work out the order differ");
    made_computation_destroy(made);
}

/* --- Removal ---------------------------------------------------------------------- */

/* `events` without bit `number`; higher bits are shifted down. */
static uint64_t without(uint64_t events, uint32_t number)
{
    uint64_t low = events & (SMALL_BIT(number) - 1);

    return low | ((events >> number) >> 1) << number;
}

static void remove_one(struct small_set *set, uint32_t number)
{
    struct es_event_id id = set->events[number].id;

    set->count--;
    memmove(&set->events[number], &set->events[number + 1],
            (set->count - number) * sizeof *set->events);
    for (uint32_t i = 0; i < set->count; i++) {
        struct small_event *event = &set->events[i];

        event->partners = without(event->partners, number);
        event->id.index -= event->id.trace == id.trace && event->id.index > id.index;
    }
}

void small_set_remove(struct small_set *set, uint32_t number)
{
    uint64_t removed = SMALL_BIT(number);

    if (set->events[number].kind == ES_EVENT_SYNC)
        removed |= set->events[number].partners;
    for (uint32_t i = set->count; i-- > 0;)
        if (has(removed, i))
            remove_one(set, i);
    small_set_close(set);
}

/* --- As a stream ------------------------------------------------------------------ */

/* Whether all predecessors of an event have been streamed. */
static bool is_ready(const struct small_set *set, uint64_t given, uint32_t number)
{
    return !has(given, number) && (set->before[number] & ~given) == 0;
}

void small_set_extension(const struct small_set *set,
                         uint64_t *draw,
                         uint32_t ret_order[SMALL_EVENTS])
{
    uint64_t given = 0;

    for (uint32_t at = 0; at < set->count;) {
        uint32_t number = random_below(draw, set->count);

        while (!is_ready(set, given, number))
            number = (number + 1) % set->count;
        ret_order[at++] = number;
        given |= SMALL_BIT(number);
        if (set->events[number].kind != ES_EVENT_SYNC)
            continue;
        for (uint32_t other = 0; other < set->count; other++)
            if (has(set->events[number].partners, other))
                ret_order[at++] = other;
        given |= set->events[number].partners;
    }
}

int small_set_give_traces(const struct small_set *set, const struct es_set_sink *sink)
{
    int code = 0;

    for (uint32_t trace = 0; trace < set->traces && code >= 0; trace++)
        code = sink->trace(sink->data, trace, set->names[trace]);
    return code;
}

int small_set_give(const struct small_set *set,
                   uint32_t number,
                   const struct es_set_sink *sink)
{
    const struct small_event *event = &set->events[number];
    struct es_event_attribute attributes[SMALL_ATTRIBUTES];
    struct es_event_id partners[SMALL_EVENTS];
    uint32_t partner_count = 0;

    for (uint32_t i = 0; i < set->count; i++)
        if (has(event->partners, i))
            partners[partner_count++] = set->events[i].id;
    for (uint32_t i = 0; i < event->attribute_count; i++)
        attributes[i] = (struct es_event_attribute){
            .name = event->attributes[i].name,
            .text = event->attributes[i].is_number ? NULL : event->attributes[i].text,
            .number = event->attributes[i].number,
        };
    return sink->event(sink->data, &(struct es_set_event){
                                       .id = event->id,
                                       .kind = event->kind,
                                       .partner_count = partner_count,
                                       .partners = partner_count ? partners : NULL,
                                       .type = event->type,
                                       .text = event->text,
                                       .attributes = attributes,
                                       .attribute_count = event->attribute_count,
                                   });
}

int small_set_stream(const struct small_set *set,
                     const uint32_t *order,
                     const struct es_set_sink *sink)
{
    int code = small_set_give_traces(set, sink);

    for (uint32_t i = 0; i < set->count && code >= 0; i++)
        code = small_set_give(set, order ? order[i] : i, sink);
    return code;
}

/* --- For messages ----------------------------------------------------------------- */

uint32_t small_set_find(const struct small_set *set, struct es_event_id id)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->events[i].id.trace == id.trace && set->events[i].id.index == id.index)
            return i;
    demand(false, "no such event");
    return 0;
}

void small_set_print_events(const struct small_set *set, uint64_t events, FILE *out)
{
    const char *comma = "";

    putc('{', out);
    for (uint32_t i = 0; i < set->count; i++)
        if (has(events, i)) {
            fprintf(out, "%s%u:%s %u", comma, set->events[i].id.trace,
                    set->names[set->events[i].id.trace], set->events[i].id.index);
            comma = ", ";
        }
    putc('}', out);
}

void small_set_print(const struct small_set *set, FILE *out)
{
    static const char *const kinds[] = {"unary", "send", "receive", "sync"};

    for (uint32_t i = 0; i < set->count; i++) {
        const struct small_event *event = &set->events[i];

        small_set_print_events(set, SMALL_BIT(i), out);
        fprintf(out, " %s type \"%s\" text \"%s\"", kinds[event->kind], event->type,
                event->text);
        if (event->partners) {
            fputs(" partners ", out);
            small_set_print_events(set, event->partners, out);
        }
        for (uint32_t j = 0; j < event->attribute_count; j++)
            fprintf(out, " %s=%s%s", event->attributes[j].name,
                    event->attributes[j].text,
                    event->attributes[j].is_number ? "" : " (text)");
        putc('\n', out);
    }
}
