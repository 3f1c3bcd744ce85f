/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* node_archive.h - what internal nodes of instrumented trees did, from the archive of
 * the run: the tuples of their edges are put together as for a run (node_pieces.h). */
#ifndef ES_MONITORS_COLLECTIVES_NODE_ARCHIVE_H
#define ES_MONITORS_COLLECTIVES_NODE_ARCHIVE_H

#include <stdio.h>

#include "base/rows.h"
#include "eventspace/error.h"

/* Prints as esi_node_watch_print().  1; 0: no tuples of trees were recorded, and
 * nothing is printed; -errno with words. */
int esi_node_archive_print(const char *directory,
                           enum esi_rows_format format,
                           FILE *stream,
                           struct es_error *error);

#endif
