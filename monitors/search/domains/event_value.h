/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Fields and attributes of an event, for conditions and comparisons.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_EVENT_VALUE_H
#define ES_MONITORS_SEARCH_DOMAINS_EVENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/event.h"
#include "monitors/search/language/pattern.h"

/* A value.  If `text` is NULL, the value is `number`. */
struct esi_event_value {
    const char *text;
    int64_t number;
};

enum { ESI_NUMBER_TEXT = 24 }; /* buffer size for any number as a text */

/* Parses a text that consists of a decimal number.  False if it does not. */
bool esi_number_parse(const char *text, int64_t *ret_number);

/* Compares two numbers: EQUAL, LESS, ...; false for other tests. */
bool esi_numbers_compare(enum esi_pattern_test test, int64_t left, int64_t right);

/* Returns the value as a number; false if it is not a number. */
bool esi_event_value_number(const struct esi_event_value *value, int64_t *ret_number);
/* Returns the value as a text; `room` has ESI_NUMBER_TEXT bytes. */
const char *esi_event_value_text(const struct esi_event_value *value, char *room);

/* Returns a field or attribute.  False if the event has no such attribute; the fields
 * always exist.  `duration` is `stop` - `start`, unless the event has an attribute of
 * that name. */
bool esi_event_value(const struct es_set_event *event,
                     const char *trace_name,
                     enum esi_pattern_field field,
                     const char *attribute,
                     struct esi_event_value *ret_value);

/* When the event happened (domain.h): `time`, or else `stop` of a receive and `start`
 * of other events.  False if it has no time. */
bool esi_event_time(const struct es_set_event *event, int64_t *ret_time);

#endif
