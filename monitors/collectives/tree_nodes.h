/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The activity of the internal nodes of instrumented collective trees (paper, section
 * 5.3): the front end's half.  The analysis itself runs near each node, in a stage
 * `tree-node` in the tuple server of the node's host; only results arrive here.
 *
 *   esi_tree_nodes_config_init(&config);
 *   config.run = "lab"; config.servers = servers; config.on_result = take;
 *   esi_tree_nodes_open(&config, &error, &nodes);
 *   esi_tree_nodes_start(nodes);     pulls in a separate thread, or
 *   esi_tree_nodes_pull(nodes);      in the caller's, periodically
 *   esi_tree_nodes_stop(nodes);      reads the remaining results
 *   esi_tree_nodes_close(nodes);
 *
 * A run without instrumented trees has no results, which is not an error: nothing is
 * done on its hosts until there are elements of trees.  Elements that appear later
 * join.
 *
 * esi_tree_nodes_counts() may be called while the thread is running; all other
 * functions need the thread stopped.
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
    uint32_t version;         /* of the tree; 0 = the initial one */
    int world_rank;           /* of the node */
    int rank;                 /* in the communicator; -1 = not known */
    const char *host;         /* borrowed from the scope */
    bool has_up;              /* there was an upward phase: the next three are set */
    uint64_t spread_ns;       /* from the first to the last arrival */
    int last_child; /* rank in the communicator of the child that arrived last; -1 = no
                       child contributed */
    uint64_t wait_ns; /* from the node's own contribution to the last arrival: its
                         wait for the children; 2^32-1 = that or more */
    bool has_down;    /* there was a downward phase: the next one is set */
    uint64_t down_ns; /* from the start of the first departure until the last child
                         was served */
    uint64_t up_ns;   /* from the last arrival (or its own contribution, if that came
                          later) to the end of the departure up; 0 at the root; 2^32-1 =
                          that or more */
    bool pieced;      /* combined here from pieces: the tree of stages was changed
                         during the operation */
};

typedef void (*esi_tree_node_result_fn)(void *data,
                                        const struct esi_tree_node_result *result);

struct esi_tree_nodes_config {
    const char *run;              /* name; borrowed for the call */
    struct es_servers *servers;   /* NULL = this host's elements only, analysed here;
                                     borrowed until the end */
    struct es_scope_config scope; /* view and tree; set by
                                     esi_tree_nodes_config_init() or
                                     esi_collectives_map_nodes(); texts borrowed
                                     until the end */
    uint64_t interval_ns;         /* between pulls; 0 = 100 ms */
    esi_tree_node_result_fn on_result; /* called in the pulling thread; may be NULL */
    void *data;
};

/* Selects all internal nodes of the run, analysed in the tuple servers of their hosts
 * with one thread per node, up to 16 per host; the scope is announced as
 * "collectives-nodes". */
void esi_tree_nodes_config_init(struct esi_tree_nodes_config *config);

struct esi_tree_nodes;

/* Opens the scope.  Returns 0, or -ENOENT and the like with `error` filled. */
int esi_tree_nodes_open(const struct esi_tree_nodes_config *config,
                        struct es_error *error,
                        struct esi_tree_nodes **ret_nodes);
/* Stops the thread, if there is one, without a last pull.  Accepts NULL. */
void esi_tree_nodes_close(struct esi_tree_nodes *nodes);

/* Pulls once, and looks for new elements once a second.  Returns the number of results
 * delivered, or -errno. */
int esi_tree_nodes_pull(struct esi_tree_nodes *nodes);
/* Reads all remaining results, including operations that may be incomplete.  Returns
 * the number of results delivered, or -errno. */
int esi_tree_nodes_drain(struct esi_tree_nodes *nodes);

/* Starts a thread that pulls every `interval_ns`. Returns 0 or -errno. */
int esi_tree_nodes_start(struct esi_tree_nodes *nodes);
/* Ends the thread, and drains in the caller's.  Does nothing without a thread. */
void esi_tree_nodes_stop(struct esi_tree_nodes *nodes);

struct esi_tree_nodes_counts {
    uint64_t results;
    uint64_t pieced;     /* of these, combined here from pieces */
    uint64_t incomplete; /* operations at a node that were given up because tuples
                            were lost */
    uint64_t lost;       /* tuples that elements lost before they were read */
    size_t elements;
    size_t silent; /* parts of the tree that did not answer the last pull */
};

/* Thread safe. */
void esi_tree_nodes_counts(struct esi_tree_nodes *nodes,
                           struct esi_tree_nodes_counts *ret_counts);

/* The scope, for showing and reconfiguring it; NULL if the run has had no elements of
 * trees so far.  Only with the thread stopped. */
struct es_scope *esi_tree_nodes_scope(struct esi_tree_nodes *nodes);

#endif
