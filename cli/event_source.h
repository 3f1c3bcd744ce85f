/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_source.h - reading an event set for a command, with progress on a terminal. */
#ifndef ES_CLI_EVENT_SOURCE_H
#define ES_CLI_EVENT_SOURCE_H

#include <stdbool.h>

#include "monitors/set_source.h"

/* Reads the event set SET, archive DIR or RUN.  `ret_facts` may be NULL.  0, or the
 * exit status after the message. */
int esi_event_source_read(const char *path,
                          bool attributes,
                          const struct es_set_sink *sink,
                          struct es_set_source_facts *ret_facts);

/* Whether it can be read twice; else 0 and a message that `why` (such as "--strategy
 * static") needs that. */
bool esi_event_source_is_file(const char *path, const char *why);

/* Says on standard error what is missing of an archive or a run, if anything is. */
void esi_event_source_tell_missing(const struct es_set_source_facts *facts);

#endif
