/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* host_tree.h - plans the stages on one host, and provides stages for trees of
 * hosts. */
#ifndef ES_SCOPES_HOST_TREE_H
#define ES_SCOPES_HOST_TREE_H

#include "scopes/planner.h"

/* Creates a stage on a host; NULL for that of the consumer.  Returns NULL if out of
 * memory. */
struct esi_stage_node *esi_host_tree_node(const struct esi_planner *planner,
                                          const char *type,
                                          const char *host,
                                          const char *label);
/* Creates a stage that combines its children: gather, sort or reduce.  Returns NULL if
 * out of memory. */
struct esi_stage_node *esi_host_tree_aggregator(const struct esi_planner *planner,
                                                const char *host,
                                                const char *label);
/* The same over hosts, with the mode in which they are asked. */
struct esi_stage_node *esi_hosts_aggregator(const struct esi_planner *planner,
                                            const char *host,
                                            const char *label);
/* Adds an observing stage above `node` if `wanted`.  Takes ownership of `node`.
 * Returns NULL if out of memory. */
struct esi_stage_node *esi_host_tree_observed(const struct esi_planner *planner,
                                              struct esi_stage_node *node,
                                              bool wanted);
/* The same with a collector of this name. */
struct esi_stage_node *esi_host_tree_observed_as(const struct esi_planner *planner,
                                                 struct esi_stage_node *node,
                                                 const char *name);
/* Returns true if a stage on `host` reads the elements of the location itself. */
bool esi_host_tree_is_together(const struct esi_planner *planner,
                               const char *host,
                               const struct esi_host_location *location);
/* Adds the elements in the slots [first .. end) to `parent`, below the view's filters.
 * Returns 0 or -ENOMEM. */
int esi_host_tree_add_elements(const struct esi_planner *planner,
                               struct esi_stage_node *parent,
                               size_t first,
                               size_t end);
/* Returns true if the aggregator of a host can be omitted because another aggregator on
 * the same host can take its children: it was not requested, and nothing is above
 * it. */
bool esi_host_tree_is_detour(const struct esi_planner *planner,
                             const struct esi_host_location *location);
/* Adds the children of a host's aggregator to `parent`. */
int esi_host_tree_fill(const struct esi_planner *planner,
                       struct esi_stage_node *parent,
                       const struct esi_host_location *location);
/* Plans the subtree of one host.  Returns NULL if out of memory. */
struct esi_stage_node *esi_host_tree_plan(const struct esi_planner *planner,
                                          const struct esi_host_location *location);
/* Adds the view's filters above `node`, and takes ownership of it.  Returns NULL if out
 * of memory. */
struct esi_stage_node *esi_host_tree_filtered(const struct esi_planner *planner,
                                              struct esi_stage_node *node);

#endif
