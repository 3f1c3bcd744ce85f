/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_trail.h - the newest events of one rank, as lines and as a strip of its time.
 *
 *     esi_top_trail_open(run, servers, rank, &error, &trail);
 *     while (...) {
 *         esi_top_trail_read(trail);
 *         esi_top_trail_print(trail, span_ns, width, lines, stdout);
 *     }
 *     esi_top_trail_close(trail);
 *
 *   one thread at a time.
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

/* Borrows run and servers (NULL = this host only).  -errno with words in `error`. */
int esi_top_trail_open(struct es_run *run,
                       struct es_servers *servers,
                       int rank,
                       struct es_error *error,
                       struct esi_top_trail **ret_trail);
/* Accepts NULL. */
void esi_top_trail_close(struct esi_top_trail *trail);

/* Reads what has come, and the operations under way.  0 or -errno. */
int esi_top_trail_read(struct esi_top_trail *trail);

/* A line with the strip of the rank's first thread, `span_ns` long, then the newest
 * events, the newest first: `count` lines in all, cut to `width`.  0 or -EIO. */
int esi_top_trail_print(const struct esi_top_trail *trail,
                        uint64_t span_ns,
                        size_t width,
                        size_t count,
                        FILE *stream);

#endif
