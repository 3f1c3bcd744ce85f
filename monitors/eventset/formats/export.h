/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Exports event sets to the formats of other tools (docs/exports.md).
 *
 *   esi_export_create(&config, &error, &export);
 *   ... an ordered stream (event.h) into esi_export_sink(export) ...
 *   esi_export_finish(export, &error);
 *   esi_export_destroy(export);
 *
 * Files are written atomically (output_file.h). Events are written as they arrive.
 * "shiviz" also keeps a dense order (four bytes per pair of event and trace), and
 * "chrome" eight bytes per event; the others keep only names.
 *
 * An export may be used by one thread at a time.
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
    FILE *stream;       /* borrowed: written instead of the file, except by
                           "event-set"; NULL = the file */
    bool has_start;     /* "chrome": times are relative to start_ns; otherwise */
    int64_t start_ns;   /* to the time of the first event */
    bool traces_first;  /* all traces precede the first event: "event-set" can write
                          events to a pipe at once */
};

struct esi_export;

/* Texts of the configuration are borrowed for the life of the export.  Returns 0;
 * -EINVAL (with `error` filled) for an unknown format; -ENOMEM; or the reason why the
 * file cannot be created. */
int esi_export_create(const struct esi_export_config *config,
                      struct es_error *error,
                      struct esi_export **ret_export);
/* Accepts NULL. An unfinished file is discarded. */
void esi_export_destroy(struct esi_export *export);

/* The sink that takes the events; valid as long as the export.  Its calls return -EIO
 * if the stream cannot be written; -ENOMEM; or -EINVAL if the events are not in
 * order. */
struct es_set_sink esi_export_sink(struct esi_export *export);

/* Completes the file; afterwards the export can only be destroyed.  Returns 0, or the
 * reason why the file was not written; then an earlier file is unchanged. */
int esi_export_finish(struct esi_export *export, struct es_error *error);

/* "chrome": number of messages written with times, and of those that arrive before they
 * are sent because the clocks were not corrected. */
struct esi_export_counts {
    uint64_t events;
    uint64_t messages;
    uint64_t backward;
};
struct esi_export_counts esi_export_counts(const struct esi_export *export);

/* Returns whether the event has an attribute with an integer value, and the value. */
bool esi_event_number(const struct es_set_event *event,
                      const char *name,
                      int64_t *ret_number);

#endif
