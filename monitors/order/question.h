/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Questions about events, as people and programs write them, a line each.  EVENT is
 * TRACE:INDEX in text and [TRACE, INDEX] in JSON; a trace is its name, else its number.
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
    ES_QUESTION_RELATION, /* of `a` and `b` */
    /* Of `a` with each trace. */
    ES_QUESTION_GREATEST_PREDECESSORS,
    ES_QUESTION_LEAST_SUCCESSORS,
    ES_QUESTION_GREATEST_CONCURRENT,
    ES_QUESTION_CONCURRENT, /* all that are */
};

struct esi_question {
    enum esi_question_kind kind;
    struct es_event_id a;
    struct es_event_id b; /* of ES_QUESTION_RELATION */
};

/* "greatest-predecessors" and so on; "relation". */
const char *esi_question_name(enum esi_question_kind kind);

/* Names may hold blanks and colons: what can be two events is, then what can be a word
 * and one event.  1; 0: the line is blank; -EINVAL with words and a column; also where
 * `counts` (events of each trace) says that there is no such event. */
int esi_question_parse(const char *line,
                       const struct esi_trace_names *names,
                       const uint32_t *counts,
                       struct esi_question *ret_question,
                       struct es_error *error);

#endif
