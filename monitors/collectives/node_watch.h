/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The front end's half of the analysis of internal nodes of collective trees: a thread
 * gathers results (tree_nodes.h) into statistics, which can be printed meanwhile.
 *
 * All functions may be called by one thread while the watch's own thread is running.
 */
#ifndef ES_MONITORS_COLLECTIVES_NODE_WATCH_H
#define ES_MONITORS_COLLECTIVES_NODE_WATCH_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/collectives/node_statistics.h"
#include "monitors/collectives/tree_nodes.h"

struct esi_node_watch;

/* Opens the scope and starts the thread; ignores on_result and data of the
 * configuration.  Returns 0 or -errno with `error` filled. */
int esi_node_watch_start(const struct esi_tree_nodes_config *config,
                         struct es_error *error,
                         struct esi_node_watch **ret_watch);
/* Ends the thread and reads the remaining results.  Accepts NULL. */
void esi_node_watch_stop(struct esi_node_watch *watch);
/* Accepts NULL. */
void esi_node_watch_destroy(struct esi_node_watch *watch);

/* Prints a table of the nodes, those that wait longest for their children first, and a
 * line of counts; or JSON Lines: a "node" for each node, communicator, operation and
 * version of the rules, and "nodes".  Returns 1; 0 if there is no node; -ENOMEM or
 * -EIO. */
int esi_node_watch_print(struct esi_node_watch *watch,
                         enum esi_rows_format format,
                         FILE *stream);

/* Does the same for any statistics. */
int esi_node_statistics_print(const struct esi_node_statistics *statistics,
                              const struct esi_tree_nodes_counts *counts,
                              enum esi_rows_format format,
                              FILE *stream);

#endif
