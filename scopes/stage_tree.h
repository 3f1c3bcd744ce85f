/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Plans of gather trees: which stages stand where, computed from a view's elements, the
 * hosts and a shape.
 *
 * Pure logic: a plan is made from values and made of values.
 */
#ifndef ES_SCOPES_STAGE_TREE_H
#define ES_SCOPES_STAGE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/scope.h"
#include "scopes/stage_node.h"

/* What the planner knows of one host of the run.  Borrowed texts. */
struct es_host_info {
    const char *host;
    const char *cluster; /* NULL = none */
    const char *gateway; /* host that leads into its cluster; NULL = none */
    bool has_server;     /* stages can stand there */
};

struct esi_host_infos {
    const char *here; /* the consumer's host; NULL = elements are all read directly */
    const struct es_host_info *items;
    size_t count;
    bool renewed; /* the settings were found right before: listed hosts whose server is
                     away now are passed over */
    /* Socket (package) on its host that a rank runs on; NULL or -1 = not known. */
    int (*socket_of)(void *data, int rank);
    void *data;
};

/* Computes the tree for these origins.  `infos` NULL: everything is on this host.
 * `view_filter` is the condition that the view puts on tuples, NULL = none.
 *
 * Elements of hosts other than `here` always stand below a node of their host, also
 * where it has no server at the moment: its remote stage says so in the pulls.
 * Aggregators stand on hosts that have one.  Elements of unknown hosts were found in
 * this host's memory: they stand where those of `here` do.  With tree.through_server
 * the same holds for the elements of `here`: then open the plan as from a host of no
 * name, "".
 *
 * O(n log n).  -ENOMEM, -EINVAL with words (joints on no host, ...).  Free with
 * esi_stage_node_destroy(). */
int esi_stage_tree_plan(const struct es_origin *origins,
                        size_t count,
                        const struct es_scope_config *config,
                        const struct esi_host_infos *infos,
                        const char *view_filter,
                        struct es_error *error,
                        struct esi_stage_node **ret_root);

#endif
