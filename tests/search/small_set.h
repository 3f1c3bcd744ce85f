/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets of a few events, at random or written by hand, with the truth about their
 * order: what patterns are searched in by tests.
 *
 *   small_set_init(&set);
 *   p = small_set_trace(&set, "P");
 *   a = small_set_event(&set, p, ES_EVENT_SEND, "A", "", 0);
 *   b = small_set_event(&set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(a));
 *   small_set_close(&set);
 *
 * Events have numbers from 0, in a linear extension in which the halves of a sync are
 * neighbours.  A set of events is a word of bits.  A small set is a plain value: it can
 * be copied.
 */
#ifndef ES_TESTS_SEARCH_SMALL_SET_H
#define ES_TESTS_SEARCH_SMALL_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/event.h"
#include "tests/order/made_computation.h"

enum { SMALL_EVENTS = 64, SMALL_TRACES = 16, SMALL_ATTRIBUTES = 6, SMALL_TEXT = 16 };

#define SMALL_BIT(number) (UINT64_C(1) << (number))

struct small_attribute {
    char name[SMALL_TEXT];
    bool is_number;
    int64_t number;
    char text[SMALL_TEXT]; /* of numbers too: in decimal */
};

struct small_event {
    struct es_event_id id;
    enum es_event_kind kind;
    uint64_t partners; /* sends of a receive, the other half of a sync */
    char type[SMALL_TEXT];
    char text[SMALL_TEXT];
    struct small_attribute attributes[SMALL_ATTRIBUTES];
    uint32_t attribute_count;
};

struct small_set {
    uint32_t traces;
    char names[SMALL_TRACES][SMALL_TEXT];
    uint32_t count;
    struct small_event events[SMALL_EVENTS];
    uint64_t before[SMALL_EVENTS]; /* what precedes an event */
};

/* --- By hand ---------------------------------------------------------------------- */

void small_set_init(struct small_set *set);
/* Numbers of what was added.  Too much ends the program. */
uint32_t small_set_trace(struct small_set *set, const char *name);
uint32_t small_set_event(struct small_set *set,
                         uint32_t trace,
                         enum es_event_kind kind,
                         const char *type,
                         const char *text,
                         uint64_t partners);
/* Two events that name each other; the number of the first. */
uint32_t small_set_sync(struct small_set *set,
                        uint32_t trace,
                        uint32_t other,
                        const char *type);
/* Of the event that was added last. */
void small_set_number(struct small_set *set, const char *name, int64_t number);
void small_set_text(struct small_set *set, const char *name, const char *text);
/* Works out the order. */
void small_set_close(struct small_set *set);

/* --- At random -------------------------------------------------------------------- */

/* Of about so many events, 1 or more: of all shapes, now and then lossy, with traces
 * that have one name. */
void small_set_random(struct made_draw *draw,
                      uint32_t events,
                      struct small_set *ret_set);

/* Without an event, and without the other half of a sync. */
void small_set_remove(struct small_set *set, uint32_t number);

/* --- As a stream ------------------------------------------------------------------ */

/* Numbers in another linear extension, the halves of syncs as neighbours. */
void small_set_extension(const struct small_set *set,
                         struct made_draw *draw,
                         uint32_t ret_order[SMALL_EVENTS]);
/* What the first negative call gives. */
int small_set_give_traces(const struct small_set *set, const struct es_set_sink *sink);
int small_set_give(const struct small_set *set,
                   uint32_t number,
                   const struct es_set_sink *sink);
/* All traces, then all events in an extension; NULL = by number. */
int small_set_stream(const struct small_set *set,
                     const uint32_t *order,
                     const struct es_set_sink *sink);

/* The number of an event that is there. */
uint32_t small_set_find(const struct small_set *set, struct es_event_id id);
/* A line for each event. */
void small_set_print(const struct small_set *set, FILE *out);
/* "{P 1, Q 2}": names of traces and indexes. */
void small_set_print_events(const struct small_set *set, uint64_t events, FILE *out);

#endif
