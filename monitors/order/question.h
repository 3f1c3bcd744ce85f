/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Questions about two events, as people and programs write them, a line each:
 *
 *   TRACE:INDEX TRACE:INDEX          a trace by its name, else by its number
 *   {"a": [TRACE, INDEX], "b": [TRACE, INDEX]}
 */
#ifndef ES_MONITORS_ORDER_QUESTION_H
#define ES_MONITORS_ORDER_QUESTION_H

#include "eventspace/error.h"
#include "monitors/order/event.h"
#include "monitors/order/trace_names.h"

struct es_question {
    struct es_event_id a;
    struct es_event_id b;
};

/* Names may hold blanks and colons.  1; 0: the line is blank; -EINVAL with words; also
 * where `counts` (events of each trace) says that there is no such event. */
int es_question_parse(const char *line,
                      const struct es_trace_names *names,
                      const uint32_t *counts,
                      struct es_question *ret_question,
                      struct es_error *error);

#endif
