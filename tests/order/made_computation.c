/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_computation.c - events made by shapes, and their transitive closure. */
#include "config.h"

#include "tests/order/made_computation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/order/made_shapes.h"

void *made_memory(void *old, size_t count, size_t bytes)
{
    void *memory = reallocarray(old, count ? count : 1, bytes);

    if (!memory) {
        perror("made_computation");
        exit(1);
    }
    if (!old)
        memset(memory, 0, count * bytes);
    return memory;
}

/* --- Creation --------------------------------------------------------------------- */

struct es_event_id made_maker_add(struct made_maker *maker,
                                  uint32_t trace,
                                  enum es_event_kind kind,
                                  const struct es_event_id *partners,
                                  uint32_t partner_count)
{
    struct made_computation *made = maker->made;
    struct made_event *event;

    if (made->count == maker->capacity) {
        maker->capacity = maker->capacity * 2 + 64;
        made->events = made_memory(made->events, maker->capacity, sizeof *made->events);
    }
    event = &made->events[made->count++];
    event->id = (struct es_event_id){.trace = trace, .index = ++made->counts[trace]};
    event->kind = kind;
    event->partner_count = partner_count;
    event->partners = NULL;
    if (partner_count > 0) {
        event->partners = made_memory(NULL, partner_count, sizeof *event->partners);
        memcpy(event->partners, partners, partner_count * sizeof *partners);
    }
    return event->id;
}

/* Selects the traces of communicators at random. */
static void place_communicators(struct made_maker *maker, uint32_t communicators)
{
    uint32_t traces = maker->made->traces;

    maker->process = made_memory(NULL, traces, sizeof *maker->process);
    for (uint32_t i = 0; i < traces; i++)
        maker->process[i] = i;
    for (uint32_t i = traces; i-- > traces - communicators;) {
        uint32_t j = random_below(&maker->draw, i + 1);
        uint32_t other = maker->process[j];

        maker->process[j] = maker->process[i];
        maker->process[i] = other;
    }
    maker->processes = traces - communicators;
    maker->is_member = made_memory(NULL, (size_t)communicators * maker->processes,
                                   sizeof *maker->is_member);
    for (uint32_t i = 0; i < communicators * maker->processes; i++)
        maker->is_member[i] = i < maker->processes || random_percent(&maker->draw, 40);
}

/* Draws when processes begin and end; the first one exists from beginning to end. */
static void place_lives(struct made_maker *maker)
{
    const struct made_config *config = &maker->made->config;

    maker->begins = made_memory(NULL, config->traces, sizeof *maker->begins);
    maker->ends = made_memory(NULL, config->traces, sizeof *maker->ends);
    for (uint32_t i = 0; i < maker->processes; i++) {
        uint32_t *begin = &maker->begins[i], *end = &maker->ends[i];

        *end = UINT32_MAX;
        if (i == 0 || !config->is_sparse)
            continue;
        if (random_percent(&maker->draw, 30))
            *begin = random_below(&maker->draw, config->events + 1);
        if (random_percent(&maker->draw, 30))
            *end = random_below(&maker->draw, config->events + 1);
    }
}

static void number_events(struct made_computation *made)
{
    made->numbers = made_memory(NULL, made->traces, sizeof *made->numbers);
    for (uint32_t trace = 0; trace < made->traces; trace++)
        made->numbers[trace] =
            made_memory(NULL, made->counts[trace], sizeof *made->numbers[trace]);
    for (uint32_t i = 0; i < made->count; i++)
        made->numbers[made->events[i].id.trace][made->events[i].id.index - 1] = i;
}

static void make(struct made_computation *made)
{
    const struct made_config *config = &made->config;
    struct made_maker maker = {.made = made};

    maker.draw = config->seed;
    place_communicators(&maker,
                        made_shape_communicators(config->shape, config->traces));
    place_lives(&maker);
    while (made->count < config->events)
        made_shape_step(&maker);
    free(maker.messages);
    free(maker.begins);
    free(maker.ends);
    free(maker.process);
    free(maker.is_member);
}

/* --- The truth -------------------------------------------------------------------- */

static uint64_t *row_of(const struct made_computation *made, uint32_t number)
{
    return &made->before[number * made->row_words];
}

static void set_bit(uint64_t *row, uint32_t number)
{
    row[number / 64] |= UINT64_C(1) << (number % 64);
}

/* Adds an event and its predecessors to a row; of a sync, also its other half. */
static void include_event(struct made_computation *made, uint64_t *row, uint32_t number)
{
    const struct made_event *event = &made->events[number];
    const uint64_t *more = row_of(made, number);

    for (size_t i = 0; i < made->row_words; i++)
        row[i] |= more[i];
    set_bit(row, number);
    if (event->kind == ES_EVENT_SYNC)
        set_bit(row, made_number(made, event->partners[0]));
}

static void include_last(struct made_computation *made,
                         uint64_t *row,
                         struct es_event_id id)
{
    if (id.index > 1)
        include_event(made, row, made->numbers[id.trace][id.index - 2]);
}

static void close_order(struct made_computation *made)
{
    made->row_words = made->count / 64 + 1;
    made->before =
        made_memory(NULL, made->count * made->row_words, sizeof *made->before);
    for (uint32_t i = 0; i < made->count; i++) {
        const struct made_event *event = &made->events[i];

        include_last(made, row_of(made, i), event->id);
        for (uint32_t j = 0; j < event->partner_count; j++) {
            if (event->kind == ES_EVENT_SYNC)
                include_last(made, row_of(made, i), event->partners[j]);
            else
                include_event(made, row_of(made, i),
                              made_number(made, event->partners[j]));
        }
    }
}

