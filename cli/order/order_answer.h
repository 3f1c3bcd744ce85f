/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_answer.h - answers questions about events from a file. */
#ifndef ES_CLI_ORDER_ANSWER_H
#define ES_CLI_ORDER_ANSWER_H

#include "cli/command.h"
#include "monitors/order/order.h"
#include "monitors/eventset/trace_names.h"

/* Answers the questions in a file ("-" = standard input), one per line, up to the first
 * invalid one; the answer for forgotten events is "forgotten". `names` must be sorted.
 * Returns the exit status, after a message if it is not 0. */
int esi_order_answer(const struct es_order *order,
                     const struct esi_trace_names *names,
                     const char *path,
                     enum esi_format format);

#endif
