/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Small event sets, random or written by hand, whose order is known, in which tests
 * search patterns.
 *
 *   small_set_init(&set);
 *   p = small_set_trace(&set, "P");
 *   a = small_set_event(&set, p, ES_EVENT_SEND, "A", "", 0);
 *   b = small_set_event(&set, q, ES_EVENT_RECEIVE, "B", "", SMALL_BIT(a));
 *   small_set_close(&set);
 *
 * Events are numbered from 0, in a linear extension in which the halves of a sync are
 * adjacent.  A set of events is a word of bits.  A small set is a plain value that can
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
    char text[SMALL_TEXT]; /* of a number its decimal form */
};

struct small_event {
    struct es_event_id id;
    enum es_event_kind kind;
    uint64_t partners; /* sends of a receive, or the other half of a sync */
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
    uint64_t before[SMALL_EVENTS]; /* predecessors of each event */
};

/* --- Creation by hand ------------------------------------------------------------- */

void small_set_init(struct small_set *set);
/* These return the number of the item added; they end the program
 * if there is no room. */
uint32_t small_set_trace(struct small_set *set, const char *name);
uint32_t small_set_event(struct small_set *set,
                         uint32_t trace,
                         enum es_event_kind kind,
                         const char *type,
                         const char *text,
                         uint64_t partners);
/* Adds two events that are partners of each other; returns the number of the first. */
uint32_t small_set_sync(struct small_set *set,
                        uint32_t trace,
                        uint32_t other,
                        const char *type);
/* Adds an attribute to the last event. */
void small_set_number(struct small_set *set, const char *name, int64_t number);
void small_set_text(struct small_set *set, const char *name, const char *text);
/* Computes the order. */
void small_set_close(struct small_set *set);

/* --- Random sets ------------------------------------------------------------------ */

/* Draws about `events` events (at least 1) of any shape; sometimes the set is lossy or
 * has several traces of the same name. */
void small_set_random(uint64_t *draw, uint32_t events, struct small_set *ret_set);

/* Removes an event, and the other half if it is a sync. */
void small_set_remove(struct small_set *set, uint32_t number);

/* --- As a stream ------------------------------------------------------------------ */

/* The numbers in a random linear extension; halves of syncs are adjacent. */
void small_set_extension(const struct small_set *set,
                         uint64_t *draw,
                         uint32_t ret_order[SMALL_EVENTS]);
/* These return the first negative result of the sink, or 0. */
int small_set_give_traces(const struct small_set *set, const struct es_set_sink *sink);
int small_set_give(const struct small_set *set,
                   uint32_t number,
                   const struct es_set_sink *sink);
/* Passes all traces, then all events in the order of an extension; NULL = by number. */
int small_set_stream(const struct small_set *set,
                     const uint32_t *order,
                     const struct es_set_sink *sink);

/* The number of an existing event. */
uint32_t small_set_find(const struct small_set *set, struct es_event_id id);
/* Prints a line for each event. */
void small_set_print(const struct small_set *set, FILE *out);
/* Prints "{P 1, Q 2}": names of traces and indices. */
void small_set_print_events(const struct small_set *set, uint64_t events, FILE *out);

#endif
