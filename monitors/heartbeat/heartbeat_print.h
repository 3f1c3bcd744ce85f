/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_print.h - shows what a heartbeat has seen, to people and to programs. */
#ifndef ES_MONITORS_HEARTBEAT_HEARTBEAT_PRINT_H
#define ES_MONITORS_HEARTBEAT_HEARTBEAT_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "monitors/heartbeat/heartbeat.h"

/* Deadlocks, who holds the others up and who waits for whom, of waits that last; then a
 * table of the threads, as wide as the terminal is.  Of many threads those that do the
 * same are told of together, unless `all` are wanted.  0, -ENOMEM or -EIO. */
int esi_heartbeat_print_text(const struct esi_heartbeat_report *report,
                             bool all,
                             FILE *stream);

/* One object on one line.  0 or -EIO. */
int esi_heartbeat_print_json(const struct esi_heartbeat_report *report, FILE *stream);

#endif
