/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_print.h - prints the results of a heartbeat as text and as JSON. */
#ifndef ES_MONITORS_VERDICT_HEARTBEAT_PRINT_H
#define ES_MONITORS_VERDICT_HEARTBEAT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "monitors/verdict/observe.h"

/* Prints deadlocks, ranks that hold up others, and long waits; then a table of the
 * threads, as wide as the terminal.  If there are many threads, those that do the same
 * share a row, unless `all` is set.  Returns 0, -ENOMEM or -EIO. */
int esi_heartbeat_print_text(const struct esi_observation *observation,
                             bool all,
                             FILE *stream);

/* Prints one object on one line.  Returns 0 or -EIO. */
int esi_heartbeat_print_json(const struct esi_observation *observation, FILE *stream);

#endif
