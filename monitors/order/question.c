/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Questions about two events, as people and programs write them. */
#include "config.h"

#include "monitors/order/question.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

static int check_event(const struct es_trace_names *names,
                       const uint32_t *counts,
                       struct es_event_id id,
                       struct es_error *error)
{
    if (id.index >= 1 && id.index <= counts[id.trace])
        return 0;
    return es_error_set(error, -EINVAL, "trace '%s' has no event %u; it has %u",
                        names->names[id.trace], id.index, counts[id.trace]);
}

/* --- JSON ------------------------------------------------------------------------- */

static int take_json_trace(const json_t *trace,
                           const struct es_trace_names *names,
                           uint32_t *ret_trace,
                           struct es_error *error)
{
    const char *name = json_string_value(trace);
    int64_t number = -1;

    if (name)
        number = es_trace_names_find(names, name, strlen(name));
    else if (json_is_integer(trace) && json_integer_value(trace) < names->count)
        number = json_integer_value(trace);
    if (number < 0 && name)
        return es_error_set(error, -EINVAL, "there is no trace '%s'", name);
    if (number < 0)
        return es_error_set(error, -EINVAL, "there is no such trace");
    *ret_trace = (uint32_t)number;
    return 0;
}

static int take_json_event(const json_t *question,
                           const char *key,
                           const struct es_trace_names *names,
                           struct es_event_id *ret_id,
                           struct es_error *error)
{
    const json_t *event = json_object_get(question, key);
    const json_t *index = json_array_get(event, 1);
    json_int_t number = json_integer_value(index);

    if (json_array_size(event) != 2 || !json_is_integer(index) || number < 0 ||
        number > UINT32_MAX)
        return es_error_set(error, -EINVAL,
                            "\"%s\" is not there, or not [TRACE, INDEX]", key);
    ret_id->index = (uint32_t)number;
    return take_json_trace(json_array_get(event, 0), names, &ret_id->trace, error);
}

static int parse_json(const char *line,
                      const struct es_trace_names *names,
                      struct es_question *ret_question,
                      struct es_error *error)
{
    json_error_t fault;
    json_t *question = json_loads(line, JSON_REJECT_DUPLICATES, &fault);
    int result;

    if (!question)
        return es_error_set_at(error, -EINVAL, NULL, 0, fault.column, "not JSON: %s",
                               fault.text);
    result = take_json_event(question, "a", names, &ret_question->a, error);
    if (result == 0)
        result = take_json_event(question, "b", names, &ret_question->b, error);
    json_decref(question);
    return result;
}

/* --- TRACE:INDEX TRACE:INDEX ------------------------------------------------------ */

/* "TRACE:INDEX", whose last colon is the one.  false: this is none. */
static bool parse_event(const struct es_trace_names *names,
                        const char *text,
                        size_t length,
                        struct es_event_id *ret_id)
{
    const char *colon = memrchr(text, ':', length);
    const char *end = text + length;
    uint64_t index = 0;
    int64_t trace;

    if (!colon || colon + 1 == end)
        return false;
    for (const char *next = colon + 1; next < end; next++) {
        if (!isdigit((unsigned char)*next) || index > UINT32_MAX / 10)
            return false;
        index = 10 * index + (uint64_t)(*next - '0');
    }
    trace = es_trace_names_find(names, text, (size_t)(colon - text));
    if (trace < 0 || index > UINT32_MAX)
        return false;
    *ret_id = (struct es_event_id){(uint32_t)trace, (uint32_t)index};
    return true;
}

/* Where names hold blanks, the first blank that makes two events of the line. */
static int parse_words(const char *text,
                       size_t length,
                       const struct es_trace_names *names,
                       struct es_question *ret_question,
                       struct es_error *error)
{
    for (size_t i = 1; i < length; i++) {
        size_t first = i;
        size_t second = i + 1;

        if (!isspace((unsigned char)text[i]))
            continue;
        while (first > 0 && isspace((unsigned char)text[first - 1]))
            first--;
        while (second < length && isspace((unsigned char)text[second]))
            second++;
        if (parse_event(names, text, first, &ret_question->a) &&
            parse_event(names, text + second, length - second, &ret_question->b))
            return 0;
    }
    return es_error_set(error, -EINVAL,
                        "'%.*s' is not 'TRACE:INDEX TRACE:INDEX' with traces that are "
                        "there",
                        (int)(length < 100 ? length : 100), text);
}

int es_question_parse(const char *line,
                      const struct es_trace_names *names,
                      const uint32_t *counts,
                      struct es_question *ret_question,
                      struct es_error *error)
{
    struct es_question question;
    size_t length;
    int result;

    while (isspace((unsigned char)*line))
        line++;
    length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    if (length == 0)
        return 0;
    result = *line == '{' ? parse_json(line, names, &question, error)
                          : parse_words(line, length, names, &question, error);
    if (result == 0)
        result = check_event(names, counts, question.a, error);
    if (result == 0)
        result = check_event(names, counts, question.b, error);
    if (result < 0)
        return result;
    *ret_question = question;
    return 1;
}
