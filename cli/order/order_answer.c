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
#include "base/plain.h"
#include "base/rows.h"
#include "monitors/order/question.h"

#define FORGOTTEN_WORD "forgotten"

struct answering {
    const struct es_order *order;
    const struct esi_trace_names *names;
    uint32_t *counts;          /* number of events per trace */
    struct answer_span *spans; /* room for those of one answer */
    enum esi_format format;
    const char *source;
    int line;
};

static void describe_event(struct esi_row *row, const char *name, struct es_event_id id)
{
    esi_row_begin_array(row, name);
    esi_row_unsigned(row, NULL, NULL, id.trace);
    esi_row_unsigned(row, NULL, NULL, id.index);
    esi_row_end(row);
}

/* --- Two events ------------------------------------------------------------------- */

struct answered_relation {
    const struct esi_question *question;
    const char *word;
};

/* For JSON only. */
static void describe_relation(struct esi_row *row, const void *record)
{
    const struct answered_relation *answered = record;

    esi_row_text(row, "type", NULL, "relation");
    describe_event(row, "a", answered->question->a);
    describe_event(row, "b", answered->question->b);
    esi_row_text(row, "relation", NULL, answered->word);
}

static int answer_relation(const struct answering *answering,
                           const struct esi_question *question)
{
    int result = es_order_relation(answering->order, question->a, question->b);
    struct answered_relation answered = {question, FORGOTTEN_WORD};

    if (result < 0 && result != -ESTALE)
        return result;
    if (result >= 0)
        answered.word = es_relation_name((enum es_relation)result);
    if (answering->format == ES_FORMAT_TEXT)
        puts(answered.word);
    else
        esi_rows_print_json(stdout, describe_relation, &answered);
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

/* An answer about each trace. */
struct trace_answer {
    const struct esi_question *question;
    bool is_forgotten; /* the event; then there are no spans */
    size_t count;
    const struct answer_span *spans; /* of the traces that have one */
};

static void print_index(uint32_t index)
{
    if (index)
        printf("%" PRIu32, index);
    else
        fputs(FORGOTTEN_WORD, stdout);
}

/* On one line, with "none" if the result is empty. */
static void print_answer(const struct trace_answer *answer,
                         const struct esi_trace_names *names)
{
    if (answer->count == 0)
        fputs(answer->is_forgotten ? FORGOTTEN_WORD : "none", stdout);
    for (size_t i = 0; i < answer->count; i++) {
        const struct answer_span *span = &answer->spans[i];

        esi_plain_print(stdout, "%s%s:", i == 0 ? "" : " ", names->names[span->trace]);
        print_index(span->first);
        if (span->first == span->last)
            continue;
        putchar('-');
        print_index(span->last);
    }
    putchar('\n');
}

static void describe_index(struct esi_row *row, uint32_t index)
{
    esi_row_unsigned(esi_row_if(row, index), NULL, NULL, index);
}

/* For JSON only. */
static void describe_answer(struct esi_row *row, const void *record)
{
    const struct trace_answer *answer = record;
    bool is_interval = answer->question->kind == ES_QUESTION_CONCURRENT;

    esi_row_text(row, "type", NULL, "answer");
    esi_row_text(row, "question", NULL, esi_question_name(answer->question->kind));
    describe_event(row, "event", answer->question->a);
    esi_row_bool(row, FORGOTTEN_WORD, NULL, answer->is_forgotten);
    esi_row_begin_array(row, is_interval ? "intervals" : "events");
    for (size_t i = 0; i < answer->count; i++) {
        esi_row_begin_array(row, NULL);
        esi_row_unsigned(row, NULL, NULL, answer->spans[i].trace);
        describe_index(row, answer->spans[i].first);
        if (is_interval)
            describe_index(row, answer->spans[i].last);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static int answer_traces(const struct answering *answering,
                         const struct esi_question *question)
{
    bool is_forgotten = es_order_is_forgotten(answering->order, question->a);
    uint32_t traces = is_forgotten ? 0 : es_order_traces(answering->order);
    struct trace_answer answer = {question, is_forgotten, 0, answering->spans};

    for (uint32_t i = 0; i < traces; i++) {
        int result =
            ask_trace(answering->order, question, i, &answering->spans[answer.count]);

        if (result < 0)
            return result;
        answer.count += (size_t)result;
    }
    if (answering->format == ES_FORMAT_TEXT)
        print_answer(&answer, answering->names);
    else
        esi_rows_print_json(stdout, describe_answer, &answer);
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
        .spans = calloc(es_order_traces(order) + 1u, sizeof *answering.spans),
        .format = format,
        .source = standard ? "standard input" : path,
    };
    FILE *stream = standard ? stdin : fopen(path, "re");
    int status;

    if (!stream)
        status = esi_command_fail(ES_EXIT_USAGE, "cannot read the questions in %s: %s",
                                  path, strerror(errno));
    else if (!answering.counts || !answering.spans)
        status = esi_command_fail(ES_EXIT_USAGE, "no memory");
    else
        status = answer_stream(&answering, stream);
    if (stream && !standard)
        fclose(stream);
    free(answering.counts);
    free(answering.spans);
    return status;
}
