/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads event sets from JSON Lines (docs/event-sets.md) and streams them to a sink.
 *
 *   esi_set_read_config_init(&config, es_order_sink(order));
 *   esi_set_read_file("set.jsonl", &config, &error);
 *
 * Checks everything that the format requires.  An error is one sentence with file, line
 * and, for faults in the JSON itself, column.  Faults that only show at the end of the
 * file (a missing partner, a cycle) are reported after the sink has received events;
 * then the caller must discard its result.
 *
 * Several threads parse the lines (set_blocks.h); the sink is called by the reading
 * thread.  Memory used while streaming:
 *
 *   - some blocks of text and their events: a megabyte or two per thread;
 *   - per trace: its name, a count, its place in the order (about 150 bytes);
 *   - per event: its kind, in 2 bits;
 *   - per reference to an event that was not read yet: about 70 bytes;
 *   - per event that waits for its sends: the event.  Beyond `memory_bytes` these
 *     are spilled to an unnamed file.
 *
 * So a file whose receives are close to their sends needs 2 bits per event.
 */
#ifndef ES_MONITORS_EVENTSET_SET_READ_H
#define ES_MONITORS_EVENTSET_SET_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_set_read_config {
    struct es_set_sink sink;  /* receives the events in canonical order (delivery.h) */
    bool attributes;          /* passed to the sink; otherwise only checked */
    uint64_t memory_bytes;    /* for waiting events */
    const char *spill_folder; /* for those beyond it; NULL = $TMPDIR or /var/tmp */
    unsigned threads;         /* for parsing; 0 = one per processor */
};

/* Sets the defaults: with attributes, 512 MiB. */
void esi_set_read_config_init(struct esi_set_read_config *config,
                              struct es_set_sink sink);

/* Reads a file; "-" is the standard input.  `error` may be NULL. Returns 0; -EINVAL if
 * it is not an event set (`error` says why and where); another -errno if the file
 * cannot be read; or the error of the sink. */
int esi_set_read_file(const char *path,
                      const struct esi_set_read_config *config,
                      struct es_error *error);

/* Reads a stream (borrowed) to its end; errors refer to it as `name`. */
int esi_set_read_stream(FILE *stream,
                        const char *name,
                        const struct esi_set_read_config *config,
                        struct es_error *error);

#endif
