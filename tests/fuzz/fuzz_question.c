/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Feeds lines to the parser of queries.  The events of an accepted query exist; an
 * error has a text and a column within the line.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/order/question.h"
#include "tests/fuzz/fuzz_target.h"

static const uint32_t counts[] = {3, 1, 7, 0};

static int is_there(struct es_event_id id)
{
    return id.trace < 4 && id.index >= 1 && id.index <= counts[id.trace];
}

static void check(const char *line, const struct esi_trace_names *names)
{
    struct es_error error = {.text = ""};
    struct esi_question question = {.kind = ES_QUESTION_RELATION};
    int result = esi_question_parse(line, names, counts, &question, &error);
    int length = (int)strlen(line);

    if (result < 0)
        require(*error.text && error.column >= 1 && error.column <= length + 1);
    if (result == 1)
        require(is_there(question.a) &&
                (question.kind != ES_QUESTION_RELATION || is_there(question.b)));
}

FUZZ_TARGET(fuzz_question, data, size)
{
    static const char *const traces[] = {"0.0", "comm:W", "a b", "concurrent"};
    struct esi_trace_names names = {.count = 0};
    char *line = malloc(size + 1);

    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++)
        require(esi_trace_names_add(&names, traces[i]) >= 0);
    require(line != NULL);
    if (size > 0)
        memcpy(line, data, size);
    line[size] = '\0';
    check(line, &names);
    free(line);
    esi_trace_names_fini(&names);
    return 0;
}
