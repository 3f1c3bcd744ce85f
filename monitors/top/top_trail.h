/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_trail.h - the newest events of one rank, as lines and as a strip of time.
 *
 *     esi_top_trail_open(run, servers, rank, &error, &trail);
 *     while (...) {
 *         esi_top_trail_read(trail);
 *         esi_top_trail_print(trail, span_ns, width, lines, stdout);
 *     }
 *     esi_top_trail_close(trail);
 *
 * One thread at a time.
 */
#ifndef ES_MONITORS_TOP_TOP_TRAIL_H
#define ES_MONITORS_TOP_TOP_TRAIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/servers.h"

struct esi_top_trail;

/* Borrows run and servers (NULL = this host only). Returns 0 or -errno with `error`
 * filled. */
int esi_top_trail_open(struct es_run *run,
                       struct es_servers *servers,
                       int rank,
                       struct es_error *error,
                       struct esi_top_trail **ret_trail);
/* Accepts NULL. */
void esi_top_trail_close(struct esi_top_trail *trail);

/* Reads new events and the operations in progress.  Returns 0 or -errno. */
int esi_top_trail_read(struct esi_top_trail *trail);

/* Prints a line with the strip of the rank's first thread, `span_ns` long, then the
 * newest events, newest first: `count` lines in total, truncated to `width`. Returns 0
 * or -EIO. */
int esi_top_trail_print(const struct esi_top_trail *trail,
                        uint64_t span_ns,
                        size_t width,
                        size_t count,
                        FILE *stream);

#endif
