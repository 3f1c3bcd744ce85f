/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_archive.h - the activity of internal nodes of instrumented trees, from the
 * archive of a run: the tuples of their edges are combined as for a live run
 * (node_pieces.h). */
#ifndef ES_MONITORS_COLLECTIVES_NODE_ARCHIVE_H
#define ES_MONITORS_COLLECTIVES_NODE_ARCHIVE_H

#include <stdio.h>

#include "base/rows.h"
#include "eventspace/error.h"

/* Prints like esi_node_watch_print(), but nothing if no tuples of trees were recorded.
 * Returns 1; 0 if there is no node; or -errno with `error` filled. */
int esi_node_archive_print(const char *directory,
                           enum esi_rows_format format,
                           FILE *stream,
                           struct es_error *error);

#endif
