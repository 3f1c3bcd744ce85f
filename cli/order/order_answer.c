/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Answers questions about events from a file. */
#include "config.h"

#include "cli/order/order_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/json_out.h"
#include "base/plain.h"
#include "monitors/order/question.h"

#define FORGOTTEN_WORD "forgotten"

struct answering {
    const struct es_order *order;
    const struct esi_trace_names *names;
    uint32_t *counts; /* number of events per trace */
    enum esi_format format;
    const char *source;
    int line;
};

static void print_event(struct esi_json_out *out,
                        const char *key,
                        struct es_event_id id)
{
    esi_json_out_begin_array(out, key);
    esi_json_out_unsigned(out, NULL, id.trace);
    esi_json_out_unsigned(out, NULL, id.index);
    esi_json_out_end(out);
}

/* --- Two events ------------------------------------------------------------------- */

static int answer_relation(const struct answering *answering,
                           const struct esi_question *question)
{
    int result = es_order_relation(answering->order, question->a, question->b);
    const char *word;
    struct esi_json_out out;

    if (result < 0 && result != -ESTALE)
        return result;
    word = result < 0 ? FORGOTTEN_WORD : es_relation_name((enum es_relation)result);
    if (answering->format == ES_FORMAT_TEXT) {
        puts(word);
        return 0;
    }
    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "relation");
    print_event(&out, "a", question->a);
    print_event(&out, "b", question->b);
    esi_json_out_string(&out, "relation", word);
    esi_json_out_end(&out);
    return 0;
}

/* --- An event and each trace ------------------------------------------------------ */

/* The result on one trace: the events from the first to the last; a single event except
 * for ES_QUESTION_CONCURRENT. */
struct answer_span {
    uint32_t trace;
    uint32_t first; /* 0: forgotten, like the next */
    uint32_t last;
};

static int64_t ask_one(const struct es_order *order,
                       const struct esi_question *question,
                       uint32_t trace)
{
    switch (question->kind) {
    case ES_QUESTION_GREATEST_PREDECESSORS:
        return es_order_greatest_predecessor(order, question->a, trace);
    case ES_QUESTION_LEAST_SUCCESSORS:
        return es_order_least_successor(order, question->a, trace);
    default:
        return es_order_greatest_concurrent(order, question->a, trace);
    }
}

/* Returns 1; 0 if there is none on the trace; or -errno. */
static int ask_trace(const struct es_order *order,
                     const struct esi_question *question,
                     uint32_t trace,
                     struct answer_span *ret_span)
{
    int64_t found;

    *ret_span = (struct answer_span){.trace = trace};
    if (question->kind == ES_QUESTION_CONCURRENT) {
        found = es_order_concurrent(order, question->a, trace, &ret_span->first,
                                    &ret_span->last);
    } else {
        found = ask_one(order, question, trace);
        if (found > 0)
            ret_span->first = ret_span->last = (uint32_t)found;
    }
    if (found == -ESTALE)
        return 1;
    return found > 0 ? 1 : (int)found;
}

static void print_index(uint32_t index)
{
    if (index)
        printf("%" PRIu32, index);
    else
        fputs(FORGOTTEN_WORD, stdout);
}

static void print_span(const struct answering *answering,
                       const struct answer_span *span)
{
    esi_plain_print(stdout, "%s:", answering->names->names[span->trace]);
    print_index(span->first);
    if (span->first == span->last)
        return;
    putchar('-');
    print_index(span->last);
}

/* On one line, with "none" if the result is empty. */
static int print_traces(const struct answering *answering,
                        const struct esi_question *question)
{
    uint32_t traces = es_order_traces(answering->order);
    bool is_first = true;
    struct answer_span span;
    int result = 0;

    for (uint32_t i = 0; i < traces && result >= 0; i++) {
        result = ask_trace(answering->order, question, i, &span);
        if (result <= 0)
            continue;
        if (!is_first)
            putchar(' ');
        is_first = false;
        print_span(answering, &span);
    }
    puts(is_first ? "none" : "");
    return result < 0 ? result : 0;
}

static void json_index(struct esi_json_out *out, uint32_t index)
{
    if (index)
        esi_json_out_unsigned(out, NULL, index);
    else
        esi_json_out_null(out, NULL);
}

