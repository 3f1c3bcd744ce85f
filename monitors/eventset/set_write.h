/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes event sets as JSON Lines (docs/event-sets.md).
 *
 *   esi_set_write_open("set.jsonl", &error, &write);
 *   ... events to esi_set_write_sink(write)
 *   esi_set_write_close(write, &error);
 *
 * Events are written in the order of arrival, without the members that have default
 * values; a send lists no partners.  The header names all traces, including those added
 * late: then the events are copied once after a new header.
 *
 * Files are written atomically: under a temporary name beside `path`, renamed when
 * complete.  Other outputs ("-" = standard output, a pipe, a device) receive everything
 * at the end, unless all traces are announced beforehand (esi_set_write_traces_told).
 */
#ifndef ES_MONITORS_EVENTSET_SET_WRITE_H
#define ES_MONITORS_EVENTSET_SET_WRITE_H

#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_set_write;

/* Returns 0, -ENOMEM, or the reason why the file cannot be created. */
int esi_set_write_open(const char *path,
                       struct es_error *error,
                       struct esi_set_write **ret_write);

/* The sink that takes the events.  Its calls return -errno if writing fails, and
 * -EINVAL for a trace added after esi_set_write_traces_told(). */
struct es_set_sink esi_set_write_sink(struct esi_set_write *write);

/* Announces that no more traces follow: output to a pipe starts immediately. */
void esi_set_write_traces_told(struct esi_set_write *write);

/* Completes the file and frees the writer.  Returns 0, or the reason why the file was
 * not written; then an earlier file of that name is unchanged. */
int esi_set_write_close(struct esi_set_write *write, struct es_error *error);
/* Discards the output and frees the writer.  Accepts NULL. */
void esi_set_write_destroy(struct esi_set_write *write);

/*
 * Formatting of the lines of an event set, without members that have default values.
 */

/* Write errors remain in the stream's error state. */
void esi_set_format_header(FILE *stream, char *const *names, uint32_t count);
void esi_set_format_event(FILE *stream, const struct es_set_event *event);

#endif
