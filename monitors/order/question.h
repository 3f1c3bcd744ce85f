/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Parses questions about events, one per line, as written by people and programs.
 * EVENT is TRACE:INDEX in text and [TRACE, INDEX] in JSON; a trace is given by its
 * name or its number.
 *
 *   EVENT EVENT                      {"a": EVENT, "b": EVENT}
 *   greatest-predecessors EVENT      {"question": "greatest-predecessors",
 *                                     "event": EVENT}
 *   least-successors EVENT           and so on
 *   greatest-concurrent EVENT
 *   concurrent EVENT
 */
#ifndef ES_MONITORS_ORDER_QUESTION_H
#define ES_MONITORS_ORDER_QUESTION_H

#include "eventspace/error.h"
#include "eventspace/event.h"
#include "monitors/eventset/trace_names.h"

enum esi_question_kind {
    ES_QUESTION_RELATION, /* between `a` and `b` */
    /* One event of each trace, relative to `a`. */
    ES_QUESTION_GREATEST_PREDECESSORS,
    ES_QUESTION_LEAST_SUCCESSORS,
    ES_QUESTION_GREATEST_CONCURRENT,
    ES_QUESTION_CONCURRENT, /* all concurrent events */
};

struct esi_question {
    enum esi_question_kind kind;
    struct es_event_id a;
    struct es_event_id b; /* only for ES_QUESTION_RELATION */
};

/* Returns the name of a kind: "relation", "greatest-predecessors" and so on. */
const char *esi_question_name(enum esi_question_kind kind);

/* Names may contain spaces and colons: a line is read as two events if possible,
 * otherwise as a question word and one event.  Returns 1; 0 if the line is blank;
 * -EINVAL with a message and a column if the line is invalid or an event does not exist
 * according to `counts` (number of events of each trace). */
int esi_question_parse(const char *line,
                       const struct esi_trace_names *names,
                       const uint32_t *counts,
                       struct esi_question *ret_question,
                       struct es_error *error);

#endif