static int json_traces(struct esi_json_out *out,
                       const struct es_order *order,
                       const struct esi_question *question)
{
    uint32_t traces = es_order_traces(order);
    struct answer_span span;
    int result = 0;

    for (uint32_t i = 0; i < traces && result >= 0; i++) {
        result = ask_trace(order, question, i, &span);
        if (result <= 0)
            continue;
        esi_json_out_begin_array(out, NULL);
        esi_json_out_unsigned(out, NULL, i);
        json_index(out, span.first);
        if (question->kind == ES_QUESTION_CONCURRENT)
            json_index(out, span.last);
        esi_json_out_end(out);
    }
    return result < 0 ? result : 0;
}

static int json_answer(const struct answering *answering,
                       const struct esi_question *question,
                       bool is_forgotten)
{
    bool is_interval = question->kind == ES_QUESTION_CONCURRENT;
    struct esi_json_out out;
    int result = 0;

    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "answer");
    esi_json_out_string(&out, "question", esi_question_name(question->kind));
    print_event(&out, "event", question->a);
    esi_json_out_bool(&out, FORGOTTEN_WORD, is_forgotten);
    esi_json_out_begin_array(&out, is_interval ? "intervals" : "events");
    if (!is_forgotten)
        result = json_traces(&out, answering->order, question);
    esi_json_out_end(&out);
    esi_json_out_end(&out);
    return result;
}

static int answer_traces(const struct answering *answering,
                         const struct esi_question *question)
{
    bool is_forgotten = es_order_is_forgotten(answering->order, question->a);

    if (answering->format != ES_FORMAT_TEXT)
        return json_answer(answering, question, is_forgotten);
    if (!is_forgotten)
        return print_traces(answering, question);
    puts(FORGOTTEN_WORD);
    return 0;
}

/* --- Files ------------------------------------------------------------------------ */

static int answer_line(struct answering *answering, const char *line, size_t length)
{
    struct es_error error = {.text = ""};
    struct esi_question question;
    int result = 0;

    if (answering->line++ == 0)
        result = esi_input_check(line, length, answering->source, &error);
    if (result == 0)
        result = esi_question_parse(line, answering->names, answering->counts,
                                    &question, &error);
    if (result == 0)
        return ES_EXIT_SUCCESS;
    if (result > 0) {
        result = question.kind == ES_QUESTION_RELATION
                     ? answer_relation(answering, &question)
                     : answer_traces(answering, &question);
        if (result == 0)
            return ES_EXIT_SUCCESS;
        es_error_set(&error, result, "%s", strerror(-result));
    }
    if (!*error.source) { /* errors of a whole file have one */
        snprintf(error.source, sizeof error.source, "%s", answering->source);
        error.line = answering->line;
    }
    return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                  "the question cannot be answered");
}

static int answer_stream(struct answering *answering, FILE *stream)
{
    int status = ES_EXIT_SUCCESS;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;

    errno = 0;
    while (status == ES_EXIT_SUCCESS && (length = getline(&line, &size, stream)) >= 0)
        status = answer_line(answering, line, (size_t)length);
    if (status == ES_EXIT_SUCCESS && ferror(stream))
        status = esi_command_fail(ES_EXIT_USAGE, "cannot read the questions in %s: %s",
                                  answering->source, strerror(errno));
    free(line);
    return status;
}

static uint32_t *count_events(const struct es_order *order)
{
    uint32_t traces = es_order_traces(order);
    uint32_t *counts = calloc(traces + 1u, sizeof *counts);

    for (uint32_t i = 0; counts && i < traces; i++)
        counts[i] = es_order_count(order, i);
    return counts;
}

int esi_order_answer(const struct es_order *order,
                     const struct esi_trace_names *names,
                     const char *path,
                     enum esi_format format)
{
    bool standard = strcmp(path, "-") == 0;
    struct answering answering = {
        .order = order,
        .names = names,
        .counts = count_events(order),
        .format = format,
        .source = standard ? "standard input" : path,
    };
    FILE *stream = standard ? stdin : fopen(path, "re");
    int status;

    if (!stream)
        status = esi_command_fail(ES_EXIT_USAGE, "cannot read the questions in %s: %s",
                                  path, strerror(errno));
    else if (!answering.counts)
        status = esi_command_fail(ES_EXIT_USAGE, "no memory");
    else
        status = answer_stream(&answering, stream);
    if (stream && !standard)
        fclose(stream);
    free(answering.counts);
    return status;
}
