/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Questions about two events, from a file, and their answers. */
#include "config.h"

#include "cli/order_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "monitors/order/question.h"

struct answering {
    const struct es_order *order;
    const struct es_trace_names *names;
    uint32_t *counts; /* events of each trace */
    enum es_format format;
    const char *source;
    int line;
};

static void print_event(struct es_json_out *out, const char *key, struct es_event_id id)
{
    es_json_out_begin_array(out, key);
    es_json_out_unsigned(out, NULL, id.trace);
    es_json_out_unsigned(out, NULL, id.index);
    es_json_out_end(out);
}

static void print_answer(const struct answering *answering,
                         const struct es_question *question,
                         enum es_relation relation)
{
    struct es_json_out out;

    if (answering->format == ES_FORMAT_TEXT) {
        puts(es_relation_name(relation));
        return;
    }
    es_json_out_init(&out, stdout);
    es_json_out_begin_object(&out, NULL);
    print_event(&out, "a", question->a);
    print_event(&out, "b", question->b);
    es_json_out_string(&out, "relation", es_relation_name(relation));
    es_json_out_end(&out);
}

static int answer_line(struct answering *answering, const char *line)
{
    struct es_error error = {.text = ""};
    struct es_question question;
    int result =
        es_question_parse(line, answering->names, answering->counts, &question, &error);

    answering->line++;
    if (result == 0)
        return ES_EXIT_SUCCESS;
    if (result > 0) {
        result = es_order_relation(answering->order, question.a, question.b);
        if (result >= 0) {
            print_answer(answering, &question, (enum es_relation)result);
            return ES_EXIT_SUCCESS;
        }
        es_error_set(&error, result, "%s",
                     result == -ESTALE
                         ? "an event that was forgotten; --spill keeps all"
                         : strerror(-result));
    }
    snprintf(error.source, sizeof error.source, "%s", answering->source);
    error.line = answering->line;
    return esi_command_fail_error(ES_EXIT_USAGE, &error, result, "cannot answer");
}

static int answer_stream(struct answering *answering, FILE *stream)
{
    int status = ES_EXIT_SUCCESS;
    char *line = NULL;
    size_t size = 0;

    errno = 0;
    while (status == ES_EXIT_SUCCESS && getline(&line, &size, stream) >= 0)
        status = answer_line(answering, line);
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
                     const struct es_trace_names *names,
                     const char *path,
                     enum es_format format)
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
