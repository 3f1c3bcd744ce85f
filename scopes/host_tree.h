/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* host_tree.h - plans what stands on one host, and the stages that trees of hosts are
 * made of. */
#ifndef ES_SCOPES_HOST_TREE_H
#define ES_SCOPES_HOST_TREE_H

#include "scopes/planner.h"

/* A stage that joins what its children emit: gather, sort or reduce.  NULL: no memory.
 */
struct esi_stage_node *esi_host_tree_aggregator(const struct esi_planner *planner,
                                                const char *host,
                                                const char *label);
/* The same over hosts: it also says in which order they are asked. */
struct esi_stage_node *esi_hosts_aggregator(const struct esi_planner *planner,
                                            const char *host,
                                            const char *label);
/* Puts an observing stage on top of `node`, which it takes, if `wanted`.  NULL: no
 * memory. */
struct esi_stage_node *esi_host_tree_observed(const struct esi_planner *planner,
                                              struct esi_stage_node *node,
                                              bool wanted);
/* Whether the aggregator of a host can be left out where another one of the
 * same host takes its children: nobody asked for it, and nothing stands on top. */
bool esi_host_tree_is_detour(const struct esi_planner *planner,
                             const struct esi_host_location *location);
/* Adds what lies below the aggregator of a host to `parent`. */
int esi_host_tree_fill(const struct esi_planner *planner,
                       struct esi_stage_node *parent,
                       const struct esi_host_location *location);
/* The subtree of one host.  NULL: no memory. */
struct esi_stage_node *esi_host_tree_plan(const struct esi_planner *planner,
                                          const struct esi_host_location *location);
/* Puts the view's filters on top of `node`, which it takes.  NULL: no memory. */
struct esi_stage_node *esi_host_tree_filtered(const struct esi_planner *planner,
                                              struct esi_stage_node *node);

#endif
