/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes event sets as JSON Lines (docs/event-sets.md).
 *
 *   esi_set_write_open("set.jsonl", &error, &write);
 *   ... events to esi_set_write_sink(write)
 *   esi_set_write_close(write, &error);
 *
 * Events are written in the order in which they come, with what is as the format
 * assumes it left out; a send lists no partners.  The header names all traces, also
 * those that are told late: then the events are copied once behind a new header.
 *
 * Nothing is half-written: a file is written beside `path` and takes its place when it
 * is complete.  What is no regular file ("-" = standard output, a pipe, a device) gets
 * everything when it is complete, unless all traces are told ahead
 * (esi_set_write_traces_told).
 */
#ifndef ES_MONITORS_EVENTSET_SET_WRITE_H
#define ES_MONITORS_EVENTSET_SET_WRITE_H

#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_set_write;

/* 0, -ENOMEM, or why the file cannot be made. */
int esi_set_write_open(const char *path,
                       struct es_error *error,
                       struct esi_set_write **ret_write);

/* Where the events go in.  Its calls give -errno when something cannot be written;
 * -EINVAL for a trace that comes after esi_set_write_traces_told(). */
struct es_set_sink esi_set_write_sink(struct esi_set_write *write);

/* No trace will be told any more: what is written to a pipe goes out at once. */
void esi_set_write_traces_told(struct esi_set_write *write);

/* Completes the file, then frees the writer.  0, or why the file was not written: then
 * there is none, or the one that was there before. */
int esi_set_write_close(struct esi_set_write *write, struct es_error *error);
/* Writes nothing and frees the writer.  Accepts NULL. */
void esi_set_write_destroy(struct esi_set_write *write);

/*
 * Lines of an event set, written; what is as the format assumes it is left out.
 */

/* Write errors stay in the stream. */
void esi_set_format_header(FILE *stream, char *const *names, uint32_t count);
void esi_set_format_event(FILE *stream, const struct es_set_event *event);

#endif
