/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Event sets in the formats of other tools (docs/exports.md).
 *
 *   esi_export_create(&config, &error, &export);
 *   ... an ordered stream (event.h) into esi_export_sink(export) ...
 *   esi_export_finish(export, &error);
 *   esi_export_destroy(export);
 *
 * Nothing is half-written: a file takes its place when it is complete
 * (output_file.h).  Everything is written as it comes.  "shiviz" keeps a dense order
 * besides (four bytes for each pair of event and trace), "chrome" eight bytes an
 * event; the others keep names only.
 *
 * One export is one thread's at a time.
 */
#ifndef ES_MONITORS_EVENTSET_FORMATS_EXPORT_H
#define ES_MONITORS_EVENTSET_FORMATS_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_export_config {
    const char *format; /* "event-set", "shiviz", "chrome", "dot", "csv" */
    const char *path;   /* of the file; "-" = standard output */
    FILE *stream;       /* borrowed: to be written to instead, but of "event-set";
                           NULL = the file */
    bool has_start;     /* of "chrome": times are relative to start_ns; without it */
    int64_t start_ns;   /* they are relative to those of the first event */
    bool traces_first; /* all traces come ahead of the first event: "event-set" need not
                          wait for more, and a pipe gets events as they come */
};

struct esi_export;

/* Texts of the configuration are borrowed for the export's life.  -EINVAL with words:
 * no such format; -ENOMEM, or why the file cannot be made. */
int esi_export_create(const struct esi_export_config *config,
                      struct es_error *error,
                      struct esi_export **ret_export);
/* Accepts NULL.  What was not finished is not there. */
void esi_export_destroy(struct esi_export *export);

/* Where the events go; valid as long as the export.  -EIO: the stream cannot be
 * written; -ENOMEM; -EINVAL: the events are not in order. */
struct es_set_sink esi_export_sink(struct esi_export *export);

/* Completes the file; afterwards the export is only good for destroying.  0, or why the
 * file was not written: then what was at its place still is. */
int esi_export_finish(struct esi_export *export, struct es_error *error);

/* Of "chrome": messages that were written with times, and how many of them arrive
 * before they are sent, as clocks that were not corrected say. */
struct esi_export_counts {
    uint64_t events;
    uint64_t messages;
    uint64_t backward;
};
struct esi_export_counts esi_export_counts(const struct esi_export *export);

/* Whether an event has an attribute, as a whole decimal number. */
bool esi_event_number(const struct es_set_event *event,
                      const char *name,
                      int64_t *ret_number);

#endif
