/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Tuple servers in the process of the test, and contexts of consumers that use them.
 *
 * They listen on Unix sockets in a temporary directory, which becomes the directory of
 * runs.
 */
#ifndef ES_TESTS_MADE_SERVER_H
#define ES_TESTS_MADE_SERVER_H

#include "scopes/server/host_registry.h"
#include "scopes/server/subtree.h"
#include "scopes/server/service.h"
#include "scopes/stage_node.h"
#include "tests/scopes/made_run.h"
#include "tuplespace/transport/run_key.h"
#include "wrappers/stages/stage.h"

enum { MADE_SERVERS = 4, MADE_THRESHOLD = 8191 };

struct made_server {
    char host[64];
    char address[ES_ADDRESS_BYTES];
    const char *addresses[2];
    struct esi_host_registry *registry;
    struct esi_service service;
    struct esi_server *server; /* NULL = stopped */
};

/* The servers of one run. */
struct made_servers {
    char run[64];
    char directory[64];
    struct made_server items[MADE_SERVERS];
    size_t count;
    const char *scheme; /* NULL = unix, "tcp" or "tls" */
    struct esi_run_key key;
};

/* Creates the directory and sets EVENTSPACE_DIR. */
void made_servers_begin(struct made_servers *servers, const char *run);
/* Servers named after this call listen on the loopback interface, by "tcp" or "tls",
 * with a key of their own. */
void made_servers_use_network(struct made_servers *servers, const char *scheme);
/* Stops all servers and removes the directory. */
void made_servers_end(struct made_servers *servers);

/* Names a server and its address, without starting it. */
struct made_server *made_server_name(struct made_servers *servers, const char *host);
/* Starts the server of another host. */
struct made_server *made_server_add(struct made_servers *servers, const char *host);
/* Adds a rank and a server for each host to the run and the servers, and `count`
 * elements "p2p" of as many threads, distributed over the ranks in turn. */
void made_servers_fill(struct made_servers *servers,
                       struct made_run *run,
                       const char *const hosts[],
                       int host_count,
                       struct esi_writer *writers[],
                       int count);
/* Stops the server; all its connections end. */
void made_server_stop(struct made_server *server);
/* Starts the server at the same address as before. */
void made_server_start(struct made_servers *servers, struct made_server *server);

/* A consumer with origins for all elements of the run; it maps none of them. */
struct made_consumer {
    struct made_servers *servers;
    struct es_run *run; /* texts and clocks are borrowed from it */
    struct es_origins origins;
    struct es_places places;
    struct es_stage_context context;
    struct es_stage *root;
    uint64_t serial;
    struct es_batch batch;
};

void made_consumer_begin(struct made_consumer *consumer, struct made_servers *servers);
void made_consumer_end(struct made_consumer *consumer);

/* A stage `type` on `host` over an element node for each origin of host `of`, or of all
 * hosts if `of` is NULL. */
struct esi_stage_node *made_consumer_node(const struct made_consumer *consumer,
                                          const char *type,
                                          const char *host,
                                          const char *of,
                                          const char *read);
/* Replaces the tree as a scope does; takes the node. */
void made_consumer_open(struct made_consumer *consumer, struct esi_stage_node *node);

/* Pulls at most `max` tuples.  With `repeat` the last batch is delivered again
 * first, whatever its size. */
int made_consumer_pull(struct made_consumer *consumer,
                       size_t max,
                       bool repeat,
                       bool drain);

#endif
