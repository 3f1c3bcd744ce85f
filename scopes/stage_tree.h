/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Plans gather trees: computes the stages and their hosts from the elements of a view,
 * the hosts and a shape.
 *
 * Pure logic.
 */
#ifndef ES_SCOPES_STAGE_TREE_H
#define ES_SCOPES_STAGE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/scope.h"
#include "scopes/stage_node.h"

/* The facts about a host of the run.  Borrowed texts. */
struct es_host_info {
    const char *host;
    const char *cluster; /* NULL if none */
    const char *gateway; /* host that connects its cluster; NULL if none */
    bool has_server;     /* stages can run there */
};

struct esi_host_infos {
    const char *here; /* the consumer's host; NULL if all elements are read directly */
    const struct es_host_info *items;
    size_t count;
    bool renewed; /* already checked: skips listed hosts without a server */
    /* The socket (package) of its host on which a rank runs; NULL or -1 if not
     * known. */
    int (*socket_of)(void *data, int rank);
    void *data;
};

/* Computes the tree for these origins.  `infos` NULL: everything is on this host.
 * `view_filter` is the view's condition on tuples, or NULL.
 *
 * Elements of other hosts than `here` are always below a node of their host, even if it
 * has no server at the moment: its remote stage reports this in the pulls.  Aggregators
 * are placed on hosts that have a server.  Elements of unknown hosts were found in this
 * host's memory: they are placed like those of `here`.  With tree.through_server,
 * elements of `here` also get a node of their host: then open the plan as from a host
 * without a name, "".
 *
 * O(n log n).  Returns 0, -ENOMEM, or -EINVAL with a text (e.g. joints on no host).
 * Free with esi_stage_node_destroy(). */
int esi_stage_tree_plan(const struct es_origin *origins,
                        size_t count,
                        const struct es_scope_config *config,
                        const struct esi_host_infos *infos,
                        const char *view_filter,
                        struct es_error *error,
                        struct esi_stage_node **ret_root);

#endif
