/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * question.c - parses questions about events from text and JSON.
 *
 * All parsers have the whole line, so that errors can contain the column.
 */
#include "config.h"

#include "monitors/order/question.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/library_words.h"
#include "base/nearest.h"

static const char *const kinds[] = {
    [ES_QUESTION_RELATION] = "relation",
    [ES_QUESTION_GREATEST_PREDECESSORS] = "greatest-predecessors",
    [ES_QUESTION_LEAST_SUCCESSORS] = "least-successors",
    [ES_QUESTION_GREATEST_CONCURRENT] = "greatest-concurrent",
    [ES_QUESTION_CONCURRENT] = "concurrent",
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

const char *esi_question_name(enum esi_question_kind kind)
{
    return kinds[kind];
}

/* Returns the kind of a question word about one event, or ES_QUESTION_RELATION if the
 * word is not one. */
static enum esi_question_kind find_kind(const char *word, size_t length)
{
    for (int i = ES_QUESTION_GREATEST_PREDECESSORS; i < KINDS; i++)
        if (strlen(kinds[i]) == length && memcmp(kinds[i], word, length) == 0)
            return (enum esi_question_kind)i;
    return ES_QUESTION_RELATION;
}

/* Limits the length of words in error messages. */
static int shown_length(size_t length)
{
    return length < 100 ? (int)length : 100;
}

static int fail_kind(const char *text,
                     size_t length,
                     int column,
                     struct es_error *error)
{
    struct esi_nearest nearest;
    char word[104];

    snprintf(word, sizeof word, "%.*s", shown_length(length), text);
    esi_nearest_init(&nearest, word);
    for (int i = ES_QUESTION_GREATEST_PREDECESSORS; i < KINDS; i++)
        esi_nearest_try(&nearest, kinds[i]);
    return es_error_set_at(error, -EINVAL, NULL, 0, column,
                           "'%s' is neither an event TRACE:INDEX nor a question%s%s%s; "
                           "expected greatest-predecessors, least-successors, "
                           "greatest-concurrent, concurrent or an event",
                           word, nearest.name ? ", did you mean '" : "",
                           nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

/* The input of the parsers. */
struct asking {
    const char *line;
    const char *text; /* the line without surrounding blanks */
    size_t length;
    const struct esi_trace_names *names;
    const uint32_t *counts; /* number of events of each trace */
    struct es_error *error;
};

static int column_of(const struct asking *asking, const char *at)
{
    return (int)(at - asking->line) + 1;
}

/* `at` is the position of the event in the line. */
static int check_event(const struct asking *asking,
                       struct es_event_id id,
                       const char *at)
{
    if (id.index >= 1 && id.index <= asking->counts[id.trace])
        return 0;
    return es_error_set_at(asking->error, -EINVAL, NULL, 0, column_of(asking, at),
                           "trace '%s' has no event %u; it has %u",
                           asking->names->names[id.trace], id.index,
                           asking->counts[id.trace]);
}

/* --- JSON ------------------------------------------------------------------------- */

static int take_json_trace(const struct asking *asking,
                           const json_t *trace,
                           uint32_t *ret_trace)
{
    const char *name = json_string_value(trace);
    int64_t number = -1;

    if (name)
        number = esi_trace_names_find(asking->names, name, strlen(name));
    else if (json_is_integer(trace) && json_integer_value(trace) < asking->names->count)
        number = json_integer_value(trace);
    if (number < 0 && name)
        return es_error_set(asking->error, -EINVAL, "there is no trace '%s'", name);
    if (number < 0)
        return es_error_set(asking->error, -EINVAL, "there is no such trace");
    *ret_trace = (uint32_t)number;
    return 0;
}

static int take_json_event(const struct asking *asking,
                           const json_t *question,
                           const char *key,
                           struct es_event_id *ret_id)
{
    const json_t *event = json_object_get(question, key);
    const json_t *index = json_array_get(event, 1);
    json_int_t number = json_integer_value(index);
    int result;

    if (!event)
        return es_error_set(asking->error, -EINVAL,
                            "'%s' is missing, expected [TRACE, INDEX]", key);
    if (json_array_size(event) != 2 || !json_is_integer(index) || number < 0 ||
        number > UINT32_MAX)
        return es_error_set(asking->error, -EINVAL, "'%s' is not [TRACE, INDEX]", key);
    ret_id->index = (uint32_t)number;
    result = take_json_trace(asking, json_array_get(event, 0), &ret_id->trace);
    return result < 0 ? result : check_event(asking, *ret_id, asking->text);
}

/* {"question": KIND, "event": EVENT} or {"a": EVENT, "b": EVENT} */
static int take_json(const struct asking *asking,
                     const json_t *json,
                     struct esi_question *question)
{
    const json_t *kind = json_object_get(json, "question");
    const char *word = json_string_value(kind);
    int result;

    if (kind && !word)
        return es_error_set(asking->error, -EINVAL, "'question' is not a text");
    if (!word) {
        result = take_json_event(asking, json, "a", &question->a);
        return result < 0 ? result : take_json_event(asking, json, "b", &question->b);
    }
    question->kind = find_kind(word, strlen(word));
    if (question->kind == ES_QUESTION_RELATION)
        return fail_kind(word, strlen(word), column_of(asking, asking->text),
                         asking->error);
    return take_json_event(asking, json, "event", &question->a);
}

static int parse_json(const struct asking *asking, struct esi_question *question)
{
    char words[JSON_ERROR_TEXT_LENGTH];
    json_error_t fault;
    json_t *json =
        json_loadb(asking->text, asking->length, JSON_REJECT_DUPLICATES, &fault);
    int column = column_of(asking, asking->text);
    int result;

    if (!json)
        return es_error_set_at(asking->error, -EINVAL, NULL, 0,
                               column - 1 + (fault.position > 0 ? fault.position : 1),
                               "not JSON: %s",
                               esi_library_words(fault.text, words, sizeof words));
    result = take_json(asking, json, question);
    json_decref(json);
    if (result < 0 && asking->error && asking->error->column == 0)
        asking->error->column = column;
    return result;
}

/* --- Text ------------------------------------------------------------------------- */

/* Parses "TRACE:INDEX", separated by the last colon.  Returns false if it is not an
 * event. */
static bool parse_event(const struct esi_trace_names *names,
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
    trace = esi_trace_names_find(names, text, (size_t)(colon - text));
    if (trace < 0 || index > UINT32_MAX)
        return false;
    *ret_id = (struct es_event_id){(uint32_t)trace, (uint32_t)index};
    return true;
}

/* Parses two events.  If names contain blanks, splits the line at the first blank that
 * yields two events.  Returns 1, or 0 if there is none. */
static int parse_pair(const struct asking *asking, struct esi_question *question)
{
    const char *text = asking->text;
    size_t length = asking->length;
    int result;

    for (size_t i = 1; i < length; i++) {
        size_t first = i;
        size_t second = i + 1;

        if (!isspace((unsigned char)text[i]))
            continue;
        while (first > 0 && isspace((unsigned char)text[first - 1]))
            first--;
        while (second < length && isspace((unsigned char)text[second]))
            second++;
        if (!parse_event(asking->names, text, first, &question->a) ||
            !parse_event(asking->names, text + second, length - second, &question->b))
            continue;
        result = check_event(asking, question->a, text);
        if (result == 0)
            result = check_event(asking, question->b, text + second);
        return result < 0 ? result : 1;
    }
    return 0;
}

static size_t word_length(const char *text, size_t length)
{
    size_t end = 0;

    while (end < length && !isspace((unsigned char)text[end]))
        end++;
    return end;
}

static size_t skip_blanks(const struct asking *asking, size_t at)
{
    while (at < asking->length && isspace((unsigned char)asking->text[at]))
        at++;
    return at;
}

/* Parses a word and an event.  Returns 1, or 0 if the line is not of this form. */
static int parse_kind(const struct asking *asking, struct esi_question *question)
{
    size_t word = word_length(asking->text, asking->length);
    size_t at = skip_blanks(asking, word);
    int result;

    question->kind = find_kind(asking->text, word);
    if (question->kind == ES_QUESTION_RELATION)
        return 0;
    if (!parse_event(asking->names, asking->text + at, asking->length - at,
                     &question->a))
        return 0;
    result = check_event(asking, question->a, asking->text + at);
    return result < 0 ? result : 1;
}

/* Reports what is wrong with the word at `at`, which should be an event.  Returns 0 if
 * nothing is. */
static int fail_event(const struct asking *asking, size_t at)
{
    const char *text = asking->text + at;
    size_t length = word_length(text, asking->length - at);
    const char *colon = memrchr(text, ':', length);
    struct es_event_id id;

    if (length == 0)
        return es_error_set_at(asking->error, -EINVAL, NULL, 0, column_of(asking, text),
                               "an event TRACE:INDEX is missing");
    if (parse_event(asking->names, text, length, &id))
        return 0;
    if (colon && esi_trace_names_find(asking->names, text, (size_t)(colon - text)) < 0)
        return es_error_set_at(asking->error, -EINVAL, NULL, 0, column_of(asking, text),
                               "there is no trace '%.*s'", (int)(colon - text), text);
    return es_error_set_at(asking->error, -EINVAL, NULL, 0, column_of(asking, text),
                           "'%.*s' is not an event TRACE:INDEX", shown_length(length),
                           text);
}

/* Reports the word of the line that is wrong, missing or superfluous. */
static int fail_words(const struct asking *asking)
{
    size_t word = word_length(asking->text, asking->length);
    bool is_kind = find_kind(asking->text, word) != ES_QUESTION_RELATION;
    size_t at = is_kind ? skip_blanks(asking, word) : 0;
    int result = 0;

    if (!is_kind && !memchr(asking->text, ':', word))
        return fail_kind(asking->text, word, column_of(asking, asking->text),
                         asking->error);
    for (int events = is_kind ? 1 : 2; events > 0 && result == 0; events--) {
        result = fail_event(asking, at);
        at = skip_blanks(asking,
                         at + word_length(asking->text + at, asking->length - at));
    }
    if (result < 0)
        return result;
    return es_error_set_at(asking->error, -EINVAL, NULL, 0,
                           column_of(asking, asking->text + at),
                           "found '%.*s' after the question",
                           shown_length(asking->length - at), asking->text + at);
}

static int parse_words(const struct asking *asking, struct esi_question *question)
{
    int result = parse_pair(asking, question);

    if (result == 0)
        result = parse_kind(asking, question);
    return result == 0 ? fail_words(asking) : result;
}

int esi_question_parse(const char *line,
                       const struct esi_trace_names *names,
                       const uint32_t *counts,
                       struct esi_question *ret_question,
                       struct es_error *error)
{
    struct esi_question question = {.kind = ES_QUESTION_RELATION};
    struct asking asking = {line, line, 0, names, counts, error};
    int result;

    while (isspace((unsigned char)*asking.text))
        asking.text++;
    asking.length = strlen(asking.text);
    while (asking.length > 0 && isspace((unsigned char)asking.text[asking.length - 1]))
        asking.length--;
    if (asking.length == 0)
        return 0;
    result = *asking.text == '{' ? parse_json(&asking, &question)
                                 : parse_words(&asking, &question);
    if (result < 0)
        return result;
    *ret_question = question;
    return 1;
}