uint32_t made_number(const struct made_computation *made, struct es_event_id id)
{
    return made->numbers[id.trace][id.index - 1];
}

bool made_precedes(const struct made_computation *made,
                   struct es_event_id a,
                   struct es_event_id b)
{
    uint32_t number = made_number(made, a);

    return row_of(made, made_number(made, b))[number / 64] >> (number % 64) & 1;
}

uint32_t made_greatest_predecessor(const struct made_computation *made,
                                   struct es_event_id event,
                                   uint32_t trace)
{
    struct es_event_id id = {.trace = trace, .index = made->counts[trace]};

    while (id.index > 0 && !made_precedes(made, id, event))
        id.index--;
    return id.index;
}

uint32_t made_least_successor(const struct made_computation *made,
                              struct es_event_id event,
                              uint32_t trace,
                              uint32_t count)
{
    struct es_event_id id = {.trace = trace, .index = 1};

    while (id.index <= count && !made_precedes(made, event, id))
        id.index++;
    return id.index <= count ? id.index : 0;
}

uint32_t made_greatest_concurrent(const struct made_computation *made,
                                  struct es_event_id event,
                                  uint32_t trace,
                                  uint32_t count)
{
    struct es_event_id id = {.trace = trace, .index = count};

    if (trace == event.trace)
        return 0;
    while (id.index > 0 &&
           (made_precedes(made, id, event) || made_precedes(made, event, id)))
        id.index--;
    return id.index;
}

/* --- Computations ----------------------------------------------------------------- */

struct made_computation *made_computation_create(const struct made_config *config)
{
    struct made_computation *made = made_memory(NULL, 1, sizeof *made);

    made->config = *config;
    made->traces = config->traces;
    made->counts = made_memory(NULL, config->traces, sizeof *made->counts);
    make(made);
    number_events(made);
    close_order(made);
    return made;
}

void made_computation_destroy(struct made_computation *made)
{
    if (!made)
        return;
    for (uint32_t i = 0; i < made->count; i++)
        free(made->events[i].partners);
    for (uint32_t trace = 0; trace < made->traces; trace++)
        free(made->numbers[trace]);
    free(made->numbers);
    free(made->events);
    free(made->counts);
    free(made->before);
    free(made);
}

const char *made_computation_name(const struct made_computation *made)
{
    static char name[160];

    snprintf(name, sizeof name, "%s, seed %llu, %u traces, %u events%s%s",
             made_shape_name(made->config.shape), (unsigned long long)made->config.seed,
             made->config.traces, made->config.events,
             made->config.is_sparse ? ", sparse" : "",
             made->config.is_lossy ? ", lossy" : "");
    return name;
}

/* --- Extensions ------------------------------------------------------------------- */

struct walk {
    const struct made_computation *made;
    uint32_t *done; /* events of each trace that are in the extension */
};

static bool is_done(const struct walk *walk, struct es_event_id id)
{
    return walk->done[id.trace] >= id.index;
}

/* Whether the next event of a trace may be appended. */
static bool is_ready(const struct walk *walk, uint32_t trace)
{
    const struct made_event *event;

    if (walk->done[trace] == walk->made->counts[trace])
        return false;
    event = &walk->made->events[walk->made->numbers[trace][walk->done[trace]]];
    if (event->kind == ES_EVENT_SYNC)
        return walk->done[event->partners[0].trace] + 1 == event->partners[0].index;
    for (uint32_t i = 0; i < event->partner_count; i++)
        if (!is_done(walk, event->partners[i]))
            return false;
    return true;
}

static uint32_t take(struct walk *walk, uint32_t trace)
{
    return walk->made->numbers[trace][walk->done[trace]++];
}

uint32_t *made_computation_extension(const struct made_computation *made, uint64_t seed)
{
    struct walk walk = {.made = made};
    uint64_t draw;
    uint32_t *extension = made_memory(NULL, made->count, sizeof *extension);
    uint32_t trace = 0;
    unsigned stay; /* percent: the chance to stay with a trace */

    draw = seed;
    stay = random_below(&draw, 100);
    walk.done = made_memory(NULL, made->traces, sizeof *walk.done);
    for (uint32_t i = 0; i < made->count;) {
        if (!random_percent(&draw, stay) || !is_ready(&walk, trace))
            trace = random_below(&draw, made->traces);
        while (!is_ready(&walk, trace))
            trace = (trace + 1) % made->traces;
        extension[i++] = take(&walk, trace);
        if (made->events[extension[i - 1]].kind == ES_EVENT_SYNC) {
            extension[i] =
                take(&walk, made->events[extension[i - 1]].partners[0].trace);
            i++;
        }
    }
    free(walk.done);
    return extension;
}

int made_computation_give(const struct made_computation *made,
                          uint32_t number,
                          const struct es_set_sink *sink)
{
    const struct made_event *event = &made->events[number];

    return sink->event(sink->data,
                       &(struct es_set_event){.id = event->id,
                                              .kind = event->kind,
                                              .partner_count = event->partner_count,
                                              .partners = event->partners,
                                              .type = "",
                                              .text = ""});
}

int made_computation_stream(const struct made_computation *made,
                            const uint32_t *extension,
                            const struct es_set_sink *sink)
{
    int code = 0;

    for (uint32_t trace = 0; trace < made->traces && code >= 0; trace++) {
        char name[16];

        snprintf(name, sizeof name, "P%u", trace);
        code = sink->trace(sink->data, trace, name);
    }
    for (uint32_t i = 0; i < made->count && code >= 0; i++)
        code = made_computation_give(made, extension ? extension[i] : i, sink);
    return code;
}
