/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* heartbeat_print.h - shows what a heartbeat has seen, to people and to programs. */
#ifndef ES_MONITORS_HEARTBEAT_HEARTBEAT_PRINT_H
#define ES_MONITORS_HEARTBEAT_HEARTBEAT_PRINT_H

#include <stdio.h>

#include "monitors/heartbeat/heartbeat.h"

/* A table of the threads and, where some are stalled, who waits for whom.  `width` as
 * in esi_text_table_print().  0, -ENOMEM or -EIO. */
int esi_heartbeat_print_text(const struct esi_heartbeat_report *report,
                             FILE *stream,
                             size_t width);

/* One object on one line. */
void esi_heartbeat_print_json(const struct esi_heartbeat_report *report, FILE *stream);

#endif
