/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads event sets from JSON Lines (docs/event-sets.md) and gives them to a sink while
 * it reads.
 *
 *   esi_set_read_config_init(&config, es_order_sink(order));
 *   esi_set_read_file("set.jsonl", &config, &error);
 *
 * Everything that the format demands is checked; what is wrong is one sentence with
 * file, line and, where the fault is in the JSON itself, column.  Faults that only the
 * end of the file shows (a partner that never came, a cycle) are told after the sink
 * has got events: whoever makes something of the stream throws it away then.
 *
 * Lines are parsed by several threads (set_blocks.h); the sink is called by the one
 * that reads.  What is kept in memory while a file streams by:
 *   - some blocks of text, and what they say: a megabyte or two for each thread;
 *   - per trace: its name, a count, its place in the order (about 150 bytes);
 *   - per event: its kind, in 2 bits;
 *   - per reference whose other end was not read yet: about 70 bytes;
 *   - per event that cannot be given yet, since its sends were not read or given: the
 *     event.  Beyond `memory_bytes` these wait in a file without a name.
 * So a file whose receives stand near their sends needs 2 bits an event.
 */
#ifndef ES_MONITORS_EVENTSET_SET_READ_H
#define ES_MONITORS_EVENTSET_SET_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/event.h"

struct esi_set_read_config {
    struct es_set_sink sink;  /* gets the canonical order (delivery.h) */
    bool attributes;          /* given to the sink; else only checked */
    uint64_t memory_bytes;    /* for events that wait, in memory */
    const char *spill_folder; /* where others wait; NULL = $TMPDIR or /var/tmp */
    unsigned threads;         /* that parse; 0 = as many as there are processors */
};

/* Attributes, 512 MiB. */
void esi_set_read_config_init(struct esi_set_read_config *config,
                              struct es_set_sink sink);

/* Reads a file; "-" is the standard input.  `error` may be NULL.  0; -EINVAL: not an
 * event set, `error` says why and where; another -errno: the file cannot be read, or
 * what the sink gave. */
int esi_set_read_file(const char *path,
                      const struct esi_set_read_config *config,
                      struct es_error *error);

/* Reads a stream (borrowed) to its end; errors call it `name`. */
int esi_set_read_stream(FILE *stream,
                        const char *name,
                        const struct esi_set_read_config *config,
                        struct es_error *error);

#endif
