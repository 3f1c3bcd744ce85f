/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The frame of a tuple server: listens, greets, runs one thread per connection, ends.
 *
 * What the frames mean is the service's business: a table of functions from the layer
 * above (scopes/server/service.h).
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ACCEPTOR_H
#define ES_TUPLESPACE_TRANSPORT_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/link.h"

struct esi_server;

/* Functions of one connection run in that connection's thread, those of different
 * connections at the same time. */
struct esi_server_service {
    /* A greeted connection begins.  0 or -errno: then it is closed. */
    int (*open)(void *data, struct es_link *link, void **ret_connection);
    /* One frame has come; answers through the link.  -errno closes the connection. */
    int (*serve)(void *connection, const struct esi_frame *frame);
    /* The connection ends; also when the server does. */
    void (*close)(void *connection);
    void *data;
    /* The server stops: no function above is to wait any longer for anything but its
     * link, which is shut.  NULL: none does. */
    void (*stop)(void *data);
};

struct esi_server_config {
    const char *run;
    const char *host;             /* this host's name */
    const char *const *addresses; /* to listen on, NULL at the end */
    struct esi_run_key key;
    struct esi_server_service service;
    /* One line of the server's log; called by any thread, one at a time. */
    void (*log)(void *data, const char *line);
    void *log_data;
};

/* Starts listening and its threads; borrows the config's texts for as long as it lives.
 */
int esi_acceptor_start(const struct esi_server_config *config,
                       struct es_error *error,
                       struct esi_server **ret_server);
/* Address number `index` it listens on; NULL behind the last.  Borrowed. */
const char *esi_server_address(const struct esi_server *server, size_t index);
size_t esi_server_connection_count(struct esi_server *server);
/* Writes a line to the log, with the time in front. */
void esi_acceptor_log(struct esi_server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Shuts all connections, waits for their threads, frees.  Accepts NULL. */
void esi_server_stop(struct esi_server *server);

#endif
