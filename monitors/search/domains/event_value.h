/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Fields and attributes of an event as conditions and comparisons see them.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_EVENT_VALUE_H
#define ES_MONITORS_SEARCH_DOMAINS_EVENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/language/pattern.h"

/* What an event says of one thing.  `text` NULL: the value is `number`. */
struct esi_event_value {
    const char *text;
    int64_t number;
};

enum { ESI_NUMBER_TEXT = 24 }; /* room for any number as a text */

/* A text that is a decimal number from end to end, as a number. */
bool esi_number_parse(const char *text, int64_t *ret_number);

/* Whether two numbers are EQUAL, LESS ...; of other tests false. */
bool esi_numbers_compare(enum esi_pattern_test test, int64_t left, int64_t right);

/* The value as a number; false: it is none. */
bool esi_event_value_number(const struct esi_event_value *value, int64_t *ret_number);
/* The value as a text; `room` has ESI_NUMBER_TEXT bytes. */
const char *esi_event_value_text(const struct esi_event_value *value, char *room);

/* False: the event has no such attribute.  `duration` is `stop` - `start` of events
 * that have no attribute of that name.  The event's fields are always there. */
bool esi_event_value(const struct es_set_event *event,
                     const char *trace_name,
                     enum esi_pattern_field field,
                     const char *attribute,
                     struct esi_event_value *ret_value);

/* When it happened (domain.h): `time`, else `stop` of a receive and `start` of
 * others.  False: it does not say. */
bool esi_event_time(const struct es_set_event *event, int64_t *ret_time);

#endif
