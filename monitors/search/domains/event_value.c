/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_value.c - fields and attributes of an event. */
#include "config.h"

#include "monitors/search/domains/event_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "monitors/eventset/set_line.h"

bool esi_number_parse(const char *text, int64_t *ret_number)
{
    const char *digits = text + (text[0] == '-');
    int saved = errno;
    intmax_t number;
    char *end;

    if (digits[0] < '0' || digits[0] > '9')
        return false;
    errno = 0;
    number = strtoimax(text, &end, 10);
    if (*end != '\0' || errno != 0 || number < INT64_MIN || number > INT64_MAX) {
        errno = saved;
        return false;
    }
    errno = saved;
    *ret_number = number;
    return true;
}

bool esi_event_value_number(const struct esi_event_value *value, int64_t *ret_number)
{
    if (value->text)
        return esi_number_parse(value->text, ret_number);
    *ret_number = value->number;
    return true;
}

bool esi_numbers_compare(enum esi_pattern_test test, int64_t left, int64_t right)
{
    switch (test) {
    case ES_TEST_EQUAL:
        return left == right;
    case ES_TEST_LESS:
        return left < right;
    case ES_TEST_LESS_EQUAL:
        return left <= right;
    case ES_TEST_GREATER:
        return left > right;
    case ES_TEST_GREATER_EQUAL:
        return left >= right;
    default:
        return false;
    }
}

const char *esi_event_value_text(const struct esi_event_value *value, char *room)
{
    if (value->text)
        return value->text;
    snprintf(room, ESI_NUMBER_TEXT, "%" PRId64, value->number);
    return room;
}

static bool find_attribute(const struct es_set_event *event,
                           const char *name,
                           struct esi_event_value *ret_value)
{
    for (size_t i = 0; i < event->attribute_count; i++) {
        const struct es_event_attribute *attribute = &event->attributes[i];
        if (attribute->name[0] == name[0] && strcmp(attribute->name, name) == 0) {
            *ret_value = (struct esi_event_value){attribute->text, attribute->number};
            return true;
        }
    }
    return false;
}

static bool find_number(const struct es_set_event *event,
                        const char *name,
                        int64_t *ret_number)
{
    struct esi_event_value value;

    return find_attribute(event, name, &value) &&
           esi_event_value_number(&value, ret_number);
}

static bool event_duration(const struct es_set_event *event,
                           struct esi_event_value *ret_value)
{
    int64_t start, stop, length;

    if (!find_number(event, "start", &start) || !find_number(event, "stop", &stop) ||
        __builtin_sub_overflow(stop, start, &length))
        return false;
    *ret_value = (struct esi_event_value){NULL, length};
    return true;
}

bool esi_event_value(const struct es_set_event *event,
                     const char *trace_name,
                     enum esi_pattern_field field,
                     const char *attribute,
                     struct esi_event_value *ret_value)
{
    switch (field) {
    case ES_FIELD_PROCESS:
        *ret_value = (struct esi_event_value){trace_name, 0};
        return true;
    case ES_FIELD_TYPE:
        *ret_value = (struct esi_event_value){event->type, 0};
        return true;
    case ES_FIELD_TEXT:
        *ret_value = (struct esi_event_value){event->text, 0};
        return true;
    case ES_FIELD_KIND:
        *ret_value = (struct esi_event_value){esi_event_kind_name(event->kind), 0};
        return true;
    case ES_FIELD_ATTRIBUTE:
        return find_attribute(event, attribute, ret_value) ||
               (strcmp(attribute, "duration") == 0 && event_duration(event, ret_value));
    }
    return false;
}

bool esi_event_time(const struct es_set_event *event, int64_t *ret_time)
{
    return find_number(event, "time", ret_time) ||
           find_number(event, event->kind == ES_EVENT_RECEIVE ? "stop" : "start",
                       ret_time);
}
