/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What happens at the internal nodes of instrumented collective trees (paper, section
 * 5.3): the front end's half.  The analysis itself is done near each node, by a stage
 * `tree-node` in the tuple server of the node's host; only results come here.
 *
 *   esi_tree_nodes_config_init(&config);
 *   config.run = "lab"; config.servers = servers; config.on_result = take;
 *   esi_tree_nodes_open(&config, &error, &nodes);
 *   esi_tree_nodes_start(nodes);     pulls in a thread of its own, or
 *   esi_tree_nodes_pull(nodes);      in the caller's, now and then
 *   esi_tree_nodes_stop(nodes);      takes what is left
 *   esi_tree_nodes_close(nodes);
 *
 * A run without instrumented trees has no results, and that is no error: nothing is
 * done on its hosts before there are elements of trees, and elements that appear later
 * join.
 *
 *   may run at the same time: the thread that was started, and esi_tree_nodes_counts();
 *   everything else needs the thread stopped.
 */
#ifndef ES_MONITORS_COLLECTIVES_TREE_NODES_H
#define ES_MONITORS_COLLECTIVES_TREE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "eventspace/scope.h"

/* One operation at one internal node.  */
struct esi_tree_node_result {
    uint64_t key[2];          /* of the communicator, run-wide; 0, 0 = not known */
    const char *communicator; /* its name, "" = not known; borrowed for the call */
    uint32_t instance;        /* number on the communicator, as in the call's tuple */
    uint16_t operation;       /* code of the collective */
    uint32_t version;         /* of the tree; 0 = that of the start */
    int world_rank;           /* of the node */
    int rank;                 /* in the communicator; -1 = not known */
    const char *host;         /* borrowed from the scope */
    bool has_up;              /* contributions travelled up: the next three are set */
    uint64_t spread_ns;       /* from the first arrival to the last */
    int last_child; /* rank in the communicator of the child that arrived last; -1 = no
                       child contributed */
    uint64_t wait_ns; /* from the node's own contribution to the last arrival: what it
                         waited for its children; 2^32-1 = that or more */
    bool has_down;    /* results travelled down: the next one is set */
    uint64_t down_ns; /* from the begin of the first departure until the last child was
                         served */
    uint64_t up_ns;   /* from the last arrival (or its own contribution, if that came
                          later) to the end of the departure up; 0 at the root; 2^32-1 =
                          that or more */
    bool pieced;      /* put together here from pieces: the tree of stages was changed
                          in the middle of the operation */
};

typedef void (*esi_tree_node_result_fn)(void *data,
                                        const struct esi_tree_node_result *result);

struct esi_tree_nodes_config {
    const char *run;              /* name; borrowed for the call */
    struct es_servers *servers;   /* NULL = this host's elements only, analysed here;
                                     borrowed until the end */
    struct es_scope_config scope; /* view and tree; esi_tree_nodes_config_init() sets
                                     them, esi_collectives_map_nodes() as a map says;
                                     texts borrowed until the end */
    uint64_t interval_ns;         /* between pulls; 0 = 100 ms */
    esi_tree_node_result_fn on_result; /* in the thread that pulls; may be NULL */
    void *data;
};

/* All internal nodes of the run, analysed in the tuple servers of their hosts with one
 * thread a node, up to 16 a host; the scope is announced as "collectives-nodes". */
void esi_tree_nodes_config_init(struct esi_tree_nodes_config *config);

struct esi_tree_nodes;

/* Opens the scope.  -ENOENT and the like with words. */
int esi_tree_nodes_open(const struct esi_tree_nodes_config *config,
                        struct es_error *error,
                        struct esi_tree_nodes **ret_nodes);
/* Stops the thread, if there is one, without a last pull.  Accepts NULL. */
void esi_tree_nodes_close(struct esi_tree_nodes *nodes);

/* Pulls once; also looks for new elements, once a second.  Returns the number of
 * results that were given, or -errno. */
int esi_tree_nodes_pull(struct esi_tree_nodes *nodes);
/* Takes all that is left, also of operations that are not known to be complete. Returns
 * the number of results that were given, or -errno. */
int esi_tree_nodes_drain(struct esi_tree_nodes *nodes);

/* Starts a thread that pulls every `interval_ns`.  -errno. */
int esi_tree_nodes_start(struct esi_tree_nodes *nodes);
/* Ends it, and drains in the caller's thread.  Does nothing without one. */
void esi_tree_nodes_stop(struct esi_tree_nodes *nodes);

struct esi_tree_nodes_counts {
    uint64_t results;
    uint64_t pieced;     /* of these, put together here */
    uint64_t incomplete; /* operations at a node that were given up: tuples were lost */
    uint64_t lost;       /* tuples that elements lost before they were read */
    size_t elements;
    size_t silent; /* parts of the tree that did not answer the last pull */
};

/* Thread safe. */
void esi_tree_nodes_counts(struct esi_tree_nodes *nodes,
                           struct esi_tree_nodes_counts *ret_counts);

/* The scope, to show and to reconfigure it; NULL = the run has had no elements of trees
 * yet.  With the thread stopped. */
struct es_scope *esi_tree_nodes_scope(struct esi_tree_nodes *nodes);

#endif
